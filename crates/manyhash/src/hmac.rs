//! HMAC, RFC 2104: many messages under one key.
//!
//! The key takes a block before the message and one before the inner digest; both are hashed once for all messages.

use crate::batch::Batch;
use crate::column::{Column, Encoding};
use crate::family::with_family;
use crate::hasher::{Hasher, Variant};
use crate::running::Prefix;
use crate::{Algorithm, Digest, OutputLengthError};
use manyhash_core::algorithm::{MAX_BLOCK_BYTES, MAX_DIGEST_BYTES};
use std::thread;
use zeroize::{Zeroize, Zeroizing};

/// RFC 2104, 2.
const INNER_PAD: u8 = 0x36;
const OUTER_PAD: u8 = 0x5c;

/// Rows whose inner digests are kept at once for each core: few enough to stay in its cache.
const ROWS: usize = 16_384;

/// A key for HMAC, ready for any number of messages. What is kept of it is wiped when this is dropped.
///
/// ```
/// use manyhash::{Algorithm, Hmac};
///
/// let hmac = Hmac::new(Algorithm::Md5, "Jefe");
/// let tags = hmac.authenticate_many(&["what do ya want for nothing?", "another"]);
/// assert_eq!(tags[0].to_hex(), "750c783e6ab0b503eaa86e310a5db738"); // RFC 2104, appendix
/// ```
#[derive(Clone)]
pub struct Hmac {
    batch: Batch,
    inner: Hasher,
    outer: Hasher,
}

impl Hmac {
    /// A key of any length; on all cores.
    pub fn new(algorithm: Algorithm, key: impl AsRef<[u8]>) -> Self {
        let key = key.as_ref();
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
        Hmac { batch: Batch::new(algorithm), inner: padded(INNER_PAD), outer: padded(OUTER_PAD) }
    }

    /// On at most this many threads; as [`Batch::threads`].
    pub fn threads(mut self, threads: usize) -> Self {
        self.batch = self.batch.threads(threads);
        self
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.batch.algorithm()
    }

    /// The tag of one message. Tags compare in constant time.
    pub fn authenticate(&self, message: impl AsRef<[u8]>) -> Digest {
        let mut inner = self.inner.clone();
        inner.update(message);
        let mut outer = self.outer.clone();
        outer.update(inner.finalize().as_bytes());
        outer.finalize()
    }

    /// The tags of many messages, in their order.
    pub fn authenticate_many<M: AsRef<[u8]> + Sync>(&self, messages: &[M]) -> Vec<Digest> {
        let mut tags = vec![Digest::default(); messages.len()];
        let (algorithm, width) = (self.algorithm(), self.algorithm().digest_bytes());
        let mut digests = vec![[0; MAX_DIGEST_BYTES]; messages.len()];
        with_family!(algorithm, F, _start => {
            let [inner, outer] = self.prefixes::<F>();
            self.batch.fill::<F, _, _>(inner, messages, &mut digests, |digest| *digest);
            let digests: Vec<&[u8]> = digests.iter().map(|digest| &digest[..width]).collect();
            self.batch.fill::<F, _, _>(outer, &digests, &mut tags, |tag| Digest::new(tag, algorithm));
        });
        tags
    }

    /// What stands before messages, and before their inner digests. `F` is the algorithm's family.
    pub(crate) fn prefixes<F: Variant>(&self) -> [Prefix<F>; 2] {
        [&self.inner, &self.outer].map(|hasher| F::after(hasher).unwrap_or(Prefix::none(Default::default())))
    }

    /// The tags of a column, in the order of its rows, side by side; zeros where a row is null.
    pub fn authenticate_column(&self, column: &Column, encoding: Encoding) -> Vec<u8> {
        let mut tags = vec![0; column.len() * encoding.width(self.algorithm())];
        self.fill_column(column, encoding, &mut tags);
        tags
    }

    /// As [`authenticate_column`](Self::authenticate_column), into the caller's bytes.
    ///
    /// # Errors
    /// If there is not room for exactly one tag a row; nothing is written then.
    pub fn authenticate_column_into(
        &self,
        column: &Column,
        encoding: Encoding,
        tags: &mut [u8],
    ) -> Result<(), OutputLengthError> {
        encoding.check(self.algorithm(), column, tags)?;
        self.fill_column(column, encoding, tags);
        Ok(())
    }

    fn fill_column(&self, column: &Column, encoding: Encoding, tags: &mut [u8]) {
        let (width, tag) = (self.algorithm().digest_bytes(), encoding.width(self.algorithm()));
        let at_once = ROWS * thread::available_parallelism().map_or(1, usize::from);
        let mut digests = vec![0; column.len().min(at_once) * width];
        for (i, tags) in tags.chunks_mut(at_once * tag).enumerate() {
            let rows = i * at_once..i * at_once + tags.len() / tag;
            let digests = &mut digests[..rows.len() * width];
            let rows = column.slice(rows);
            self.batch.fill_column(&rows, Encoding::Binary, Some(&self.inner), digests);
            self.batch.fill_column(&rows.replaced(digests, width), encoding, Some(&self.outer), tags);
        }
    }
}

impl Drop for Hmac {
    fn drop(&mut self) {
        self.inner.wipe();
        self.outer.wipe();
    }
}

/// The algorithm alone: the key is a secret.
impl std::fmt::Debug for Hmac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hmac").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

/// The tags of many messages under one key, in their order, computed on all cores.
///
/// ```
/// let tags = manyhash::hmac_many(manyhash::Algorithm::Sha256, "key", &["a", "b"]);
/// assert_ne!(tags[0], tags[1]);
/// ```
pub fn hmac_many<M: AsRef<[u8]> + Sync>(algorithm: Algorithm, key: impl AsRef<[u8]>, messages: &[M]) -> Vec<Digest> {
    Hmac::new(algorithm, key).authenticate_many(messages)
}

/// The tags of a column under one key, computed on all cores; zeros where a row is null.
pub fn hmac_column(algorithm: Algorithm, key: impl AsRef<[u8]>, column: &Column, encoding: Encoding) -> Vec<u8> {
    Hmac::new(algorithm, key).authenticate_column(column, encoding)
}
