//! The typed hashers against the reference, and behind RustCrypto's traits.

use crate::common::{bytes, reference};
use manyhash::{Algorithm, OutputLengthError};
use std::io::Write;

/// The body once for each type, which it knows as `H`; checked to be all that there are.
macro_rules! each {
    ($H:ident => $body:block) => {
        manyhash::algorithms!(each $H $body @)
    };
    ($H:ident $body:block @ $(
        $name:ident $function:ident: $family:ident, $bytes:literal, $module:ident::$initial:ident, [$($spelling:literal),*],
            $about:literal;
    )*) => {
        assert_eq!([$(manyhash::$name::ALGORITHM),*], Algorithm::ALL[..]);
        $({
            type $H = manyhash::$name;
            $body
        })*
    };
}

#[test]
fn whole_and_in_pieces() {
    let data = bytes(3 * 128 + 5);
    each!(H => {
        for length in 0..=data.len() {
            let message = &data[..length];
            let due = reference(H::ALGORITHM, message);
            assert_eq!(H::digest(message), due.as_bytes(), "{} of {length} bytes", H::ALGORITHM);
            let mut hasher = H::default();
            hasher.update(&message[..length / 3]);
            let clone = hasher.clone();
            hasher.write_all(&message[length / 3..]).expect("a hasher takes everything");
            hasher.flush().expect("nothing to flush");
            assert_eq!(hasher.clone().finalize(), due.as_bytes());
            assert_eq!(clone.finalize(), reference(H::ALGORITHM, &message[..length / 3]).as_bytes());
            hasher.reset();
            hasher.update(message);
            assert_eq!(hasher.finalize(), due.as_bytes());
        }
    });
}

#[test]
fn many_at_once() {
    let data = bytes(10_000);
    // So many that all cores and all lanes have some.
    let messages: Vec<&[u8]> = (0..700).map(|i| &data[i..i + i * 13 % 9000]).collect();
    each!(H => {
        let digests = H::digest_many(&messages);
        assert_eq!(digests.len(), messages.len());
        for (digest, message) in digests.iter().zip(&messages) {
            assert_eq!(*digest, reference(H::ALGORITHM, message).as_bytes(), "{}", H::ALGORITHM);
        }
        let mut into = vec![H::digest(""); messages.len()];
        H::digest_many_into(&messages, &mut into).expect("a digest a message");
        assert_eq!(into, digests);
        assert!(H::digest_many::<&[u8]>(&[]).is_empty());
    });
}

#[test]
fn output_of_another_length_is_an_error_and_untouched() {
    each!(H => {
        let before = H::digest("before");
        for room in [0, 2, 4] {
            let mut digests = vec![before; room];
            let error: OutputLengthError = H::digest_many_into(&["a", "b", "c"], &mut digests).unwrap_err();
            assert_eq!(error.to_string(), format!("3 messages, but room for {room} digests"));
            assert!(digests.iter().all(|digest| *digest == before));
        }
    });
}

#[test]
fn what_was_hashed_is_not_shown() {
    each!(H => {
        let mut hasher = H::new();
        hasher.update("a secret");
        let name = std::any::type_name::<H>().rsplit("::").next().expect("a path ends in a name");
        assert_eq!(format!("{hasher:?}"), format!("{name} {{ .. }}"));
    });
}

#[cfg(feature = "digest")]
mod rustcrypto {
    use super::*;
    use digest::common::BlockSizeUser;
    use digest::{Digest, DynDigest, FixedOutputReset};
    use hmac::{KeyInit, Mac, SimpleHmac};
    use manyhash::{Sha224, Sha256, Sha384, Sha512};

    /// What code that knows nothing of this library does with a hasher.
    fn generic<D: Digest + FixedOutputReset + BlockSizeUser + Clone>(algorithm: Algorithm, message: &[u8]) {
        assert_eq!(<D as Digest>::output_size(), algorithm.digest_bytes());
        assert_eq!(D::block_size(), algorithm.block_bytes());
        let due = reference(algorithm, message);
        let due = due.as_bytes();
        assert_eq!(D::digest(message)[..], *due);
        let (first, second) = message.split_at(message.len() / 2);
        let mut hasher = D::new_with_prefix(first).chain_update(second);
        assert_eq!(hasher.clone().finalize()[..], *due);
        assert_eq!(hasher.finalize_reset()[..], *due);
        assert_eq!(hasher.finalize_reset()[..], *reference(algorithm, b"").as_bytes());
        Digest::update(&mut hasher, b"to be forgotten");
        Digest::reset(&mut hasher);
        Digest::update(&mut hasher, message);
        assert_eq!(Digest::finalize(hasher)[..], *due);
    }

    #[test]
    fn generic_code() {
        let data = bytes(300);
        each!(H => {
            for length in [0, 1, 63, 64, 127, 128, 300] {
                generic::<H>(H::ALGORITHM, &data[..length]);
            }
        });
    }

    #[test]
    fn trait_objects() {
        each!(H => {
            let mut hasher: Box<dyn DynDigest> = Box::new(H::new());
            hasher.update(b"abc");
            let mut digest = vec![0; hasher.output_size()];
            hasher.finalize_into_reset(&mut digest).expect("room for the digest");
            assert_eq!(digest, H::digest("abc"));
        });
    }

    /// Test case 2 of RFC 4231, and test case 6, whose key is longer than a block.
    #[test]
    fn hmac_of_rfc_4231() {
        fn check<D: Digest + BlockSizeUser>(key: &[u8], message: &[u8], due: &str) {
            let mac = SimpleHmac::<D>::new_from_slice(key).expect("a key of any length").chain_update(message);
            let found = manyhash::Digest::from_bytes(&mac.finalize().into_bytes()).expect("no digest is too long");
            assert_eq!(found.to_hex(), due);
        }
        let (key, message) = (b"Jefe", b"what do ya want for nothing?");
        check::<Sha224>(key, message, "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44");
        check::<Sha256>(key, message, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        check::<Sha384>(
            key,
            message,
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
        );
        check::<Sha512>(
            key,
            message,
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd\
             caeab1a34d4a6b4b636e070a38bce737",
        );
        let (key, message) = ([0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First");
        check::<Sha256>(&key, message, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }
}
