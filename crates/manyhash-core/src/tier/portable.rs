//! Plain Rust for any target: one lane in a machine word, and four in an array that the compiler may vectorise with
//! whatever the target always has.

use super::{Tier, both, entries};
use crate::kernel::KernelSet;
use crate::vector::parts::words_one;
use crate::vector::{Compress, Vector};
use crate::word::{Array, Shape, Word};

/// Plain Rust needs no feature, so its proof can be had anywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Portable;

impl Tier for Portable {
    fn detect() -> Option<Self> {
        Some(Portable)
    }

    fn kernels<F: Compress>(self) -> KernelSet<F> {
        let mut set = KernelSet::default();
        set.add_both(both::<Vectors, F, One<F::Word>>("portable", self));
        // Where every CPU has better lanes they are there to be tested.
        #[cfg(any(debug_assertions, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
        set.add_both(both::<Vectors, F, Four<F::Word>>("portable-array", self));
        set
    }
}

entries!(pub(super) Vectors having Portable: Portable = Portable);

/// One lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct One<W>(W);

impl<W: Word> Vector for One<W> {
    type Word = W;
    type Proof = Portable;
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(_: Portable, word: W) -> Self {
        One(word)
    }
    #[inline(always)]
    unsafe fn load(_: Portable, from: *const W) -> Self {
        // SAFETY: the caller's one word. Bytes of messages stand least significant first.
        One(unsafe { from.read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut W) {
        // SAFETY: the caller's one word.
        unsafe { to.write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn load_block<B: Shape>(
        proof: Portable,
        messages: *const &[u8],
        at: usize,
        bytes: usize,
        rest: &Array<B, W>,
    ) -> Array<B, Self> {
        // SAFETY: the caller's message.
        let mut words = unsafe { words_one::<Self, B>(proof, messages, at, bytes, rest) };
        if cfg!(target_endian = "big") {
            // What was loaded is in the machine's order, what was made up is not.
            words.as_mut().iter_mut().take(bytes / W::BYTES).for_each(|word| *word = word.swap_bytes());
        }
        words
    }
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        One(self.0.swap_bytes())
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        One(self.0.wrapping_add(other.0))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        One(self.0 ^ other.0)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        One(self.0 & other.0)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        One(self.0 | other.0)
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        One(!self.0 & other.0)
    }
    #[inline(always)]
    fn not(self) -> Self {
        One(!self.0)
    }
    #[inline(always)]
    fn rotate_left<const N: i32>(self) -> Self {
        One(self.0.rotate_left(N as u32))
    }
    #[inline(always)]
    fn rotate_right<const N: i32>(self) -> Self {
        One(self.0.rotate_left(8 * W::BYTES as u32 - N as u32))
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        One(self.0 >> N as u32)
    }
    #[inline(always)]
    fn pin(self) -> Self {
        One(self.0.pin())
    }
}

/// Four lanes in an array.
#[cfg(any(debug_assertions, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub(crate) struct Four<W>([W; 4]);

#[cfg(any(debug_assertions, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
impl<W: Word> Four<W> {
    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(W, W) -> W) -> Self {
        Four(core::array::from_fn(|i| operation(self.0[i], other.0[i])))
    }
}

#[cfg(any(debug_assertions, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
impl<W: Word> Vector for Four<W> {
    type Word = W;
    type Proof = Portable;
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(_: Portable, word: W) -> Self {
        Four([word; 4])
    }
    #[inline(always)]
    unsafe fn load(_: Portable, from: *const W) -> Self {
        // SAFETY: the caller's four words.
        Four(unsafe { from.cast::<[W; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut W) {
        // SAFETY: the caller's four words.
        unsafe { to.cast::<[W; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn load_block<B: Shape>(
        proof: Portable,
        messages: *const &[u8],
        at: usize,
        bytes: usize,
        rest: &Array<B, W>,
    ) -> Array<B, Self> {
        let lanes: [Array<B, One<W>>; 4] = core::array::from_fn(|lane| {
            // SAFETY: `lane` is below the caller's four messages, each readable at `at`.
            unsafe { One::load_block::<B>(proof, messages.add(lane), at, bytes, rest) }
        });
        let mut words = B::filled(Four([W::default(); 4]));
        for (i, word) in words.as_mut().iter_mut().enumerate() {
            *word = Four(core::array::from_fn(|lane| lanes[lane].as_ref()[i].0));
        }
        words
    }
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Four(self.0.map(W::swap_bytes))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, W::wrapping_add)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.zip(other, |a, b| !a & b)
    }
    #[inline(always)]
    fn not(self) -> Self {
        Four(self.0.map(|word| !word))
    }
    #[inline(always)]
    fn rotate_left<const N: i32>(self) -> Self {
        Four(self.0.map(|word| word.rotate_left(N as u32)))
    }
    #[inline(always)]
    fn rotate_right<const N: i32>(self) -> Self {
        Four(self.0.map(|word| word.rotate_left(8 * W::BYTES as u32 - N as u32)))
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        Four(self.0.map(|word| word >> N as u32))
    }
}
