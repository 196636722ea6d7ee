//! How a block's words reach the rounds: shuffled as they are loaded, or *staged*, and cache lines asked for ahead.
//!
//! A message's words stand side by side in memory, but the rounds want the same word of every lane side by side.
//! [`Shuffled`] turns rows into columns as it loads them, which costs shuffles: operations like those of the rounds,
//! on the same ports. [`Staged`] does it while the block before is hashed: word by word, a few in each round, it copies
//! the next block to rows of words, by narrow loads and stores that no round wants. The rows are read a good many
//! rounds after they are written, when the stores have reached the cache: read earlier, they would wait for them.
//!
//! Which of the two is faster depends on the CPU, so a backend may have a kernel of each.

use super::Vector;
use crate::word::{Array, Shape, Word};
use core::marker::PhantomData;

/// Lanes from which on it is worth asking for lines. Fewer streams are followed by the CPU itself.
const LANES: usize = 8;

/// Blocks from the one being loaded to the one asked for: what measured best from the third-level cache and memory.
const BLOCKS_AHEAD: usize = 2;

pub(crate) const CACHE_LINE: usize = 64;

/// What the rounds of one block do for the blocks to come, in shares.
pub(crate) trait Feed: Copy {
    /// Whether [`stage`](Self::stage) does anything, and wants rounds that are written out one by one to stand between.
    const STAGED: bool;

    /// Asks for one of so many shares of the cache lines to come, unless staging does: it asks as it copies, which
    /// measured better than all at once.
    fn prefetch(self, share: usize, shares: usize);

    /// Copies one of so many shares of the next block.
    fn stage(self, share: usize, shares: usize);
}

/// Blocks, of a shape `B`, that are shuffled as they are loaded.
#[derive(Clone, Copy)]
pub(crate) struct Shuffled<V, B: Shape>(Lines<V, B>);

impl<V: Vector, B: Shape> Shuffled<V, B> {
    /// For the block `at` bytes into each message.
    ///
    /// # Safety
    /// `messages` has a slice for each lane, as long as the feed is in use.
    #[inline(always)]
    pub(crate) unsafe fn new(messages: *const &[u8], at: usize) -> Self {
        Shuffled(Lines { messages: messages.cast(), at, of: PhantomData })
    }

    /// The block's words.
    ///
    /// # Safety
    /// Each message is readable for a block from `at`.
    #[inline(always)]
    pub(crate) unsafe fn words(self, proof: V::Proof, big_endian: bool) -> Array<B, V> {
        let (block, none) = (B::COUNT * V::Word::BYTES, B::filled(V::Word::default()));
        // SAFETY: a message for each lane, and the caller's block.
        let mut words = unsafe { V::load_block::<B>(proof, self.0.messages.cast(), self.0.at, block, &none) };
        if big_endian {
            for word in words.as_mut() {
                *word = word.swap_bytes();
            }
        }
        words
    }
}

impl<V: Vector, B: Shape> Feed for Shuffled<V, B> {
    const STAGED: bool = false;

    #[inline(always)]
    fn prefetch(self, share: usize, shares: usize) {
        self.0.prefetch(share, shares);
    }
    #[inline(always)]
    fn stage(self, _share: usize, _shares: usize) {}
}

/// No blocks to come.
#[derive(Clone, Copy)]
pub(crate) struct Idle;

impl Feed for Idle {
    const STAGED: bool = false;

    #[inline(always)]
    fn prefetch(self, _share: usize, _shares: usize) {}
    #[inline(always)]
    fn stage(self, _share: usize, _shares: usize) {}
}

/// Vectors whose rows can be staged by pairs of words: half the loads and stores, for a shuffle a row.
pub(crate) trait Stage: Vector {
    /// Where a lane's pair of words stands among those of all lanes, such that [`load_pairs`](Self::load_pairs) finds
    /// it.
    fn slot(lane: usize) -> usize;

    /// The first and the second word of each lane's pair.
    ///
    /// # Safety
    /// `from` is readable for `2 * LANES` words.
    unsafe fn load_pairs(proof: Self::Proof, from: *const Self::Word) -> (Self, Self);

    /// Stages in pairs the block that starts `at` bytes into each lane's message, in whole rows.
    ///
    /// # Safety
    /// `messages` points to `LANES` slices, each readable from `at` for `pairs` pairs of words, a multiple of two, and `rows`
    /// to as many rows, each of `2 * LANES` words, `stride` words apart.
    unsafe fn shuffle_pairs(
        proof: Self::Proof,
        messages: *const &[u8],
        at: usize,
        pairs: usize,
        rows: *mut Self::Word,
        stride: usize,
    );
}

/// Blocks that are copied to rows of words while the one before is hashed.
#[derive(Clone, Copy)]
pub(crate) struct Staged<V, B: Shape> {
    lines: Lines<V, B>,
    rows: *mut V,
    order: Order,
}

/// How words are copied. Constants where the feed is made, so that nothing is left of the choice once it is inlined.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// One by one, with their bytes swapped: big-endian words.
    Swapped,
    /// In pairs, as they are: little-endian words.
    Pairs,
}

