//! Kernels of the x86 SHA extensions: one message, or two interleaved so that one's latency hides behind the other.
//!
//! The functions enable no AVX: compiled with it, or run while upper register halves are in use, this code mixes
//! legacy-SSE and VEX instructions, and some CPUs then take a hundred times as long.

use crate::family::{Family, State};
use crate::kernel::{Columns, Kernel, KernelSet};
use crate::padding::few;
use crate::short::{Chains, ShortKernel};
use crate::tier::Backend;
use crate::tier::x86::has;
use crate::word::Words;
use core::arch::x86_64::*;

/// Proof that the CPU has the SHA extensions, SSSE3 and SSE4.1.
#[derive(Clone, Copy)]
pub(crate) struct X86Sha(());

impl X86Sha {
    /// # Safety
    /// The CPU has the SHA extensions, SSSE3 and SSE4.1.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        X86Sha(())
    }

    /// The SHA extensions belong to no tier: CPUs without AVX have them, and CPUs with AVX-512 lack them.
    fn of(backend: Backend) -> Option<Self> {
        // SAFETY: as was asked.
        (!backend.is_portable() && has!("sha", "ssse3", "sse4.1")).then(|| unsafe { X86Sha::assume() })
    }
}

/// Parts of 16 bytes in a block.
const PARTS: usize = 4;

/// A block as it stands in the message.
pub(super) type Block = [__m128i; PARTS];

/// A family that the SHA extensions have instructions for.
pub(super) trait Dedicated: Family<Word = u32, State = Words<8>> {
    /// The working variables as the instructions want them.
    type Working: Copy;

    /// From the state's words, four in a register, the first lowest.
    fn load(proof: X86Sha, words: [__m128i; 2]) -> Self::Working;

    /// The reverse of [`load`](Self::load). Words that the family has not are 0.
    fn store(proof: X86Sha, working: Self::Working) -> [__m128i; 2];

    /// Advances each state by its block.
    fn compress<const N: usize>(proof: X86Sha, working: &mut [Self::Working; N], blocks: &[Block; N]);
}

/// Adds the family's kernels, where the CPU has their instructions.
pub(super) fn add_kernels<F: Dedicated>(backend: Backend, set: &mut KernelSet<F>) {
    if let Some(proof) = X86Sha::of(backend) {
        set.add_both(kernels::<F, 1>("sha-ni", proof));
        set.add_both(kernels::<F, 2>("sha-ni-x2", proof));
    }
}

fn kernels<F: Dedicated, const N: usize>(name: &'static str, _: X86Sha) -> (Kernel<F>, ShortKernel<F>) {
    // SAFETY: the functions keep to `Run`, and to `Run` and `Iterate` of short kernels, for their number of messages; the
    // `X86Sha` proves their instructions.
    unsafe { (Kernel::new(name, N, run::<F, N>), ShortKernel::new(name, N, short::<F, N>, iterate::<F, N>)) }
}

/// # Safety
/// That of [`Run`](crate::kernel::Run) for `N` messages; the CPU has the features named here.
#[target_feature(enable = "sha,sse4.1,ssse3")]
unsafe fn run<F: Dedicated, const N: usize>(states: Columns<F>, messages: &[&[u8]], blocks: usize) {
    // SAFETY: the features of this function are those that the proof needs.
    let proof = unsafe { X86Sha::assume() };
    let mut working = [F::load(proof, [_mm_setzero_si128(); 2]); N];
    if states.is_one() {
        // SAFETY: eight words side by side.
        let words = unsafe { [_mm_loadu_si128(states.word(0).cast()), _mm_loadu_si128(states.word(4).cast())] };
        working[0] = F::load(proof, words);
    } else {
        for (s, working) in working.iter_mut().enumerate() {
            // SAFETY: `s` is below the kernel's `N` lanes.
            let state = unsafe { states.get(s) };
            *working = F::load(proof, words(&state));
        }
    }
    for block in 0..blocks {
        let mut next = [[_mm_setzero_si128(); PARTS]; N];
        for (next, message) in next.iter_mut().zip(messages) {
            for (i, part) in next.iter_mut().enumerate() {
                // SAFETY: each message has `blocks` blocks.
                *part = unsafe { _mm_loadu_si128(message.as_ptr().add(64 * block + 16 * i).cast()) };
            }
        }
        F::compress(proof, &mut working, &next);
    }
    for (s, working) in working.into_iter().enumerate() {
        let words = F::store(proof, working);
        if states.is_one() {
            // SAFETY: eight words side by side; those that the family has not stay 0.
            unsafe {
                _mm_storeu_si128(states.word(0).cast(), words[0]);
                _mm_storeu_si128(states.word(4).cast(), words[1]);
            }
        } else {
            // SAFETY: `s` is below the kernel's `N` lanes.
            unsafe { states.set(s, &state(words)) };
        }
    }
}

