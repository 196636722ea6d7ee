//! Tiers of SIMD instructions: what the CPU supports, and the kernels compiled for it.
//!
//! A tier is a file and a line in the list below. The file detects the tier, and has its proof, its vectors, its
//! entries (the functions with `#[target_feature]`, which pass their features to everything inlined into them) and its
//! list of kernels. It names no algorithm.

mod portable;

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
#[cfg(target_arch = "aarch64")]
mod sve2;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use crate::family::State;
use crate::kernel::{Columns, Kernel, KernelSet};
use crate::short::{Chains, ShortKernel};
use crate::vector::feed::{CACHE_LINE, Stage};
use crate::vector::{Compress, Vector};
use core::fmt;

/// A tier, by the proof that the CPU has it.
trait Tier: Copy {
    /// The proof, if the CPU has it.
    fn detect() -> Option<Self>;

    /// The kernels of the tier's vectors: each number of lanes that can be the cheapest for some number of messages,
    /// and those of the widest vectors for whole short messages.
    fn kernels<F: Compress>(self) -> KernelSet<F>;
}

/// A tier of SIMD instructions that this CPU supports.
///
/// Safe code gets one only from [`detect`](Self::detect), [`named`](Self::named) or [`available`](Self::available),
/// which ask the CPU. So a `Backend` proves that its instructions can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backend(Chosen);

