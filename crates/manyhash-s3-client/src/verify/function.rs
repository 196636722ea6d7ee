//! The functions whose values are compared, and how much an equal value proves.

use manyhash::{Algorithm, Digest, HashFunction};
use manyhash_s3::checksum::{self, Checksum, ChecksumAlgorithm};
use std::fmt;

/// A function of an object's bytes: one of those with a name in this project, or XXH64, which has one in S3 only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Function {
    /// A hash function or checksum.
    Hash(HashFunction),
    /// XXH64 with the seed 0.
    XxHash64,
}

/// What equal values prove, from the least.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Strength {
    /// Nothing: 16 bits, as of `sum`. Values that differ still prove that bytes do.
    None,
    /// 32 bits: one accidental change in 4 billion is missed.
    Weak,
    /// 64 bits and more: accidental changes are found, changes that are made to be missed are not.
    Accidental,
    /// MD5 and SHA-1: two files can be made to have one value, but no second one to a file that is there.
    Collidable,
    /// A cryptographic hash function that is not broken.
    Cryptographic,
}

impl Function {
    /// MD5, which entity tags are made of.
    pub const MD5: Function = Function::Hash(HashFunction::Lanes(Algorithm::Md5));

    /// SHA-256, which is taken where nothing is given.
    pub const SHA256: Function = Function::Hash(HashFunction::Lanes(Algorithm::Sha256));

    /// Returns what equal values prove.
    pub fn strength(self) -> Strength {
        match self {
            Function::Hash(HashFunction::Lanes(Algorithm::Md5 | Algorithm::Sha1)) => Strength::Collidable,
            Function::Hash(HashFunction::Crc32 | HashFunction::Crc32c | HashFunction::Crc) => Strength::Weak,
            Function::Hash(HashFunction::Crc64Nvme | HashFunction::Xxh3 | HashFunction::Xxh128)
            | Function::XxHash64 => Strength::Accidental,
            Function::Hash(HashFunction::Lanes(_) | HashFunction::Blake3) => Strength::Cryptographic,
            Function::Hash(HashFunction::Blake2b(length)) => match length.bytes() {
                32.. => Strength::Cryptographic,
                16..32 => Strength::Collidable,
                8..16 => Strength::Accidental,
                4..8 => Strength::Weak,
                _ => Strength::None,
            },
            // Sums, and what may come.
            Function::Hash(_) => Strength::None,
        }
    }

    /// The order in which functions are preferred: the strongest, and of two the one with more bits.
    pub(crate) fn rank(self) -> (Strength, usize) {
        (self.strength(), self.digest_bytes())
    }

    /// Returns the number of bytes in a value.
    pub fn digest_bytes(self) -> usize {
        match self {
            Function::Hash(function) => function.digest_bytes(),
            Function::XxHash64 => 8,
        }
    }

    /// Returns S3's algorithm that this is, if S3 has it.
    pub fn checksum_algorithm(self) -> Option<ChecksumAlgorithm> {
        ChecksumAlgorithm::ALL.into_iter().find(|algorithm| Function::from(*algorithm) == self)
    }
}

impl From<ChecksumAlgorithm> for Function {
    fn from(algorithm: ChecksumAlgorithm) -> Self {
        Function::Hash(match algorithm {
            ChecksumAlgorithm::Crc32 => HashFunction::Crc32,
            ChecksumAlgorithm::Crc32c => HashFunction::Crc32c,
            ChecksumAlgorithm::Crc64Nvme => HashFunction::Crc64Nvme,
            ChecksumAlgorithm::Sha1 => Algorithm::Sha1.into(),
            ChecksumAlgorithm::Sha256 => Algorithm::Sha256.into(),
            ChecksumAlgorithm::Sha512 => Algorithm::Sha512.into(),
            ChecksumAlgorithm::Md5 => Algorithm::Md5.into(),
            ChecksumAlgorithm::XxHash64 => return Function::XxHash64,
            ChecksumAlgorithm::XxHash3 => HashFunction::Xxh3,
            ChecksumAlgorithm::XxHash128 => HashFunction::Xxh128,
        })
    }
}

impl From<HashFunction> for Function {
    fn from(function: HashFunction) -> Self {
        Function::Hash(function)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Function::Hash(function) => function.fmt(f),
            Function::XxHash64 => f.pad("xxh64"),
        }
    }
}

/// The value of a checksum.
pub(crate) fn value(checksum: &Checksum) -> Digest {
    // Checksums are no longer than digests.
    Digest::from_bytes(checksum.as_bytes()).unwrap_or_default()
}

/// What an object in one part has instead of the value of its bytes: that of the value.
pub(super) fn of_one_part(algorithm: ChecksumAlgorithm, whole: &Digest) -> Digest {
    value(&checksum::digest(algorithm, whole.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_checksums_are_the_same() {
        for algorithm in ChecksumAlgorithm::ALL {
            let function = Function::from(algorithm);
            assert_eq!(function.checksum_algorithm(), Some(algorithm));
            assert_eq!(function.digest_bytes(), algorithm.digest_bytes());
            assert_ne!(function.strength(), Strength::None);
            if let Function::Hash(HashFunction::Lanes(lanes)) = function {
                let digest = manyhash::digest(lanes, "abc");
                assert_eq!(digest, value(&checksum::digest(algorithm, b"abc")), "{algorithm}");
            }
        }
        assert_eq!(Function::from(HashFunction::Blake3).checksum_algorithm(), None);
    }

    #[test]
    fn the_strongest_first() {
        let mut functions = ["bsd", "crc32", "crc64nvme", "xxh128", "md5", "sha1", "sha256", "sha512"]
            .map(|name| Function::Hash(name.parse().expect("a name")))
            .to_vec();
        let due = functions.clone();
        functions.reverse();
        functions.sort_by_key(|function| function.rank());
        assert_eq!(functions, due);
        let blake2b = |bits: usize| Function::Hash(format!("blake2b-{bits}").parse().expect("a name"));
        assert_eq!(
            [8, 32, 64, 128, 256].map(|bits| blake2b(bits).strength()),
            [Strength::None, Strength::Weak, Strength::Accidental, Strength::Collidable, Strength::Cryptographic]
        );
    }
}
