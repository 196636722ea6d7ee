//! Kernels of instructions made for one algorithm: a message at a time, or a few interleaved so that one's latency hides
//! behind the others. Here is what no ISA owns: how states, blocks and the ends of messages get into registers of 128 bits.
//!
//! Everything is `inline(always)`, compiled into the [entries](dedicated_kernels) of a file that has the instructions' proof.

use crate::family::{Family, State};
use crate::kernel::Columns;
use crate::padding::few;
use crate::short::Chains;
use crate::word::{Array, Item, Shape, Word, Words};

/// Bytes in a register.
const PART: usize = 16;

/// A register of 128 bits: bytes as they stand in memory.
pub(super) trait Part: Item {
    /// Proof that the CPU has the instructions.
    type Proof: Copy;

    fn zero(proof: Self::Proof) -> Self;

    /// # Safety
    /// `from` is readable for 16 bytes.
    unsafe fn load(proof: Self::Proof, from: *const u8) -> Self;

    /// # Safety
    /// `to` is writable for 16 bytes.
    unsafe fn store(self, to: *mut u8);

    /// Words side by side, the first lowest.
    fn of_32(proof: Self::Proof, words: [u32; 4]) -> Self;

    /// Words side by side, the first lowest.
    fn of_64(proof: Self::Proof, words: [u64; 2]) -> Self;

    /// Each word with its bytes in the other order.
    fn swap_bytes<W: Word>(self, proof: Self::Proof) -> Self;

    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;

    /// The bytes of these numbers; 0 for the number 0x80.
    fn bytes(self, proof: Self::Proof, numbers: Self) -> Self;
}

/// A family that there are instructions for.
pub(super) trait Dedicated: Family<State = Words<8>, Block = Words<16>> {
    type Part: Part;

    /// Registers that a state fills; a block fills [`BlockParts`](Self::BlockParts).
    type StateParts: Shape;
    type BlockParts: Shape;

    /// The working variables as the instructions want them.
    type Working: Item;

    /// From the state's words.
    fn load(proof: Proof<Self>, words: Array<Self::StateParts, Self::Part>) -> Self::Working;

    /// The reverse of [`load`](Self::load). Words that the family has not are 0.
    fn store(proof: Proof<Self>, working: Self::Working) -> Array<Self::StateParts, Self::Part>;

    /// Advances each state by its block, which is as it stands in the message.
    fn compress<const N: usize>(
        proof: Proof<Self>,
        working: &mut [Self::Working; N],
        blocks: &[Array<Self::BlockParts, Self::Part>; N],
    );
}

pub(super) type Proof<F> = <<F as Dedicated>::Part as Part>::Proof;

/// `dedicated_kernels!(#[target_feature(..)] Proof, Part)`: the function `kernels(name, proof)`, which gives both kernels of
/// a family for `N` messages, compiled with these features, which are those that the proof needs.
macro_rules! dedicated_kernels {
    (#[$features:meta] $proof:ident, $part:ty) => {
        fn kernels<F: crate::algorithm::dedicated::Dedicated<Part = $part>, const N: usize>(
            name: &'static str,
            _: $proof,
        ) -> (crate::kernel::Kernel<F>, crate::short::ShortKernel<F>) {
            use crate::algorithm::dedicated::{self, Dedicated};
            use crate::family::State;
            use crate::kernel::{Columns, Kernel};
            use crate::short::{Chains, ShortKernel};

            /// # Safety
            /// That of [`Run`](crate::kernel::Run) for `N` messages, and the features named here.
            #[$features]
            unsafe fn run<F: Dedicated<Part = $part>, const N: usize>(
                states: Columns<F>,
                messages: &[&[u8]],
                blocks: usize,
            ) {
                // SAFETY: the caller's; the features of this function are those that the proof needs.
                unsafe { dedicated::run::<F, N>($proof::assume(), states, messages, blocks) }
            }

            /// # Safety
            /// That of [`Run`](crate::short::Run) for `N` messages, and the features named here.
            #[$features]
            unsafe fn short<F: Dedicated<Part = $part>, const N: usize>(
                start: &State<F>,
                before: usize,
                messages: &[&[u8]],
                blocks: usize,
                digests: *mut u8,
                width: usize,
            ) {
                for (i, messages) in messages.as_chunks().0.iter().enumerate() {
                    // SAFETY: the caller's, for the group's rows.
                    unsafe { group::<F, N>(start, before, messages, blocks, digests.add(i * N * width), width) }
                }
            }

            /// As `short`, for one group. A function of its own, lest what would be kept in registers for the next group
            /// leave too few for this one.
            ///
            /// # Safety
            /// That of `short`.
            #[inline(never)]
            #[$features]
            unsafe fn group<F: Dedicated<Part = $part>, const N: usize>(
                start: &State<F>,
                before: usize,
                messages: &[&[u8]; N],
                blocks: usize,
                digests: *mut u8,
                width: usize,
            ) {
                // SAFETY: the caller's; the features of this function are those that the proof needs.
                unsafe { dedicated::group::<F, N>($proof::assume(), start, before, messages, blocks, digests, width) }
            }

            /// # Safety
            /// That of [`Iterate`](crate::short::Iterate) for `N` chains, and the features named here.
            #[$features]
            unsafe fn iterate<F: Dedicated<Part = $part>, const N: usize>(
                chains: &mut Chains<F>,
                bytes: usize,
                iterations: u32,
            ) {
                // SAFETY: the caller's; the features of this function are those that the proof needs.
                dedicated::iterate::<F, N>(unsafe { $proof::assume() }, chains, bytes, iterations);
            }

            // SAFETY: the functions keep to `Run`, and to `Run` and `Iterate` of short kernels, for their number of messages;
            // the proof is of their instructions.
            unsafe { (Kernel::new(name, N, run::<F, N>), ShortKernel::new(name, N, short::<F, N>, iterate::<F, N>)) }
        }
    };
}
pub(super) use dedicated_kernels;

