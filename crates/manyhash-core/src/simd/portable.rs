//! Plain Rust for any target: one lane in a machine word, and four in an array that the compiler may vectorise with
//! whatever the target always has.

use super::{BLOCK_WORDS, Vector};

/// Plain Rust needs no feature, so its proof can be had anywhere.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// `N` lanes in an array.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(crate) struct Array<W, const N: usize>([W; N]);

macro_rules! portable {
    ($word:ident, $register:literal) => {
        impl Vector for $word {
            type Word = $word;
            type Proof = Portable;
            const LANES: usize = 1;

            #[inline(always)]
            fn splat(_: Portable, word: $word) -> Self {
                word
            }
            #[inline(always)]
            unsafe fn load(_: Portable, from: *const $word) -> Self {
                // SAFETY: the caller's one word.
                unsafe { from.read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: the caller's one word.
                unsafe { to.write_unaligned(self) }
            }
            #[inline(always)]
            unsafe fn load_block(
                _: Portable,
                messages: *const &[u8],
                at: usize,
                bytes: usize,
                rest: &[$word; BLOCK_WORDS],
            ) -> [Self; BLOCK_WORDS] {
                const BYTES: usize = size_of::<$word>();
                // SAFETY: the caller's one message is readable from `at` for so many bytes.
                let block = unsafe {
                    let message: &[u8] = *messages;
                    if bytes == 0 { &[] } else { message.get_unchecked(at..at + bytes) }
                };
                let mut words = *rest;
                for (word, bytes) in words.iter_mut().zip(block.as_chunks::<BYTES>().0) {
                    *word = $word::from_le_bytes(*bytes);
                }
                words
            }
            #[inline(always)]
            fn swap_bytes(self) -> Self {
                $word::swap_bytes(self)
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                !self & other
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
            #[inline(always)]
            fn rotate_left<const N: i32>(self) -> Self {
                $word::rotate_left(self, N as u32)
            }
            #[inline(always)]
            fn rotate_right<const N: i32>(self) -> Self {
                $word::rotate_right(self, N as u32)
            }
            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                self >> N
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn pin(mut self) -> Self {
                // SAFETY: no instruction, no memory, no flags.
                unsafe {
                    core::arch::asm!($register, inout(reg) self, options(nomem, nostack, preserves_flags));
                }
                self
            }
        }

        impl<const N: usize> Vector for Array<$word, N> {
            type Word = $word;
            type Proof = Portable;
            const LANES: usize = N;

            #[inline(always)]
            fn splat(_: Portable, word: $word) -> Self {
                Array([word; N])
            }
            #[inline(always)]
            unsafe fn load(_: Portable, from: *const $word) -> Self {
                // SAFETY: the caller's `N` words.
                Array(unsafe { from.cast::<[$word; N]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: the caller's `N` words.
                unsafe { to.cast::<[$word; N]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            unsafe fn load_block(
                proof: Portable,
                messages: *const &[u8],
                at: usize,
                bytes: usize,
                rest: &[$word; BLOCK_WORDS],
            ) -> [Self; BLOCK_WORDS] {
                let lanes: [[$word; BLOCK_WORDS]; N] = core::array::from_fn(|lane| {
                    // SAFETY: `lane` is below the caller's `N` messages, each readable at `at`.
                    unsafe { $word::load_block(proof, messages.add(lane), at, bytes, rest) }
                });
                core::array::from_fn(|i| Array(core::array::from_fn(|lane| lanes[lane][i])))
            }
            #[inline(always)]
            fn swap_bytes(self) -> Self {
                Array(self.0.map($word::swap_bytes))
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Array(core::array::from_fn(|i| self.0[i].wrapping_add(other.0[i])))
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                Array(core::array::from_fn(|i| self.0[i] ^ other.0[i]))
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                Array(core::array::from_fn(|i| self.0[i] & other.0[i]))
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                Array(core::array::from_fn(|i| self.0[i] | other.0[i]))
            }
            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                Array(core::array::from_fn(|i| !self.0[i] & other.0[i]))
            }
            #[inline(always)]
            fn not(self) -> Self {
                Array(self.0.map(|word| !word))
            }
            #[inline(always)]
            fn rotate_left<const R: i32>(self) -> Self {
                Array(self.0.map(|word| word.rotate_left(R as u32)))
            }
            #[inline(always)]
            fn rotate_right<const R: i32>(self) -> Self {
                Array(self.0.map(|word| word.rotate_right(R as u32)))
            }
            #[inline(always)]
            fn shift_right<const R: i32>(self) -> Self {
                Array(self.0.map(|word| word >> R))
            }
        }
    };
}

portable!(u32, "/* {0:e} */");
portable!(u64, "/* {0:r} */");
