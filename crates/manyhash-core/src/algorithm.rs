//! Algorithms: compression functions written once over a trait for vectors, and what turns them into the
//! digests that the standards name.
//!
//! A *family* is a compression function; an *algorithm* is a family with its initial state and the length of its
//! digest. SHA-224 and SHA-256 are two algorithms of one family, and could share a group of lanes.

mod md5;
pub(crate) mod padding;
mod sha1;
mod sha2;
mod sha256;
pub(crate) mod sha512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_sha;

pub use md5::Md5;
pub use sha1::Sha1;
pub use sha256::Sha256;
pub use sha512::Sha512;

pub(crate) use md5::T as MD5_T;
pub(crate) use sha1::K as SHA1_K;
pub(crate) use sha256::K as SHA256_K;
pub(crate) use sha512::K as SHA512_K;

use crate::backend::{Backend, Registers};
use crate::kernel::KernelSet;
use crate::short::ShortKernelSet;
use crate::simd::feed::Feed;
use crate::simd::{BLOCK_WORDS, PART, Vector, Word};

/// A state as bytes, whose first [`Algorithm::digest_bytes`] are the digest.
///
/// Aligned, so that none of its vectors lies in two cache lines: such a one cannot be read back before it has left the core.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct StateBytes(pub [u8; MAX_DIGEST_BYTES]);

impl core::ops::Deref for StateBytes {
    type Target = [u8; MAX_DIGEST_BYTES];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Bytes in the longest block of any family, SHA-512's.
pub const MAX_BLOCK_BYTES: usize = 128;

/// Bytes in the longest digest of any algorithm, SHA-512's.
pub const MAX_DIGEST_BYTES: usize = 64;

/// The running hash of one message: [`Family::STATE_WORDS`] words, the rest unused.
pub type State<F> = [<F as Family>::Word; 8];

/// A compression function.
pub trait Family: sealed::Sealed + Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The word that it computes with.
    type Word: Word;
    /// Words of state.
    const STATE_WORDS: usize;
    /// Whether the bytes of words and lengths stand most significant first.
    const BIG_ENDIAN: bool;
    /// Bytes in a block: 16 words.
    const BLOCK_BYTES: usize = BLOCK_WORDS * Self::Word::BYTES;
    /// Bytes of the message's length, in bits, that end its last block: 2 words.
    const LENGTH_BYTES: usize = 2 * Self::Word::BYTES;

    /// The kernels that `backend` has for it.
    fn kernels(backend: Backend) -> KernelSet<Self>;

    /// The kernels that `backend` has for whole short messages of it.
    fn short_kernels(backend: Backend) -> ShortKernelSet<Self>;

    /// The blocks that the end of a message, of so many bytes, is padded to: the 1 bit and the length find room in the
    /// last of them.
    #[inline]
    fn final_blocks(end: usize) -> usize {
        (end + 1 + Self::LENGTH_BYTES).div_ceil(Self::BLOCK_BYTES)
    }

    /// Writes the last blocks of a message to the first bytes of `padded`, and returns their number.
    ///
    /// `end` is what follows some whole blocks of the message, `length` the whole message's length in bytes. RFC 1321,
    /// 3.1 and 3.2; FIPS 180-4, 5.1: a 1 bit, zeros, and the length in bits.
    ///
    /// # Panics
    /// If the blocks do not fit. Those of an end that is shorter than a block always do.
    #[inline]
    fn pad(end: &[u8], length: u128, padded: &mut [u8; 2 * MAX_BLOCK_BYTES]) -> usize {
        let blocks = Self::final_blocks(end.len());
        let padded = &mut padded[..blocks * Self::BLOCK_BYTES];
        let parts = padding::parts::<Self>(end, length);
        padded.as_chunks_mut::<PART>().0.iter_mut().zip(parts).for_each(|(padded, part)| *padded = part);
        blocks
    }

    /// The state as bytes, whose first [`Algorithm::digest_bytes`] are the digest.
    #[inline]
    fn digest(state: &State<Self>) -> StateBytes {
        let mut digest = StateBytes([0; MAX_DIGEST_BYTES]);
        // The words that a family has not are 0. All eight, so that it takes a few vectors.
        for (i, word) in state.iter().enumerate() {
            word.write(Self::BIG_ENDIAN, &mut digest.0[i * Self::Word::BYTES..(i + 1) * Self::Word::BYTES]);
        }
        digest
    }
}

/// A family's compression function for any vector.
pub(crate) trait Compress: Family<Word: Registers> {
    /// Whether a round has so little to do that one register's lanes leave ports idle, so that several groups of lanes
    /// are interleaved.
    const SHORT_ROUNDS: bool = false;

