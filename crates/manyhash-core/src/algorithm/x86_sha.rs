//! The x86 SHA extensions, which SHA-1 and SHA-256 have instructions in.
//!
//! The kernels enable no AVX: compiled with it, or run while upper register halves are in use, this code mixes
//! legacy-SSE and VEX instructions, and some CPUs then take a hundred times as long.

use super::dedicated::{Dedicated, Part, dedicated_kernels};
use crate::kernel::KernelSet;
use crate::tier::Backend;
use crate::tier::x86::has;
use crate::word::Word;
use core::arch::x86_64::*;

/// Proof that the CPU has the SHA extensions, SSSE3 and SSE4.1.
#[derive(Clone, Copy)]
pub(crate) struct X86Sha(());

impl X86Sha {
    /// # Safety
    /// The CPU has the SHA extensions, SSSE3 and SSE4.1.
    #[inline(always)]
    unsafe fn assume() -> Self {
        X86Sha(())
    }

    /// The SHA extensions belong to no tier: CPUs without AVX have them, and CPUs with AVX-512 lack them.
    fn of(backend: Backend) -> Option<Self> {
        // SAFETY: as was asked.
        (!backend.is_portable() && has!("sha", "ssse3", "sse4.1")).then(|| unsafe { X86Sha::assume() })
    }
}

/// Adds the family's kernels, where the CPU has their instructions.
pub(super) fn add_kernels<F: Dedicated<Part = __m128i>>(backend: Backend, set: &mut KernelSet<F>) {
    if let Some(proof) = X86Sha::of(backend) {
        set.add_both(kernels::<F, 1>("sha-ni", proof));
        set.add_both(kernels::<F, 2>("sha-ni-x2", proof));
    }
}

dedicated_kernels!(
    #[target_feature(enable = "sha,sse4.1,ssse3")]
    X86Sha,
    __m128i
);

// SAFETY, for the intrinsics below: every x86-64 CPU has SSE2, and the `X86Sha` at hand proves the shuffles of SSSE3.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
impl Part for __m128i {
    type Proof = X86Sha;

    #[inline(always)]
    fn zero(_: X86Sha) -> Self {
        unsafe { _mm_setzero_si128() }
    }
    #[inline(always)]
    unsafe fn load(_: X86Sha, from: *const u8) -> Self {
        // SAFETY: the caller's bytes.
        unsafe { _mm_loadu_si128(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's bytes.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }
    #[inline(always)]
    fn of_32(_: X86Sha, [a, b, c, d]: [u32; 4]) -> Self {
        unsafe { _mm_set_epi32(d.cast_signed(), c.cast_signed(), b.cast_signed(), a.cast_signed()) }
    }
    #[inline(always)]
    fn of_64(_: X86Sha, [low, high]: [u64; 2]) -> Self {
        unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
    }
    #[inline(always)]
    fn swap_bytes<W: Word>(self, _: X86Sha) -> Self {
        const { assert!(W::BYTES == 4, "the extensions' words are of 32 bits") };
        unsafe { _mm_shuffle_epi8(self, _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)) }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        unsafe { _mm_and_si128(self, other) }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        unsafe { _mm_or_si128(self, other) }
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        unsafe { _mm_xor_si128(self, other) }
    }
    #[inline(always)]
    fn bytes(self, _: X86Sha, numbers: Self) -> Self {
        unsafe { _mm_shuffle_epi8(self, numbers) }
    }
}
