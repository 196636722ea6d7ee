//! What the tests share: bytes that repeat nowhere near, and digests by the reference.

#![allow(dead_code, reason = "each test crate uses a part of it")]

use manyhash::{Algorithm, Digest};

/// Bytes that look random, from xorshift64*, always the same.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        bytes.extend_from_slice(&x.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// The digest by the slow and obvious implementation.
pub(crate) fn reference(algorithm: Algorithm, message: &[u8]) -> Digest {
    let bytes = manyhash_core::reference::digest(algorithm, message);
    Digest::from_bytes(&bytes[..algorithm.digest_bytes()]).expect("no digest is too long")
}