    /// Advances each lane's state by its block; meanwhile feeds the blocks to come.
    fn compress<V: Vector<Word = Self::Word>>(
        proof: V::Proof,
        state: &mut [V; 8],
        block: [V; BLOCK_WORDS],
        feed: impl Feed,
    );
}

mod sealed {
    pub trait Sealed {}
}

/// A hash algorithm by its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Algorithm {
    /// MD5, RFC 1321. Broken for signatures; fixed in S3's ETag and many manifests.
    Md5,
    /// SHA-1, FIPS 180-4. Broken for signatures; fixed in Git and BitTorrent.
    Sha1,
    /// SHA-224, FIPS 180-4.
    Sha224,
    /// SHA-256, FIPS 180-4.
    Sha256,
    /// SHA-384, FIPS 180-4.
    Sha384,
    /// SHA-512, FIPS 180-4.
    Sha512,
    /// SHA-512/256, FIPS 180-4.
    Sha512_256,
}

/// An algorithm's family, with the state that a message starts from.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// MD5's family.
    Md5(&'static State<Md5>),
    /// SHA-1's family.
    Sha1(&'static State<Sha1>),
    /// The family of SHA-224 and SHA-256.
    Sha256(&'static State<Sha256>),
    /// The family of SHA-384, SHA-512 and SHA-512/256.
    Sha512(&'static State<Sha512>),
}

impl Algorithm {
    /// Every algorithm, in the order of their standards.
    pub const ALL: [Algorithm; 7] =
        [Self::Md5, Self::Sha1, Self::Sha224, Self::Sha256, Self::Sha384, Self::Sha512, Self::Sha512_256];

    /// The name, as coreutils and OpenSSL spell it: `sha256`, `sha512-256`.
    pub const fn name(self) -> &'static str {
        self.spellings()[0]
    }

    /// What it is called: its name first, then the standard's and OpenSSL 3's.
    const fn spellings(self) -> &'static [&'static str] {
        match self {
            Self::Md5 => &["md5", "md-5"],
            Self::Sha1 => &["sha1", "sha-1"],
            Self::Sha224 => &["sha224", "sha-224", "sha2-224"],
            Self::Sha256 => &["sha256", "sha-256", "sha2-256"],
            Self::Sha384 => &["sha384", "sha-384", "sha2-384"],
            Self::Sha512 => &["sha512", "sha-512", "sha2-512"],
            Self::Sha512_256 => &[
                "sha512-256",
                "sha512/256",
                "sha512_256",
                "sha-512-256",
                "sha-512/256",
                "sha2-512-256",
                "sha2-512/256",
            ],
        }
    }

    /// Bytes in a digest.
    pub const fn digest_bytes(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 | Self::Sha512_256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// Bytes in a block.
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::Md5 | Self::Sha1 | Self::Sha224 | Self::Sha256 => 64,
            Self::Sha384 | Self::Sha512 | Self::Sha512_256 => 128,
        }
    }

    /// The family and the initial state.
    pub const fn start(self) -> Start {
        match self {
            Self::Md5 => Start::Md5(&md5::INITIAL),
            Self::Sha1 => Start::Sha1(&sha1::INITIAL),
            Self::Sha224 => Start::Sha256(&sha256::INITIAL_224),
            Self::Sha256 => Start::Sha256(&sha256::INITIAL_256),
            Self::Sha384 => Start::Sha512(&sha512::INITIAL_384),
            Self::Sha512 => Start::Sha512(&sha512::INITIAL_512),
            Self::Sha512_256 => Start::Sha512(&sha512::INITIAL_512_256),
        }
    }
}

impl core::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no [`Algorithm`]'s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownAlgorithmError;

impl core::fmt::Display for UnknownAlgorithmError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("unknown algorithm; expected one of")?;
        for (i, algorithm) in Algorithm::ALL.into_iter().enumerate() {
            write!(f, "{} {algorithm}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownAlgorithmError {}

impl core::str::FromStr for Algorithm {
    type Err = UnknownAlgorithmError;

    /// Takes the spellings in use, in upper or lower case: `sha256`, `SHA-256`, `SHA2-256`, `sha512/256`.
    fn from_str(name: &str) -> Result<Self, UnknownAlgorithmError> {
        let spelled =
            |algorithm: &Algorithm| algorithm.spellings().iter().any(|known| known.eq_ignore_ascii_case(name));
        Self::ALL.into_iter().find(spelled).ok_or(UnknownAlgorithmError)
    }
}
