//! SHA-1 by ARMv8's instructions.

#![allow(
    unknown_lints,
    inline_always_mismatching_target_features,
    reason = "what calls the intrinsics is itself inlined into functions that have their features"
)]

use super::{K, Sha1};
use crate::algorithm::arm_sha::ArmSha2;
use crate::algorithm::dedicated::Dedicated;
use crate::word::Words;
use core::arch::aarch64::*;

pub(in crate::algorithm) use crate::algorithm::arm_sha::add_kernels;

/// The words a b c d, and e.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Working {
    abcd: uint32x4_t,
    e: u32,
}

// SAFETY, for the intrinsics below: the `ArmSha2` at hand proves them.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
impl Dedicated for Sha1 {
    type Part = uint32x4_t;
    type StateParts = Words<2>;
    type BlockParts = Words<4>;
    type Working = Working;

    #[inline(always)]
    fn load(_: ArmSha2, [abcd, e]: [uint32x4_t; 2]) -> Working {
        Working { abcd, e: unsafe { vgetq_lane_u32::<0>(e) } }
    }

    #[inline(always)]
    fn store(_: ArmSha2, Working { abcd, e }: Working) -> [uint32x4_t; 2] {
        [abcd, unsafe { vsetq_lane_u32::<0>(e, vdupq_n_u32(0)) }]
    }

    #[inline(always)]
    fn compress<const N: usize>(_: ArmSha2, working: &mut [Working; N], blocks: &[[uint32x4_t; 4]; N]) {
        let mut w = *blocks;
        let before = *working;
        // Four rounds, with function and constant number `$f`; words 16 on from those of the last four groups:
        // FIPS 180-4, 6.1.2, steps 1 and 3.
        macro_rules! four_rounds {
            ($rounds:ident $f:literal: $($i:literal)*) => {
                $(
                    for s in 0..N {
                        let w = &mut w[s];
                        let Working { abcd, e } = &mut working[s];
                        unsafe {
                            w[$i % 4] = if $i < 4 {
                                vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(w[$i % 4])))
                            } else {
                                let sum = vsha1su0q_u32(w[$i % 4], w[($i + 1) % 4], w[($i + 2) % 4]);
                                vsha1su1q_u32(sum, w[($i + 3) % 4])
                            };
                            let wk = vaddq_u32(w[$i % 4], vdupq_n_u32(K[$f]));
                            let next = vsha1h_u32(vgetq_lane_u32::<0>(*abcd));
                            *abcd = $rounds(*abcd, *e, wk);
                            *e = next;
                        }
                    }
                )*
            };
        }
        four_rounds!(vsha1cq_u32 0: 0 1 2 3 4);
        four_rounds!(vsha1pq_u32 1: 5 6 7 8 9);
        four_rounds!(vsha1mq_u32 2: 10 11 12 13 14);
        four_rounds!(vsha1pq_u32 3: 15 16 17 18 19);
        for s in 0..N {
            working[s].abcd = unsafe { vaddq_u32(working[s].abcd, before[s].abcd) };
            working[s].e = working[s].e.wrapping_add(before[s].e);
        }
    }
}
