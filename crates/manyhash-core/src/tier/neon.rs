//! NEON: 128-bit registers, 4 lanes of 32 bits or 2 of 64. Part of every 64-bit Arm CPU that runs an operating system.

use super::portable::{self, One, Portable};
use super::{Entries, Tier, both, entries, kernel};
use crate::kernel::KernelSet;
use crate::vector::pair::Pair;
use crate::vector::parts::{Parts, rows, words};
use crate::vector::{Compress, Vector};
use crate::word::{Array, Shape, Word};
use core::arch::aarch64::*;
use core::arch::asm;
use core::marker::PhantomData;
use core::mem::transmute;

/// Whether the CPU has every one of these features: at run time where the standard library can tell.
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(feature = "std")]
        let has = true $(&& std::arch::is_aarch64_feature_detected!($feature))*;
        #[cfg(not(feature = "std"))]
        let has = true $(&& cfg!(target_feature = $feature))*;
        has
    }};
}
pub(crate) use has;

/// `by_word!(W; of_32, of_64 => operands)`: an intrinsic for words of either width.
///
/// Reinterpreted without the intrinsics for that, and with conditions that are constants: each call and each branch here is
/// inlined some ten thousand times, which is most of what these kernels take to compile.
macro_rules! by_word {
    ($word:ident; $of_32:ident, $of_64:ident => $($operand:expr),*) => {
        if const { <$word as Word>::BYTES == 4 } {
            transmute::<uint32x4_t, uint64x2_t>($of_32($(transmute::<uint64x2_t, _>($operand)),*))
        } else {
            $of_64($($operand),*)
        }
    };
}

/// `shift!(W, x, count)`: each word shifted, by less than its width: left by a positive count, right by a negative one. Of a
/// constant count the compiler makes the immediate form.
macro_rules! shift {
    ($word:ident, $x:expr, $count:expr) => {
        if const { <$word as Word>::BYTES == 4 } {
            transmute::<uint32x4_t, uint64x2_t>(vshlq_u32(
                transmute::<uint64x2_t, _>($x),
                vdupq_n_s32(const { $count }),
            ))
        } else {
            vshlq_u64($x, vdupq_n_s64(const { $count as i64 }))
        }
    };
}
pub(super) use shift;

/// Proof that the CPU has NEON, and least significant bytes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Neon(());

impl Neon {
    /// # Safety
    /// The CPU has NEON, and keeps least significant bytes first.
    #[inline(always)]
    pub(super) unsafe fn assume() -> Self {
        Neon(())
    }
}

impl Tier for Neon {
    fn detect() -> Option<Self> {
        // SAFETY: as was asked.
        (cfg!(target_endian = "little") && has!("neon")).then(|| unsafe { Neon::assume() })
    }

    fn kernels<F: Compress>(self) -> KernelSet<F> {
        let mut set = KernelSet::default();
        set.add(kernel::<portable::Vectors, F, One<F::Word>>("scalar", Portable));
        add_kernels::<Vectors, F, Neon>(["neon", "neon-x2", "neon-x4"], self, &mut set);
        set
    }
}

