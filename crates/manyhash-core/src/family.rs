//! Families: compression functions as far as everybody has to know them, the shapes of what they compute with, and padding.

use crate::padding::{self, PART, Padding};
use crate::word::{Array, Shape, Word};

/// Bytes in the longest block of any family, SHA3-224's.
pub const MAX_BLOCK_BYTES: usize = 144;

/// Bytes in the longest digest of any algorithm, SHA-512's.
pub const MAX_DIGEST_BYTES: usize = 64;

/// Room for the last blocks of any message: two of them, in whole parts of 16 bytes.
pub type PaddedBlocks = [u8; 2 * MAX_BLOCK_BYTES];

/// The running hash of one message.
pub type State<F> = Array<<F as Family>::State, <F as Family>::Word>;

/// A compression function.
///
/// An *algorithm* is a family with its initial state and the length of its digest. SHA-224 and SHA-256 are two algorithms
/// of one family, and could share a group of lanes.
pub trait Family: sealed::Sealed + Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The word that it computes with.
    type Word: Word;
    /// Words of state, and perhaps some that stay 0 behind them.
    type State: Shape;
    /// Words of a block.
    type Block: Shape;
    /// Words of state that count.
    const STATE_WORDS: usize = Self::State::COUNT;
    /// Whether the bytes of words and lengths stand most significant first.
    const BIG_ENDIAN: bool;
    /// What follows a message.
    const PADDING: Padding;
    /// Bytes in a block.
    const BLOCK_BYTES: usize = Self::Block::COUNT * Self::Word::BYTES;
    /// The least bytes that padding adds to a message.
    const PADDING_BYTES: usize = Self::PADDING.least_bytes(Self::Word::BYTES);

    /// The blocks that the end of a message, of so many bytes, is padded to.
    #[inline]
    fn final_blocks(end: usize) -> usize {
        (end + Self::PADDING_BYTES).div_ceil(Self::BLOCK_BYTES)
    }

    /// Writes the last blocks of a message to the first bytes of `padded`, and returns their number. Up to a multiple of 16,
    /// zeros stand behind them.
    ///
    /// `end` is what follows some whole blocks of the message, `length` the whole message's length in bytes.
    ///
    /// # Panics
    /// If the blocks do not fit. Those of an end that is shorter than a block always do.
    #[inline]
    fn pad(end: &[u8], length: u128, padded: &mut PaddedBlocks) -> usize {
        let blocks = Self::final_blocks(end.len());
        let padded = &mut padded[..(blocks * Self::BLOCK_BYTES).next_multiple_of(PART)];
        let parts = padding::parts::<Self>(end, length);
        padded.as_chunks_mut::<PART>().0.iter_mut().zip(parts).for_each(|(padded, part)| *padded = part);
        blocks
    }

    /// A state of zeros.
    #[inline]
    fn zero() -> State<Self> {
        Self::State::filled(Self::Word::default())
    }

    /// The state as bytes, whose first are the digest: as many as the algorithm's digest has.
    #[inline]
    fn digest(state: &State<Self>) -> StateBytes {
        let mut digest = StateBytes([0; MAX_DIGEST_BYTES]);
        // Those too that the family has not and are 0, so that it takes a few vectors.
        let bytes = digest.0.chunks_exact_mut(Self::Word::BYTES);
        bytes.zip(state.as_ref()).for_each(|(bytes, word)| word.write(Self::BIG_ENDIAN, bytes));
        digest
    }
}

/// A state as bytes, at most the first 64, of which the first are the digest.
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

pub(crate) mod sealed {
    pub trait Sealed {}
}
