//! SSE2: 128-bit registers, 4 lanes of 32 bits or 2 of 64. Part of every x86-64 CPU.

use super::portable::{self, One, Portable};
use super::x86::{parts, pin, register};
use super::{Tier, both, entries, kernel};
use crate::kernel::KernelSet;
use crate::vector::Compress;
use crate::vector::pair::Pair;
use core::arch::x86_64::*;

/// x86-64 always has SSE2, so its proof can be had anywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sse2;

impl Tier for Sse2 {
    fn detect() -> Option<Self> {
        Some(Sse2)
    }

    fn kernels<F: Compress>(self) -> KernelSet<F> {
        let mut set = KernelSet::default();
        set.add(kernel::<portable::Vectors, F, One<F::Word>>("scalar", Portable));
        set.add_both(both::<Vectors, F, Xmm<F::Word>>("sse2", self));
        if F::SHORT_ROUNDS {
            set.add_both(both::<Vectors, F, Pair<Xmm<F::Word>>>("sse2-x2", self));
        }
        set
    }
}

entries!(Vectors having Sse2: Sse2 = Sse2);

register! {
    /// 128 bits.
    Xmm: 0, in __m128i, proof Sse2,
    splat: (_mm_set1_epi32, _mm_set1_epi64x), load: _mm_loadu_si128, store: _mm_storeu_si128,
    add: (_mm_add_epi32, _mm_add_epi64), xor: _mm_xor_si128, and: _mm_and_si128, or: _mm_or_si128,
    and_not: _mm_andnot_si128,
    shifts: (_mm_sll_epi32, _mm_srl_epi32, _mm_sll_epi64, _mm_srl_epi64), rotate: shifts,
    ternary: none, swap: (swap_bytes_32, swap_bytes_64), blocks: parts,
    pin: pin_128,
}
parts!(Xmm: load_part, store_part, _mm_unpacklo_epi32, _mm_unpackhi_epi32, _mm_unpacklo_epi64, _mm_unpackhi_epi64);

pin!(pin_128, __m128i, xmm_reg, "sse2");

/// # Safety
/// The first message is readable for 16 bytes from `at`.
#[inline(always)]
unsafe fn load_part(messages: *const &[u8], _apart: usize, at: usize) -> __m128i {
    // SAFETY: the caller's bytes.
    unsafe { _mm_loadu_si128((*messages).as_ptr().add(at).cast()) }
}

/// # Safety
/// `to` is writable for 16 bytes.
#[inline(always)]
unsafe fn store_part(x: __m128i, to: *mut u8, _apart: usize) {
    // SAFETY: the caller's bytes.
    unsafe { _mm_storeu_si128(to.cast(), x) }
}

/// Without a byte shuffle (that is SSSE3): swaps the bytes of each 16-bit word.
#[inline]
#[target_feature(enable = "sse2")]
fn swap_bytes_16(x: __m128i) -> __m128i {
    _mm_or_si128(_mm_slli_epi16::<8>(x), _mm_srli_epi16::<8>(x))
}

#[inline]
#[target_feature(enable = "sse2")]
fn swap_bytes_32(x: __m128i) -> __m128i {
    _mm_shufflehi_epi16::<0b10_11_00_01>(_mm_shufflelo_epi16::<0b10_11_00_01>(swap_bytes_16(x)))
}

#[inline]
#[target_feature(enable = "sse2")]
fn swap_bytes_64(x: __m128i) -> __m128i {
    _mm_shufflehi_epi16::<0b00_01_10_11>(_mm_shufflelo_epi16::<0b00_01_10_11>(swap_bytes_16(x)))
}
