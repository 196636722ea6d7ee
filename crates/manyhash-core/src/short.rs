//! Kernels for whole short messages: they pad messages, hash them from one state and write out the digests, a row at a
//! time.
//!
//! For messages of a block or two, the work around the rounds costs as much as the rounds: padding, transposing rows
//! into lanes, and turning states into digests. Here all of it is done in vectors.

use crate::family::{Family, MAX_BLOCK_BYTES, MAX_DIGEST_BYTES, State, StateBytes};
use crate::kernel::{self, LaneStates, MAX_LANES};
use crate::padding::{PART, Padding};
use crate::vector::feed::Idle;
use crate::vector::{Compress, LINE, Vector};
use crate::word::{Shape, Word};
use core::fmt;
use core::mem::MaybeUninit;

/// One compression function compiled for one backend and one number of lanes, for whole short messages.
pub struct ShortKernel<F: Family> {
    name: &'static str,
    lanes: usize,
    run: Run<F>,
    iterate: Iterate<F>,
}

/// # Safety
/// `bytes` is at least 1 and at most those of `F::STATE_WORDS` words, less than a block's; the CPU has the kernel's
/// instructions.
pub(crate) type Iterate<F> = unsafe fn(chains: &mut Chains<F>, bytes: usize, iterations: u32);

/// # Safety
/// `messages` are a whole number of times the kernel's lanes, each padded to `blocks` blocks; `digests` is writable for
/// as many times `width` bytes, a multiple of 16, of which all that a state needs, rounded up to such a multiple, are
/// written; the CPU has the kernel's instructions.
pub(crate) type Run<F> =
    unsafe fn(start: &State<F>, before: usize, messages: &[&[u8]], blocks: usize, digests: *mut u8, width: usize);

impl<F: Family> Clone for ShortKernel<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Family> Copy for ShortKernel<F> {}

impl<F: Family> fmt::Debug for ShortKernel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShortKernel").field("name", &self.name).field("lanes", &self.lanes).finish()
    }
}

/// A message and the bytes before it are shorter than this, so that their length in bits fits one word of any
/// algorithm.
pub const MAX_SHORT_BYTES: usize = 1 << 28;

impl<F: Family> ShortKernel<F> {
    /// # Safety
    /// `run` keeps to [`Run`] and `iterate` to [`Iterate`] for this number of lanes, and the CPU has their
    /// instructions.
    pub(crate) unsafe fn new(name: &'static str, lanes: usize, run: Run<F>, iterate: Iterate<F>) -> Self {
        assert!(lanes <= MAX_LANES, "there are as many rows of digests");
        ShortKernel { name, lanes, run, iterate }
    }

    /// Returns the name, as [`Kernel::name`](crate::Kernel::name) does.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the number of messages that the kernel hashes at once. It takes the same time for fewer.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Hashes messages that are padded to the same number of blocks ([`Family::final_blocks`]). Each is hashed as if
    /// `before` bytes preceded it: whole blocks that led to the state `start`.
    ///
    /// The digests are written in rows of `width` bytes, each at the start of its row. The other bytes of a row become
    /// unspecified. `width` is at least [`row_bytes`] of a digest.
    ///
    /// # Errors
    /// Returns an error, and writes nothing, if messages are padded to different numbers of blocks.
    ///
    /// # Panics
    /// Panics if `width` is 0 or not a multiple of 16, if `digests` is not `width` bytes for each message, if `before`
    /// is not a whole number of blocks, or if `before` and the first message together reach [`MAX_SHORT_BYTES`].
    pub fn hash(
        &self,
        start: &State<F>,
        before: usize,
        messages: &[&[u8]],
        width: usize,
        digests: &mut [u8],
    ) -> Result<(), Uneven> {
        assert!(width > 0 && width == row_bytes(width), "rows of a multiple of {PART} bytes");
        assert!(Some(digests.len()) == messages.len().checked_mul(width), "one row for each message");
        assert!(before.is_multiple_of(F::BLOCK_BYTES), "only whole blocks can precede a message");
        let Some(first) = messages.first() else { return Ok(()) };
        assert!(before < MAX_SHORT_BYTES && first.len() < MAX_SHORT_BYTES - before, "the messages are short");
        let blocks = F::final_blocks(first.len());
        // Lengths that are padded to so many blocks.
        let most = blocks * F::BLOCK_BYTES - F::PADDING_BYTES;
        let least = (most + 1).saturating_sub(F::BLOCK_BYTES);
        // Without a branch for each: in the usual case none differs. A difference below 0 has the highest bit.
        let below = messages
            .iter()
            .fold(0, |below, message| below | message.len().wrapping_sub(least) | most.wrapping_sub(message.len()));
        if below > usize::MAX / 2 {
            return Err(Uneven);
        }
        let whole = messages.len() / self.lanes * self.lanes;
        if whole > 0 {
            // SAFETY: whole groups, of as many blocks, as was checked; a row for each; a `ShortKernel` only exists where
            // the CPU has its instructions.
            unsafe { (self.run)(start, before, &messages[..whole], blocks, digests.as_mut_ptr(), width) }
        }
        let (rest, digests) = (&messages[whole..], &mut digests[whole * width..]);
        if let Some(first) = rest.first() {
            let mut filled = [*first; MAX_LANES];
            filled[..rest.len()].copy_from_slice(rest);
            let mut rows = [[0; MAX_DIGEST_BYTES]; MAX_LANES];
            let kept = width.min(MAX_DIGEST_BYTES);
            // SAFETY: as above; the lanes left over hash the first message again, into rows of their own.
            unsafe {
                (self.run)(start, before, &filled[..self.lanes], blocks, rows.as_mut_ptr().cast(), MAX_DIGEST_BYTES)
            }
            for (digest, row) in digests.chunks_exact_mut(width).zip(rows) {
                digest[..kept].copy_from_slice(&row[..kept]);
            }
        }
        Ok(())
    }
}

