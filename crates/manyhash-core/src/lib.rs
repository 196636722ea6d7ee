//! SIMD multi-buffer kernels for MD5, SHA-1, SHA-2, SHA-3, SM3 and RIPEMD-160.
//!
//! One message is a serial chain of blocks. This crate advances *many* states at once, each by blocks of its own
//! message, in the lanes of SIMD registers: [`Kernel::compress`]. The crate `manyhash` decides which messages share
//! lanes, and which kernel suits how many. Programs use that crate, not this one.
//!
//! - [`algorithm`] has the compression functions, written once over a vector trait and named as in their standards, and
//!   the table of algorithms.
//! - [`family`] describes a compression function: its words, its block and its padding.
//! - [`tier`] detects what the CPU supports.
//! - [`kernel`] has compression functions compiled for a tier, and [`short`](mod@short) those for whole messages of a
//!   few blocks.
//! - [`reference`](mod@reference) has the same algorithms, slow and obvious. Tests compare everything else with it.
//!
//! The crate is `no_std` and has no dependencies. With the feature `std` (on by default) it detects the CPU at run
//! time. Without it, it uses only the instructions that the target was compiled for.
#![no_std]
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "blocks are staged by x86's tiers alone"))]

#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
compile_error!("manyhash-core needs SSE2 on x86-64: targets without floating-point registers are not supported");

#[cfg(all(target_arch = "aarch64", not(target_feature = "neon")))]
compile_error!("manyhash-core needs NEON on aarch64: targets without floating-point registers are not supported");

#[cfg(feature = "std")]
extern crate std;

pub mod algorithm;
pub mod family;
pub mod kernel;
pub mod padding;
pub mod reference;
pub mod short;
pub mod tier;
mod vector;
pub mod word;

pub use algorithm::{
    Algorithm, Keccak, Keccak256, Kernels, Md5, Ripemd160, Sha1, Sha3_224, Sha3_256, Sha3_384, Sha3_512, Sha256,
    Sha512, Sm3, Start, UnknownAlgorithmError,
};
pub use family::{Family, State};
pub use kernel::{Kernel, KernelSet, LaneStates};
pub use short::{Chains, ShortKernel, Uneven};
pub use tier::{Backend, BackendError, prefetch, prefetch_all};
pub use word::Word;

/// The README's Rust is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
