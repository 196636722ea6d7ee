//! Blocks of several messages turned into words of several lanes, and states into digests, in registers of 128-bit parts.

use super::Vector;
use super::feed::Stage;
use crate::padding::PART;
use crate::word::{Array, Shape, Word};

/// Loads and shuffles that work on each 128-bit part of a register alone.
///
/// A register of `P` parts takes 16 bytes of `P` messages that stand 4 (32-bit words) or 2 (64-bit words) apart, so
/// that transposing inside each part leaves the lanes in their natural order: inserts from memory, which are cheap,
/// replace the shuffles across parts, which are not.
pub(crate) trait Parts: Vector {
    /// 16 bytes from `at` of every [`lanes_per_part`]-th message, one a part.
    ///
    /// # Safety
    /// Each of those messages is readable for 16 bytes from `at`.
    unsafe fn load_parts(proof: Self::Proof, messages: *const &[u8], at: usize) -> Self;
    /// Stores each part, so many bytes apart.
    ///
    /// # Safety
    /// 16 bytes are writable for each part.
    unsafe fn store_parts(self, to: *mut u8, apart: usize);
    fn unpack_low_32(self, other: Self) -> Self;
    fn unpack_high_32(self, other: Self) -> Self;
    fn unpack_low_64(self, other: Self) -> Self;
    fn unpack_high_64(self, other: Self) -> Self;

    /// The upper 64 bits of each part of `self`, then the lower 64 bits of `next`'s.
    #[inline(always)]
    fn straddle_64(self, next: Self) -> Self {
        self.unpack_high_64(self).unpack_low_64(next)
    }
}

/// Lanes in a 128-bit part.
pub(crate) const fn lanes_per_part<W: Word>() -> usize {
    PART / W::BYTES
}

/// Words as [`Vector::load_block`] has them.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn words<V: Parts, B: Shape>(
    proof: V::Proof,
    messages: *const &[u8],
    at: usize,
    bytes: usize,
    rest: &Array<B, V::Word>,
) -> Array<B, V> {
    const { assert!(V::Word::BYTES == 8 || B::COUNT.is_multiple_of(4), "a block is of whole parts, or words of 64 bits") };
    let mut block = B::filled(V::splat(proof, V::Word::default()));
    // Of a constant size each, so that the loops are unrolled, and the words stay in registers.
    if V::Word::BYTES == 4 {
        let parts = block.as_mut().chunks_exact_mut(4).zip(rest.as_ref().chunks_exact(4));
        for (part, (words, rest)) in parts.enumerate() {
            if PART * part >= bytes {
                for (word, rest) in words.iter_mut().zip(rest) {
                    *word = V::splat(proof, *rest);
                }
                continue;
            }
            // SAFETY: the part is among the caller's bytes, which are whole parts.
            let [a, b, c, d] = unsafe {
                [
                    V::load_parts(proof, messages, at + PART * part),
                    V::load_parts(proof, messages.add(1), at + PART * part),
                    V::load_parts(proof, messages.add(2), at + PART * part),
                    V::load_parts(proof, messages.add(3), at + PART * part),
                ]
            };
            let (ab_low, ab_high) = (a.unpack_low_32(b), a.unpack_high_32(b));
            let (cd_low, cd_high) = (c.unpack_low_32(d), c.unpack_high_32(d));
            words[0] = ab_low.unpack_low_64(cd_low);
            words[1] = ab_low.unpack_high_64(cd_low);
            words[2] = ab_high.unpack_low_64(cd_high);
            words[3] = ab_high.unpack_high_64(cd_high);
        }
        return block;
    }
    let parts = block.as_mut().chunks_exact_mut(2).zip(rest.as_ref().chunks_exact(2));
    for (part, (words, rest)) in parts.enumerate() {
        if PART * part >= bytes {
            for (word, rest) in words.iter_mut().zip(rest) {
                *word = V::splat(proof, *rest);
            }
            continue;
        }
        // SAFETY: the part is among the caller's bytes, which are whole parts or the whole block.
        let (a, b) = unsafe {
            (V::load_parts(proof, messages, at + PART * part), V::load_parts(proof, messages.add(1), at + PART * part))
        };
        words[0] = a.unpack_low_64(b);
        words[1] = a.unpack_high_64(b);
    }
    if let ([word], [rest]) =
        (block.as_mut().chunks_exact_mut(2).into_remainder(), rest.as_ref().chunks_exact(2).remainder())
    {
        *word = if bytes < B::COUNT * V::Word::BYTES {
            V::splat(proof, *rest)
        } else {
            // The end of a part, which begins among the words before.
            let at = at + bytes - PART;
            // SAFETY: the caller's bytes are the whole block.
            let (a, b) = unsafe { (V::load_parts(proof, messages, at), V::load_parts(proof, messages.add(1), at)) };
            a.unpack_high_64(b)
        };
    }
    block
}

