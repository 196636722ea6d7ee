//! What the CPU has, and the kernels compiled for it: the only place that chooses by ISA.

#[cfg(target_arch = "x86_64")]
use crate::algorithm::sha512::{
    x86_general::General,
    x86_pairs::Pairs,
    x86_schedule::{self, Rounds},
};
#[cfg(target_arch = "x86_64")]
use crate::algorithm::x86_sha::X86Sha;
use crate::algorithm::{Compress, Family, Sha512, State};
use crate::kernel::{Columns, Kernel, KernelSet};
use crate::short::{self, Chains, ShortKernel, ShortKernelSet};
#[cfg(target_arch = "x86_64")]
use crate::simd::avx2::{self, Avx2};
#[cfg(target_arch = "x86_64")]
use crate::simd::avx512::{self, Avx512};
use crate::simd::feed::{Order, Shuffled, Stage, Staged};
use crate::simd::pair::Pair;
use crate::simd::portable::{Array, Portable};
#[cfg(target_arch = "x86_64")]
use crate::simd::sse2::{self, Sse2};
use crate::simd::{BLOCK_WORDS, Vector, Word};
use core::fmt;

/// A tier of SIMD instructions that this CPU has.
///
/// Safe code gets one only from [`detect`](Self::detect), [`named`](Self::named) or [`available`](Self::available),
/// which ask the CPU: to hold a `Backend` is to know that its instructions can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backend(Tier);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Tier {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Every tier of any target, worst first; names are also valid where the tier itself is not.
const NAMES: [&str; 4] = ["portable", "sse2", "avx2", "avx512"];

/// Whether the CPU has every one of these features: at run time where the standard library can tell.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(feature = "std")]
        let has = true $(&& std::arch::is_x86_feature_detected!($feature))*;
        #[cfg(not(feature = "std"))]
        let has = true $(&& cfg!(target_feature = $feature))*;
        has
    }};
}

impl Tier {
    const ALL: &[Tier] = &[
        Tier::Portable,
        #[cfg(target_arch = "x86_64")]
        Tier::Sse2,
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2,
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512,
    ];

    fn name(self) -> &'static str {
        match self {
            Tier::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Tier::Sse2 => "sse2",
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => "avx512",
        }
    }

    /// Each tier includes the ones before it, and what every CPU of its time had beside it.
    fn detected(self) -> bool {
        match self {
            Tier::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Tier::Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => has!("avx2", "bmi1", "bmi2"),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => Tier::Avx2.detected() && has!("avx512f", "avx512bw", "avx512vl", "movbe"),
        }
    }
}

impl Backend {
    /// The best tier that the CPU has.
    pub fn detect() -> Self {
        Self::available().last().unwrap_or(Backend(Tier::Portable))
    }

    /// Every tier that the CPU has, worst first.
    pub fn available() -> impl Iterator<Item = Self> {
        Tier::ALL.iter().filter(|tier| tier.detected()).map(|tier| Backend(*tier))
    }

    /// The tier of this name.
    ///
    /// # Errors
    /// If no tier has the name, or this CPU has not the tier.
    pub fn named(name: &str) -> Result<Self, BackendError> {
        match Self::available().find(|backend| backend.name() == name) {
            Some(backend) => Ok(backend),
            None if NAMES.contains(&name) => Err(BackendError::Unsupported),
            None => Err(BackendError::Unknown),
        }
    }

    /// The name: `portable`, `sse2`, `avx2`, `avx512`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The SHA extensions belong to no tier: CPUs without AVX have them, and CPUs with AVX-512 lack them.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn x86_sha(self) -> Option<X86Sha> {
        // SAFETY: as was asked.
        (self.0 > Tier::Portable && has!("sha", "ssse3", "sse4.1")).then(|| unsafe { X86Sha::assume() })
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why there is no [`Backend`] of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BackendError {
    /// No tier has this name.
    Unknown,
    /// The tier exists, but not on this CPU.
    Unsupported,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendError::Unknown => {
                let [a, b, c, d] = NAMES;
                write!(f, "no such backend; expected {a}, {b}, {c} or {d}")
            }
            BackendError::Unsupported => f.write_str("this CPU does not support that backend"),
        }
    }
}

