//! SIMD multi-buffer kernels for MD5, SHA-1 and SHA-2.
//!
//! One message is a serial chain of blocks that no core can hurry. This crate advances *many* states at once, each by
//! blocks of its own message, in the lanes of SIMD registers: [`Kernel::compress`]. It decides nothing: which messages
//! share lanes, and which kernel suits how many, is the business of the crate `manyhash`, which is the one to use.
//!
//! - [`algorithm`]: the compression functions, written once over a vector trait, with their standards' names.
//! - [`backend`]: what the CPU has. [`kernel`]: an algorithm compiled for it. [`short`](mod@short): one for whole messages of
//!   a few blocks.
//! - [`reference`](mod@reference): the same algorithms, slow and obvious, to test everything else with.
//!
//! `no_std`, without dependencies. The feature `std` (on by default) detects the CPU at run time; without it only what
//! the target was compiled for is used.
#![no_std]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused_imports, reason = "used by the backends of x86 alone so far")
)]

#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
compile_error!("manyhash-core needs SSE2 on x86-64: targets without floating-point registers are not supported");

#[cfg(feature = "std")]
extern crate std;

pub mod algorithm;
pub mod backend;
pub mod kernel;
pub mod reference;
pub mod short;
mod simd;

pub use algorithm::{Algorithm, Family, Md5, Sha1, Sha256, Sha512, Start, State, UnknownAlgorithmError};
pub use backend::{Backend, BackendError};
pub use kernel::{Kernel, KernelSet, LaneStates};
pub use short::{Chains, ShortKernel, ShortKernelSet, Uneven};
pub use simd::Word;
pub use simd::feed::{prefetch, prefetch_all};