/// The pairs of words that start at `at` in each of `LANES` messages: of each 128-bit part, the first half of the lanes in
/// one register and the second half in the next.
///
/// # Safety
/// As of [`Stage::shuffle_pairs`].
#[inline(always)]
pub(crate) unsafe fn shuffle_pairs<V: Parts>(
    proof: V::Proof,
    messages: *const &[u8],
    at: usize,
    pairs: usize,
    rows: *mut V::Word,
    stride: usize,
) {
    for half in 0..2 {
        // SAFETY: every message is readable for so many pairs; the rows are the caller's.
        unsafe {
            let row = |i: usize| rows.add(i * stride + half * V::LANES);
            if V::Word::BYTES == 4 {
                // 16 bytes are two pairs.
                for i in (0..pairs).step_by(2) {
                    let a = V::load_parts(proof, messages.add(2 * half), at + 8 * i);
                    let b = V::load_parts(proof, messages.add(2 * half + 1), at + 8 * i);
                    a.unpack_low_64(b).store(row(i));
                    a.unpack_high_64(b).store(row(i + 1));
                }
            } else {
                for i in 0..pairs {
                    V::load_parts(proof, messages.add(half), at + 16 * i).store(row(i));
                }
            }
        }
    }
}

/// Where [`Stage::slot`] has a lane: each part's lanes come half from the first register and half from the second.
#[inline(always)]
pub(crate) fn slot<V: Stage>(lane: usize) -> usize {
    let half = lanes_per_part::<V::Word>() / 2;
    let (register, part) = (lane / half % 2, lane / half / 2);
    register * (V::LANES / 2) + part * half + lane % half
}

/// Words as [`Vector::store_rows`] wants them.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn rows<V: Parts>(state: &[V; 8], words: usize, rows: *mut u8, apart: usize) {
    if V::Word::BYTES == 4 {
        for quarter in 0..words.div_ceil(4) {
            let [a, b, c, d] =
                [state[4 * quarter], state[4 * quarter + 1], state[4 * quarter + 2], state[4 * quarter + 3]];
            let (ab_low, ab_high) = (a.unpack_low_32(b), a.unpack_high_32(b));
            let (cd_low, cd_high) = (c.unpack_low_32(d), c.unpack_high_32(d));
            let lanes = [
                ab_low.unpack_low_64(cd_low),
                ab_low.unpack_high_64(cd_low),
                ab_high.unpack_low_64(cd_high),
                ab_high.unpack_high_64(cd_high),
            ];
            for (i, lanes) in lanes.into_iter().enumerate() {
                // SAFETY: the caller's rows, every fourth of which is one of these.
                unsafe { lanes.store_parts(rows.add(i * apart + 16 * quarter), 4 * apart) };
            }
        }
    } else {
        for pair in 0..words.div_ceil(2) {
            let (a, b) = (state[2 * pair], state[2 * pair + 1]);
            for (i, lanes) in [a.unpack_low_64(b), a.unpack_high_64(b)].into_iter().enumerate() {
                // SAFETY: the caller's rows, every second of which is one of these.
                unsafe { lanes.store_parts(rows.add(i * apart + 16 * pair), 2 * apart) };
            }
        }
    }
}

/// One lane's words as [`Vector::store_rows`] wants them.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn rows_one<V: Vector>(state: &[V; 8], words: usize, row: *mut u8, _apart: usize) {
    for (i, state) in state.iter().enumerate().take(words.next_multiple_of(lanes_per_part::<V::Word>())) {
        // SAFETY: the row has room for the words.
        unsafe { state.store(row.add(i * V::Word::BYTES).cast()) };
    }
}

/// Words of one message as [`Vector::load_block`] has them, each in a vector of one lane.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn words_one<V: Vector, B: Shape>(
    proof: V::Proof,
    messages: *const &[u8],
    at: usize,
    bytes: usize,
    rest: &Array<B, V::Word>,
) -> Array<B, V> {
    let mut words = B::filled(V::splat(proof, V::Word::default()));
    for (i, (word, rest)) in words.as_mut().iter_mut().zip(rest.as_ref()).enumerate() {
        if i * V::Word::BYTES >= bytes {
            *word = V::splat(proof, *rest);
            continue;
        }
        // SAFETY: the word is among the caller's bytes.
        *word = unsafe { V::load(proof, (*messages).as_ptr().add(at + i * V::Word::BYTES).cast()) };
    }
    words
}
