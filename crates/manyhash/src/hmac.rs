//! HMAC, RFC 2104: many messages under one key.
//!
//! The padded key is a block before the message and a block before the inner digest. Both are hashed once for all
//! messages.

use crate::batch::pool::Threads;
use crate::batch::{copy, fill};
use crate::hasher::{Hasher, Variant};
use crate::running::Prefix;
use crate::{Algorithm, Column, Encoding, column};
use manyhash_core::family::{MAX_BLOCK_BYTES, MAX_DIGEST_BYTES, StateBytes};
use std::thread;
use zeroize::{Zeroize, Zeroizing};

/// RFC 2104, 2.
const INNER_PAD: u8 = 0x36;
const OUTER_PAD: u8 = 0x5c;

/// Rows whose inner digests are kept at once for each core: few enough to stay in its cache.
const ROWS: usize = 16_384;

/// A key, ready for any number of messages. What is kept of it is wiped when this is dropped.
#[derive(Clone)]
pub(crate) struct HmacKey {
    inner: Hasher,
    outer: Hasher,
}

impl HmacKey {
    /// A key of any length.
    pub(crate) fn new(algorithm: Algorithm, key: &[u8]) -> Self {
        let mut block = Zeroizing::new([0; MAX_BLOCK_BYTES]);
        if key.len() > algorithm.block_bytes() {
            let mut hasher = Hasher::new(algorithm);
            hasher.update(key);
            let mut digest = hasher.digest_bytes();
            hasher.wipe();
            block[..algorithm.digest_bytes()].copy_from_slice(&digest[..algorithm.digest_bytes()]);
            digest.0.zeroize();
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let padded = |pad: u8| {
            let mut padded = block.clone();
            padded.iter_mut().for_each(|byte| *byte ^= pad);
            let mut hasher = Hasher::new(algorithm);
            hasher.update(&padded[..algorithm.block_bytes()]);
            hasher
        };
        HmacKey { inner: padded(INNER_PAD), outer: padded(OUTER_PAD) }
    }

    /// What a message follows.
    pub(crate) fn inner(&self) -> Hasher {
        self.inner.clone()
    }

    /// The tag of the message that followed [`inner`](Self::inner).
    pub(crate) fn finish(&self, message: Hasher) -> StateBytes {
        let mut outer = self.outer.clone();
        outer.update(message.finalize());
        outer.digest_bytes()
    }

    /// What stands before messages, and before their inner digests. `F` is the algorithm's family.
    pub(crate) fn prefixes<F: Variant>(&self) -> [Prefix<F>; 2] {
        [&self.inner, &self.outer].map(|hasher| F::after(hasher).unwrap_or(Prefix::none(F::zero())))
    }

    /// Writes the tag of each message, and what follows it in the state. `F` is the algorithm's family.
    pub(crate) fn fill<F: Variant>(&self, threads: Threads, messages: &[&[u8]], tags: &mut [[u8; MAX_DIGEST_BYTES]]) {
        let [inner, outer] = self.prefixes::<F>();
        let mut digests = vec![[0; MAX_DIGEST_BYTES]; messages.len()];
        fill(threads, inner, messages, &mut digests, copy);
        let width = self.inner.algorithm().digest_bytes();
        let digests: Vec<&[u8]> = digests.iter().map(|digest| &digest[..width]).collect();
        fill(threads, outer, &digests, tags, copy);
    }

    /// Writes the tags of a column's rows.
    pub(crate) fn fill_column(&self, threads: Threads, column: &Column, encoding: Encoding, tags: &mut [u8]) {
        let algorithm = self.inner.algorithm();
        let (width, tag) = (algorithm.digest_bytes(), encoding.width(algorithm));
        let at_once = ROWS * thread::available_parallelism().map_or(1, usize::from);
        let mut digests = vec![0; column.len().min(at_once) * width];
        for (i, tags) in tags.chunks_mut(at_once * tag).enumerate() {
            let rows = i * at_once..i * at_once + tags.len() / tag;
            let digests = &mut digests[..rows.len() * width];
            let rows = column.slice(rows);
            column::fill(algorithm, threads, &rows, Encoding::Binary, Some(&self.inner), digests);
            column::fill(algorithm, threads, &rows.replaced(digests, width), encoding, Some(&self.outer), tags);
        }
    }
}

impl Drop for HmacKey {
    fn drop(&mut self) {
        self.inner.wipe();
        self.outer.wipe();
    }
}
