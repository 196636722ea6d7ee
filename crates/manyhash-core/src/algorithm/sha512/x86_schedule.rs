//! SHA-512 of one message on x86: the message schedule in vectors, beside the rounds, which are in [general
//! registers](super::x86_general) or, where there is AVX-512, in [pairs of words](super::x86_pairs).
//!
//! Alone, the rounds are bound by their chain and leave ports idle that the schedule can have for nothing. A schedule
//! advances two words at a time, because a word needs the second one before it; each 128-bit part of a register does so
//! for a block of its own, since the blocks of a message have their words, if not their states, at once.

use super::x86_general::General;
use super::x86_pairs::Pairs;
use super::{K, Sha512};
use crate::algorithm::sha2::{Sha2, sixteen};
use crate::family::{Family, State};
use crate::kernel::{Columns, Kernel, KernelSet};
use crate::tier::Backend;
use crate::tier::avx2::{Avx2, Ymm};
use crate::tier::avx512::{Avx512, Half};
use crate::vector::parts::Parts;

/// Pairs of words in a block.
const PAIRS: usize = 8;

/// Lanes in the widest vector: pairs of words of two blocks.
const MAX_LANES: usize = 4;

/// The constants in pairs, once for each block.
static K_PAIRS: [[u64; MAX_LANES]; K.len() / 2] = {
    let mut pairs = [[0; MAX_LANES]; K.len() / 2];
    let mut i = 0;
    while i < K.len() / 2 * MAX_LANES {
        pairs[i / MAX_LANES][i % MAX_LANES] = K[i / MAX_LANES * 2 + i % 2];
        i += 1;
    }
    pairs
};

/// Adds the kernels that the tier has.
pub(in crate::algorithm) fn add_kernels(backend: Backend, set: &mut KernelSet<Sha512>) {
    /// # Safety
    /// That of [`Run`](crate::kernel::Run) for one message, and the features named here.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn avx2(states: Columns<Sha512>, messages: &[&[u8]], blocks: usize) {
        // SAFETY: the caller's; the features of this function are those that the proof needs.
        unsafe { run::<Ymm<u64>, General>(Avx2::assume(), states, messages, blocks) }
    }
    /// # Safety
    /// That of [`Run`](crate::kernel::Run) for one message, and the features named here.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
    unsafe fn avx512<R: Rounds<Avx512>>(states: Columns<Sha512>, messages: &[&[u8]], blocks: usize) {
        // SAFETY: the caller's; the features of this function are those that the proof needs.
        unsafe { run::<Half<u64>, R>(Avx512::assume(), states, messages, blocks) }
    }
    if Avx2::of(backend).is_some() {
        // SAFETY: it keeps to `Run` for one message, and the `Avx2` proves its instructions.
        set.add(unsafe { Kernel::new("scalar-avx2-schedule", 1, avx2) });
    }
    if Avx512::of(backend).is_some() {
        // SAFETY: they keep to `Run` for one message, and the `Avx512` proves their instructions.
        unsafe {
            set.add(Kernel::new("scalar-avx512-schedule", 1, avx512::<General>));
            set.add(Kernel::new("avx512-pairs", 1, avx512::<Pairs>));
        }
    }
}

/// How the rounds are computed that take the schedule's words.
pub(super) trait Rounds<Proof> {
    /// From the state before the first block.
    fn new(proof: Proof, state: &State<Sha512>) -> Self;

    /// FIPS 180-4, 6.4.2, step 3, once; `kw` is the sum of the round's constant and word.
    fn round(&mut self, kw: &u64);

    /// Step 4, and the start of the next block.
    fn end_block(&mut self);

    /// The state after the last block that ended.
    fn state(&self) -> State<Sha512>;
}

/// Advances the state of one message.
///
/// # Safety
/// That of [`Run`](crate::kernel::Run) for one message.
#[inline(always)]
unsafe fn run<V: Parts<Word = u64>, R: Rounds<V::Proof>>(
    proof: V::Proof,
    states: Columns<Sha512>,
    messages: &[&[u8]],
    blocks: usize,
) {
    const { assert!(V::LANES <= MAX_LANES) };
    // SAFETY: the kernel's one lane.
    let mut rounds = R::new(proof, &unsafe { states.get(0) });
    // The sums of words and constants that the rounds take: pair after pair, each pair of every block together.
    let mut kw = [[0u64; MAX_LANES]; K.len() / 2];
    for group in messages[0][..blocks * Sha512::BLOCK_BYTES].chunks(V::LANES / 2 * Sha512::BLOCK_BYTES) {
        let count = group.len() / Sha512::BLOCK_BYTES;
        // A part finds its block as every second message; parts without one take the last block once more.
        let block = |part: usize| &group[part.min(count - 1) * Sha512::BLOCK_BYTES..];
        let parts = [block(0), &[], block(1)];
        let mut w = [V::splat(proof, 0); PAIRS];
        for i in 0..PAIRS {
            // SAFETY: `i` is below 8, so that the load stays in each block.
            w[i] = unsafe { V::load_parts(proof, parts.as_ptr(), 16 * i).swap_bytes() };
            sum(proof, w[i], &K_PAIRS[i], &mut kw[i]);
        }

        // The first block's rounds, with the schedule of all blocks beside them.
        for first in (0..K.len() / 2 - PAIRS).step_by(PAIRS) {
            let Some((now, later)) = kw[first..].split_first_chunk_mut::<PAIRS>() else { continue };
            let k = &K_PAIRS[first + PAIRS..];
            sixteen!(|t| {
                if t % 2 == 1 {
                    let i = t / 2;
                    // FIPS 180-4, 6.4.2, step 1; the words 15 and 7 back begin in the upper half of a pair.
                    let back_15 = w[i].straddle_64(w[(i + 1) % PAIRS]);
                    let back_7 = w[(i + 4) % PAIRS].straddle_64(w[(i + 5) % PAIRS]);
                    let next = w[i].add(Sha512::sigma_0(back_15)).add(back_7).add(Sha512::sigma_1(w[(i + 7) % PAIRS]));
                    w[i] = next;
                    sum(proof, next, &k[i], &mut later[i]);
                }
                rounds.round(&now[t / 2][t % 2]);
            });
        }
        let last = &kw[K.len() / 2 - PAIRS..];
        sixteen!(|t| rounds.round(&last[t / 2][t % 2]));
        rounds.end_block();

        // The other blocks' rounds, whose words are there.
        for block in 1..count {
            // One slice from the block's first sum on: one register to address it by.
            let mut rest = &kw.as_flattened()[2 * block..];
            while let Some(now) = rest.first_chunk::<{ (PAIRS - 1) * MAX_LANES + 2 }>() {
                sixteen!(|t| rounds.round(&now[t / 2 * MAX_LANES + t % 2]));
                rest = rest.get(PAIRS * MAX_LANES..).unwrap_or_default();
            }
            rounds.end_block();
        }
    }
    // SAFETY: the kernel's one lane.
    unsafe { states.set(0, &rounds.state()) };
}

/// What a round takes of its word and its constant together.
#[inline(always)]
fn sum<V: Parts<Word = u64>>(proof: V::Proof, word: V, k: &[u64; MAX_LANES], kw: &mut [u64; MAX_LANES]) {
    const { assert!(V::LANES <= MAX_LANES) };
    // SAFETY: rows of at least the vector's lanes.
    unsafe { word.add(V::load(proof, k.as_ptr())).store(kw.as_mut_ptr()) };
}
