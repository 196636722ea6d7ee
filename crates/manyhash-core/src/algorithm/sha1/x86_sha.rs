//! SHA-1 by the x86 SHA extensions.

use super::Sha1;
use crate::algorithm::dedicated::Dedicated;
use crate::algorithm::x86_sha::X86Sha;
use crate::word::Words;
use core::arch::x86_64::*;

pub(in crate::algorithm) use crate::algorithm::x86_sha::add_kernels;

/// The words a b c d, most significant first, and e in the most significant word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Working {
    abcd: __m128i,
    e: __m128i,
}

/// The same value in a register of its own. Left to itself the compiler copies the other way about, which puts the copy
/// into the chain of rounds, and as a floating-point move.
#[inline]
#[target_feature(enable = "sse2")]
fn copy(x: __m128i) -> __m128i {
    let copied;
    // SAFETY: one move between registers, no memory, no flags.
    unsafe {
        core::arch::asm!(
            "movdqa {copied}, {x}",
            copied = lateout(xmm_reg) copied,
            x = in(xmm_reg) x,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    copied
}

// SAFETY, for the intrinsics below: the `X86Sha` at hand proves them.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
impl Dedicated for Sha1 {
    type Part = __m128i;
    type StateParts = Words<2>;
    type BlockParts = Words<4>;
    type Working = Working;

    #[inline(always)]
    fn load(_: X86Sha, [dcba, e]: [__m128i; 2]) -> Working {
        unsafe { Working { abcd: _mm_shuffle_epi32::<0b00_01_10_11>(dcba), e: _mm_slli_si128::<12>(e) } }
    }

    #[inline(always)]
    fn store(_: X86Sha, Working { abcd, e }: Working) -> [__m128i; 2] {
        unsafe { [_mm_shuffle_epi32::<0b00_01_10_11>(abcd), _mm_srli_si128::<12>(e)] }
    }

    #[inline(always)]
    fn compress<const N: usize>(_: X86Sha, working: &mut [Working; N], blocks: &[[__m128i; 4]; N]) {
        let mut w = *blocks;
        let before = *working;
        // Four rounds, with function and constant number `$f`; words 16 on from those of the last four groups:
        // FIPS 180-4, 6.1.2, steps 1 and 3. After the first four rounds, `e` holds the `a` of four rounds before,
        // from which `sha1nexte` makes the next `e`.
        macro_rules! four_rounds {
            ($f:literal: $($i:literal)*) => {
                $(
                    for s in 0..N {
                        let w = &mut w[s];
                        let Working { abcd, e } = &mut working[s];
                        unsafe {
                            if $i < 4 {
                                let big_endian = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                                w[$i % 4] = _mm_shuffle_epi8(w[$i % 4], big_endian);
                            } else {
                                let sum = _mm_sha1msg1_epu32(w[$i % 4], w[($i + 1) % 4]);
                                w[$i % 4] = _mm_sha1msg2_epu32(_mm_xor_si128(sum, w[($i + 2) % 4]), w[($i + 3) % 4]);
                            }
                            let we = if $i == 0 {
                                _mm_add_epi32(*e, w[$i % 4])
                            } else {
                                _mm_sha1nexte_epu32(*e, w[$i % 4])
                            };
                            *e = copy(*abcd);
                            *abcd = _mm_sha1rnds4_epu32::<$f>(*abcd, we);
                        }
                    }
                )*
            };
        }
        four_rounds!(0: 0 1 2 3 4);
        four_rounds!(1: 5 6 7 8 9);
        four_rounds!(2: 10 11 12 13 14);
        four_rounds!(3: 15 16 17 18 19);
        for s in 0..N {
            working[s].e = unsafe { _mm_sha1nexte_epu32(working[s].e, before[s].e) };
            working[s].abcd = unsafe { _mm_add_epi32(working[s].abcd, before[s].abcd) };
        }
    }
}
