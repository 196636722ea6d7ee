//! SHA-256 by the x86 SHA extensions: one message, or two interleaved so that one's latency hides behind the other.
//!
//! The functions enable no AVX: compiled with it, or run while upper register halves are in use, this code mixes
//! legacy-SSE and VEX instructions, and some CPUs then take a hundred times as long.

use super::{K, Sha256};
use crate::backend::X86Sha;
use crate::kernel::{Columns, Kernel};
use core::arch::x86_64::*;

pub(super) fn kernels(_: X86Sha) -> [Kernel<Sha256>; 2] {
    // SAFETY: `run` keeps to `Run` for its number of messages, and the `X86Sha` proves its instructions.
    unsafe { [Kernel::new("sha-ni", 1, run::<1>), Kernel::new("sha-ni, two streams", 2, run::<2>)] }
}

/// # Safety
/// That of [`Run`](crate::kernel::Run) for `N` messages; the CPU has the features named here.
#[target_feature(enable = "sha,sse4.1,ssse3")]
unsafe fn run<const N: usize>(states: Columns<Sha256>, messages: &[&[u8]], blocks: usize) {
    let big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    // The instructions want the words a b e f and c d g h, most significant first.
    let mut abef = [_mm_setzero_si128(); N];
    let mut cdgh = [_mm_setzero_si128(); N];
    if states.is_one() {
        // SAFETY: eight words side by side.
        let (dcba, hgfe) = unsafe { (_mm_loadu_si128(states.word(0).cast()), _mm_loadu_si128(states.word(4).cast())) };
        let (cdab, efgh) = (_mm_shuffle_epi32::<0b10_11_00_01>(dcba), _mm_shuffle_epi32::<0b00_01_10_11>(hgfe));
        abef[0] = _mm_alignr_epi8::<8>(cdab, efgh);
        cdgh[0] = _mm_blend_epi16::<0b1111_0000>(efgh, cdab);
    } else {
        for s in 0..N {
            // SAFETY: `s` is below the kernel's `N` lanes.
            let [a, b, c, d, e, f, g, h] = unsafe { states.get(s) }.map(u32::cast_signed);
            abef[s] = _mm_set_epi32(a, b, e, f);
            cdgh[s] = _mm_set_epi32(c, d, g, h);
        }
    }

    for block in 0..blocks {
        let mut w = [[_mm_setzero_si128(); 4]; N];
        let (abef_before, cdgh_before) = (abef, cdgh);
        // Four rounds; words 16 on from those of the last four groups: FIPS 180-4, 6.2.2, steps 1 and 3.
        macro_rules! four_rounds {
            ($($i:literal)*) => {
                $(
                    // SAFETY: `K` has 64 words, and `$i` is below 16.
                    let k = unsafe { _mm_loadu_si128(K.as_ptr().add(4 * $i).cast()) };
                    for s in 0..N {
                        let w = &mut w[s];
                        if $i < 4 {
                            // SAFETY: `messages` has `N` slices of `blocks` blocks each.
                            let words = unsafe {
                                let from = messages.get_unchecked(s).as_ptr().add(64 * block + 16 * $i);
                                _mm_loadu_si128(from.cast())
                            };
                            w[$i % 4] = _mm_shuffle_epi8(words, big_endian);
                        } else {
                            let (last, second_last) = (w[($i + 3) % 4], w[($i + 2) % 4]);
                            let sum = _mm_add_epi32(
                                _mm_sha256msg1_epu32(w[$i % 4], w[($i + 1) % 4]),
                                _mm_alignr_epi8::<4>(last, second_last),
                            );
                            w[$i % 4] = _mm_sha256msg2_epu32(sum, last);
                        }
                        let wk = _mm_add_epi32(w[$i % 4], k);
                        cdgh[s] = _mm_sha256rnds2_epu32(cdgh[s], abef[s], wk);
                        abef[s] = _mm_sha256rnds2_epu32(abef[s], cdgh[s], _mm_shuffle_epi32::<0b00_00_11_10>(wk));
                    }
                )*
            };
        }
        four_rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for s in 0..N {
            abef[s] = _mm_add_epi32(abef[s], abef_before[s]);
            cdgh[s] = _mm_add_epi32(cdgh[s], cdgh_before[s]);
        }
    }

    if states.is_one() {
        let (feba, dchg) = (_mm_shuffle_epi32::<0b00_01_10_11>(abef[0]), _mm_shuffle_epi32::<0b10_11_00_01>(cdgh[0]));
        // SAFETY: eight words side by side.
        unsafe {
            _mm_storeu_si128(states.word(0).cast(), _mm_blend_epi16::<0b1111_0000>(feba, dchg));
            _mm_storeu_si128(states.word(4).cast(), _mm_alignr_epi8::<8>(dchg, feba));
        }
        return;
    }
    for s in 0..N {
        let mut words = [[0u32; 4]; 2];
        // SAFETY: 16 bytes each.
        unsafe {
            _mm_storeu_si128(words[0].as_mut_ptr().cast(), abef[s]);
            _mm_storeu_si128(words[1].as_mut_ptr().cast(), cdgh[s]);
        }
        let [[f, e, b, a], [h, g, d, c]] = words;
        // SAFETY: `s` is below the kernel's `N` lanes.
        unsafe { states.set(s, &[a, b, c, d, e, f, g, h]) };
    }
}
