//! The digests of many messages, side by side.

use crate::Algorithm;
use data_encoding::HEXLOWER;
use std::fmt;
use std::ops::Index;
use std::slice::ChunksExact;
use subtle::ConstantTimeEq;

/// Digests of one algorithm, side by side in one buffer: digest `i` of `n` bytes each is the bytes from `i * n` on.
///
/// A [`Digest`](crate::Digest) is 65 bytes, whatever the algorithm; here each takes no more than it has: 16 of MD5. Like
/// those, they are compared in a time that depends on their number only.
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

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.algorithm.digest_bytes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes of one; none if there are not so many.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.iter().nth(index)
    }

    /// The bytes of each, in order.
    pub fn iter(&self) -> ChunksExact<'_, u8> {
        self.bytes.chunks_exact(self.algorithm.digest_bytes())
    }

    /// The bytes of all.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of all, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The bytes of one.
///
/// # Panics
/// If there are not so many, as a slice does; [`get`](Digests::get) does not.
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
