//! SHA-512 of one message on x86: the rounds in general registers, the message schedule beside them in vectors.
//!
//! Alone, the rounds are bound by their chain and leave ports idle that the schedule can have for nothing. Two words at
//! a time, because a word needs the second one before it.

use super::{K, Sha512};
use crate::algorithm::Family;
use crate::algorithm::sha2::{Sha2, sixteen_rounds};
use crate::kernel::Columns;
use crate::simd::x86::Parts;
use crate::simd::{BLOCK_WORDS, Vector};

/// Pairs of words in a block.
const PAIRS: usize = BLOCK_WORDS / 2;

/// Advances the state of one message; `V`'s two lanes are two words of its schedule.
///
/// # Safety
/// That of [`Run`](crate::kernel::Run) for one message.
#[inline(always)]
pub(crate) unsafe fn run<V: Parts<Word = u64>>(
    proof: V::Proof,
    states: Columns<Sha512>,
    messages: &[&[u8]],
    blocks: usize,
) {
    const { assert!(V::LANES == 2) };
    // SAFETY: the kernel's one lane.
    let mut state = unsafe { states.get(0) };
    // The sums of words and constants that a round takes: sixteen rounds' worth at a time.
    let mut kw = [0u64; BLOCK_WORDS];
    for block in messages[0].chunks_exact(Sha512::BLOCK_BYTES).take(blocks) {
        let before = state;
        let mut w = [V::splat(proof, 0); PAIRS];
        for i in 0..PAIRS {
            // SAFETY: `i` is below 8, so that the load stays in the block, and the store in `kw`.
            unsafe {
                w[i] = V::load(proof, block.as_ptr().add(16 * i).cast()).swap_bytes();
                w[i].add(V::load(proof, K.as_ptr().add(2 * i))).store(kw.as_mut_ptr().add(2 * i));
            }
        }
        for k in K[BLOCK_WORDS..].chunks_exact(BLOCK_WORDS) {
            sixteen_rounds!(Sha512, &mut state, |t| {
                let sum = kw[t];
                if t % 2 == 1 {
                    let i = t / 2;
                    // FIPS 180-4, 6.4.2, step 1; the words 15 and 7 back begin in the upper half of a pair.
                    let back_15 = w[i].straddle_64(w[(i + 1) % PAIRS]);
                    let back_7 = w[(i + 4) % PAIRS].straddle_64(w[(i + 5) % PAIRS]);
                    let next = w[i].add(Sha512::sigma_0(back_15)).add(back_7).add(Sha512::sigma_1(w[(i + 7) % PAIRS]));
                    w[i] = next;
                    // SAFETY: `i` is below 8, so that the load stays in `k`, and the store in `kw`.
                    unsafe { next.add(V::load(proof, k.as_ptr().add(2 * i))).store(kw.as_mut_ptr().add(2 * i)) };
                }
                sum
            });
        }
        sixteen_rounds!(Sha512, &mut state, |t| kw[t]);
        for (state, before) in state.iter_mut().zip(before) {
            *state = state.wrapping_add(before);
        }
    }
    // SAFETY: the kernel's one lane.
    unsafe { states.set(0, &state) };
}