/// # Safety
/// That of [`Run`](crate::kernel::Run) for `N` messages.
#[inline(always)]
pub(super) unsafe fn run<F: Dedicated, const N: usize>(
    proof: Proof<F>,
    states: Columns<F>,
    messages: &[&[u8]],
    blocks: usize,
) {
    // As many as there are lanes, which the compiler then knows.
    let Some(messages) = messages.first_chunk::<N>() else { return };
    let zero = F::Part::zero(proof);
    let mut working = [F::load(proof, F::StateParts::filled(zero)); N];
    if states.is_one() {
        let mut words = F::StateParts::filled(zero);
        for (i, part) in words.as_mut().iter_mut().enumerate() {
            // SAFETY: eight words side by side.
            *part = unsafe { F::Part::load(proof, states.word(0).cast::<u8>().add(PART * i)) };
        }
        working[0] = F::load(proof, words);
    } else {
        for (s, working) in working.iter_mut().enumerate() {
            // SAFETY: `s` is below the kernel's `N` lanes.
            let state = unsafe { states.get(s) };
            *working = F::load(proof, words::<F, F::StateParts>(proof, &state));
        }
    }
    for block in 0..blocks {
        let mut next = [F::BlockParts::filled(zero); N];
        for (next, message) in next.iter_mut().zip(messages) {
            for (i, part) in next.as_mut().iter_mut().enumerate() {
                // SAFETY: each message has `blocks` blocks.
                *part = unsafe { F::Part::load(proof, message.as_ptr().add(F::BLOCK_BYTES * block + PART * i)) };
            }
        }
        F::compress(proof, &mut working, &next);
    }
    for (s, working) in working.into_iter().enumerate() {
        let words = F::store(proof, working);
        if states.is_one() {
            for (i, part) in words.as_ref().iter().enumerate() {
                // SAFETY: eight words side by side; those that the family has not stay 0.
                unsafe { part.store(states.word(0).cast::<u8>().add(PART * i)) };
            }
        } else {
            // SAFETY: `s` is below the kernel's `N` lanes.
            unsafe { states.set(s, &state::<F>(words)) };
        }
    }
}

/// # Safety
/// That of [`Run`](crate::short::Run) for `N` messages.
#[inline(always)]
pub(super) unsafe fn group<F: Dedicated, const N: usize>(
    proof: Proof<F>,
    start: &State<F>,
    before: usize,
    messages: &[&[u8]; N],
    blocks: usize,
    digests: *mut u8,
    width: usize,
) {
    let zero = F::Part::zero(proof);
    // As it was most likely stored: any other loads would have to wait for the stores.
    let mut words = F::StateParts::filled(zero);
    for (i, part) in words.as_mut().iter_mut().enumerate() {
        // SAFETY: the parts of eight words.
        *part = unsafe { F::Part::load(proof, start.as_ptr().cast::<u8>().add(PART * i)) };
    }
    let mut working = [F::load(proof, words); N];
    for block in 0..blocks {
        let mut next = [F::BlockParts::filled(zero); N];
        for (next, message) in next.iter_mut().zip(messages) {
            let next = next.as_mut();
            for (i, part) in next.iter_mut().enumerate() {
                *part = padded(proof, message, F::BLOCK_BYTES * block + PART * i);
            }
            if block + 1 == blocks {
                // FIPS 180-4, 5.1.1 and 5.1.2: the length in bits, which fits in the last 8 of its bytes.
                let bits = ((before + message.len()) * 8) as u64;
                let last = next.len() - 1;
                next[last] = next[last].or(F::Part::of_64(proof, [0, bits.swap_bytes()]));
            }
        }
        F::compress(proof, &mut working, &next);
    }
    for (s, working) in working.into_iter().enumerate() {
        let row = digests.wrapping_add(s * width);
        for (i, part) in F::store(proof, working).as_ref().iter().enumerate() {
            if PART * i < width {
                // SAFETY: the caller's rows are as many as its messages, each of `width` bytes, a multiple of 16.
                unsafe { part.swap_bytes::<F::Word>(proof).store(row.add(PART * i)) };
            }
        }
    }
}

