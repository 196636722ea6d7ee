//! Families: the words, states, blocks and padding of compression functions.

use crate::padding::{self, PART, Padding};
use crate::word::{Array, Shape, Word};

/// Number of bytes in the longest block of any family, that of SHA3-224.
pub const MAX_BLOCK_BYTES: usize = 144;

/// Number of bytes in the longest digest of any algorithm, that of SHA-512.
pub const MAX_DIGEST_BYTES: usize = 64;

/// Room for the last blocks of any message: two blocks, in whole parts of 16 bytes.
pub type PaddedBlocks = [u8; 2 * MAX_BLOCK_BYTES];

/// The running hash of one message.
pub type State<F> = Array<<F as Family>::State, <F as Family>::Word>;

/// A compression function.
///
/// An *algorithm* is a family with an initial state and a length of the digest. SHA-224 and SHA-256 are two algorithms
/// of one family, and can share a group of lanes.
pub trait Family: sealed::Sealed + Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The word that the function computes with.
    type Word: Word;
    /// The words of a state, possibly followed by words that stay 0.
    type State: Shape;
    /// The words of a block.
    type Block: Shape;
    /// Number of words of state, without those that stay 0.
    const STATE_WORDS: usize = Self::State::COUNT;
    /// Whether words and lengths are stored most significant byte first.
    const BIG_ENDIAN: bool;
    /// The padding that follows a message.
    const PADDING: Padding;
    /// Number of bytes in a block.
    const BLOCK_BYTES: usize = Self::Block::COUNT * Self::Word::BYTES;
    /// The minimum number of bytes that padding adds to a message.
    const PADDING_BYTES: usize = Self::PADDING.least_bytes(Self::Word::BYTES);

    /// Returns the number of blocks after padding the last `end` bytes of a message.
    #[inline]
    fn final_blocks(end: usize) -> usize {
        (end + Self::PADDING_BYTES).div_ceil(Self::BLOCK_BYTES)
    }

    /// Writes the last blocks of a message to the first bytes of `padded`, and returns the number of blocks. Zeros fill
    /// up to a multiple of 16 bytes.
    ///
    /// `end` is the part of the message after some of its whole blocks. `length` is the length of the whole message in
    /// bytes.
    ///
    /// # Panics
    /// Panics if the blocks do not fit. They always fit if `end` is shorter than a block.
    #[inline]
    fn pad(end: &[u8], length: u128, padded: &mut PaddedBlocks) -> usize {
        let blocks = Self::final_blocks(end.len());
        let padded = &mut padded[..(blocks * Self::BLOCK_BYTES).next_multiple_of(PART)];
        let parts = padding::parts::<Self>(end, length);
        padded.as_chunks_mut::<PART>().0.iter_mut().zip(parts).for_each(|(padded, part)| *padded = part);
        blocks
    }

    /// Returns a state of zeros.
    #[inline]
    fn zero() -> State<Self> {
        Self::State::filled(Self::Word::default())
    }

    /// Returns the state as bytes. The digest is the first bytes, as many as the algorithm's digest has.
    #[inline]
    fn digest(state: &State<Self>) -> StateBytes {
        let mut digest = StateBytes([0; MAX_DIGEST_BYTES]);
        // Also the words that stay 0, so that it takes a few vectors.
        let bytes = digest.0.chunks_exact_mut(Self::Word::BYTES);
        bytes.zip(state.as_ref()).for_each(|(bytes, word)| word.write(Self::BIG_ENDIAN, bytes));
        digest
    }
}

/// The first bytes of a state, at most 64. They start with the digest.
///
/// Aligned, so that none of its vectors spans two cache lines: such a vector cannot be read back before it has left the
/// core.
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

pub(crate) mod sealed {
    pub trait Sealed {}
}
