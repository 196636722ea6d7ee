//! ARMv8's instructions for hashes: those of SHA-1 and SHA-256 (FEAT_SHA1, FEAT_SHA256), and those of SHA-512 and SHA-3
//! (FEAT_SHA512, FEAT_SHA3), which came later.

use super::dedicated::{Dedicated, Part, dedicated_kernels};
use crate::kernel::KernelSet;
use crate::tier::Backend;
use crate::tier::neon::has;
use crate::word::Word;
use core::arch::aarch64::*;

/// A proof that the CPU has some features, and registers that are only made from one.
macro_rules! instructions {
    (
        $(#[$doc:meta])* $proof:ident: $($feature:tt),*;
        $register:ident: $of_bytes:ident, $to_bytes:ident, $of_32:ident, $of_64:ident, $and:ident, $or:ident, $xor:ident
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $proof(());

        impl $proof {
            /// # Safety
            /// The CPU has the features, and keeps least significant bytes first.
            #[inline(always)]
            pub(super) unsafe fn assume() -> Self {
                $proof(())
            }

            /// They belong to no tier: each is optional, with or without SVE2.
            pub(super) fn of(backend: Backend) -> Option<Self> {
                let has = cfg!(target_endian = "little") && has!($($feature),*);
                // SAFETY: as was asked.
                (!backend.is_portable() && has).then(|| unsafe { $proof::assume() })
            }
        }

        // SAFETY, for the intrinsics below: the crate is not compiled for Arm without NEON.
        #[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
        impl Part for $register {
            type Proof = $proof;

            #[inline(always)]
            fn zero(proof: $proof) -> Self {
                Self::of_64(proof, [0; 2])
            }
            #[inline(always)]
            unsafe fn load(_: $proof, from: *const u8) -> Self {
                // SAFETY: the caller's bytes.
                unsafe { $of_bytes(vld1q_u8(from)) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: the caller's bytes.
                unsafe { vst1q_u8(to, $to_bytes(self)) }
            }
            #[inline(always)]
            fn of_32(_: $proof, words: [u32; 4]) -> Self {
                // SAFETY: 16 bytes.
                unsafe { $of_32(vld1q_u32(words.as_ptr())) }
            }
            #[inline(always)]
            fn of_64(_: $proof, [low, high]: [u64; 2]) -> Self {
                unsafe { $of_64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))) }
            }
            #[inline(always)]
            fn swap_bytes<W: Word>(self, _: $proof) -> Self {
                unsafe {
                    let bytes = $to_bytes(self);
                    $of_bytes(if W::BYTES == 4 { vrev32q_u8(bytes) } else { vrev64q_u8(bytes) })
                }
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                unsafe { $and(self, other) }
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                unsafe { $or(self, other) }
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                unsafe { $xor(self, other) }
            }
            #[inline(always)]
            fn bytes(self, _: $proof, numbers: Self) -> Self {
                unsafe { $of_bytes(vqtbl1q_u8($to_bytes(self), $to_bytes(numbers))) }
            }
        }
    };
}

/// A register as it is.
#[inline(always)]
fn same<T>(register: T) -> T {
    register
}

instructions! {
    /// Proof that the CPU has NEON and the instructions of SHA-1 and SHA-256.
    ArmSha2: "neon", "sha2";
    uint32x4_t: vreinterpretq_u32_u8, vreinterpretq_u8_u32, same, vreinterpretq_u32_u64, vandq_u32, vorrq_u32, veorq_u32
}

instructions! {
    /// Proof that the CPU has NEON and the instructions of SHA-512 and SHA-3.
    ArmSha3: "neon", "sha3";
    uint64x2_t: vreinterpretq_u64_u8, vreinterpretq_u8_u64, vreinterpretq_u64_u32, same, vandq_u64, vorrq_u64, veorq_u64
}

/// Adds the kernels of SHA-1 or SHA-256, where the CPU has their instructions.
pub(super) fn add_kernels<F: Dedicated<Part = uint32x4_t>>(backend: Backend, set: &mut KernelSet<F>) {
    if let Some(proof) = ArmSha2::of(backend) {
        set.add_both(kernels::<F, 1>("arm-sha", proof));
        set.add_both(kernels::<F, 2>("arm-sha-x2", proof));
        set.add_both(kernels::<F, 3>("arm-sha-x3", proof));
    }
}

dedicated_kernels!(
    #[target_feature(enable = "neon,sha2")]
    ArmSha2,
    uint32x4_t
);
