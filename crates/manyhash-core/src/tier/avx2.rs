//! AVX2: 256-bit registers, 8 lanes of 32 bits or 4 of 64.

use super::portable::One;
use super::x86::{Bmi, BmiProof, Scalar, has, parts, pin, register};
use super::{Backend, Chosen, Tier, both, entries, kernel};
use crate::kernel::KernelSet;
use crate::vector::Compress;
use crate::vector::pair::Pair;
use core::arch::x86_64::*;

/// Proof that the CPU has AVX2, BMI1 and BMI2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The CPU has AVX2, BMI1 and BMI2, and the operating system saves its registers.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Avx2(())
    }

    /// Where the backend is this tier.
    pub(crate) fn of(backend: Backend) -> Option<Self> {
        match backend.0 {
            Chosen::Avx2(proof) => Some(proof),
            _ => None,
        }
    }
}

impl Tier for Avx2 {
    fn detect() -> Option<Self> {
        // SAFETY: as was asked.
        has!("avx2", "bmi1", "bmi2").then(|| unsafe { Avx2::assume() })
    }

    fn kernels<F: Compress>(self) -> KernelSet<F> {
        let mut set = KernelSet::default();
        set.add(kernel::<Scalar, F, One<F::Word>>("scalar", BmiProof::from(self)));
        set.add_both(both::<Vectors, F, Ymm<F::Word>>("avx2", self));
        if F::SHORT_ROUNDS {
            set.add_both(both::<Vectors, F, Pair<Ymm<F::Word>>>("avx2-x2", self));
        }
        set
    }
}

entries!(#[target_feature(enable = "avx2,bmi1,bmi2")] Vectors having Avx2: Avx2 = Avx2::assume());

// SAFETY: see `assume`.
unsafe impl Bmi for Avx2 {}

register! {
    /// 256 bits.
    Ymm: 0, in __m256i, proof Avx2,
    splat: (_mm256_set1_epi32, _mm256_set1_epi64x), load: _mm256_loadu_si256, store: _mm256_storeu_si256,
    add: (_mm256_add_epi32, _mm256_add_epi64), xor: _mm256_xor_si256, and: _mm256_and_si256, or: _mm256_or_si256,
    and_not: _mm256_andnot_si256,
    shifts: (_mm256_sll_epi32, _mm256_srl_epi32, _mm256_sll_epi64, _mm256_srl_epi64), rotate: shifts,
    ternary: none, swap: (swap_bytes_32, swap_bytes_64), blocks: parts,
    pad: pad_line, pin: pin_256,
}
parts!(Ymm: load_parts, store_parts, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64);

pin!(pin_256, __m256i, ymm_reg, "avx2");

/// # Safety
/// The CPU has AVX2; messages 0 and `apart` are readable for 16 bytes from `at`.
#[inline(always)]
pub(super) unsafe fn load_parts(messages: *const &[u8], apart: usize, at: usize) -> __m256i {
    // SAFETY: the caller's bytes and its AVX2.
    unsafe {
        let part = |i: usize| _mm_loadu_si128((*messages.add(i * apart)).as_ptr().add(at).cast());
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(part(0)), part(1))
    }
}

/// # Safety
/// The CPU has AVX2; `to` and what is `apart` bytes behind it are writable for 16 bytes.
#[inline(always)]
pub(super) unsafe fn store_parts(x: __m256i, to: *mut u8, apart: usize) {
    // SAFETY: the caller's bytes and its AVX2.
    unsafe {
        _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(x));
        _mm_storeu_si128(to.add(apart).cast(), _mm256_extracti128_si256::<1>(x));
    }
}

/// [`Vector::pad`](crate::vector::Vector::pad) without a branch for each length: whole words are loaded under a mask, and the word that the message
/// ends in is put in their midst.
///
/// # Safety
/// The CPU has AVX2; the rest is the trait's.
#[inline(always)]
unsafe fn pad_line(from: *const u8, left: i8, then: u8, line: *mut u8) {
    let bytes = left.max(0) as usize;
    let (whole, rest) = (bytes / 4, bytes % 4);
    // SAFETY: the caller's bytes.
    let rest_of_word = unsafe {
        if bytes >= 4 {
            let last = from.add(bytes - 4).cast::<u32>().read_unaligned();
            (u64::from(last) >> (32 - 8 * rest)) as u32
        } else {
            (0..rest).rfold(0, |word, i| word << 8 | u32::from(*from.add(i)))
        }
    };
    let then = if left < 0 { 0 } else { u32::from(then) << (8 * rest) };
    // SAFETY: the caller's CPU; the masks have no bit for a word that is not left, and the line is the caller's.
    unsafe {
        let (at, last) = (_mm256_set1_epi32(whole as i32), _mm256_set1_epi32((rest_of_word | then).cast_signed()));
        for half in 0..2 {
            let numbers = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(8 * half));
            let from = from.wrapping_add(32 * half as usize).cast();
            let words = _mm256_maskload_epi32(from, _mm256_cmpgt_epi32(at, numbers));
            let last = _mm256_and_si256(_mm256_cmpeq_epi32(at, numbers), last);
            _mm256_storeu_si256(line.add(32 * half as usize).cast(), _mm256_or_si256(words, last));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_bytes_32(x: __m256i) -> __m256i {
    let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_bytes_64(x: __m256i) -> __m256i {
    let order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order))
}