macro_rules! tiers {
    ($($(#[cfg($condition:meta)])? $name:literal $tier:ident in $module:ident;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        enum Chosen {
            $($(#[cfg($condition)])? $tier($module::$tier),)*
        }

        /// Every tier of any target, worst first; names are also valid where the tier itself is not.
        const NAMES: &[&str] = &[$($name),*];

        impl Backend {
            /// Iterates over the tiers that the CPU supports, worst first.
            pub fn available() -> impl Iterator<Item = Self> {
                let all = [$($(#[cfg($condition)])? $module::$tier::detect().map(Chosen::$tier)),*];
                all.into_iter().flatten().map(Backend)
            }

            /// Returns the name: `portable`, `sse2`, `avx2`, `avx512`, `neon` or `sve2`.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($(#[cfg($condition)])? Chosen::$tier(_) => $name,)*
                }
            }

            /// The kernels of the tier's vectors. Some algorithms have others besides, of instructions of their own.
            pub(crate) fn kernels<F: Compress>(self) -> KernelSet<F> {
                match self.0 {
                    $($(#[cfg($condition)])? Chosen::$tier(tier) => tier.kernels(),)*
                }
            }
        }
    };
}

tiers! {
    "portable" Portable in portable;
    #[cfg(target_arch = "x86_64")] "sse2" Sse2 in sse2;
    #[cfg(target_arch = "x86_64")] "avx2" Avx2 in avx2;
    #[cfg(target_arch = "x86_64")] "avx512" Avx512 in avx512;
    #[cfg(target_arch = "aarch64")] "neon" Neon in neon;
    #[cfg(target_arch = "aarch64")] "sve2" Sve2 in sve2;
}

impl Backend {
    /// Returns the best tier that the CPU supports.
    pub fn detect() -> Self {
        Self::available().last().unwrap_or(Backend(Chosen::Portable(portable::Portable)))
    }

    /// Returns the tier with this name.
    ///
    /// # Errors
    /// Returns an error if no tier has the name, or if this CPU does not support the tier.
    pub fn named(name: &str) -> Result<Self, BackendError> {
        match Self::available().find(|backend| backend.name() == name) {
            Some(backend) => Ok(backend),
            None if NAMES.contains(&name) => Err(BackendError::Unsupported),
            None => Err(BackendError::Unknown),
        }
    }

    /// Whether nothing is to be used that not every CPU has.
    pub(crate) fn is_portable(self) -> bool {
        matches!(self.0, Chosen::Portable(_))
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why a name does not give a [`Backend`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BackendError {
    /// No tier has this name.
    Unknown,
    /// The tier exists, but this CPU does not support it.
    Unsupported,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendError::Unknown => {
                f.write_str("no such backend; expected one of")?;
                NAMES.iter().enumerate().try_for_each(|(i, name)| write!(f, "{} {name}", if i == 0 { "" } else { "," }))
            }
            BackendError::Unsupported => f.write_str("this CPU does not support that backend"),
        }
    }
}

impl core::error::Error for BackendError {}

/// Functions compiled with the features of a tier, or with some of them.
pub(crate) trait Entries {
    /// Who has the features.
    type Having;
    /// What the vectors want proven.
    type Proof;

    /// # Safety
    /// That of [`kernel::Run`](crate::kernel::Run), for `V::LANES` lanes and the features of the entries.
    unsafe fn run<F: Compress, V: Vector<Word = F::Word, Proof = Self::Proof>>(
        states: Columns<F>,
        messages: &[&[u8]],
        blocks: usize,
    );

    /// # Safety
    /// That of [`kernel::Run`](crate::kernel::Run), for `V::LANES` lanes and the features of the entries.
    unsafe fn run_staged<F: Compress, V: Stage<Word = F::Word, Proof = Self::Proof>>(
        states: Columns<F>,
        messages: &[&[u8]],
        blocks: usize,
    );

    /// # Safety
    /// That of [`short::Run`](crate::short::Run), for `V::LANES` lanes and the features of the entries.
    unsafe fn short<F: Compress, V: Vector<Word = F::Word, Proof = Self::Proof>>(
        start: &State<F>,
        before: usize,
        messages: &[&[u8]],
        blocks: usize,
        digests: *mut u8,
        width: usize,
    );

    /// # Safety
    /// That of [`short::Iterate`](crate::short::Iterate), for `V::LANES` lanes and the features of the entries.
    unsafe fn iterate<F: Compress, V: Vector<Word = F::Word, Proof = Self::Proof>>(
        chains: &mut Chains<F>,
        bytes: usize,
        iterations: u32,
    );
}

/// `entries!(#[target_feature(..)] Name having Tier: Proof = expression)`: [`Entries`] of a tier.
macro_rules! entries {
    ($(#[$features:meta])? $visibility:vis $name:ident having $tier:ident: $proof:ident = $assume:expr) => {
        $visibility struct $name;

        // SAFETY, for the blocks below: the caller's; the features of each function are those that the proof needs.
        #[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
        impl crate::tier::Entries for $name {
            type Having = $tier;
            type Proof = $proof;

            $(#[$features])?
            unsafe fn run<F: crate::vector::Compress, V: crate::vector::Vector<Word = F::Word, Proof = $proof>>(
                states: crate::kernel::Columns<F>,
                messages: &[&[u8]],
                blocks: usize,
            ) {
                #[allow(unused_unsafe, reason = "some proofs can be had anywhere")]
                unsafe { crate::kernel::run::<F, V>($assume, states, messages, blocks) }
            }

            $(#[$features])?
            unsafe fn run_staged<F: crate::vector::Compress, V: crate::vector::feed::Stage<Word = F::Word, Proof = $proof>>(
                states: crate::kernel::Columns<F>,
                messages: &[&[u8]],
                blocks: usize,
            ) {
                unsafe { crate::kernel::run_staged::<F, V>($assume, states, messages, blocks) }
            }

            $(#[$features])?
            unsafe fn short<F: crate::vector::Compress, V: crate::vector::Vector<Word = F::Word, Proof = $proof>>(
                start: &crate::family::State<F>,
                before: usize,
                messages: &[&[u8]],
                blocks: usize,
                digests: *mut u8,
                width: usize,
            ) {
                unsafe { crate::short::run::<F, V>($assume, start, before, messages, blocks, digests, width) }
            }

            $(#[$features])?
            unsafe fn iterate<F: crate::vector::Compress, V: crate::vector::Vector<Word = F::Word, Proof = $proof>>(
                chains: &mut crate::short::Chains<F>,
                bytes: usize,
                iterations: u32,
            ) {
                unsafe { crate::short::iterate::<F, V>($assume, chains, bytes, iterations) }
            }
        }
    };
}
pub(crate) use entries;

/// A vector's kernel.
fn kernel<E: Entries, F: Compress, V: Vector<Word = F::Word, Proof = E::Proof>>(
    name: &'static str,
    _: E::Having,
) -> Kernel<F> {
    // SAFETY: the entry keeps to `Run` for the lanes of its vector, and `E::Having` proves its features.
    unsafe { Kernel::new(name, V::LANES, E::run::<F, V>) }
}

/// The kernel of a vector whose blocks are staged.
fn staged<E: Entries, F: Compress, V: Stage<Word = F::Word, Proof = E::Proof>>(
    name: &'static str,
    _: E::Having,
) -> Kernel<F> {
    // SAFETY: the entry keeps to `Run` for the lanes of its vector, and `E::Having` proves its features.
    unsafe { Kernel::new(name, V::LANES, E::run_staged::<F, V>) }
}

/// A vector's kernel, and the one for whole short messages.
pub(crate) fn both<E: Entries, F: Compress, V: Vector<Word = F::Word, Proof = E::Proof>>(
    name: &'static str,
    having: E::Having,
) -> (Kernel<F>, ShortKernel<F>) {
    // SAFETY: the entries keep to `Run` and `Iterate` for the lanes of their vector, and `E::Having` proves their features.
    let short = unsafe { ShortKernel::new(name, V::LANES, E::short::<F, V>, E::iterate::<F, V>) };
    (kernel::<E, F, V>(name, having), short)
}

/// What every CPU of the target can do.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Baseline = portable::One<u32>;
#[cfg(target_arch = "aarch64")]
type Baseline = neon::Q<u32, neon::Neon>;
#[cfg(target_arch = "x86_64")]
type Baseline = sse2::Xmm<u32>;

/// Lines of a message after which the kernels' own asking takes over.
const FIRST_LINES: usize = 4;

/// Prefetches the first cache lines of a message that will be hashed soon. Without it, the message's first row would
/// wait for memory, and all lanes with it.
#[inline]
pub fn prefetch(message: &[u8]) {
    prefetch_all(&message[..message.len().min(FIRST_LINES * CACHE_LINE)]);
}

/// Prefetches all cache lines of `bytes`.
#[inline]
pub fn prefetch_all(bytes: &[u8]) {
    bytes.chunks(CACHE_LINE).for_each(|line| Baseline::prefetch(line.as_ptr()));
}