impl core::error::Error for BackendError {}

/// The vectors of a word, by ISA.
pub(crate) trait Registers: Word {
    type One: Vector<Word = Self, Proof = Portable>;
    type Array: Vector<Word = Self, Proof = Portable>;
    #[cfg(target_arch = "x86_64")]
    type Sse2: Vector<Word = Self, Proof = Sse2>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Word = Self, Proof = Avx2>;
    #[cfg(target_arch = "x86_64")]
    type Avx512: Stage<Word = Self, Proof = Avx512>;
    /// AVX-512's instructions on 256-bit registers.
    #[cfg(target_arch = "x86_64")]
    type Avx512Half: Vector<Word = Self, Proof = Avx512>;
    /// AVX-512's instructions on one lane.
    #[cfg(target_arch = "x86_64")]
    type Avx512One: Vector<Word = Self, Proof = Avx512>;
}

impl Registers for u32 {
    type One = u32;
    type Array = Array<u32, 4>;
    #[cfg(target_arch = "x86_64")]
    type Sse2 = sse2::U32x4;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = avx2::U32x8;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = avx512::U32x16;
    #[cfg(target_arch = "x86_64")]
    type Avx512Half = avx512::U32x8;
    #[cfg(target_arch = "x86_64")]
    type Avx512One = avx512::U32x1;
}

impl Registers for u64 {
    type One = u64;
    type Array = Array<u64, 4>;
    #[cfg(target_arch = "x86_64")]
    type Sse2 = sse2::U64x2;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = avx2::U64x4;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = avx512::U64x8;
    #[cfg(target_arch = "x86_64")]
    type Avx512Half = avx512::U64x4;
    #[cfg(target_arch = "x86_64")]
    type Avx512One = avx512::U64x1;
}

type One<F> = <<F as Family>::Word as Registers>::One;
type Array4<F> = <<F as Family>::Word as Registers>::Array;
#[cfg(target_arch = "x86_64")]
type Sse2Of<F> = <<F as Family>::Word as Registers>::Sse2;
#[cfg(target_arch = "x86_64")]
type Avx2Of<F> = <<F as Family>::Word as Registers>::Avx2;
#[cfg(target_arch = "x86_64")]
type Avx512Of<F> = <<F as Family>::Word as Registers>::Avx512;
#[cfg(target_arch = "x86_64")]
type Avx512Half<F> = <<F as Family>::Word as Registers>::Avx512Half;
#[cfg(target_arch = "x86_64")]
type Avx512One<F> = <<F as Family>::Word as Registers>::Avx512One;

