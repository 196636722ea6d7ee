//! AVX-512 (F, BW, VL): 512-bit registers, 16 lanes of 32 bits or 8 of 64; and its instructions on 256-bit registers,
//! for fewer lanes, and on the first lane of a 128-bit one, where any boolean function of three words and any rotation
//! is one instruction: a shorter chain for one message than general registers have.

use super::avx2;
use super::portable::One;
use super::x86::{Bmi, BmiProof, Scalar, has, parts, pin, register};
use super::{Backend, Chosen, Tier, both, entries, kernel, staged};
use crate::kernel::KernelSet;
use crate::vector::feed::Stage;
use crate::vector::pair::Pair;
use crate::vector::{Compress, parts};
use crate::word::Word;
use core::arch::x86_64::*;

/// Proof that the CPU has AVX-512 F, BW and VL, BMI1, BMI2 and MOVBE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The CPU has AVX-512 F, BW and VL, BMI1, BMI2 and MOVBE, and the operating system saves its registers.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Avx512(())
    }

    /// Where the backend is this tier.
    pub(crate) fn of(backend: Backend) -> Option<Self> {
        match backend.0 {
            Chosen::Avx512(proof) => Some(proof),
            _ => None,
        }
    }
}

impl Tier for Avx512 {
    fn detect() -> Option<Self> {
        // SAFETY: as was asked.
        has!("avx512f", "avx512bw", "avx512vl", "avx2", "bmi1", "bmi2", "movbe").then(|| unsafe { Avx512::assume() })
    }

    fn kernels<F: Compress>(self) -> KernelSet<F> {
        let mut set = KernelSet::default();
        set.add(kernel::<Scalar, F, One<F::Word>>("scalar", BmiProof::from(self)));
        set.add(kernel::<Vectors, F, Lane<F::Word>>("avx512-lane", self));
        set.add(kernel::<Vectors, F, Half<F::Word>>("avx512-half", self));
        set.add_both(both::<Vectors, F, Zmm<F::Word>>("avx512", self));
        if F::SHORT_ROUNDS {
            set.add_both(both::<Vectors, F, Pair<Zmm<F::Word>>>("avx512-x2", self));
            set.add(staged::<Staging, F, Pair<Zmm<F::Word>>>("avx512-x2-staged", self));
            set.add_both(both::<Vectors, F, Pair<Pair<Zmm<F::Word>>>>("avx512-x4", self));
        } else if F::STAGED {
            set.add(staged::<Staging, F, Zmm<F::Word>>("avx512-staged", self));
        }
        set
    }
}

