//! The vector trait: what an algorithm may ask of one ISA's registers.
//!
//! A vector is a row of words of equal width, one *lane* each, and a lane belongs to one message. An algorithm is
//! written once over [`Vector`]; each file of [`crate::tier`] gives the operations of one ISA, about a line each, and knows no
//! algorithm. What no ISA owns stands beside this file: [two vectors as one](pair), [turning rows into columns](parts), and
//! [how blocks reach the rounds](feed).
//!
//! **Why the operations are safe to call.** A vector can only be made from a [`Vector::Proof`], a zero-size value
//! whose private constructor demands that the CPU has the feature. So whoever holds a vector holds the proof, and an
//! operation on vectors can never reach an instruction that the CPU lacks.
//!
//! **Why everything is `inline(always)`.** The operations are compiled into the `#[target_feature]` entry that calls
//! them (see [`crate::tier`]); standing alone they would be compiled for the baseline CPU.

pub(crate) mod feed;
pub(crate) mod pair;
pub(crate) mod parts;

use crate::family::Family;
use crate::kernel::MAX_LANES;
use crate::padding::PART;
use crate::word::{Array, Item, Shape, Word};
use feed::Feed;

/// A family's compression function for any vector.
pub(crate) trait Compress: Family {
    /// Whether a round has so little to do that one register's lanes leave ports idle, so that several groups of lanes
    /// are interleaved.
    const SHORT_ROUNDS: bool = false;

    /// Whether blocks may be [staged](feed). The compiler makes no kernels behind such a constant that is false.
    const STAGED: bool = false;

    /// Advances each lane's state by its block; meanwhile feeds the blocks to come.
    fn compress<V: Vector<Word = Self::Word>>(
        proof: V::Proof,
        state: &mut Array<Self::State, V>,
        block: Array<Self::Block, V>,
        feed: impl Feed,
    );
}

/// Bytes that are padded at a time.
pub(crate) const LINE: usize = 64;

/// Writes bytes of a padded message to a line of zeros: these, and the byte `then` behind them if they are its `end`.
fn pad(bytes: &[u8], end: bool, then: u8, line: &mut [u8; LINE]) {
    let (whole, rest) = bytes.as_chunks::<16>();
    for (to, from) in line.as_chunks_mut::<16>().0.iter_mut().zip(whole) {
        *to = *from;
    }
    for (to, from) in line[bytes.len() - rest.len()..].iter_mut().zip(rest) {
        *to = *from;
    }
    if end && bytes.len() < LINE {
        line[bytes.len()] = then;
    }
}

/// A row of lanes in one register, or in a few used as one.
pub(crate) trait Vector: Item {
    /// The word in each lane.
    type Word: Word;
    /// Proof that the CPU has the instructions of this vector.
    type Proof: Copy;
    /// Lanes side by side.
    const LANES: usize;
    /// Whether [`xor_rotate_left`](Self::xor_rotate_left) is one instruction.
    const ROTATES_SUMS: bool = false;

    /// The same word in every lane.
    fn splat(proof: Self::Proof, word: Self::Word) -> Self;

    /// One word for each lane.
    ///
    /// # Safety
    /// `from` is readable for `LANES` words. It need not be aligned.
    unsafe fn load(proof: Self::Proof, from: *const Self::Word) -> Self;

    /// # Safety
    /// `to` is writable for `LANES` words. It need not be aligned.
    unsafe fn store(self, to: *mut Self::Word);

    /// The block that starts `at` bytes into each lane's message, transposed: word `i` of the result holds word `i`
    /// of every lane's block, its bytes least significant first. Behind the first `bytes`, a multiple of
    /// [`PART`] or the whole block, every lane has the words of `rest`.
    ///
    /// # Safety
    /// `messages` points to `LANES` slices, each readable from `at` for `bytes`, which are no more than a block.
    unsafe fn load_block<B: Shape>(
        proof: Self::Proof,
        messages: *const &[u8],
        at: usize,
        bytes: usize,
        rest: &Array<B, Self::Word>,
    ) -> Array<B, Self>;