impl Backend {
    /// The kernels of the tier's vectors: each number of lanes that can be the cheapest for some number of messages.
    /// [`x86_sha512`](Self::x86_sha512) has those beside them that are SHA-512's alone.
    pub(crate) fn kernels<F: Compress>(self) -> KernelSet<F> {
        let mut set = KernelSet::default();
        /// `add!(name, entry, vector)`, in the arm of the tier that has the entry's instructions.
        macro_rules! add {
            ($name:literal, $entry:ident, $vector:ty) => {
                // SAFETY: the entry keeps to `Run` for the lanes of its vector, and this tier has its instructions.
                set.extend([unsafe { Kernel::new($name, <$vector as Vector>::LANES, $entry::<F, $vector>) }])
            };
        }
        match self.0 {
            Tier::Portable => {
                add!("portable", portable, One<F>);
                add!("portable, array", portable, Array4<F>);
            }
            #[cfg(target_arch = "x86_64")]
            Tier::Sse2 => {
                add!("scalar", portable, One<F>);
                add!("sse2", sse2, Sse2Of<F>);
                if F::SHORT_ROUNDS {
                    add!("sse2, two groups", sse2, Pair<Sse2Of<F>>);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => {
                add!("scalar", bmi2, One<F>);
                add!("avx2", avx2, Avx2Of<F>);
                if F::SHORT_ROUNDS {
                    add!("avx2, two groups", avx2, Pair<Avx2Of<F>>);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => {
                add!("scalar", bmi2, One<F>);
                add!("avx512, one lane", avx512, Avx512One<F>);
                add!("avx512, 256 bits", avx512, Avx512Half<F>);
                add!("avx512", avx512, Avx512Of<F>);
                if F::SHORT_ROUNDS {
                    add!("avx512, two groups", avx512, Pair<Avx512Of<F>>);
                    add!("avx512, two groups, staged", avx512_staged, Pair<Avx512Of<F>>);
                    add!("avx512, four groups", avx512, Pair<Pair<Avx512Of<F>>>);
                } else {
                    add!("avx512, staged", avx512_staged, Avx512Of<F>);
                }
            }
        }
        set
    }

    /// The kernels of the tier's widest vectors for whole short messages.
    pub(crate) fn short_kernels<F: Compress>(self) -> ShortKernelSet<F> {
        let mut set = ShortKernelSet::default();
        /// As the one of [`kernels`](Self::kernels).
        macro_rules! add {
            ($name:literal, $entry:ident, $iterate:ident, $vector:ty) => {
                // SAFETY: the entries keep to `Run` and `Iterate` for the lanes of their vector, and this tier has their
                // instructions.
                set.extend([unsafe {
                    let lanes = <$vector as Vector>::LANES;
                    ShortKernel::new($name, lanes, $entry::<F, $vector>, $iterate::<F, $vector>)
                }])
            };
        }
        match self.0 {
            Tier::Portable => {
                add!("portable", portable_short, portable_chain, One<F>);
                add!("portable, array", portable_short, portable_chain, Array4<F>);
            }
            #[cfg(target_arch = "x86_64")]
            Tier::Sse2 => {
                add!("sse2", sse2_short, sse2_chain, Sse2Of<F>);
                if F::SHORT_ROUNDS {
                    add!("sse2, two groups", sse2_short, sse2_chain, Pair<Sse2Of<F>>);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => {
                add!("avx2", avx2_short, avx2_chain, Avx2Of<F>);
                if F::SHORT_ROUNDS {
                    add!("avx2, two groups", avx2_short, avx2_chain, Pair<Avx2Of<F>>);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => {
                add!("avx512", avx512_short, avx512_chain, Avx512Of<F>);
                if F::SHORT_ROUNDS {
                    add!("avx512, two groups", avx512_short, avx512_chain, Pair<Avx512Of<F>>);
                    add!("avx512, four groups", avx512_short, avx512_chain, Pair<Pair<Avx512Of<F>>>);
                }
            }
        }
        set
    }

    /// SHA-512's own kernels for one message, those of [`x86_schedule`] that the tier has.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn x86_sha512(self) -> impl Iterator<Item = Kernel<Sha512>> {
        /// # Safety
        /// That of [`Run`](crate::kernel::Run) for one message, and the features named here.
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        unsafe fn avx2(states: Columns<Sha512>, messages: &[&[u8]], blocks: usize) {
            // SAFETY: the caller's; the features of this function are those that the proof needs.
            unsafe { x86_schedule::run::<avx2::U64x4, General>(Avx2::assume(), states, messages, blocks) }
        }
        /// # Safety
        /// That of [`Run`](crate::kernel::Run) for one message, and the features named here.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
        unsafe fn avx512<R: Rounds<Avx512>>(states: Columns<Sha512>, messages: &[&[u8]], blocks: usize) {
            // SAFETY: the caller's; the features of this function are those that the proof needs.
            unsafe { x86_schedule::run::<avx512::U64x4, R>(Avx512::assume(), states, messages, blocks) }
        }
        // SAFETY: each keeps to `Run` for one message, and the tier has its instructions.
        let kernels = unsafe {
            match self.0 {
                Tier::Portable | Tier::Sse2 => [None, None],
                Tier::Avx2 => [Some(Kernel::new("scalar, schedule in avx2", 1, avx2)), None],
                Tier::Avx512 => [
                    Some(Kernel::new("scalar, schedule in avx512", 1, avx512::<General>)),
                    Some(Kernel::new("avx512, pairs of words", 1, avx512::<Pairs>)),
                ],
            }
        };
        kernels.into_iter().flatten()
    }
}

/// Advances the lanes of one vector, whose blocks are shuffled as they are loaded; compiled into each entry below.
///
/// # Safety
/// That of [`Run`](crate::kernel::Run), for `V::LANES` lanes.
#[inline(always)]
unsafe fn run<F: Compress, V: Vector<Word = F::Word>>(
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
            let feed = Shuffled::<V>::new(messages.as_ptr(), block * F::BLOCK_BYTES);
            (feed, feed.words(proof, F::BIG_ENDIAN))
        };
        F::compress(proof, &mut state, words, feed);
    }
    // SAFETY: `states` has the vector's lanes.
    unsafe { store(state, &states) };
}

/// Advances the lanes of one vector, whose blocks are staged; compiled into an entry below.
///
/// # Safety
/// That of [`Run`](crate::kernel::Run), for `V::LANES` lanes.
#[inline(always)]
unsafe fn run_staged<F: Compress, V: Stage<Word = F::Word>>(
    proof: V::Proof,
    states: Columns<F>,
    messages: &[&[u8]],
    blocks: usize,
) {
    // SAFETY: `states` has the vector's lanes.
    let mut state = unsafe { load(proof, &states) };
    let mut rows = [V::splat(proof, F::Word::default()); BLOCK_WORDS];
    let rows: *mut V = rows.as_mut_ptr();
    let order = if F::BIG_ENDIAN { Order::Swapped } else { Order::Pairs };
    // SAFETY: there is a message for each lane, and each is `blocks` blocks long, at least one; 16 rows.
    let first = unsafe { Staged::new(messages.as_ptr(), 0, rows, order) };
    first.stage_all(proof);
    // From here on the rows' contents are unknown to the compiler. Knowing the first block's, it would carry all words from
    // block to block in registers, which are too few.
    let rows = core::hint::black_box(rows);
    for block in 0..blocks {
        // After the last block comes none, and it is staged once more.
        let next = (block + 1).min(blocks - 1);
        // SAFETY: as above; every share was staged, above or in the rounds of the block before.
        let (feed, words) = unsafe {
            let feed = Staged::new(messages.as_ptr(), next * F::BLOCK_BYTES, rows, order);
            (feed, feed.words(proof))
        };
        F::compress(proof, &mut state, words, feed);
    }
    // SAFETY: `states` has the vector's lanes.
    unsafe { store(state, &states) };
}

/// # Safety
/// `states` has a word for each of the vector's lanes.
#[inline(always)]
unsafe fn load<F: Compress, V: Vector<Word = F::Word>>(proof: V::Proof, states: &Columns<F>) -> [V; 8] {
    let mut state = [V::splat(proof, F::Word::default()); 8];
    for (i, state) in state.iter_mut().enumerate().take(F::STATE_WORDS) {
        // SAFETY: the caller's lanes, and a word of a state.
        *state = unsafe { V::load(proof, states.word(i)) };
    }
    state
}

/// # Safety
/// `states` has a word for each of the vector's lanes.
#[inline(always)]
unsafe fn store<F: Compress, V: Vector<Word = F::Word>>(state: [V; 8], states: &Columns<F>) {
    for (i, state) in state.into_iter().enumerate().take(F::STATE_WORDS) {
        // SAFETY: the caller's lanes, and a word of a state.
        unsafe { state.store(states.word(i)) };
    }
}

/// Defines a tier's entry: the function whose features everything inlined into it is compiled with.
macro_rules! entry {
    ($(#[$attribute:meta])* $name:ident, short of $vector:ident, $proof:ty, $assume:expr) => {
        /// # Safety
        /// That of [`short::Run`](crate::short::Run), for `V::LANES` lanes and the features named here.
        $(#[$attribute])*
        unsafe fn $name<F: Compress, V: $vector<Word = F::Word, Proof = $proof>>(
            start: &State<F>,
            before: usize,
            messages: &[&[u8]],
            blocks: usize,
            digests: *mut u8,
            width: usize,
        ) {
            // SAFETY: the caller's; the features of this function are those that the proof needs.
            unsafe { short::run::<F, V>($assume, start, before, messages, blocks, digests, width) }
        }
    };

    ($(#[$attribute:meta])* $name:ident, chain of $vector:ident, $proof:ty, $assume:expr) => {
        /// # Safety
        /// That of [`short::Iterate`](crate::short::Iterate), for `V::LANES` lanes and the features named here.
        $(#[$attribute])*
        unsafe fn $name<F: Compress, V: $vector<Word = F::Word, Proof = $proof>>(
            chains: &mut Chains<F>,
            words: usize,
            iterations: u32,
        ) {
            // SAFETY: the caller's; the features of this function are those that the proof needs.
            unsafe { short::iterate::<F, V>($assume, chains, words, iterations) }
        }
    };

    ($(#[$attribute:meta])* $name:ident, $run:ident of $vector:ident, $proof:ty, $assume:expr) => {
        /// # Safety
        /// That of [`Run`](crate::kernel::Run), for `V::LANES` lanes and the features named here.
        $(#[$attribute])*
        unsafe fn $name<F: Compress, V: $vector<Word = F::Word, Proof = $proof>>(
            states: Columns<F>,
            messages: &[&[u8]],
            blocks: usize,
        ) {
            // SAFETY: the caller's; the features of this function are those that the proof needs.
            unsafe { $run::<F, V>($assume, states, messages, blocks) }
        }
    };
}

entry!(portable, run of Vector, Portable, Portable);
#[cfg(target_arch = "x86_64")]
entry!(
    #[target_feature(enable = "bmi1,bmi2")]
    bmi2,
    run of Vector,
    Portable,
    Portable
);
#[cfg(target_arch = "x86_64")]
entry!(sse2, run of Vector, Sse2, Sse2);
#[cfg(target_arch = "x86_64")]
entry!(
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    avx2,
    run of Vector,
    Avx2,
    Avx2::assume()
);
#[cfg(target_arch = "x86_64")]
entry!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
    avx512,
    run of Vector,
    Avx512,
    Avx512::assume()
);
#[cfg(target_arch = "x86_64")]
entry!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,movbe")]
    avx512_staged,
    run_staged of Stage,
    Avx512,
    Avx512::assume()
);

entry!(portable_short, short of Vector, Portable, Portable);
#[cfg(target_arch = "x86_64")]
entry!(sse2_short, short of Vector, Sse2, Sse2);
#[cfg(target_arch = "x86_64")]
entry!(
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    avx2_short,
    short of Vector,
    Avx2,
    Avx2::assume()
);
#[cfg(target_arch = "x86_64")]
entry!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
    avx512_short,
    short of Vector,
    Avx512,
    Avx512::assume()
);

entry!(portable_chain, chain of Vector, Portable, Portable);
#[cfg(target_arch = "x86_64")]
entry!(sse2_chain, chain of Vector, Sse2, Sse2);
#[cfg(target_arch = "x86_64")]
entry!(
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    avx2_chain,
    chain of Vector,
    Avx2,
    Avx2::assume()
);
#[cfg(target_arch = "x86_64")]
entry!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
    avx512_chain,
    chain of Vector,
    Avx512,
    Avx512::assume()
);
