//! Bodies of one length, of which no two are equal, so that a store that keeps equal ones once must keep them all.
//!
//! A body is one of a few random prefixes and, at its end, a number. Hashes of the prefixes are kept half-made: to know
//! a digest takes the client a block or two.

use super::cell::CHUNK;
use crate::ingest::content;
use bytes::Bytes;
use sha2::digest::Output;
use sha2::{Digest, Sha256};

/// Prefixes, so that no server finds all it receives in a cache of the CPU's.
const PREFIXES: usize = 8;

/// Bytes of the number.
const TAIL: usize = size_of::<u64>();

/// All that a run can send or receive.
pub(crate) struct Bodies(Vec<Prefix>);

struct Prefix {
    bytes: Bytes,
    md5: md5::Md5,
    sha256: Sha256,
    /// Digests of the chunks but the last, and what of the last is not the number.
    chunks: Vec<[u8; 32]>,
    last: Sha256,
}

/// One of them.
#[derive(Clone)]
pub(crate) struct Body<'b> {
    prefix: &'b Prefix,
    tail: [u8; TAIL],
}

impl Bodies {
    /// Those of this length, at least a number's. So must be what is left of it after whole chunks.
    pub(crate) fn new(length: usize) -> Self {
        let content = Bytes::from(content(length - TAIL + PREFIXES));
        // Each begins a byte later.
        Bodies((0..PREFIXES).map(|at| Prefix::new(content.slice(at..at + length - TAIL))).collect())
    }

    pub(crate) fn body(&self, number: u64) -> Body<'_> {
        // Those of one client follow one another, and clients do not all begin with the same.
        let at = (number ^ number >> 32) as usize % self.0.len();
        Body { prefix: &self.0[at], tail: number.to_le_bytes() }
    }
}

impl Prefix {
    fn new(bytes: Bytes) -> Self {
        let (whole, last) = bytes.split_at((bytes.len() + TAIL - 1) / CHUNK * CHUNK);
        Prefix {
            md5: md5::Md5::new_with_prefix(&bytes),
            sha256: Sha256::new_with_prefix(&bytes),
            chunks: whole.chunks(CHUNK).map(|chunk| Sha256::digest(chunk).into()).collect(),
            last: Sha256::new_with_prefix(last),
            bytes,
        }
    }
}

impl Body<'_> {
    pub(crate) fn len(&self) -> usize {
        self.prefix.bytes.len() + TAIL
    }

    /// The two pieces that it is made of.
    pub(crate) fn pieces(&self) -> [Bytes; 2] {
        [self.prefix.bytes.clone(), Bytes::copy_from_slice(&self.tail)]
    }

    /// Its chunks: what there is of each, and its digest.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (Vec<Bytes>, [u8; 32])> {
        let Prefix { bytes, chunks, .. } = self.prefix;
        let whole =
            chunks.iter().enumerate().map(|(i, digest)| (vec![bytes.slice(i * CHUNK..(i + 1) * CHUNK)], *digest));
        let last = vec![bytes.slice(chunks.len() * CHUNK..), Bytes::copy_from_slice(&self.tail)];
        whole.chain([(last, self.end(&self.prefix.last).into())])
    }

    pub(crate) fn md5(&self) -> [u8; 16] {
        self.end(&self.prefix.md5).into()
    }

    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.end(&self.prefix.sha256).into()
    }

    /// A digest of which only the number is missing.
    fn end<D: Digest + Clone>(&self, begun: &D) -> Output<D> {
        begun.clone().chain_update(self.tail).finalize()
    }

    /// Whether these are its bytes from there on.
    pub(crate) fn has_at(&self, offset: usize, bytes: &[u8]) -> bool {
        let prefix = self.prefix.bytes.get(offset..).unwrap_or_default();
        let (head, tail) = bytes.split_at(bytes.len().min(prefix.len()));
        let tail_offset = (offset + head.len()).saturating_sub(self.prefix.bytes.len());
        prefix.starts_with(head)
            && (tail.is_empty() || self.tail.get(tail_offset..).is_some_and(|rest| rest.starts_with(tail)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Bodies, CHUNK};
    use sha2::{Digest, Sha256};

    #[test]
    fn digests_are_those_of_the_bytes() {
        for length in [1 << 10, CHUNK, CHUNK + 1024, 3 * CHUNK] {
            let bodies = Bodies::new(length);
            let mut seen = Vec::new();
            for number in [0, 1, 2, 9, 1 << 32, 1 << 32 | 1, u64::MAX] {
                let body = bodies.body(number);
                let bytes = body.pieces().concat();
                assert_eq!((bytes.len(), body.len()), (length, length));
                assert_eq!(body.md5(), <[u8; 16]>::from(md5::Md5::digest(&bytes)));
                assert_eq!(body.sha256(), <[u8; 32]>::from(Sha256::digest(&bytes)));
                let chunks: Vec<_> = body.chunks().map(|(pieces, digest)| (pieces.concat(), digest)).collect();
                assert_eq!(chunks.len(), length.div_ceil(CHUNK));
                for ((chunk, digest), expected) in chunks.iter().zip(bytes.chunks(CHUNK)) {
                    assert_eq!((&chunk[..], digest), (expected, &Sha256::digest(expected).into()));
                }
                assert!(!seen.contains(&bytes));
                seen.push(bytes);
            }
        }
    }

    #[test]
    fn bytes_are_compared_where_they_are() {
        let bodies = Bodies::new(1024);
        let body = bodies.body(7);
        let mut bytes = body.pieces().concat();
        for (from, to) in [(0, 1024), (0, 1), (1000, 1017), (1016, 1024), (1018, 1020), (1024, 1024), (5, 5)] {
            assert!(body.has_at(from, &bytes[from..to]), "{from}..{to}");
        }
        assert!(!body.has_at(1, &bytes[..100]));
        assert!(!body.has_at(1020, &[bytes[1020], bytes[1021], bytes[1022], bytes[1023], 0]), "one too many");
        for at in [0, 1015, 1016, 1023] {
            bytes[at] ^= 1;
            assert!(!body.has_at(at, &bytes[at..]), "{at}");
            bytes[at] ^= 1;
        }
    }
}
