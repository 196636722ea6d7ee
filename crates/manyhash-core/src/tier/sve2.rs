//! SVE2, whose registers contain NEON's: the same vectors, of 128 bits, but a rotation is one instruction.

use super::neon::{Neon, Operations, add_kernels, distance, has, shift};
use super::{Tier, entries};
use crate::kernel::KernelSet;
use crate::vector::Compress;
use crate::word::Word;
use core::arch::aarch64::*;
use core::arch::asm;
use core::mem::transmute;

/// Proof that the CPU has SVE2, and least significant bytes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sve2(());

impl Sve2 {
    /// # Safety
    /// The CPU has SVE2, keeps least significant bytes first, and the operating system saves its registers.
    #[inline(always)]
    unsafe fn assume() -> Self {
        Sve2(())
    }

    fn neon(self) -> Neon {
        // SAFETY: it is part of SVE2, and was asked for.
        unsafe { Neon::assume() }
    }
}

impl Tier for Sve2 {
    fn detect() -> Option<Self> {
        // SAFETY: as was asked.
        (cfg!(target_endian = "little") && has!("neon", "sve2")).then(|| unsafe { Sve2::assume() })
    }

    /// Those of NEON too: where there are few rotations, or one pipe for them, they can be the faster ones.
    fn kernels<F: Compress>(self) -> KernelSet<F> {
        let mut set = self.neon().kernels();
        add_kernels::<Vectors, F, Sve2>(["sve2", "sve2-x2", "sve2-x4"], self, &mut set);
        set
    }
}

entries!(#[target_feature(enable = "neon,sve2")] Vectors having Sve2: Sve2 = Sve2::assume());

impl Operations for Sve2 {
    const ROTATES_SUMS: bool = true;

    // Kept apart, since the compiler would make one EOR3 or BCAX of both operations. On some CPUs only one pipe runs these,
    // and XAR already keeps that pipe busy.
    #[inline(always)]
    unsafe fn xor3(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU, which has NEON too.
        unsafe { veorq_u64(a, opaque(veorq_u64(b, c))) }
    }
    #[inline(always)]
    unsafe fn xor_and_not(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU, which has NEON too.
        unsafe { veorq_u64(a, opaque(vbicq_u64(c, b))) }
    }

    /// `!b ^ (c & !a)`, of which the compiler makes a BCAX: one operation after what is ready last.
    #[inline(always)]
    unsafe fn or_not_xor(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU, which has NEON too.
        unsafe {
            let inverse = transmute::<uint32x4_t, uint64x2_t>(vmvnq_u32(transmute::<uint64x2_t, _>(b)));
            veorq_u64(opaque(inverse), vbicq_u64(c, a))
        }
    }

    /// Of two shifts and an `or` the compiler makes one XAR, SVE2's exclusive or and rotation.
    #[inline(always)]
    unsafe fn rotate<W: Word, const N: i32, const LEFT: bool>(x: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller's CPU, which has NEON too.
        unsafe {
            if const { W::BYTES == 4 && distance::<W>(N, LEFT) == 16 } {
                return Neon::rotate::<W, N, LEFT>(x);
            }
            let left = shift!(W, x, 8 * W::BYTES as i32 - distance::<W>(N, LEFT));
            vorrq_u64(left, shift!(W, x, -distance::<W>(N, LEFT)))
        }
    }
}

/// The same value, where the compiler cannot see how it came to be.
#[inline(always)]
fn opaque(mut x: uint64x2_t) -> uint64x2_t {
    // SAFETY: no instruction, no memory, no flags.
    unsafe { asm!("/* {0:v} */", inout(vreg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}