entries!(#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")] Vectors having Avx512: Avx512 = Avx512::assume());
entries!(#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,movbe")] Staging having Avx512: Avx512 = Avx512::assume());

// SAFETY: see `assume`.
unsafe impl Bmi for Avx512 {}

register! {
    /// 512 bits.
    Zmm: 0, in __m512i, proof Avx512,
    splat: (_mm512_set1_epi32, _mm512_set1_epi64), load: _mm512_loadu_si512, store: _mm512_storeu_si512,
    add: (_mm512_add_epi32, _mm512_add_epi64), xor: _mm512_xor_si512, and: _mm512_and_si512, or: _mm512_or_si512,
    and_not: _mm512_andnot_si512,
    shifts: (_mm512_sll_epi32, _mm512_srl_epi32, _mm512_sll_epi64, _mm512_srl_epi64),
    rotate: native(_mm512_rol_epi32, _mm512_ror_epi32, _mm512_rol_epi64, _mm512_ror_epi64),
    ternary: _mm512_ternarylogic_epi64, swap: (swap_bytes_32, swap_bytes_64), blocks: parts,
    pad: pad_line, pin: pin_512,
}
parts!(Zmm: load_parts, store_parts, _mm512_unpacklo_epi32, _mm512_unpackhi_epi32, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64);

register! {
    /// 256 bits.
    Half: 0, in __m256i, proof Avx512,
    splat: (_mm256_set1_epi32, _mm256_set1_epi64x), load: _mm256_loadu_si256, store: _mm256_storeu_si256,
    add: (_mm256_add_epi32, _mm256_add_epi64), xor: _mm256_xor_si256, and: _mm256_and_si256, or: _mm256_or_si256,
    and_not: _mm256_andnot_si256,
    shifts: (_mm256_sll_epi32, _mm256_srl_epi32, _mm256_sll_epi64, _mm256_srl_epi64),
    rotate: native(_mm256_rol_epi32, _mm256_ror_epi32, _mm256_rol_epi64, _mm256_ror_epi64),
    ternary: _mm256_ternarylogic_epi64, swap: (swap_bytes_32_256, swap_bytes_64_256), blocks: parts,
    pad: pad_line, pin: pin_256,
}
parts!(Half: load_parts_256, store_parts_256, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64);

register! {
    /// The first lane of 128 bits.
    Lane: 1, in __m128i, proof Avx512,
    splat: (_mm_set1_epi32, _mm_set1_epi64x), load: (_mm_loadu_si32, _mm_loadu_si64),
    store: (_mm_storeu_si32, _mm_storeu_si64),
    add: (_mm_add_epi32, _mm_add_epi64), xor: _mm_xor_si128, and: _mm_and_si128, or: _mm_or_si128,
    and_not: _mm_andnot_si128,
    shifts: (_mm_sll_epi32, _mm_srl_epi32, _mm_sll_epi64, _mm_srl_epi64),
    rotate: native(_mm_rol_epi32, _mm_ror_epi32, _mm_rol_epi64, _mm_ror_epi64),
    ternary: _mm_ternarylogic_epi64, swap: (swap_bytes_32_128, swap_bytes_64_128), blocks: one,
    pad: pad_line, pin: pin_128,
}

impl<W: Word> Stage for Zmm<W> {
    #[inline(always)]
    fn slot(lane: usize) -> usize {
        parts::slot::<Self>(lane)
    }

    #[inline(always)]
    unsafe fn load_pairs(_: Avx512, from: *const W) -> (Self, Self) {
        // SAFETY: the caller's words fill two registers; the proof is that of the intrinsics.
        unsafe {
            let (a, b) = (_mm512_loadu_si512(from.cast()), _mm512_loadu_si512(from.add(64 / W::BYTES).cast()));
            if W::BYTES == 4 {
                (Self::of(even_32(a, b)), Self::of(odd_32(a, b)))
            } else {
                (Self::of(_mm512_unpacklo_epi64(a, b)), Self::of(_mm512_unpackhi_epi64(a, b)))
            }
        }
    }

    #[inline(always)]
    unsafe fn shuffle_pairs(
        proof: Avx512,
        messages: *const &[u8],
        at: usize,
        pairs: usize,
        rows: *mut W,
        stride: usize,
    ) {
        // SAFETY: the caller's messages and rows.
        unsafe { parts::shuffle_pairs::<Self>(proof, messages, at, pairs, rows, stride) }
    }
}

use avx2::{
    load_parts as load_parts_256, store_parts as store_parts_256, swap_bytes_32 as swap_bytes_32_256,
    swap_bytes_64 as swap_bytes_64_256,
};

pin!(pin_512, __m512i, zmm_reg, "avx512f");
pin!(pin_256, __m256i, ymm_reg, "avx512f,avx512vl");

pin!(pin_128, __m128i, xmm_reg, "avx512f,avx512vl");

/// # Safety
/// The CPU has AVX-512; messages 0, `apart`, `2 * apart` and `3 * apart` are readable for 16 bytes from `at`.
#[inline(always)]
unsafe fn load_parts(messages: *const &[u8], apart: usize, at: usize) -> __m512i {
    // SAFETY: the caller's bytes and its AVX-512.
    unsafe {
        let part = |i: usize| _mm_loadu_si128((*messages.add(i * apart)).as_ptr().add(at).cast());
        let x = _mm512_castsi128_si512(part(0));
        let x = _mm512_inserti32x4::<1>(x, part(1));
        let x = _mm512_inserti32x4::<2>(x, part(2));
        _mm512_inserti32x4::<3>(x, part(3))
    }
}

/// # Safety
/// The CPU has AVX-512; `to` and what is one, two and three times `apart` bytes behind it are writable for 16 bytes.
#[inline(always)]
unsafe fn store_parts(x: __m512i, to: *mut u8, apart: usize) {
    // SAFETY: the caller's bytes and its AVX-512.
    unsafe {
        _mm_storeu_si128(to.cast(), _mm512_castsi512_si128(x));
        _mm_storeu_si128(to.add(apart).cast(), _mm512_extracti32x4_epi32::<1>(x));
        _mm_storeu_si128(to.add(2 * apart).cast(), _mm512_extracti32x4_epi32::<2>(x));
        _mm_storeu_si128(to.add(3 * apart).cast(), _mm512_extracti32x4_epi32::<3>(x));
    }
}

/// The number of each byte.
static BYTES: [i8; 64] = {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = i as i8;
        i += 1;
    }
    bytes
};

/// As [`Vector::pad`](crate::vector::Vector::pad) has it: one load under a mask, which reads nothing behind the message.
///
/// # Safety
/// The CPU has AVX-512; the rest is the trait's.
#[inline(always)]
unsafe fn pad_line(from: *const u8, left: i8, then: u8, line: *mut u8) {
    // SAFETY: the caller's CPU; the mask of the load has no bit for a byte that is not left, and the line is the caller's.
    unsafe {
        let numbers = _mm512_loadu_si512(BYTES.as_ptr().cast());
        let left = _mm512_set1_epi8(left);
        let bytes = _mm512_maskz_loadu_epi8(_mm512_cmplt_epi8_mask(numbers, left), from.cast());
        let end = _mm512_cmpeq_epi8_mask(numbers, left);
        _mm512_storeu_si512(line.cast(), _mm512_mask_mov_epi8(bytes, end, _mm512_set1_epi8(then.cast_signed())));
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn even_32(a: __m512i, b: __m512i) -> __m512i {
    _mm512_castps_si512(_mm512_shuffle_ps::<0b10_00_10_00>(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn odd_32(a: __m512i, b: __m512i) -> __m512i {
    _mm512_castps_si512(_mm512_shuffle_ps::<0b11_01_11_01>(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn swap_bytes_32(x: __m512i) -> __m512i {
    let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn swap_bytes_64(x: __m512i) -> __m512i {
    let order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order))
}

#[inline]
#[target_feature(enable = "avx512vl")]
fn swap_bytes_32_128(x: __m128i) -> __m128i {
    _mm_shuffle_epi8(x, _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3))
}

#[inline]
#[target_feature(enable = "avx512vl")]
fn swap_bytes_64_128(x: __m128i) -> __m128i {
    _mm_shuffle_epi8(x, _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
}
