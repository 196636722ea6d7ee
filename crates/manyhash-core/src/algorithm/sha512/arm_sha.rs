//! SHA-512 by ARMv8's instructions.

#![allow(
    unknown_lints,
    inline_always_mismatching_target_features,
    reason = "what calls the intrinsics is itself inlined into functions that have their features"
)]

use super::{K, Sha512};
use crate::algorithm::arm_sha::ArmSha3;
use crate::algorithm::dedicated::{Dedicated, dedicated_kernels};
use crate::kernel::KernelSet;
use crate::tier::Backend;
use crate::word::Words;
use core::arch::aarch64::*;

/// Adds the kernels, where the CPU has their instructions.
pub(in crate::algorithm) fn add_kernels(backend: Backend, set: &mut KernelSet<Sha512>) {
    if let Some(proof) = ArmSha3::of(backend) {
        set.add_both(kernels::<Sha512, 1>("arm-sha", proof));
        set.add_both(kernels::<Sha512, 2>("arm-sha-x2", proof));
    }
}

dedicated_kernels!(
    #[target_feature(enable = "neon,sha3")]
    ArmSha3,
    uint64x2_t
);

// SAFETY, for the intrinsics below: the `ArmSha3` at hand proves them.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
impl Dedicated for Sha512 {
    type Part = uint64x2_t;
    type StateParts = Words<4>;
    type BlockParts = Words<8>;
    /// The words a b, c d, e f and g h.
    type Working = [uint64x2_t; 4];

    #[inline(always)]
    fn load(_: ArmSha3, words: [uint64x2_t; 4]) -> [uint64x2_t; 4] {
        words
    }

    #[inline(always)]
    fn store(_: ArmSha3, working: [uint64x2_t; 4]) -> [uint64x2_t; 4] {
        working
    }

    #[inline(always)]
    fn compress<const N: usize>(_: ArmSha3, working: &mut [[uint64x2_t; 4]; N], blocks: &[[uint64x2_t; 8]; N]) {
        let mut w = *blocks;
        let before = *working;
        // Two rounds; words 16 on from those of the last eight groups: FIPS 180-4, 6.4.2, steps 1 and 3.
        macro_rules! two_rounds {
            ($($i:literal)*) => {
                $(
                    // SAFETY: `K` has 80 words, and `$i` is below 40.
                    let k = unsafe { vld1q_u64(K.as_ptr().add(2 * $i)) };
                    for s in 0..N {
                        let w = &mut w[s];
                        let [ab, cd, ef, gh] = working[s];
                        unsafe {
                            w[$i % 8] = if $i < 8 {
                                vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(w[$i % 8])))
                            } else {
                                let back_7 = vextq_u64::<1>(w[($i + 4) % 8], w[($i + 5) % 8]);
                                vsha512su1q_u64(vsha512su0q_u64(w[$i % 8], w[($i + 1) % 8]), w[($i + 7) % 8], back_7)
                            };
                            // The first of the two rounds takes the upper word.
                            let wk = vaddq_u64(w[$i % 8], k);
                            let sum = vaddq_u64(gh, vextq_u64::<1>(wk, wk));
                            let t1 = vsha512hq_u64(sum, vextq_u64::<1>(ef, gh), vextq_u64::<1>(cd, ef));
                            working[s] = [vsha512h2q_u64(t1, cd, ab), ab, vaddq_u64(cd, t1), ef];
                        }
                    }
                )*
            };
        }
        two_rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
        two_rounds!(20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39);
        for s in 0..N {
            for (word, before) in working[s].iter_mut().zip(before[s]) {
                *word = unsafe { vaddq_u64(*word, before) };
            }
        }
    }
}
