//! Keys of many passwords, each with its salt.

use super::{Construction, Contestant};
use crate::error::Error;
use crate::subject::MANYHASH;
use manyhash::{Algorithm, pbkdf2_many};
use openssl::hash::MessageDigest;
use std::num::NonZeroU32;

const ITERATIONS: NonZeroU32 = NonZeroU32::new(1000).expect("it is not 0");

/// Bytes of a key.
const WIDTH: usize = 20;

/// Passwords and salts, the same in every run.
pub(super) fn passwords(count: usize) -> Vec<(String, String)> {
    (0..count.max(1)).map(|i| (format!("password {i}"), format!("salt of {i}"))).collect()
}

/// manyhash with all of them; the peers one by one.
pub(super) fn construction(passwords: &[(String, String)], algorithm: Algorithm) -> Result<Construction<'_>, Error> {
    let own = move |output: &mut [u8]| {
        let keys = pbkdf2_many(algorithm, passwords, ITERATIONS, WIDTH).expect("the keys are short");
        output.chunks_mut(WIDTH).zip(keys).for_each(|(output, key)| output.copy_from_slice(&key));
    };
    let digest = MessageDigest::from_name(algorithm.name()).expect("OpenSSL has it");
    let openssl = move |output: &mut [u8]| {
        for ((password, salt), key) in passwords.iter().zip(output.chunks_mut(WIDTH)) {
            let iterations = ITERATIONS.get() as usize;
            openssl::pkcs5::pbkdf2_hmac(password.as_bytes(), salt.as_bytes(), iterations, digest, key)
                .expect("OpenSSL takes any password");
        }
    };
    let rustcrypto = move |output: &mut [u8]| {
        for ((password, salt), key) in passwords.iter().zip(output.chunks_mut(WIDTH)) {
            let (password, salt, iterations) = (password.as_bytes(), salt.as_bytes(), ITERATIONS.get());
            match algorithm {
                Algorithm::Sha1 => pbkdf2::pbkdf2_hmac::<sha1::Sha1>(password, salt, iterations, key),
                Algorithm::Sha256 => pbkdf2::pbkdf2_hmac::<sha2::Sha256>(password, salt, iterations, key),
                _ => pbkdf2::pbkdf2_hmac::<sha2::Sha512>(password, salt, iterations, key),
            }
        }
    };
    let contestants = vec![
        Contestant::new(MANYHASH, own),
        Contestant::new("openssl", openssl),
        Contestant::new("rustcrypto", rustcrypto),
    ];
    let item = "passwords of 1000 iterations";
    Ok(Construction {
        name: "pbkdf2",
        algorithm,
        item,
        items: passwords.len(),
        length: passwords[0].0.len(),
        width: WIDTH,
        contestants,
    })
}
