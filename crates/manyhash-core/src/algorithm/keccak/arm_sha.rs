//! Keccak by ARMv8's instructions for SHA-3, which are for lanes: each does what theta, rho and chi do to two words.

#![allow(
    unknown_lints,
    inline_always_mismatching_target_features,
    reason = "what calls the intrinsics is itself inlined into functions that have their features"
)]

use super::Keccak;
use crate::algorithm::arm_sha::ArmSha3;
use crate::kernel::KernelSet;
use crate::tier::neon::{Operations, Q, distance};
use crate::tier::{Backend, both, entries};
use crate::word::Word;
use core::arch::aarch64::*;
use core::arch::asm;

/// Adds the kernels, where the CPU has their instructions.
pub(in crate::algorithm) fn add_kernels<const RATE: usize, const FIRST: u8>(
    backend: Backend,
    set: &mut KernelSet<Keccak<RATE, FIRST>>,
) {
    if let Some(proof) = ArmSha3::of(backend) {
        set.add_both(both::<Vectors, _, Q<u64, ArmSha3>>("arm-sha", proof));
    }
}

entries!(#[target_feature(enable = "neon,sha3")] Vectors having ArmSha3: ArmSha3 = ArmSha3::assume());

// SAFETY, for the instructions below: the caller's CPU, as `ArmSha3` proves it.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
impl Operations for ArmSha3 {
    const ROTATES_SUMS: bool = true;

    #[inline(always)]
    unsafe fn xor3(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        unsafe { veor3q_u64(a, b, c) }
    }

    #[inline(always)]
    unsafe fn xor_and_not(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        unsafe { vbcaxq_u64(a, c, b) }
    }

    #[inline(always)]
    unsafe fn xor_rotate<W: Word, const N: i32, const LEFT: bool>(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        const { assert!(W::BYTES == 8, "the instruction is for words of 64 bits") };
        let rotated;
        // The intrinsic's distance would have to be a parameter of this function.
        unsafe {
            asm!("xar {0:v}.2d, {1:v}.2d, {2:v}.2d, #{n}", lateout(vreg) rotated, in(vreg) a, in(vreg) b,
                n = const distance::<W>(N, LEFT), options(pure, nomem, nostack, preserves_flags));
        }
        rotated
    }
}
