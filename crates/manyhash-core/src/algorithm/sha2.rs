//! The rounds that SHA-256 and SHA-512 share (FIPS 180-4, 6.2.2 and 6.4.2): they differ in the width of a word, in the
//! number of rounds and in the distances of the rotations.

use crate::family::Family;
use crate::vector::Vector;
use crate::vector::feed::Feed;
use core::marker::PhantomData;

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

/// The working variables `a` to `h` of step 2.
pub(super) struct Working<F, V> {
    words: [V; 8],
    /// `a ^ b` of the round before: see [`Vector::majority`].
    differ: V,
    family: PhantomData<F>,
}

impl<F: Sha2, V: Vector<Word = F::Word>> Working<F, V> {
    /// From the state before the block.
    #[inline(always)]
    pub(super) fn new(state: &[V; 8]) -> Self {
        Working { words: *state, differ: state[1].xor(state[2]), family: PhantomData }
    }

    /// Step 3, once; `kw` is the sum of the round's constant and word.
    #[inline(always)]
    pub(super) fn round(&mut self, kw: V) {
        let [a, b, c, d, e, f, g, h] = self.words;
        let sum = h.add(kw).pin();
        let t1 = sum.add(e.choose(f, g)).add(F::big_sigma_1(e));
        let t2 = a.majority(b, c, &mut self.differ).add(F::big_sigma_0(a));
        self.words = [t1.add(t2), a, b, c, d.add(t1), e, f, g];
    }

    /// Step 4.
    #[inline(always)]
    pub(super) fn add_to(&self, state: &mut [V; 8]) {
        for (state, word) in state.iter_mut().zip(self.words) {
            *state = state.add(word);
        }
    }
}

/// `sixteen!(|t| statement)`: the statement sixteen times, `t` a constant from 0 to 15 in each.
///
/// Written out, so that words that move from name to name do so for nothing. A macro, since a closure is compiled for
/// the baseline CPU where it is not inlined.
macro_rules! sixteen {
    (|$t:ident| $statement:expr) => {
        sixteen!(@ $t $statement; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $t:ident $statement:expr; $($number:literal)*) => {
        $({
            let $t: usize = $number;
            $statement
        })*
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use sixteen;

/// Advances the states by one block. The message schedule is a window of 16 words that a round advances by one.
#[inline(always)]
pub(super) fn compress<F: Sha2, V: Vector<Word = F::Word>, L: Feed>(
    proof: V::Proof,
    state: &mut [V; 8],
    mut w: [V; 16],
    feed: L,
) {
    feed.prefetch(0, 1);
    let mut working = Working::<F, V>::new(state);
    sixteen!(|t| working.round(V::splat(proof, F::K[t]).add(w[t])));
    macro_rules! later_rounds {
        ($first:expr) => {
            sixteen!(|t| {
                // The first rounds read the rows that are staged anew in these.
                if $first < 16 + STAGING {
                    feed.stage($first - 16 + t, STAGING);
                }
                // Step 1: a word from four before it.
                let word = w[t].add(F::sigma_0(w[(t + 1) % 16])).add(w[(t + 9) % 16]);
                w[t] = word.add(F::sigma_1(w[(t + 14) % 16]));
                working.round(V::splat(proof, F::K[$first + t]).add(w[t]));
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
        for first in (16..F::K.len()).step_by(16) {
            later_rounds!(first);
        }
    }
    working.add_to(state);
}