impl<F: Family> ShortKernel<F> {
    /// Hashes one message as if `before` bytes preceded it: whole blocks that led to the state `start`. The bytes after
    /// the digest are unspecified.
    ///
    /// # Panics
    /// Panics if the kernel has more than one lane, if `before` is not a whole number of blocks, or if `before` and the
    /// message together reach [`MAX_SHORT_BYTES`].
    #[inline]
    pub fn hash_one(&self, start: &State<F>, before: usize, message: &[u8]) -> StateBytes {
        assert!(self.lanes == 1, "a message alone has a single lane");
        assert!(before.is_multiple_of(F::BLOCK_BYTES), "only whole blocks can precede a message");
        assert!(before < MAX_SHORT_BYTES && message.len() < MAX_SHORT_BYTES - before, "the message is short");
        let blocks = F::final_blocks(message.len());
        let row = row_bytes(F::STATE_WORDS * F::Word::BYTES).min(MAX_DIGEST_BYTES);
        // Each byte is stored once. CPUs that guess which store a load will read from take the zeros for the digest where
        // both are stored, and then do much of the work again.
        let mut digest = MaybeUninit::<StateBytes>::uninit();
        let bytes: *mut u8 = digest.as_mut_ptr().cast();
        // SAFETY: a row is no longer than a digest, and so many bytes are behind it.
        unsafe { bytes.add(row).write_bytes(0, MAX_DIGEST_BYTES - row) };
        // SAFETY: one message, of so many blocks, and a row for it; a `ShortKernel` only exists where the CPU has its
        // instructions. It writes the whole row.
        unsafe {
            (self.run)(start, before, &[message], blocks, bytes, row);
            digest.assume_init()
        }
    }
}

/// The messages are padded to different numbers of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uneven;

impl fmt::Display for Uneven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages are padded to different numbers of blocks")
    }
}

impl core::error::Error for Uneven {}

/// Returns the minimum width of rows for digests of `digest` bytes.
pub const fn row_bytes(digest: usize) -> usize {
    digest.next_multiple_of(PART)
}

/// Chains of HMACs in the lanes of a kernel, each with its own key: the iterations of PBKDF2 (RFC 8018, 5.2).
#[derive(Clone, Debug)]
pub struct Chains<F: Family> {
    /// The states after the keys' inner blocks.
    pub inner: LaneStates<F>,
    /// The states after the keys' outer blocks.
    pub outer: LaneStates<F>,
    /// The last tags, as states: U of the RFC.
    pub tags: LaneStates<F>,
    /// The exclusive or of all tags so far: T of the RFC.
    pub sums: LaneStates<F>,
}

impl<F: Family> Default for Chains<F> {
    fn default() -> Self {
        let states = LaneStates::default;
        Chains { inner: states(), outer: states(), tags: states(), sums: states() }
    }
}