impl Order {
    /// Words that are copied at once.
    #[inline(always)]
    fn words(self) -> usize {
        match self {
            Order::Swapped => 1,
            Order::Pairs => 2,
        }
    }
}

impl<V: Stage, B: Shape> Staged<V, B> {
    /// To stage the block `at` bytes into each message.
    ///
    /// # Safety
    /// `messages` has a slice for each lane, readable for a block from `at`, and `rows` is valid for a vector for
    /// each of its words, as long as the feed is in use.
    #[inline(always)]
    pub(crate) unsafe fn new(messages: *const &[u8], at: usize, rows: *mut V, order: Order) -> Self {
        assert!(B::COUNT.is_multiple_of(4), "pairs of words are shuffled two at a time");
        Staged { lines: Lines { messages: messages.cast(), at, of: PhantomData }, rows, order }
    }

    /// Stages the whole block, with nothing to hash meanwhile: shuffled, so that whole rows are stored, which can be read
    /// back at once.
    #[inline(always)]
    pub(crate) fn stage_all(self, proof: V::Proof) {
        // SAFETY: a message for each lane, readable for a block; `rows` is valid for a vector for each word, which are as
        // many words as half as many rows of pairs.
        unsafe {
            match self.order {
                Order::Swapped => {
                    let words = Shuffled(self.lines).words(proof, true);
                    for (i, word) in words.as_ref().iter().enumerate() {
                        word.store(self.rows.add(i).cast());
                    }
                }
                Order::Pairs => {
                    let (messages, rows) = (self.lines.messages.cast(), self.rows.cast());
                    V::shuffle_pairs(proof, messages, self.lines.at, B::COUNT / 2, rows, 2 * V::LANES);
                }
            }
        }
    }

    /// Copies a word, or a pair of words, of one lane.
    ///
    /// # Safety
    /// `lane` is below `V::LANES`, and `word` below `B::COUNT`, an even number for pairs.
    #[inline(always)]
    unsafe fn copy(self, lane: usize, word: usize) {
        // SAFETY: there is a message for each lane, readable for a block; there is a row for each word, and a slot below
        // `V::LANES` is one of its pairs.
        unsafe {
            let message = (*self.lines.messages.add(lane)).as_ptr();
            let from = message.add(self.lines.at + word * V::Word::BYTES).cast::<V::Word>();
            let row = self.rows.add(word).cast::<V::Word>();
            match self.order {
                Order::Swapped => row.add(lane).write(from.read_unaligned().swap_bytes()),
                Order::Pairs => {
                    let pair = from.cast::<[V::Word; 2]>().read_unaligned();
                    row.cast::<[V::Word; 2]>().add(V::slot(lane)).write(pair);
                }
            }
        }
    }

    /// The words of the block that was staged.
    ///
    /// # Safety
    /// Every share of one was.
    #[inline(always)]
    pub(crate) unsafe fn words(self, proof: V::Proof) -> Array<B, V> {
        let mut block = B::filled(V::splat(proof, V::Word::default()));
        let words = block.as_mut();
        for i in (0..B::COUNT).step_by(self.order.words()) {
            // SAFETY: `i` is a word of a block, and even for pairs, whose number is, so that both have rows.
            unsafe {
                let row = self.rows.add(i).cast();
                match self.order {
                    Order::Swapped => words[i] = V::load(proof, row),
                    Order::Pairs => (words[i], words[i + 1]) = V::load_pairs(proof, row),
                }
            }
        }
        block
    }
}

impl<V: Stage, B: Shape> Feed for Staged<V, B> {
    const STAGED: bool = true;

    #[inline(always)]
    fn prefetch(self, _share: usize, _shares: usize) {}

    #[inline(always)]
    fn stage(self, share: usize, shares: usize) {
        self.lines.prefetch(share, shares);
        // Lane by lane, so that a line is read in one go.
        let words = self.order.words();
        let copies = B::COUNT / words * V::LANES;
        for copy in share * copies / shares..(share + 1) * copies / shares {
            // SAFETY: such a copy begins in one of the words, evenly for pairs, of one of the lanes.
            unsafe { self.copy(copy * words / B::COUNT, copy * words % B::COUNT) };
        }
    }
}

/// The cache lines of the blocks to come, of every lane.
#[derive(Clone, Copy)]
struct Lines<V, B: Shape> {
    messages: *const &'static [u8],
    /// Where the block that is loaded starts in each message.
    at: usize,
    of: PhantomData<(V, B)>,
}

impl<V: Vector, B: Shape> Lines<V, B> {
    #[inline(always)]
    fn prefetch(self, share: usize, shares: usize) {
        if V::LANES < LANES {
            return;
        }
        let block = B::COUNT * V::Word::BYTES;
        let lines = V::LANES * block / CACHE_LINE;
        for line in share * lines / shares..(share + 1) * lines / shares {
            // SAFETY: the remainder is below `V::LANES`, for each of which there is a message.
            let message = unsafe { (*self.messages.add(line % V::LANES)).as_ptr() };
            V::prefetch(message.wrapping_add(self.at + BLOCKS_AHEAD * block + line / V::LANES * CACHE_LINE));
        }
    }
}
