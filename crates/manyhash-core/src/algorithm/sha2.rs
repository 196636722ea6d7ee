//! The rounds that SHA-256 and SHA-512 share (FIPS 180-4, 6.2.2 and 6.4.2): they differ in the width of a word, in the
//! number of rounds and in the distances of the rotations.

use super::Family;
use crate::simd::feed::Feed;
use crate::simd::{BLOCK_WORDS, Vector};

/// Rounds in which the next block is staged.
const STAGING: usize = 48;

/// What FIPS 180-4 gives for each width (4.1.2, 4.2.2; 4.1.3, 4.2.3).
pub(super) trait Sha2: Family {
    /// One constant a round; a multiple of 16 rounds.
    const K: &'static [Self::Word];
    fn big_sigma_0<V: Vector<Word = Self::Word>>(x: V) -> V;
    fn big_sigma_1<V: Vector<Word = Self::Word>>(x: V) -> V;
    fn sigma_0<V: Vector<Word = Self::Word>>(x: V) -> V;
    fn sigma_1<V: Vector<Word = Self::Word>>(x: V) -> V;
}

/// Step 3, sixteen times: `sixteen_rounds!(family, state, |t| kw)`, where `kw` is the sum of the `t`-th constant and the
/// `t`-th word.
///
/// A macro, since a closure is compiled for the baseline CPU where it is not inlined.
macro_rules! sixteen_rounds {
    ($family:ident, $state:expr, |$t:ident| $kw:expr) => {{
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *$state;
        let mut differ = b.xor(c);
        // The standard moves values from name to name; here the names move.
        macro_rules! round {
            ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $number:expr) => {
                let kw = {
                    let $t: usize = $number;
                    $kw
                };
                let sum = $h.add(kw).pin();
                let t1 = sum.add($e.choose($f, $g)).add($family::big_sigma_1($e));
                $d = $d.add(t1);
                $h = t1.add($a.majority($b, $c, &mut differ).add($family::big_sigma_0($a)));
            };
        }
        macro_rules! eight_rounds {
            ($first:literal) => {
                round!(a b c d e f g h, $first);
                round!(h a b c d e f g, $first + 1);
                round!(g h a b c d e f, $first + 2);
                round!(f g h a b c d e, $first + 3);
                round!(e f g h a b c d, $first + 4);
                round!(d e f g h a b c, $first + 5);
                round!(c d e f g h a b, $first + 6);
                round!(b c d e f g h a, $first + 7);
            };
        }
        eight_rounds!(0);
        eight_rounds!(8);
        *$state = [a, b, c, d, e, f, g, h];
    }};
}
pub(super) use sixteen_rounds;

/// Advances the states by one block. The message schedule is a window of 16 words that a round advances by one.
#[inline(always)]
pub(super) fn compress<F: Sha2, V: Vector<Word = F::Word>, L: Feed>(
    proof: V::Proof,
    state: &mut [V; 8],
    mut w: [V; BLOCK_WORDS],
    feed: L,
) {
    feed.prefetch(0, 1);
    let before = *state;
    sixteen_rounds!(F, state, |t| V::splat(proof, F::K[t]).add(w[t]));
    macro_rules! later_rounds {
        ($first:expr) => {
            sixteen_rounds!(F, state, |t| {
                // The first rounds read the rows that are staged anew in these.
                if $first < BLOCK_WORDS + STAGING {
                    feed.stage($first - BLOCK_WORDS + t, STAGING);
                }
                // Step 1: a word from four before it.
                let word = w[t].add(F::sigma_0(w[(t + 1) % BLOCK_WORDS])).add(w[(t + 9) % BLOCK_WORDS]);
                w[t] = word.add(F::sigma_1(w[(t + 14) % BLOCK_WORDS]));
                V::splat(proof, F::K[$first + t]).add(w[t])
            })
        };
    }
    if L::STAGED {
        later_rounds!(16);
        later_rounds!(32);
        later_rounds!(48);
        if F::K.len() > 64 {
            later_rounds!(64);
        }
    } else {
        // Written out one by one, they would spill more.
        for first in (BLOCK_WORDS..F::K.len()).step_by(BLOCK_WORDS) {
            later_rounds!(first);
        }
    }
    for (state, before) in state.iter_mut().zip(before) {
        *state = state.add(before);
    }
}
