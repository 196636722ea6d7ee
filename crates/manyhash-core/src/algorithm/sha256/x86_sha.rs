//! SHA-256 by the x86 SHA extensions.

use super::{K, Sha256};
use crate::algorithm::dedicated::Dedicated;
use crate::algorithm::x86_sha::X86Sha;
use crate::word::Words;
use core::arch::x86_64::*;

pub(in crate::algorithm) use crate::algorithm::x86_sha::add_kernels;

/// The words a b e f and c d g h, most significant first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Working {
    abef: __m128i,
    cdgh: __m128i,
}

// SAFETY, for the intrinsics below: the `X86Sha` at hand proves them.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
impl Dedicated for Sha256 {
    type Part = __m128i;
    type StateParts = Words<2>;
    type BlockParts = Words<4>;
    type Working = Working;

    #[inline(always)]
    fn load(_: X86Sha, [dcba, hgfe]: [__m128i; 2]) -> Working {
        unsafe {
            let (cdab, efgh) = (_mm_shuffle_epi32::<0b10_11_00_01>(dcba), _mm_shuffle_epi32::<0b00_01_10_11>(hgfe));
            Working { abef: _mm_alignr_epi8::<8>(cdab, efgh), cdgh: _mm_blend_epi16::<0b1111_0000>(efgh, cdab) }
        }
    }

    #[inline(always)]
    fn store(_: X86Sha, Working { abef, cdgh }: Working) -> [__m128i; 2] {
        unsafe {
            let (feba, dchg) = (_mm_shuffle_epi32::<0b00_01_10_11>(abef), _mm_shuffle_epi32::<0b10_11_00_01>(cdgh));
            [_mm_blend_epi16::<0b1111_0000>(feba, dchg), _mm_alignr_epi8::<8>(dchg, feba)]
        }
    }

    #[inline(always)]
    fn compress<const N: usize>(_: X86Sha, working: &mut [Working; N], blocks: &[[__m128i; 4]; N]) {
        let mut w = *blocks;
        let before = *working;
        // Four rounds; words 16 on from those of the last four groups: FIPS 180-4, 6.2.2, steps 1 and 3.
        macro_rules! four_rounds {
            ($($i:literal)*) => {
                $(
                    // SAFETY: `K` has 64 words, and `$i` is below 16.
                    let k = unsafe { _mm_loadu_si128(K.as_ptr().add(4 * $i).cast()) };
                    for s in 0..N {
                        let w = &mut w[s];
                        let Working { abef, cdgh } = &mut working[s];
                        unsafe {
                            if $i < 4 {
                                let big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
                                w[$i % 4] = _mm_shuffle_epi8(w[$i % 4], big_endian);
                            } else {
                                let (last, second_last) = (w[($i + 3) % 4], w[($i + 2) % 4]);
                                let sum = _mm_add_epi32(
                                    _mm_sha256msg1_epu32(w[$i % 4], w[($i + 1) % 4]),
                                    _mm_alignr_epi8::<4>(last, second_last),
                                );
                                w[$i % 4] = _mm_sha256msg2_epu32(sum, last);
                            }
                            let wk = _mm_add_epi32(w[$i % 4], k);
                            *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
                            *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32::<0b00_00_11_10>(wk));
                        }
                    }
                )*
            };
        }
        four_rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for s in 0..N {
            working[s].abef = unsafe { _mm_add_epi32(working[s].abef, before[s].abef) };
            working[s].cdgh = unsafe { _mm_add_epi32(working[s].cdgh, before[s].cdgh) };
        }
    }
}
