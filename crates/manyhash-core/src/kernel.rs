//! Kernels, each one compression function compiled for one backend, and the states that they advance.

use crate::family::{Family, MAX_BLOCK_BYTES, State, StateBytes};
use crate::padding::{self, PART};
use crate::short::ShortKernel;
use crate::vector::feed::{Order, Shuffled, Stage, Staged};
use crate::vector::{Compress, Vector};
use crate::word::{Array, Shape};
use core::fmt;
use core::mem::MaybeUninit;

/// Number of lanes in the widest kernel, and of columns in [`LaneStates`].
pub const MAX_LANES: usize = 64;

/// The states of a group of lanes, transposed: word `i` of all lanes is contiguous, as a kernel loads it.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct LaneStates<F: Family> {
    words: Array<F::State, [F::Word; MAX_LANES]>,
}

impl<F: Family> Default for LaneStates<F> {
    fn default() -> Self {
        LaneStates { words: F::State::filled([F::Word::default(); MAX_LANES]) }
    }
}

impl<F: Family> LaneStates<F> {
    /// Returns the state in one lane.
    ///
    /// # Panics
    /// Panics if `lane` is not below [`MAX_LANES`].
    #[inline]
    pub fn get(&self, lane: usize) -> State<F> {
        let mut state = F::State::filled(F::Word::default());
        for (word, words) in state.as_mut().iter_mut().zip(self.words.as_ref()).take(F::STATE_WORDS) {
            *word = words[lane];
        }
        state
    }

    /// All lanes, for a kernel.
    pub(crate) fn columns(&mut self) -> Columns<F> {
        self.columns_from(0)
    }

    /// The lanes from `first` on.
    fn columns_from(&mut self, first: usize) -> Columns<F> {
        // Not a pointer into the first row: it reaches the later ones as well.
        Columns { first: self.words.as_mut().as_flattened_mut()[first..].as_mut_ptr(), stride: MAX_LANES }
    }

    /// Replaces the state in one lane.
    ///
    /// # Panics
    /// Panics if `lane` is not below [`MAX_LANES`].
    #[inline]
    pub fn set(&mut self, lane: usize, state: &State<F>) {
        for (words, word) in self.words.as_mut().iter_mut().zip(state.as_ref()).take(F::STATE_WORDS) {
            words[lane] = *word;
        }
    }
}

/// Where a kernel finds the states that it advances: word `i` of lane `j` is `i * stride + j` words from the first.
pub(crate) struct Columns<F: Family> {
    first: *mut F::Word,
    stride: usize,
}

impl<F: Family> Columns<F> {
    /// Word `i` of the first lane; those of the other lanes follow it.
    ///
    /// # Safety
    /// `i` is below `F::STATE_WORDS`, and the states are still there.
    #[inline(always)]
    pub(crate) unsafe fn word(&self, i: usize) -> *mut F::Word {
        // SAFETY: the columns have every word of a state.
        unsafe { self.first.add(i * self.stride) }
    }

    /// Whether they are one [`State`], whose words stand side by side.
    #[inline(always)]
    pub(crate) fn is_one(&self) -> bool {
        self.stride == 1
    }

    /// # Safety
    /// `lane` is one of the kernel's, and the states are still there.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, lane: usize) -> State<F> {
        let mut state = F::State::filled(F::Word::default());
        for (i, word) in state.as_mut().iter_mut().enumerate().take(F::STATE_WORDS) {
            // SAFETY: the caller's lane, and a word of a state.
            *word = unsafe { *self.word(i).add(lane) };
        }
        state
    }

    /// # Safety
    /// `lane` is one of the kernel's, and the states are still there.
    #[inline(always)]
    pub(crate) unsafe fn set(&self, lane: usize, state: &State<F>) {
        for (i, word) in state.as_ref().iter().enumerate().take(F::STATE_WORDS) {
            // SAFETY: the caller's lane, and a word of a state.
            unsafe { *self.word(i).add(lane) = *word };
        }
    }
}

/// One compression function compiled for one backend and one number of lanes.
pub struct Kernel<F: Family> {
    name: &'static str,
    lanes: usize,
    run: Run<F>,
}

/// # Safety
/// `states` has the kernel's lanes, or, where it [`is_one`](Columns::is_one), all words of a [`State`]; `messages`
/// has as many slices, each of at least `blocks` blocks, at least one; the CPU has the kernel's instructions.
pub(crate) type Run<F> = unsafe fn(states: Columns<F>, messages: &[&[u8]], blocks: usize);

impl<F: Family> Clone for Kernel<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Family> Copy for Kernel<F> {}

impl<F: Family> fmt::Debug for Kernel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).field("lanes", &self.lanes).finish()
    }
}

