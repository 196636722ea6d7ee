//! The vector trait: what an algorithm may ask of one ISA's registers.
//!
//! A vector is a row of words of equal width, one *lane* each, and a lane belongs to one message. An algorithm is
//! written once over [`Vector`]; each file beside this one gives the operations of one ISA, about a line each, and
//! knows no algorithm.
//!
//! **Why the operations are safe to call.** A vector can only be made from a [`Vector::Proof`], a zero-size value
//! whose private constructor demands that the CPU has the feature. So whoever holds a vector holds the proof, and an
//! operation on vectors can never reach an instruction that the CPU lacks.
//!
//! **Why everything is `inline(always)`.** The operations are compiled into the `#[target_feature]` entry that calls
//! them (see [`crate::backend`]); standing alone they would be compiled for the baseline CPU.

pub(crate) mod feed;
pub(crate) mod pair;
pub(crate) mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sse2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use crate::kernel::MAX_LANES;

/// Words in a block of any algorithm here: 16 of 32 bits (64 bytes) or 16 of 64 bits (128 bytes).
pub(crate) const BLOCK_WORDS: usize = 16;

/// A word of a hash state: `u32` or `u64`.
pub trait Word:
    Copy + Default + PartialEq + From<u32> + core::fmt::Debug + Send + Sync + sealed::Sealed + 'static
{
    /// Bytes in a word.
    const BYTES: usize = size_of::<Self>();

    /// Writes the word to its [`BYTES`](Self::BYTES) bytes, most significant first where `big_endian` is set.
    ///
    /// # Panics
    /// If `bytes` has another length.
    fn write(self, big_endian: bool, bytes: &mut [u8]);

    /// Reads the word that [`write`](Self::write) writes.
    ///
    /// # Panics
    /// If `bytes` are not [`BYTES`](Self::BYTES).
    fn read(big_endian: bool, bytes: &[u8]) -> Self;

    /// The word with its bytes in the other order.
    fn swap_bytes(self) -> Self;
}

macro_rules! word {
    ($($word:ident)*) => {
        $(
            impl sealed::Sealed for $word {}

            impl Word for $word {
                #[inline]
                fn write(self, big_endian: bool, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&if big_endian { self.to_be_bytes() } else { self.to_le_bytes() });
                }
                #[inline]
                fn read(big_endian: bool, bytes: &[u8]) -> Self {
                    let bytes = bytes.try_into().expect("as many bytes as a word has");
                    if big_endian { $word::from_be_bytes(bytes) } else { $word::from_le_bytes(bytes) }
                }
                #[inline(always)]
                fn swap_bytes(self) -> Self {
                    $word::swap_bytes(self)
                }
            }
        )*
    };
}

word!(u32 u64);

mod sealed {
    pub trait Sealed {}
}

/// Bytes that are padded at a time.
pub(crate) const LINE: usize = 64;

/// Bytes that are loaded and stored at a time, of messages and digests.
pub(crate) const PART: usize = 16;

/// Writes bytes of a padded message to a line of zeros: these, and the bit 1 if they are its `end`.
fn pad(bytes: &[u8], end: bool, line: &mut [u8; LINE]) {
    let (whole, rest) = bytes.as_chunks::<16>();
    for (to, from) in line.as_chunks_mut::<16>().0.iter_mut().zip(whole) {
        *to = *from;
    }
    for (to, from) in line[bytes.len() - rest.len()..].iter_mut().zip(rest) {
        *to = *from;
    }
    if end && bytes.len() < LINE {
        line[bytes.len()] = 0x80;
    }
}

/// A row of lanes in one register, or in a few used as one.
pub(crate) trait Vector: Copy {
    /// The word in each lane.
    type Word: Word;
    /// Proof that the CPU has the instructions of this vector.
    type Proof: Copy;
    /// Lanes side by side.
    const LANES: usize;

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
    /// [`PART`], every lane has the words of `rest`.
    ///
    /// # Safety
    /// `messages` points to `LANES` slices, each readable from `at` for `bytes`, which are no more than 16 words.
    unsafe fn load_block(
        proof: Self::Proof,
        messages: *const &[u8],
        at: usize,
        bytes: usize,
        rest: &[Self::Word; BLOCK_WORDS],
    ) -> [Self; BLOCK_WORDS];

    /// Writes the next line of a padded message of which `left` bytes are left: as many of them as it has room for, the
    /// bit 1 behind the last, and zeros. Of -1 bytes, zeros: the bit is written.
    ///
    /// # Safety
    /// `left` is at most 64, and `from` readable for so many bytes; `line` is writable for 64.
    #[inline(always)]
    unsafe fn pad(_proof: Self::Proof, from: *const u8, left: i8, line: *mut u8) {
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
        pad(bytes, left >= 0, line);
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

    /// `a ^ (self | !b)`: RFC 1321's I.
    #[inline(always)]
    fn or_not_xor(self, a: Self, b: Self) -> Self {
        a.xor(self.or(b.not()))
    }

    /// The same value, computed here and not later: the compiler may not move this point past another pin, nor
    /// re-associate a sum across it. Left to itself it adds a round's constant last, on the critical path.
    #[inline(always)]
    fn pin(self) -> Self {
        self
    }
}
