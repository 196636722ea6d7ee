//! SHA-256 by ARMv8's instructions.

#![allow(
    unknown_lints,
    inline_always_mismatching_target_features,
    reason = "what calls the intrinsics is itself inlined into functions that have their features"
)]

use super::{K, Sha256};
use crate::algorithm::arm_sha::ArmSha2;
use crate::algorithm::dedicated::Dedicated;
use crate::word::Words;
use core::arch::aarch64::*;

pub(in crate::algorithm) use crate::algorithm::arm_sha::add_kernels;

// SAFETY, for the intrinsics below: the `ArmSha2` at hand proves them.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
impl Dedicated for Sha256 {
    type Part = uint32x4_t;
    type StateParts = Words<2>;
    type BlockParts = Words<4>;
    /// The words a b c d and e f g h.
    type Working = [uint32x4_t; 2];

    #[inline(always)]
    fn load(_: ArmSha2, words: [uint32x4_t; 2]) -> [uint32x4_t; 2] {
        words
    }

    #[inline(always)]
    fn store(_: ArmSha2, working: [uint32x4_t; 2]) -> [uint32x4_t; 2] {
        working
    }

    #[inline(always)]
    fn compress<const N: usize>(_: ArmSha2, working: &mut [[uint32x4_t; 2]; N], blocks: &[[uint32x4_t; 4]; N]) {
        let mut w = *blocks;
        let before = *working;
        // Four rounds; words 16 on from those of the last four groups: FIPS 180-4, 6.2.2, steps 1 and 3.
        macro_rules! four_rounds {
            ($($i:literal)*) => {
                $(
                    // SAFETY: `K` has 64 words, and `$i` is below 16.
                    let k = unsafe { vld1q_u32(K.as_ptr().add(4 * $i)) };
                    for s in 0..N {
                        let w = &mut w[s];
                        let [abcd, efgh] = &mut working[s];
                        unsafe {
                            w[$i % 4] = if $i < 4 {
                                vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(w[$i % 4])))
                            } else {
                                let sum = vsha256su0q_u32(w[$i % 4], w[($i + 1) % 4]);
                                vsha256su1q_u32(sum, w[($i + 2) % 4], w[($i + 3) % 4])
                            };
                            let wk = vaddq_u32(w[$i % 4], k);
                            let old = *abcd;
                            *abcd = vsha256hq_u32(old, *efgh, wk);
                            *efgh = vsha256h2q_u32(*efgh, old, wk);
                        }
                    }
                )*
            };
        }
        four_rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for s in 0..N {
            for (word, before) in working[s].iter_mut().zip(before[s]) {
                *word = unsafe { vaddq_u32(*word, before) };
            }
        }
    }
}