/// # Safety
/// That of [`Run`](crate::short::Run) for `N` messages; the CPU has the features named here.
#[target_feature(enable = "sha,sse4.1,ssse3")]
unsafe fn short<F: Dedicated, const N: usize>(
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

/// As [`short`], for one group. A function of its own, lest what would be kept in registers for the next group leave too few
/// for this one.
///
/// # Safety
/// That of [`short`].
#[inline(never)]
#[target_feature(enable = "sha,sse4.1,ssse3")]
unsafe fn group<F: Dedicated, const N: usize>(
    start: &State<F>,
    before: usize,
    messages: &[&[u8]; N],
    blocks: usize,
    digests: *mut u8,
    width: usize,
) {
    // SAFETY: the features of this function are those that the proof needs.
    let proof = unsafe { X86Sha::assume() };
    // As it was most likely stored: any other loads would have to wait for the stores.
    let start = start.as_ptr().cast::<__m128i>();
    // SAFETY: eight words.
    let start = F::load(proof, unsafe { [_mm_loadu_si128(start), _mm_loadu_si128(start.add(1))] });
    let mut working = [start; N];
    for block in 0..blocks {
        let mut next = [[_mm_setzero_si128(); PARTS]; N];
        for (next, message) in next.iter_mut().zip(messages) {
            for (i, part) in next.iter_mut().enumerate() {
                *part = padded(message, 64 * block + 16 * i);
            }
            if block + 1 == blocks {
                // FIPS 180-4, 5.1.1: the length in bits, which fits in the lower of its two words.
                let bits = ((before + message.len()) * 8) as u32;
                let length = _mm_set_epi32(bits.swap_bytes().cast_signed(), 0, 0, 0);
                next[PARTS - 1] = _mm_or_si128(next[PARTS - 1], length);
            }
        }
        F::compress(proof, &mut working, &next);
    }
    for (s, working) in working.into_iter().enumerate() {
        let words = F::store(proof, working);
        let row = digests.wrapping_add(s * width);
        // SAFETY: the caller's rows are as many as its messages, each of `width` bytes, a multiple of 16.
        unsafe {
            _mm_storeu_si128(row.cast(), swap_bytes(words[0]));
            if width > 16 {
                _mm_storeu_si128(row.add(16).cast(), swap_bytes(words[1]));
            }
        }
    }
}

/// # Safety
/// That of [`Iterate`](crate::short::Iterate) for `N` chains; the CPU has the features named here.
#[target_feature(enable = "sha,sse4.1,ssse3")]
unsafe fn iterate<F: Dedicated, const N: usize>(chains: &mut Chains<F>, bytes: usize, iterations: u32) {
    // Digests of these families are of whole words.
    let tag_words = bytes / 4;
    // SAFETY: the features of this function are those that the proof needs.
    let proof = unsafe { X86Sha::assume() };
    let zero = _mm_setzero_si128();
    let mut keys = [[F::load(proof, [zero; 2]); N]; 2];
    let (mut tags, mut sums) = ([[zero; 2]; N], [[zero; 2]; N]);
    for s in 0..N {
        keys[0][s] = F::load(proof, words(&chains.inner.get(s)));
        keys[1][s] = F::load(proof, words(&chains.outer.get(s)));
        tags[s] = words(&chains.tags.get(s));
        sums[s] = words(&chains.sums.get(s));
    }
    // A tag as the only block of a message after the key's: what is kept of the state, the bit 1 behind it, and the length
    // of both.
    let (mut keep, mut padding) = ([0u32; 8], [0u32; 16]);
    keep[..tag_words].fill(u32::MAX);
    padding[tag_words] = 0x80;
    padding[15] = (((64 + 4 * tag_words) * 8) as u32).swap_bytes();
    let keep = words(&keep);
    let [padding, rest] = [0, 8].map(|from| words(&core::array::from_fn(|i| padding[from + i])));
    for _ in 0..iterations {
        for key in &keys {
            let mut blocks = [[zero, zero, rest[0], rest[1]]; N];
            for (block, tag) in blocks.iter_mut().zip(tags) {
                for i in 0..2 {
                    block[i] = _mm_or_si128(_mm_and_si128(swap_bytes(tag[i]), keep[i]), padding[i]);
                }
            }
            let mut working = *key;
            F::compress(proof, &mut working, &blocks);
            for (tag, working) in tags.iter_mut().zip(working) {
                *tag = F::store(proof, working);
            }
        }
        for (sum, tag) in sums.iter_mut().zip(tags) {
            *sum = [_mm_xor_si128(sum[0], tag[0]), _mm_xor_si128(sum[1], tag[1])];
        }
    }
    for s in 0..N {
        chains.tags.set(s, &state(tags[s]));
        chains.sums.set(s, &state(sums[s]));
    }
}

/// Eight words in two registers. Not by way of memory, where the words may just have been stored one by one.
#[inline]
#[target_feature(enable = "sse2")]
fn words(words: &[u32; 8]) -> [__m128i; 2] {
    let [a, b, c, d, e, f, g, h] = words.map(u32::cast_signed);
    [_mm_set_epi32(d, c, b, a), _mm_set_epi32(h, g, f, e)]
}

/// The reverse of [`words`].
#[inline]
#[target_feature(enable = "sse2")]
fn state(words: [__m128i; 2]) -> [u32; 8] {
    let mut state = [0; 8];
    // SAFETY: 16 bytes each.
    unsafe {
        _mm_storeu_si128(state.as_mut_ptr().cast(), words[0]);
        _mm_storeu_si128(state.as_mut_ptr().add(4).cast(), words[1]);
    }
    state
}

/// Each word with its bytes in the other order.
#[inline]
#[target_feature(enable = "ssse3")]
fn swap_bytes(words: __m128i) -> __m128i {
    _mm_shuffle_epi8(words, _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3))
}

/// 16 bytes from `at` of a message that is followed by the bit 1 and zeros. No byte beyond the message is read.
#[inline]
#[target_feature(enable = "ssse3")]
fn padded(message: &[u8], at: usize) -> __m128i {
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
    let Some(bytes) = message.get(at..) else { return _mm_setzero_si128() };
    let n = bytes.len();
    if n >= 16 {
        // SAFETY: 16 bytes are left.
        return unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    }
    let bytes = if message.len() >= 16 {
        // SAFETY: the message's last 16 bytes; `n` is below 16, so that the table has 16 bytes from `16 - n`.
        unsafe {
            let last = _mm_loadu_si128(message.as_ptr().add(message.len() - 16).cast());
            _mm_shuffle_epi8(last, _mm_loadu_si128(LAST.as_ptr().add(16 - n).cast()))
        }
    } else {
        let [low, high] = few(bytes);
        _mm_set_epi64x(high.cast_signed(), low.cast_signed())
    };
    // SAFETY: `n` is below 16, so that the table has 16 bytes from `16 - n`.
    _mm_or_si128(bytes, unsafe { _mm_loadu_si128(BIT.as_ptr().add(16 - n).cast()) })
}
