//! What the fuzz targets share.

use manyhash::{Algorithm, Digest};

/// The algorithm that an input picks.
pub fn algorithm(pick: u8) -> Algorithm {
    Algorithm::ALL[usize::from(pick) % Algorithm::ALL.len()]
}

/// The digest by the slow and obvious implementation.
pub fn reference(algorithm: Algorithm, message: &[u8]) -> Digest {
    let bytes = manyhash_core::reference::digest(algorithm, message);
    Digest::from_bytes(&bytes[..algorithm.digest_bytes()]).expect("no digest is too long")
}

/// The HMAC of a message, by the steps of RFC 2104.
pub fn hmac(algorithm: Algorithm, key: &[u8], message: &[u8]) -> Digest {
    let mut block = vec![0; algorithm.block_bytes()];
    if key.len() > block.len() {
        let digest = reference(algorithm, key);
        block[..digest.as_bytes().len()].copy_from_slice(digest.as_bytes());
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |pad: u8| block.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>();
    let inner = reference(algorithm, &[&padded(0x36), message].concat());
    reference(algorithm, &[&padded(0x5c), inner.as_bytes()].concat())
}
