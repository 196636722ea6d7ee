//! The digests of many messages, side by side.

use crate::Algorithm;
use data_encoding::HEXLOWER;
use std::fmt;
use std::ops::Index;
use std::slice::ChunksExact;
use subtle::ConstantTimeEq;

/// Digests of one algorithm, side by side in one buffer. With digests of `n` bytes, digest `i` starts at byte `i * n`.
///
/// A [`Digest`](crate::Digest) takes 65 bytes, whatever the algorithm. Here each takes only its length: 16 bytes for
/// MD5. Comparing for equality takes a time that depends only on the algorithms and the numbers of digests, not on
/// their bytes.
///
/// ```
/// use manyhash::{Algorithm, Batch};
///
/// let digests = Batch::new(Algorithm::Md5).digest_many_packed(&["a", "b", "c"]);
/// assert_eq!(digests.len(), 3);
/// assert_eq!(digests[1], manyhash::Md5::digest("b"));
/// for digest in &digests {
///     assert_eq!(digest.len(), 16);
/// }
/// let bytes: Vec<u8> = digests.into_bytes();
/// assert_eq!(bytes.len(), 3 * 16);
/// ```
#[derive(Clone)]
pub struct Digests {
    algorithm: Algorithm,
    /// A multiple of the algorithm's digest.
    bytes: Vec<u8>,
}

impl Digests {
    /// So many of zeros, to be written over.
    pub(crate) fn zeros(algorithm: Algorithm, count: usize) -> Self {
        Digests { algorithm, bytes: vec![0; count * algorithm.digest_bytes()] }
    }

    /// All bytes, to be written.
    pub(crate) fn as_mut_bytes(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the number of digests.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.algorithm.digest_bytes()
    }

    /// Returns whether there are no digests.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes of a digest, or `None` if the index is out of range.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.iter().nth(index)
    }

    /// Iterates over the bytes of each digest, in order.
    pub fn iter(&self) -> ChunksExact<'_, u8> {
        self.bytes.chunks_exact(self.algorithm.digest_bytes())
    }

    /// Returns the bytes of all digests.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of all digests, without copying them.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Returns the bytes of a digest.
///
/// # Panics
/// Panics if the index is out of range, as a slice does. [`get`](Digests::get) does not panic.
impl Index<usize> for Digests {
    type Output = [u8];

    fn index(&self, index: usize) -> &[u8] {
        let Some(digest) = self.get(index) else {
            panic!("index {index} is out of range for {} digests", self.len());
        };
        digest
    }
}

impl<'a> IntoIterator for &'a Digests {
    type Item = &'a [u8];
    type IntoIter = ChunksExact<'a, u8>;

    fn into_iter(self) -> ChunksExact<'a, u8> {
        self.iter()
    }
}

impl PartialEq for Digests {
    fn eq(&self, other: &Self) -> bool {
        self.algorithm == other.algorithm && self.bytes.ct_eq(&other.bytes).into()
    }
}

impl Eq for Digests {}

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digests({}) ", self.algorithm)?;
        f.debug_list().entries(self.iter().map(|digest| HEXLOWER.encode(digest))).finish()
    }
}