impl<F: Family> Kernel<F> {
    /// # Safety
    /// `run` keeps to [`Run`] for this number of lanes, and the CPU has its instructions.
    pub(crate) unsafe fn new(name: &'static str, lanes: usize, run: Run<F>) -> Self {
        assert!((1..=MAX_LANES).contains(&lanes), "LaneStates has a column for every lane");
        Kernel { name, lanes, run }
    }

    /// Returns the name, which says the instructions and the lanes, such as `avx512-x2`. It is an identifier that stays
    /// the same in later versions.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the number of messages that the kernel advances at once. It takes the same time for fewer.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Advances the states in lanes `first..first + messages.len()`, each by the first `blocks` blocks of its message.
    ///
    /// With fewer messages than lanes, the states in the remaining lanes of the kernel become unspecified.
    ///
    /// # Panics
    /// Panics if there are no messages or more messages than lanes, if the kernel's lanes from `first` on end after
    /// [`MAX_LANES`], or if a message is shorter than `blocks` blocks.
    #[inline]
    pub fn compress(&self, states: &mut LaneStates<F>, first: usize, messages: &[&[u8]], blocks: usize) {
        assert!(first <= MAX_LANES - self.lanes, "the kernel's lanes end after the states'");
        assert!(!messages.is_empty() && messages.len() <= self.lanes, "one message for each of the kernel's lanes");
        let bytes = blocks.checked_mul(F::BLOCK_BYTES).expect("a message fits in memory");
        assert!(messages.iter().all(|message| message.len() >= bytes), "a message is shorter than its blocks");
        if blocks == 0 {
            return;
        }
        let columns = states.columns_from(first);
        if messages.len() == self.lanes {
            // SAFETY: `first` and the messages' number and lengths were checked above; a `Kernel` only exists where
            // the CPU has its instructions.
            unsafe { (self.run)(columns, messages, blocks) }
        } else {
            let mut filled = [messages[0]; MAX_LANES];
            filled[..messages.len()].copy_from_slice(messages);
            // SAFETY: as above; the lanes left over read the first message again.
            unsafe { (self.run)(columns, &filled[..self.lanes], blocks) }
        }
    }

    /// Advances one state by the first `blocks` blocks of its message.
    ///
    /// # Panics
    /// Panics if the kernel has more than one lane, or if the message is shorter than `blocks` blocks.
    #[inline]
    pub fn compress_one(&self, state: &mut State<F>, message: &[u8], blocks: usize) {
        assert!(self.lanes == 1, "a single state has a single lane");
        let bytes = blocks.checked_mul(F::BLOCK_BYTES).expect("a message fits in memory");
        assert!(message.len() >= bytes, "the message is shorter than its blocks");
        if blocks != 0 {
            let columns = Columns { first: state.as_mut().as_mut_ptr(), stride: 1 };
            // SAFETY: one lane, whose message's length was checked above; a `Kernel` only exists where the CPU has
            // its instructions.
            unsafe { (self.run)(columns, &[message], blocks) }
        }
    }

    /// Hashes the `end` of a message after the whole blocks that led to `state`. `length` is the length of the whole
    /// message in bytes. Returns bytes that start with the digest.
    ///
    /// # Panics
    /// Panics if the kernel has more than one lane, or if the padded end is longer than two blocks of
    /// [`MAX_BLOCK_BYTES`].
    pub fn finish_one(&self, state: &State<F>, end: &[u8], length: u128) -> StateBytes {
        /// Parts that cross a cache line cannot be read back before they have left the core: a wait as long as a block.
        #[repr(align(64))]
        struct Padded([MaybeUninit<[u8; PART]>; 2 * MAX_BLOCK_BYTES / PART]);

        let bytes = F::final_blocks(end.len()) * F::BLOCK_BYTES;
        assert!(bytes <= 2 * MAX_BLOCK_BYTES, "the end of a message is short");
        // Each byte is stored once: see `ShortKernel::hash_one`.
        let mut padded = Padded([MaybeUninit::uninit(); _]);
        for (to, part) in padded.0.iter_mut().zip(padding::parts::<F>(end, length)) {
            to.write(part);
        }
        // SAFETY: so many bytes are in whole parts, no more than there are, and each of them was written.
        let padded = unsafe { core::slice::from_raw_parts(padded.0.as_ptr().cast(), bytes) };
        let mut state = *state;
        self.compress_one(&mut state, padded, bytes / F::BLOCK_BYTES);
        F::digest(&state)
    }
}

/// The kernels of one family on one backend. Their names are distinct.
#[derive(Clone, Debug)]
pub struct KernelSet<F: Family> {
    kernels: [Option<Kernel<F>>; MAX_KERNELS],
    short: [Option<ShortKernel<F>>; MAX_KERNELS],
}

const MAX_KERNELS: usize = 10;

impl<F: Family> Default for KernelSet<F> {
    fn default() -> Self {
        KernelSet { kernels: [None; MAX_KERNELS], short: [None; MAX_KERNELS] }
    }
}