impl<F: Family> ShortKernel<F> {
    /// Continues the chains in the kernel's first lanes for a number of iterations. Each iteration makes the tag of the
    /// last tag and exclusive-ors it into the sum. Unused lanes become unspecified.
    ///
    /// # Panics
    /// Panics if `bytes`, the number of bytes in a tag, is 0 or more than a digest can have.
    pub fn iterate(&self, chains: &mut Chains<F>, bytes: usize, iterations: u32) {
        let most = (F::STATE_WORDS * F::Word::BYTES).min(MAX_DIGEST_BYTES);
        assert!((1..=most).contains(&bytes), "a tag has at least a byte, and no more than a digest");
        // SAFETY: as many bytes as a digest has at most; a `ShortKernel` only exists where the CPU has its
        // instructions.
        unsafe { (self.iterate)(chains, bytes, iterations) }
    }
}

/// Iterates chains in the lanes of one vector; compiled into each entry of [`crate::tier`].
///
/// # Safety
/// That of [`Iterate`], for `V::LANES` lanes.
#[inline(always)]
pub(crate) unsafe fn iterate<F: Compress, V: Vector<Word = F::Word>>(
    proof: V::Proof,
    chains: &mut Chains<F>,
    bytes: usize,
    iterations: u32,
) {
    // SAFETY: the states have a word for each lane of any vector.
    let (inner, outer, mut tags, mut sums) = unsafe {
        (
            kernel::load::<F, V>(proof, &chains.inner.columns()),
            kernel::load::<F, V>(proof, &chains.outer.columns()),
            kernel::load::<F, V>(proof, &chains.tags.columns()),
            kernel::load::<F, V>(proof, &chains.sums.columns()),
        )
    };

    // A tag as the only block of a message after the key's. Of the last word of a tag some bytes may not be its own.
    let last = (bytes - 1) / F::Word::BYTES;
    let (mut padded, mut kept) = ([0; 2 * MAX_BLOCK_BYTES], [0; MAX_DIGEST_BYTES]);
    F::pad(&kept[..bytes], (F::BLOCK_BYTES + bytes) as u128, &mut padded);
    kept[..bytes].fill(0xFF);
    let mut block = F::Block::filled(V::splat(proof, F::Word::default()));
    for (block, word) in block.as_mut().iter_mut().zip(padded.chunks_exact(F::Word::BYTES)) {
        *block = V::splat(proof, F::Word::read(F::BIG_ENDIAN, word));
    }
    let kept = &kept[last * F::Word::BYTES..(last + 1) * F::Word::BYTES];
    let kept = V::splat(proof, F::Word::read(F::BIG_ENDIAN, kept));
    let padding = block.as_ref()[last];
    for _ in 0..iterations {
        for key in [&inner, &outer] {
            let words = block.as_mut();
            words[..last].copy_from_slice(&tags.as_ref()[..last]);
            words[last] = tags.as_ref()[last].and(kept).or(padding);
            tags = *key;
            F::compress(proof, &mut tags, block, Idle);
        }
        for (sum, tag) in sums.as_mut().iter_mut().zip(tags.as_ref()) {
            *sum = sum.xor(*tag);
        }
    }
    // SAFETY: as above.
    unsafe {
        kernel::store::<F, V>(tags, &chains.tags.columns());
        kernel::store::<F, V>(sums, &chains.sums.columns());
    }
}

/// Maximum number of words of a block in whole lines: three lines of 8 words.
const MAX_LINE_WORDS: usize = 24;