/// As [`Iterate`](crate::short::Iterate) has it, for `N` chains.
#[inline(always)]
pub(super) fn iterate<F: Dedicated, const N: usize>(
    proof: Proof<F>,
    chains: &mut Chains<F>,
    bytes: usize,
    iterations: u32,
) {
    assert!(bytes.is_multiple_of(F::Word::BYTES), "digests of these families are of whole words");
    let tag_words = bytes / F::Word::BYTES;
    let zeros = F::StateParts::filled(F::Part::zero(proof));
    let mut keys = [[F::load(proof, zeros); N]; 2];
    let (mut tags, mut sums) = ([zeros; N], [zeros; N]);
    for s in 0..N {
        keys[0][s] = F::load(proof, words::<F, F::StateParts>(proof, &chains.inner.get(s)));
        keys[1][s] = F::load(proof, words::<F, F::StateParts>(proof, &chains.outer.get(s)));
        tags[s] = words::<F, F::StateParts>(proof, &chains.tags.get(s));
        sums[s] = words::<F, F::StateParts>(proof, &chains.sums.get(s));
    }
    // A tag as the only block of a message after the key's: what is kept of the state, the bit 1 behind it, and the length
    // of both.
    let (mut keep, mut padding) = ([F::Word::default(); 8], [F::Word::default(); 16]);
    keep[..tag_words].fill(!F::Word::default());
    padding[tag_words] = F::Word::from_low_bits(0x80);
    padding[15] = F::Word::from_low_bits(((F::BLOCK_BYTES + bytes) * 8) as u64).swap_bytes();
    let keep = words::<F, F::StateParts>(proof, &keep);
    let padding = words::<F, F::BlockParts>(proof, &padding);
    for _ in 0..iterations {
        for key in &keys {
            let mut blocks = [padding; N];
            for (block, tag) in blocks.iter_mut().zip(tags) {
                for ((part, tag), keep) in block.as_mut().iter_mut().zip(tag.as_ref()).zip(keep.as_ref()) {
                    *part = part.or(tag.swap_bytes::<F::Word>(proof).and(*keep));
                }
            }
            let mut working = *key;
            F::compress(proof, &mut working, &blocks);
            for (tag, working) in tags.iter_mut().zip(working) {
                *tag = F::store(proof, working);
            }
        }
        for (sum, tag) in sums.iter_mut().zip(tags) {
            for (sum, tag) in sum.as_mut().iter_mut().zip(tag.as_ref()) {
                *sum = sum.xor(*tag);
            }
        }
    }
    for s in 0..N {
        chains.tags.set(s, &state::<F>(tags[s]));
        chains.sums.set(s, &state::<F>(sums[s]));
    }
}

/// Words in registers. Not by way of memory, where they may just have been stored one by one.
#[inline(always)]
fn words<F: Dedicated, S: Shape>(proof: Proof<F>, words: &[F::Word]) -> Array<S, F::Part> {
    let mut parts = S::filled(F::Part::zero(proof));
    for (i, part) in parts.as_mut().iter_mut().enumerate() {
        *part = if F::Word::BYTES == 4 {
            F::Part::of_32(proof, core::array::from_fn(|j| words[4 * i + j].to_u64() as u32))
        } else {
            F::Part::of_64(proof, [words[2 * i].to_u64(), words[2 * i + 1].to_u64()])
        };
    }
    parts
}

/// The reverse of [`words`].
#[inline(always)]
fn state<F: Dedicated>(words: Array<F::StateParts, F::Part>) -> State<F> {
    let mut state = [F::Word::default(); 8];
    for (i, part) in words.as_ref().iter().enumerate() {
        // SAFETY: the parts of eight words.
        unsafe { part.store(state.as_mut_ptr().cast::<u8>().add(PART * i)) };
    }
    state
}

/// 16 bytes from `at` of a message that is followed by the bit 1 and zeros. No byte beyond the message is read.
#[inline(always)]
fn padded<P: Part>(proof: P::Proof, message: &[u8], at: usize) -> P {
    /// Read from `16 - n` on: the bit 1 behind `n` bytes.
    static BIT: [u8; 32] = {
        let mut bit = [0; 32];
        bit[16] = 0x80;
        bit
    };
    /// Read from `16 - n` on: moves the last `n` bytes to the front.
    static LAST: [u8; 32] = {
        let mut last = [0x80; 32];
        let mut i = 0;
        while i < 16 {
            last[i] = i as u8;
            i += 1;
        }
        last
    };
    let Some(bytes) = message.get(at..) else { return P::zero(proof) };
    let n = bytes.len();
    if n >= PART {
        // SAFETY: 16 bytes are left.
        return unsafe { P::load(proof, bytes.as_ptr()) };
    }
    let bytes = if message.len() >= PART {
        // SAFETY: the message's last 16 bytes; `n` is below 16, so that the table has 16 bytes from `16 - n`.
        unsafe {
            let last = P::load(proof, message.as_ptr().add(message.len() - PART));
            last.bytes(proof, P::load(proof, LAST.as_ptr().add(PART - n)))
        }
    } else {
        P::of_64(proof, few(bytes))
    };
    // SAFETY: `n` is below 16, so that the table has 16 bytes from `16 - n`.
    bytes.or(unsafe { P::load(proof, BIT.as_ptr().add(PART - n)) })
}