impl<F: Family> KernelSet<F> {
    /// Iterates over the kernels that advance states by whole blocks.
    pub fn iter(&self) -> impl Iterator<Item = Kernel<F>> + '_ {
        self.kernels.iter().copied().flatten()
    }

    /// Iterates over the kernels for whole short messages.
    pub fn short(&self) -> impl Iterator<Item = ShortKernel<F>> + '_ {
        self.short.iter().copied().flatten()
    }

    pub(crate) fn add(&mut self, kernel: Kernel<F>) {
        let free = self.kernels.iter_mut().find(|slot| slot.is_none());
        *free.expect("MAX_KERNELS counts every kernel of a family") = Some(kernel);
    }

    pub(crate) fn add_both(&mut self, (kernel, short): (Kernel<F>, ShortKernel<F>)) {
        self.add(kernel);
        let free = self.short.iter_mut().find(|slot| slot.is_none());
        *free.expect("MAX_KERNELS counts every kernel of a family") = Some(short);
    }
}

/// Advances the lanes of one vector, whose blocks are shuffled as they are loaded; compiled into each entry of
/// [`crate::tier`].
///
/// # Safety
/// That of [`Run`], for `V::LANES` lanes.
#[inline(always)]
pub(crate) unsafe fn run<F: Compress, V: Vector<Word = F::Word>>(
    proof: V::Proof,
    states: Columns<F>,
    messages: &[&[u8]],
    blocks: usize,
) {
    // SAFETY: `states` has the vector's lanes.
    let mut state = unsafe { load(proof, &states) };
    for block in 0..blocks {
        // SAFETY: there is a message for each lane, and each is `blocks` blocks long.
        let (feed, words) = unsafe {
            let feed = Shuffled::<V, F::Block>::new(messages.as_ptr(), block * F::BLOCK_BYTES);
            (feed, feed.words(proof, F::BIG_ENDIAN))
        };
        F::compress(proof, &mut state, words, feed);
    }
    // SAFETY: `states` has the vector's lanes.
    unsafe { store::<F, V>(state, &states) };
}

/// Advances the lanes of one vector, whose blocks are staged; compiled into an entry of [`crate::tier`].
///
/// # Safety
/// That of [`Run`], for `V::LANES` lanes.
#[inline(always)]
pub(crate) unsafe fn run_staged<F: Compress, V: Stage<Word = F::Word>>(
    proof: V::Proof,
    states: Columns<F>,
    messages: &[&[u8]],
    blocks: usize,
) {
    // SAFETY: `states` has the vector's lanes.
    let mut state = unsafe { load(proof, &states) };
    let mut rows = F::Block::filled(V::splat(proof, F::Word::default()));
    let rows: *mut V = rows.as_mut().as_mut_ptr();
    let order = if F::BIG_ENDIAN { Order::Swapped } else { Order::Pairs };
    // SAFETY: there is a message for each lane, and each is `blocks` blocks long, at least one; a row for each word.
    let first = unsafe { Staged::<V, F::Block>::new(messages.as_ptr(), 0, rows, order) };
    first.stage_all(proof);
    // From here on the rows' contents are unknown to the compiler. Knowing the first block's, it would carry all words from
    // block to block in registers, which are too few.
    let rows = core::hint::black_box(rows);
    for block in 0..blocks {
        // After the last block comes none, and it is staged once more.
        let next = (block + 1).min(blocks - 1);
        // SAFETY: as above; every share was staged, above or in the rounds of the block before.
        let (feed, words) = unsafe {
            let feed = Staged::<V, F::Block>::new(messages.as_ptr(), next * F::BLOCK_BYTES, rows, order);
            (feed, feed.words(proof))
        };
        F::compress(proof, &mut state, words, feed);
    }
    // SAFETY: `states` has the vector's lanes.
    unsafe { store::<F, V>(state, &states) };
}

/// # Safety
/// `states` has a word for each of the vector's lanes.
#[inline(always)]
pub(crate) unsafe fn load<F: Compress, V: Vector<Word = F::Word>>(
    proof: V::Proof,
    states: &Columns<F>,
) -> Array<F::State, V> {
    let mut state = F::State::filled(V::splat(proof, F::Word::default()));
    for (i, state) in state.as_mut().iter_mut().enumerate().take(F::STATE_WORDS) {
        // SAFETY: the caller's lanes, and a word of a state.
        *state = unsafe { V::load(proof, states.word(i)) };
    }
    state
}

/// # Safety
/// `states` has a word for each of the vector's lanes.
#[inline(always)]
pub(crate) unsafe fn store<F: Compress, V: Vector<Word = F::Word>>(state: Array<F::State, V>, states: &Columns<F>) {
    for (i, state) in state.as_ref().iter().enumerate().take(F::STATE_WORDS) {
        // SAFETY: the caller's lanes, and a word of a state.
        unsafe { state.store(states.word(i)) };
    }
}
