//! PBKDF2 of many at once: the RFCs' vectors, and the definition over another author's HMAC.

use hmac::{KeyInit, Mac, SimpleHmac};
use manyhash::{Algorithm, pbkdf2_many};
use std::num::NonZeroU32;

fn times(iterations: u32) -> NonZeroU32 {
    NonZeroU32::new(iterations).expect("it is not 0")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// RFC 6070, 2 (without the one of 2^24 iterations), and RFC 7914, 11.
#[test]
fn the_rfcs_vectors() {
    type Case = (Algorithm, &'static [u8], &'static [u8], u32, &'static str);
    let cases: [Case; 7] = [
        (Algorithm::Sha1, b"password", b"salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
        (Algorithm::Sha1, b"password", b"salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
        (Algorithm::Sha1, b"password", b"salt", 4096, "4b007901b765489abead49d926f721d065a429c1"),
        (
            Algorithm::Sha1,
            b"passwordPASSWORDpassword",
            b"saltSALTsaltSALTsaltSALTsaltSALTsalt",
            4096,
            "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038",
        ),
        (Algorithm::Sha1, b"pass\0word", b"sa\0lt", 4096, "56fa6aa75548099dcc37d7f03425e0c3"),
        (
            Algorithm::Sha256,
            b"passwd",
            b"salt",
            1,
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc\
             49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783",
        ),
        (
            Algorithm::Sha256,
            b"Password",
            b"NaCl",
            80000,
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56\
             a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d",
        ),
    ];
    for (algorithm, password, salt, iterations, due) in cases {
        let keys = pbkdf2_many(algorithm, &[(password, salt)], times(iterations), due.len() / 2).expect("it is short");
        assert_eq!(keys.iter().map(|key| hex(key)).collect::<Vec<_>>(), [due]);
    }
}

/// RFC 8018, 5.2, word for word.
fn due<M: Mac + KeyInit + Clone>(password: &[u8], salt: &[u8], iterations: u32, length: usize) -> Vec<u8> {
    let mac = <M as KeyInit>::new_from_slice(password).expect("any key will do");
    let tag = |message: &[u8]| {
        let mut mac = mac.clone();
        mac.update(message);
        mac.finalize().into_bytes().to_vec()
    };
    let mut key = Vec::new();
    for block in 1_u32.. {
        if key.len() >= length {
            break;
        }
        let mut u = tag(&[salt, &block.to_be_bytes()].concat());
        let mut t = u.clone();
        for _ in 1..iterations {
            u = tag(&u);
            t.iter_mut().zip(&u).for_each(|(t, u)| *t ^= u);
        }
        key.extend(t);
    }
    key.truncate(length);
    key
}

#[test]
fn any_number_of_passwords_and_lengths() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let due = match algorithm {
            Algorithm::Md5 => due::<SimpleHmac<md5::Md5>>,
            Algorithm::Sha1 => due::<SimpleHmac<sha1::Sha1>>,
            Algorithm::Sha224 => due::<SimpleHmac<sha2::Sha224>>,
            Algorithm::Sha256 => due::<SimpleHmac<sha2::Sha256>>,
            Algorithm::Sha384 => due::<SimpleHmac<sha2::Sha384>>,
            Algorithm::Sha512 => due::<SimpleHmac<sha2::Sha512>>,
            Algorithm::Sha512_256 => due::<SimpleHmac<sha2::Sha512_256>>,
            Algorithm::Sha3_224 => due::<SimpleHmac<sha3::Sha3_224>>,
            Algorithm::Sha3_256 => due::<SimpleHmac<sha3::Sha3_256>>,
            Algorithm::Sha3_384 => due::<SimpleHmac<sha3::Sha3_384>>,
            Algorithm::Sha3_512 => due::<SimpleHmac<sha3::Sha3_512>>,
            Algorithm::Keccak256 => due::<SimpleHmac<sha3::Keccak256>>,
            Algorithm::Sm3 => due::<SimpleHmac<sm3::Sm3>>,
            Algorithm::Ripemd160 => due::<SimpleHmac<ripemd::Ripemd160>>,
            other => panic!("no peer for {other}"),
        };
        for (count, length) in [(0, 20), (1, 0), (1, 1), (2, 100), (5, 64), (40, 33), (150, 16)] {
            let inputs: Vec<(Vec<u8>, String)> =
                (0..count).map(|i| (vec![i as u8; i * 7 % 200], format!("salt {i}"))).collect();
            let keys = pbkdf2_many(algorithm, &inputs, times(3), length).expect("it is short");
            assert_eq!(keys.len(), count);
            for ((password, salt), key) in inputs.iter().zip(&keys) {
                assert!(
                    *key == due(password, salt.as_bytes(), 3, length),
                    "{algorithm}, {count} keys of {length} bytes"
                );
            }
        }
    }
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let length = (u32::MAX as usize + 1) * 16;
    let error = pbkdf2_many(Algorithm::Md5, &[("a", "b")], times(1), length).expect_err("it is too long");
    assert_eq!(
        error.to_string(),
        "cannot derive a key of 68719476736 bytes: PBKDF2 makes at most 68719476720 with this algorithm"
    );
}
