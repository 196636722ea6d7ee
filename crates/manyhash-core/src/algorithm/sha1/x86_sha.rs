//! SHA-1 by the x86 SHA extensions: one message, or two interleaved so that one's latency hides behind the other.
//!
//! The functions enable no AVX, for the reason given beside SHA-256's.

use super::Sha1;
use crate::backend::X86Sha;
use crate::kernel::{Columns, Kernel};
use core::arch::x86_64::*;

pub(super) fn kernels(_: X86Sha) -> [Kernel<Sha1>; 2] {
    // SAFETY: `run` keeps to `Run` for its number of messages, and the `X86Sha` proves its instructions.
    unsafe { [Kernel::new("sha-ni", 1, run::<1>), Kernel::new("sha-ni, two streams", 2, run::<2>)] }
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

/// # Safety
/// That of [`Run`](crate::kernel::Run) for `N` messages; the CPU has the features named here.
#[target_feature(enable = "sha,sse4.1,ssse3")]
unsafe fn run<const N: usize>(states: Columns<Sha1>, messages: &[&[u8]], blocks: usize) {
    let big_endian = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    // The instructions want the words a b c d, most significant first, and e in the most significant word.
    let mut abcd = [_mm_setzero_si128(); N];
    let mut e = [_mm_setzero_si128(); N];
    if states.is_one() {
        // SAFETY: five words side by side.
        let (dcba, last) = unsafe { (_mm_loadu_si128(states.word(0).cast()), *states.word(4)) };
        abcd[0] = _mm_shuffle_epi32::<0b00_01_10_11>(dcba);
        e[0] = _mm_set_epi32(last.cast_signed(), 0, 0, 0);
    } else {
        for s in 0..N {
            // SAFETY: `s` is below the kernel's `N` lanes.
            let [a, b, c, d, last, ..] = unsafe { states.get(s) }.map(u32::cast_signed);
            abcd[s] = _mm_set_epi32(a, b, c, d);
            e[s] = _mm_set_epi32(last, 0, 0, 0);
        }
    }

    for block in 0..blocks {
        let mut w = [[_mm_setzero_si128(); 4]; N];
        let (abcd_before, e_before) = (abcd, e);
        // Four rounds, with function and constant number `$f`; words 16 on from those of the last four groups:
        // FIPS 180-4, 6.1.2, steps 1 and 3. After the first four rounds, `e` holds the `a` of four rounds before,
        // from which `sha1nexte` makes the next `e`.
        macro_rules! four_rounds {
            ($f:literal: $($i:literal)*) => {
                $(
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
                            let sum = _mm_sha1msg1_epu32(w[$i % 4], w[($i + 1) % 4]);
                            w[$i % 4] = _mm_sha1msg2_epu32(_mm_xor_si128(sum, w[($i + 2) % 4]), w[($i + 3) % 4]);
                        }
                        let we = if $i == 0 {
                            _mm_add_epi32(e[s], w[$i % 4])
                        } else {
                            _mm_sha1nexte_epu32(e[s], w[$i % 4])
                        };
                        e[s] = copy(abcd[s]);
                        abcd[s] = _mm_sha1rnds4_epu32::<$f>(abcd[s], we);
                    }
                )*
            };
        }
        four_rounds!(0: 0 1 2 3 4);
        four_rounds!(1: 5 6 7 8 9);
        four_rounds!(2: 10 11 12 13 14);
        four_rounds!(3: 15 16 17 18 19);
        for s in 0..N {
            e[s] = _mm_sha1nexte_epu32(e[s], e_before[s]);
            abcd[s] = _mm_add_epi32(abcd[s], abcd_before[s]);
        }
    }

    if states.is_one() {
        // SAFETY: eight words side by side, the last three without a use: whoever reads them as one finds them whole.
        unsafe {
            _mm_storeu_si128(states.word(0).cast(), _mm_shuffle_epi32::<0b00_01_10_11>(abcd[0]));
            _mm_storeu_si128(states.word(4).cast(), _mm_srli_si128::<12>(e[0]));
        }
        return;
    }
    for s in 0..N {
        let mut words = [[0u32; 4]; 2];
        // SAFETY: 16 bytes each.
        unsafe {
            _mm_storeu_si128(words[0].as_mut_ptr().cast(), abcd[s]);
            _mm_storeu_si128(words[1].as_mut_ptr().cast(), e[s]);
        }
        let [[d, c, b, a], [.., last]] = words;
        // SAFETY: `s` is below the kernel's `N` lanes.
        unsafe { states.set(s, &[a, b, c, d, last, 0, 0, 0]) };
    }
}