/// Adds kernels of one register, of two for words of 32 bits, and of four for short rounds, whose few words leave registers
/// free; by these names.
pub(super) fn add_kernels<E: Entries<Having = P, Proof = P>, F: Compress, P: Operations>(
    [one, two, four]: [&'static str; 3],
    proof: P,
    set: &mut KernelSet<F>,
) {
    set.add_both(both::<E, F, Q<F::Word, P>>(one, proof));
    if const { <F::Word as Word>::BYTES == 4 } {
        set.add_both(both::<E, F, Pair<Q<F::Word, P>>>(two, proof));
    }
    if F::SHORT_ROUNDS {
        set.add_both(both::<E, F, Pair<Pair<Q<F::Word, P>>>>(four, proof));
    }
}

entries!(#[target_feature(enable = "neon")] Vectors having Neon: Neon = Neon::assume());

/// Operations that an extension of NEON may have an instruction for. The defaults are plain NEON.
pub(crate) trait Operations: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// See [`Vector::ROTATES_SUMS`].
    const ROTATES_SUMS: bool = false;

    /// `a ^ b ^ c`.
    ///
    /// # Safety
    /// The CPU has what `Self` proves.
    #[inline(always)]
    unsafe fn xor3(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU.
        unsafe { veorq_u64(a, veorq_u64(b, c)) }
    }

    /// `a ^ (!b & c)`.
    ///
    /// # Safety
    /// The CPU has what `Self` proves.
    #[inline(always)]
    unsafe fn xor_and_not(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU.
        unsafe { veorq_u64(a, vbicq_u64(c, b)) }
    }

    /// `b ^ (a | !c)`.
    ///
    /// # Safety
    /// The CPU has what `Self` proves.
    #[inline(always)]
    unsafe fn or_not_xor(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU.
        unsafe { veorq_u64(b, vornq_u64(a, c)) }
    }

    /// `a ^ b` with each word rotated.
    ///
    /// # Safety
    /// The CPU has what `Self` proves.
    #[inline(always)]
    unsafe fn xor_rotate<W: Word, const N: i32, const LEFT: bool>(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU.
        unsafe { Self::rotate::<W, N, LEFT>(veorq_u64(a, b)) }
    }

    /// Each word rotated: a shift that inserts what the other shift left out. The compiler would add, which takes longer.
    ///
    /// # Safety
    /// The CPU has what `Self` proves.
    #[inline(always)]
    unsafe fn rotate<W: Word, const N: i32, const LEFT: bool>(x: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU.
        unsafe {
            if const { W::BYTES == 4 && distance::<W>(N, LEFT) == 16 } {
                transmute::<uint16x8_t, _>(vrev32q_u16(transmute::<uint64x2_t, _>(x)))
            } else if const { W::BYTES == 4 } {
                let mut rotated = shift!(W, x, 32 - distance::<W>(N, LEFT));
                asm!("sri {0:v}.4s, {1:v}.4s, #{n}", inout(vreg) rotated, in(vreg) x, n = const distance::<W>(N, LEFT),
                    options(pure, nomem, nostack, preserves_flags));
                rotated
            } else {
                let mut rotated = shift!(W, x, 64 - distance::<W>(N, LEFT));
                asm!("sri {0:v}.2d, {1:v}.2d, #{n}", inout(vreg) rotated, in(vreg) x, n = const distance::<W>(N, LEFT),
                    options(pure, nomem, nostack, preserves_flags));
                rotated
            }
        }
    }
}

impl Operations for Neon {}

/// How far a word is rotated towards its least significant bit, where it is rotated by `count` to the left or to the right.
pub(crate) const fn distance<W: Word>(count: i32, left: bool) -> i32 {
    if left { 8 * W::BYTES as i32 - count } else { count }
}

/// 128 bits, with the operations that `P` proves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Q<W, P>(uint64x2_t, PhantomData<(W, P)>);

impl<W: Word, P: Operations> Q<W, P> {
    #[inline(always)]
    fn of(register: uint64x2_t) -> Self {
        Q(register, PhantomData)
    }
}

// SAFETY, for the intrinsics below: a value of this type is only made from a proof, and each proof, of NEON or of an
// extension of it, only where the CPU has the instructions. Every Arm CPU of 64 bits can prefetch.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
impl<W: Word, P: Operations> Vector for Q<W, P> {
    type Word = W;
    type Proof = P;
    const LANES: usize = 16 / W::BYTES;
    const ROTATES_SUMS: bool = P::ROTATES_SUMS;

    #[inline(always)]
    fn splat(_: P, word: W) -> Self {
        Self::of(unsafe {
            if const { W::BYTES == 4 } {
                transmute::<uint32x4_t, _>(vdupq_n_u32(word.to_u64() as u32))
            } else {
                vdupq_n_u64(word.to_u64())
            }
        })
    }
    #[inline(always)]
    unsafe fn load(_: P, from: *const W) -> Self {
        // SAFETY: 16 bytes, which the caller has.
        Self::of(unsafe { transmute::<uint8x16_t, _>(vld1q_u8(from.cast())) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut W) {
        // SAFETY: 16 bytes, which the caller has.
        unsafe { vst1q_u8(to.cast(), transmute::<uint64x2_t, _>(self.0)) }
    }
    #[inline(always)]
    unsafe fn load_block<B: Shape>(
        proof: P,
        messages: *const &[u8],
        at: usize,
        bytes: usize,
        rest: &Array<B, W>,
    ) -> Array<B, Self> {
        // SAFETY: the caller's messages are readable from `at` for so many bytes.
        unsafe { words::<Self, B>(proof, messages, at, bytes, rest) }
    }
    #[inline(always)]
    unsafe fn store_rows(state: &[Self; 8], words: usize, to: *mut u8, apart: usize) {
        // SAFETY: the caller's rows.
        unsafe { rows(state, words, to, apart) }
    }
    #[inline(always)]
    fn prefetch(line: *const u8) {
        unsafe { asm!("prfm pldl1keep, [{0}]", in(reg) line, options(readonly, nostack, preserves_flags)) }
    }
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Self::of(unsafe {
            let bytes = transmute::<uint64x2_t, uint8x16_t>(self.0);
            transmute::<uint8x16_t, _>(if const { W::BYTES == 4 } { vrev32q_u8(bytes) } else { vrev64q_u8(bytes) })
        })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::of(unsafe { by_word!(W; vaddq_u32, vaddq_u64 => self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self::of(unsafe { veorq_u64(self.0, other.0) })
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self::of(unsafe { vandq_u64(self.0, other.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self::of(unsafe { vorrq_u64(self.0, other.0) })
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Self::of(unsafe { vbicq_u64(other.0, self.0) })
    }
    #[inline(always)]
    fn not(self) -> Self {
        Self::of(unsafe { transmute::<uint32x4_t, _>(vmvnq_u32(transmute::<uint64x2_t, _>(self.0))) })
    }
    #[inline(always)]
    fn rotate_left<const N: i32>(self) -> Self {
        Self::of(unsafe { P::rotate::<W, N, true>(self.0) })
    }
    #[inline(always)]
    fn rotate_right<const N: i32>(self) -> Self {
        Self::of(unsafe { P::rotate::<W, N, false>(self.0) })
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        Self::of(unsafe { shift!(W, self.0, -N) })
    }
    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        // Of BSL, BIT and BIF, BIT: it overwrites `b`, the oldest. The compiler would copy the mask, which is often what was
        // waited for.
        let mut chosen = b.0;
        unsafe {
            asm!("bit {0:v}.16b, {1:v}.16b, {2:v}.16b", inout(vreg) chosen, in(vreg) a.0, in(vreg) self.0,
                options(pure, nomem, nostack, preserves_flags));
        }
        Self::of(chosen)
    }
    #[inline(always)]
    fn majority(self, a: Self, b: Self, differ: &mut Self) -> Self {
        // Where two differ the third decides.
        let before = core::mem::replace(differ, self.xor(a));
        let _ = b;
        before.choose(self, a)
    }
    #[inline(always)]
    fn choose_into(self, other: Self, mask: Self, sum: Self) -> Self {
        sum.add(mask.choose(self, other))
    }
    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        Self::of(unsafe { P::xor3(self.0, a.0, b.0) })
    }
    #[inline(always)]
    fn xor_rotate_left<const N: i32>(self, other: Self) -> Self {
        Self::of(unsafe { P::xor_rotate::<W, N, true>(self.0, other.0) })
    }
    #[inline(always)]
    fn xor_and_not(self, a: Self, b: Self) -> Self {
        Self::of(unsafe { P::xor_and_not(self.0, a.0, b.0) })
    }
    #[inline(always)]
    fn or_not_xor(self, a: Self, b: Self) -> Self {
        Self::of(unsafe { P::or_not_xor(self.0, a.0, b.0) })
    }
    #[inline(always)]
    fn pin(mut self) -> Self {
        // No instruction, no memory, no flags: the assembler sees nothing, the compiler a value that it cannot know before.
        unsafe { asm!("/* {0:v} */", inout(vreg) self.0, options(pure, nomem, nostack, preserves_flags)) };
        self
    }
}

#[allow(clippy::undocumented_unsafe_blocks, reason = "as above, and the proof at hand")]
impl<W: Word, P: Operations> Parts for Q<W, P> {
    #[inline(always)]
    unsafe fn load_parts(_: P, messages: *const &[u8], at: usize) -> Self {
        // SAFETY: the first of the caller's messages is readable for 16 bytes from `at`.
        Self::of(unsafe { transmute::<uint8x16_t, _>(vld1q_u8((*messages).as_ptr().add(at))) })
    }
    #[inline(always)]
    unsafe fn store_parts(self, to: *mut u8, _apart: usize) {
        // SAFETY: the caller's bytes.
        unsafe { vst1q_u8(to, transmute::<uint64x2_t, _>(self.0)) }
    }
    #[inline(always)]
    fn unpack_low_32(self, other: Self) -> Self {
        Self::of(unsafe {
            transmute::<uint32x4_t, _>(vzip1q_u32(
                transmute::<uint64x2_t, _>(self.0),
                transmute::<uint64x2_t, _>(other.0),
            ))
        })
    }
    #[inline(always)]
    fn unpack_high_32(self, other: Self) -> Self {
        Self::of(unsafe {
            transmute::<uint32x4_t, _>(vzip2q_u32(
                transmute::<uint64x2_t, _>(self.0),
                transmute::<uint64x2_t, _>(other.0),
            ))
        })
    }
    #[inline(always)]
    fn unpack_low_64(self, other: Self) -> Self {
        Self::of(unsafe { vzip1q_u64(self.0, other.0) })
    }
    #[inline(always)]
    fn unpack_high_64(self, other: Self) -> Self {
        Self::of(unsafe { vzip2q_u64(self.0, other.0) })
    }
}