/// Hashes messages in the lanes of one vector; compiled into each entry of [`crate::tier`].
///
/// # Safety
/// That of [`Run`], for `V::LANES` lanes.
#[inline(always)]
pub(crate) unsafe fn run<F: Compress, V: Vector<Word = F::Word>>(
    proof: V::Proof,
    start: &State<F>,
    before: usize,
    messages: &[&[u8]],
    blocks: usize,
    digests: *mut u8,
    width: usize,
) {
    // A block of whole lines for each lane.
    let mut padded = MaybeUninit::<[V; MAX_LINE_WORDS]>::uninit();
    let padded: *mut u8 = padded.as_mut_ptr().cast();
    let pitch = F::BLOCK_BYTES.next_multiple_of(LINE);
    const { assert!(F::BLOCK_BYTES.next_multiple_of(LINE) / F::Word::BYTES <= MAX_LINE_WORDS) };
    let row = |lane: usize| core::ptr::slice_from_raw_parts(padded.wrapping_add(lane * pitch), F::BLOCK_BYTES);
    let rows: [*const [u8]; MAX_LANES] = core::array::from_fn(|lane| row(lane.min(V::LANES - 1)));
    let mut bits = [F::Word::default(); MAX_LANES];
    let mut left = [0; MAX_LANES];
    // The words of a digest that there is room for.
    let digest_words = F::STATE_WORDS.min(width.min(MAX_DIGEST_BYTES) / F::Word::BYTES);

    for (group, messages) in messages.chunks_exact(V::LANES).enumerate() {
        let (mut shortest, mut longest) = (usize::MAX, 0);
        for (bits, message) in bits.iter_mut().zip(messages) {
            // Below 2^32: the first message is within `MAX_SHORT_BYTES`, and the others are hardly longer than it.
            *bits = F::Word::from(((before + message.len()) * 8) as u32);
            shortest = shortest.min(message.len());
            longest = longest.max(message.len());
        }
        let mut state = F::State::filled(V::splat(proof, F::Word::default()));
        for (state, word) in state.as_mut().iter_mut().zip(start.as_ref()).take(F::STATE_WORDS) {
            *state = V::splat(proof, *word);
        }
        for block in 0..blocks {
            let at = block * F::BLOCK_BYTES;
            let bytes = shortest.saturating_sub(at).min(F::BLOCK_BYTES);
            // Messages of one length that needs no bytes put together: the usual keys, digests and pairs of them.
            let whole_parts = shortest == longest && bytes.is_multiple_of(PART);
            let mut block_words = if whole_parts || bytes == F::BLOCK_BYTES {
                let mut rest = F::Block::filled(F::Word::default());
                if (at..at + F::BLOCK_BYTES).contains(&shortest) {
                    // In the order of the message's bytes.
                    rest.as_mut()[bytes / F::Word::BYTES] = F::Word::from(F::PADDING.first().into());
                }
                // SAFETY: the messages have so many bytes, whole parts of them or a block.
                unsafe { V::load_block::<F::Block>(proof, messages.as_ptr(), at, bytes, &rest) }
            } else {
                for at_line in (0..F::BLOCK_BYTES).step_by(LINE) {
                    let at = at + at_line;
                    for (left, message) in left.iter_mut().zip(messages) {
                        *left = (message.len() as isize - at as isize).clamp(-1, LINE as isize) as i8;
                    }
                    for (lane, message) in messages.iter().enumerate() {
                        let from = message.as_ptr().wrapping_add(at);
                        // SAFETY: so many bytes are left; each lane has a block of lines among the padded ones.
                        unsafe {
                            V::pad(proof, from, left[lane], F::PADDING.first(), padded.add(lane * pitch + at_line))
                        };
                    }
                }
                let none = F::Block::filled(F::Word::default());
                // SAFETY: a block of each lane was padded. As references they are used only within these lines, where
                // nobody writes to what they refer to.
                unsafe { V::load_block::<F::Block>(proof, rows.as_ptr().cast(), 0, F::BLOCK_BYTES, &none) }
            };
            let words = block_words.as_mut();
            if F::BIG_ENDIAN {
                for word in words.iter_mut() {
                    *word = word.swap_bytes();
                }
            }
            if block + 1 == blocks {
                match F::PADDING {
                    // FIPS 180-4, 5.1 and RFC 1321, 3.2: the length in two words, of which the upper one is 0.
                    Padding::Length => {
                        let lower = F::Block::COUNT - if F::BIG_ENDIAN { 1 } else { 2 };
                        // SAFETY: there are bits for more lanes than any vector has.
                        words[lower] = unsafe { V::load(proof, bits.as_ptr()) };
                    }
                    Padding::Sponge { .. } => {
                        let end = V::splat(proof, F::Word::from_low_bits(0x80 << (8 * (F::Word::BYTES - 1))));
                        words[F::Block::COUNT - 1] = words[F::Block::COUNT - 1].xor(end);
                    }
                }
            }
            F::compress(proof, &mut state, block_words, Idle);
        }
        // The words of the longest digest; behind those that the family has, any.
        let mut words = [state.as_ref()[0]; 8];
        for (word, state) in words.iter_mut().zip(state.as_ref()) {
            *word = if F::BIG_ENDIAN { state.swap_bytes() } else { *state };
        }
        // SAFETY: the caller's rows are as many as its messages, and each has `width` bytes, a multiple of 16, for the
        // words that fit in them.
        unsafe { V::store_rows(&words, digest_words, digests.add(group * V::LANES * width), width) };
    }
}