    /// Writes the next line of a padded message of which `left` bytes are left: as many of them as it has room for, the
    /// byte `then` behind the last, and zeros. Of -1 bytes, zeros: that byte is written.
    ///
    /// # Safety
    /// `left` is at most 64, and `from` readable for so many bytes; `line` is writable for 64.
    #[inline(always)]
    unsafe fn pad(_proof: Self::Proof, from: *const u8, left: i8, then: u8, line: *mut u8) {
        let bytes = if left > 0 {
            // SAFETY: the caller's bytes.
            unsafe { core::slice::from_raw_parts(from, left as usize) }
        } else {
            &[]
        };
        // SAFETY: the caller's line, which has bytes in it from then on.
        let line = unsafe {
            line.cast::<[u8; LINE]>().write([0; LINE]);
            &mut *line.cast()
        };
        pad(bytes, left >= 0, then, line);
    }

    /// Writes each lane's first `words` words, least significant byte first, to the beginning of a row of its own, so many
    /// bytes `apart`; something is written behind them, up to a multiple of [`PART`].
    ///
    /// # Safety
    /// `words` is at most 8, and each row is writable for their bytes, rounded up to a multiple of [`PART`].
    #[inline(always)]
    unsafe fn store_rows(state: &[Self; 8], words: usize, rows: *mut u8, apart: usize) {
        let mut lanes = [Self::Word::default(); MAX_LANES];
        for (i, state) in state.iter().enumerate().take(words.next_multiple_of(PART / Self::Word::BYTES)) {
            // SAFETY: no vector has more lanes.
            unsafe { state.store(lanes.as_mut_ptr()) };
            for (lane, word) in lanes.iter().enumerate().take(Self::LANES) {
                let mut bytes = [0; size_of::<u64>()];
                word.write(false, &mut bytes[..Self::Word::BYTES]);
                // SAFETY: a row of each lane, with room for each word, which nobody has written to yet.
                unsafe {
                    let row = rows.add(lane * apart + i * Self::Word::BYTES);
                    row.copy_from_nonoverlapping(bytes.as_ptr(), Self::Word::BYTES);
                }
            }
        }
    }

    /// Asks for a cache line, which need not exist.
    #[inline(always)]
    fn prefetch(_line: *const u8) {}

    /// Each word with its bytes in the other order.
    fn swap_bytes(self) -> Self;

    /// Sum modulo the word's width.
    fn add(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// `!self & other`, in the order of x86's `andn`.
    fn and_not(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn rotate_left<const N: i32>(self) -> Self;
    fn rotate_right<const N: i32>(self) -> Self;
    fn shift_right<const N: i32>(self) -> Self;

    /// Bits of `a` where `self` is 1, of `b` where it is 0: FIPS 180-4's Ch, RFC 1321's F.
    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        b.xor(self.and(a.xor(b)))
    }

    /// The bit that at least two of `self`, `a` and `b` have: FIPS 180-4's Maj. `differ` is `a ^ b`, and `self ^ a`
    /// afterwards: `differ` of the next round, in which the words move on by one.
    #[inline(always)]
    fn majority(self, a: Self, _b: Self, differ: &mut Self) -> Self {
        let before = core::mem::replace(differ, self.xor(a));
        a.xor(before.and(*differ))
    }

    /// `sum + mask.choose(self, other)`, where `self` is ready last: RFC 1321's G in its step.
    #[inline(always)]
    fn choose_into(self, other: Self, mask: Self, sum: Self) -> Self {
        // The halves have no bit in common, so that they can be added apart, the late one last.
        sum.add(mask.and_not(other)).pin().add(self.and(mask))
    }

    /// `self ^ a ^ b`, where `self` is ready last.
    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        self.xor(a.xor(b))
    }

    /// `self ^ other`, rotated.
    #[inline(always)]
    fn xor_rotate_left<const N: i32>(self, other: Self) -> Self {
        self.xor(other).rotate_left::<N>()
    }

    /// `self ^ (!a & b)`: FIPS 202's chi.
    #[inline(always)]
    fn xor_and_not(self, a: Self, b: Self) -> Self {
        self.xor(a.and_not(b))
    }

    /// `a ^ (self | !b)`: RFC 1321's I.
    #[inline(always)]
    fn or_not_xor(self, a: Self, b: Self) -> Self {
        a.xor(self.or(b.not()))
    }

    /// The same value, computed here and not later: the compiler may not re-associate a sum across it. Left to itself it adds a round's constant last, on the critical path.
    #[inline(always)]
    fn pin(self) -> Self {
        self
    }
}
