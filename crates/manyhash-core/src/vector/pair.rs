//! Two vectors as one: twice the lanes, for algorithms whose chain of operations leaves the ports of one idle.

use super::Vector;
use super::feed::Stage;
use crate::word::{Array, Shape};

/// Lanes `0..V::LANES` in the first vector, the rest in the second.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Pair<V>(V, V);

impl<V: Vector> Vector for Pair<V> {
    type Word = V::Word;
    type Proof = V::Proof;
    const LANES: usize = 2 * V::LANES;
    const ROTATES_SUMS: bool = V::ROTATES_SUMS;

    #[inline(always)]
    fn splat(proof: V::Proof, word: V::Word) -> Self {
        let v = V::splat(proof, word);
        Pair(v, v)
    }

    #[inline(always)]
    unsafe fn load(proof: V::Proof, from: *const V::Word) -> Self {
        // SAFETY: the caller's `2 * V::LANES` words are two runs of `V::LANES`.
        unsafe { Pair(V::load(proof, from), V::load(proof, from.add(V::LANES))) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut V::Word) {
        // SAFETY: the caller's `2 * V::LANES` words are two runs of `V::LANES`.
        unsafe {
            self.0.store(to);
            self.1.store(to.add(V::LANES));
        }
    }

    #[inline(always)]
    unsafe fn load_block<B: Shape>(
        proof: V::Proof,
        messages: *const &[u8],
        at: usize,
        bytes: usize,
        rest: &Array<B, V::Word>,
    ) -> Array<B, Self> {
        // SAFETY: the caller's `2 * V::LANES` messages are two runs of `V::LANES`, all readable at `at`.
        let (low, high) = unsafe {
            let high = messages.add(V::LANES);
            (V::load_block::<B>(proof, messages, at, bytes, rest), V::load_block::<B>(proof, high, at, bytes, rest))
        };
        let (low, high) = (low.as_ref(), high.as_ref());
        let mut words = B::filled(Pair(low[0], high[0]));
        for (i, word) in words.as_mut().iter_mut().enumerate() {
            *word = Pair(low[i], high[i]);
        }
        words
    }

    #[inline(always)]
    unsafe fn pad(proof: V::Proof, from: *const u8, left: i8, then: u8, line: *mut u8) {
        // SAFETY: the caller's bytes and line.
        unsafe { V::pad(proof, from, left, then, line) }
    }

    #[inline(always)]
    unsafe fn store_rows(state: &[Self; 8], words: usize, rows: *mut u8, apart: usize) {
        let (mut low, mut high) = ([state[0].0; 8], [state[0].1; 8]);
        for i in 1..8 {
            (low[i], high[i]) = (state[i].0, state[i].1);
        }
        // SAFETY: the caller's `2 * V::LANES` rows are two runs of `V::LANES`.
        unsafe {
            V::store_rows(&low, words, rows, apart);
            V::store_rows(&high, words, rows.add(V::LANES * apart), apart);
        }
    }

    #[inline(always)]
    fn prefetch(line: *const u8) {
        V::prefetch(line);
    }
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Pair(self.0.swap_bytes(), self.1.swap_bytes())
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Pair(self.0.add(other.0), self.1.add(other.1))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Pair(self.0.xor(other.0), self.1.xor(other.1))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Pair(self.0.and(other.0), self.1.and(other.1))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Pair(self.0.or(other.0), self.1.or(other.1))
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Pair(self.0.and_not(other.0), self.1.and_not(other.1))
    }
    #[inline(always)]
    fn not(self) -> Self {
        Pair(self.0.not(), self.1.not())
    }
    #[inline(always)]
    fn rotate_left<const N: i32>(self) -> Self {
        Pair(self.0.rotate_left::<N>(), self.1.rotate_left::<N>())
    }
    #[inline(always)]
    fn rotate_right<const N: i32>(self) -> Self {
        Pair(self.0.rotate_right::<N>(), self.1.rotate_right::<N>())
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        Pair(self.0.shift_right::<N>(), self.1.shift_right::<N>())
    }
    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        Pair(self.0.choose(a.0, b.0), self.1.choose(a.1, b.1))
    }
    #[inline(always)]
    fn majority(self, a: Self, b: Self, differ: &mut Self) -> Self {
        Pair(self.0.majority(a.0, b.0, &mut differ.0), self.1.majority(a.1, b.1, &mut differ.1))
    }
    #[inline(always)]
    fn choose_into(self, other: Self, mask: Self, sum: Self) -> Self {
        Pair(self.0.choose_into(other.0, mask.0, sum.0), self.1.choose_into(other.1, mask.1, sum.1))
    }
    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        Pair(self.0.xor3(a.0, b.0), self.1.xor3(a.1, b.1))
    }
    #[inline(always)]
    fn xor_rotate_left<const N: i32>(self, other: Self) -> Self {
        Pair(self.0.xor_rotate_left::<N>(other.0), self.1.xor_rotate_left::<N>(other.1))
    }
    #[inline(always)]
    fn xor_and_not(self, a: Self, b: Self) -> Self {
        Pair(self.0.xor_and_not(a.0, b.0), self.1.xor_and_not(a.1, b.1))
    }
    #[inline(always)]
    fn or_not_xor(self, a: Self, b: Self) -> Self {
        Pair(self.0.or_not_xor(a.0, b.0), self.1.or_not_xor(a.1, b.1))
    }
    #[inline(always)]
    fn pin(self) -> Self {
        Pair(self.0.pin(), self.1.pin())
    }
}

impl<V: Stage> Stage for Pair<V> {
    #[inline(always)]
    fn slot(lane: usize) -> usize {
        lane / V::LANES * V::LANES + V::slot(lane % V::LANES)
    }

    #[inline(always)]
    unsafe fn load_pairs(proof: V::Proof, from: *const V::Word) -> (Self, Self) {
        // SAFETY: the caller's `4 * V::LANES` words are two runs of `2 * V::LANES`.
        let ((a, b), (c, d)) = unsafe { (V::load_pairs(proof, from), V::load_pairs(proof, from.add(2 * V::LANES))) };
        (Pair(a, c), Pair(b, d))
    }

    #[inline(always)]
    unsafe fn shuffle_pairs(
        proof: V::Proof,
        messages: *const &[u8],
        at: usize,
        pairs: usize,
        rows: *mut V::Word,
        stride: usize,
    ) {
        // SAFETY: the caller's messages, and each of its rows, are two runs.
        unsafe {
            V::shuffle_pairs(proof, messages, at, pairs, rows, stride);
            V::shuffle_pairs(proof, messages.add(V::LANES), at, pairs, rows.add(2 * V::LANES), stride);
        }
    }
}
