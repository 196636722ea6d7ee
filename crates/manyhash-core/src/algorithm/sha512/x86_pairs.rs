//! SHA-512's rounds for one message in pairs of words: one word of each half of the working variables in a 128-bit
//! register.
//!
//! Of FIPS 180-4's eight working variables only `a` and `e` are computed in a round; the others are those of rounds
//! before. Call them `A(t)` and `E(t)`. With T1 eliminated, 6.4.2, step 3 is
//!
//! ```text
//! E(t) = A(t-4) + E(t-4) + S1(E(t-1)) + Ch(E(t-1), E(t-2), E(t-3)) + K(t) + W(t)
//! A(t) = E(t)   - A(t-4) + S0(A(t-1)) + Maj(A(t-1), A(t-2), A(t-3))
//! ```
//!
//! which are of one shape. `A` is not needed before `E` four rounds on, so it may lag: a register holds the pair
//! `A(t-1), E(t)`, lower half first, and is made of the four before it. Both rotations, both sums and every addition are
//! then one operation for the two of them, and the chain is four operations a round, where general registers need five.

use super::Sha512;
use super::x86_schedule::Rounds;
use crate::family::State;
use crate::tier::avx512::Avx512;
use core::arch::x86_64::*;

/// The last four pairs, the newest first, and what they were at the start of the block.
#[derive(Clone, Copy)]
pub(crate) struct Pairs {
    pairs: [__m128i; 4],
    before: [__m128i; 4],
    /// `A(-1)`, `a` at the start of the block, which no pair holds, in the lower half.
    a: __m128i,
}

impl Pairs {
    /// The pair's sum without its oldest term: `E(t-1) + S0(A(t-2)) + Maj` below, `A(t-4) + S1(E(t-1)) + Ch` above.
    #[inline(always)]
    fn sum([p1, p2, p3]: [__m128i; 3], oldest: __m128i) -> __m128i {
        // SAFETY: `Pairs`, and its parts, are only made from an `Avx512`, which proves the instructions.
        unsafe {
            // FIPS 180-4, 4.1.3: the counts of S1 and of S0.
            let rotated_1 = _mm_rorv_epi64(p1, _mm_set_epi64x(14, 28));
            let rotated_2 = _mm_rorv_epi64(p1, _mm_set_epi64x(18, 34));
            let rotated_3 = _mm_rorv_epi64(p1, _mm_set_epi64x(41, 39));
            let sigma = _mm_ternarylogic_epi64::<0b10010110>(rotated_1, rotated_2, rotated_3);
            let ch = _mm_ternarylogic_epi64::<0b11001010>(p1, p2, p3);
            let maj = _mm_ternarylogic_epi64::<0b11101000>(p1, p2, p3);
            let ch_maj = _mm_blend_epi32::<0b1100>(maj, ch);
            let crossed = _mm_castpd_si128(_mm_shuffle_pd::<0b01>(_mm_castsi128_pd(p1), _mm_castsi128_pd(p3)));
            _mm_add_epi64(_mm_add_epi64(oldest, ch_maj), _mm_add_epi64(crossed, sigma))
        }
    }

    /// What makes [`sum`](Self::sum) whole: `-A(t-5)` below, `E(t-4) + kw` above.
    #[inline(always)]
    fn oldest(pair: __m128i, kw: __m128i) -> __m128i {
        // SAFETY: `Pairs`, and its parts, are only made from an `Avx512`, which proves the instructions.
        unsafe { _mm_mask_sub_epi64(_mm_add_epi64(pair, kw), 0b01, _mm_setzero_si128(), pair) }
    }

    /// The start of a block: its three newer pairs, `h` in the upper half of `oldest`, and `a`.
    #[inline(always)]
    fn start(newer: [__m128i; 3], oldest: __m128i, a: __m128i) -> Self {
        let [p1, p2, p3] = newer;
        // The first round asks for `A(-5)`: whatever `a` then follows from.
        // SAFETY: `Pairs`, and its parts, are only made from an `Avx512`, which proves the instructions.
        let oldest = unsafe {
            let before_first = _mm_sub_epi64(Self::sum(newer, _mm_setzero_si128()), a);
            _mm_blend_epi32::<0b1100>(before_first, oldest)
        };
        let pairs = [p1, p2, p3, oldest];
        Pairs { pairs, before: pairs, a }
    }
}

impl Rounds<Avx512> for Pairs {
    #[inline(always)]
    fn new(_: Avx512, state: &State<Sha512>) -> Self {
        let [a, b, c, d, e, f, g, h] = state.map(u64::cast_signed);
        // SAFETY: the `Avx512` proves the instructions.
        unsafe {
            let a = _mm_set_epi64x(0, a);
            let newer = [_mm_set_epi64x(e, b), _mm_set_epi64x(f, c), _mm_set_epi64x(g, d)];
            Self::start(newer, _mm_set_epi64x(h, 0), a)
        }
    }

    #[inline(always)]
    fn round(&mut self, kw: &u64) {
        let [p1, p2, p3, p4] = self.pairs;
        // SAFETY: `Pairs`, and its parts, are only made from an `Avx512`, which proves the instructions.
        let kw = unsafe { _mm_set1_epi64x(kw.cast_signed()) };
        self.pairs = [Self::sum([p1, p2, p3], Self::oldest(p4, kw)), p1, p2, p3];
    }

    #[inline(always)]
    fn end_block(&mut self) {
        let [p1, p2, p3, p4] = self.pairs;
        // SAFETY: `Pairs`, and its parts, are only made from an `Avx512`, which proves the instructions.
        unsafe {
            // The last `A` lags behind: one round more, of which only the lower half counts.
            let last = Self::sum([p1, p2, p3], Self::oldest(p4, _mm_setzero_si128()));
            let add = |i: usize| _mm_add_epi64(self.before[i], self.pairs[i]);
            *self = Self::start([add(0), add(1), add(2)], add(3), _mm_add_epi64(self.a, last));
        }
    }

    #[inline(always)]
    fn state(&self) -> State<Sha512> {
        // SAFETY: `Pairs`, and its parts, are only made from an `Avx512`, which proves the instructions.
        let low = |x: __m128i| unsafe { _mm_cvtsi128_si64(x) }.cast_unsigned();
        // SAFETY: `Pairs`, and its parts, are only made from an `Avx512`, which proves the instructions.
        let high = |x: __m128i| unsafe { _mm_extract_epi64::<1>(x) }.cast_unsigned();
        let [p1, p2, p3, p4] = self.pairs;
        [low(self.a), low(p1), low(p2), low(p3), high(p1), high(p2), high(p3), high(p4)]
    }
}
