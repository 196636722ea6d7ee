//! SIMD multi-buffer kernels for MD5, SHA-1, SHA-2, SHA-3, SM3 and RIPEMD-160.
//!
//! One message is a serial chain of blocks that no core can hurry. This crate advances *many* states at once, each by
//! blocks of its own message, in the lanes of SIMD registers: [`Kernel::compress`]. It decides nothing: which messages
//! share lanes, and which kernel suits how many, is the business of the crate `manyhash`, which is the one to use.
//!
//! - [`algorithm`]: the compression functions, written once over a vector trait, with their standards' names, and the table
//!   of algorithms. [`family`]: what is to be known of one.
//! - [`tier`]: what the CPU has. [`kernel`]: an algorithm compiled for it. [`short`](mod@short): one for whole messages of
//!   a few blocks.
//! - [`reference`](mod@reference): the same algorithms, slow and obvious, to test everything else with.
//!
//! `no_std`, without dependencies. The feature `std` (on by default) detects the CPU at run time; without it only what
//! the target was compiled for is used.
#![no_std]
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "blocks are staged by x86's tiers alone"))]

#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
compile_error!("manyhash-core needs SSE2 on x86-64: targets without floating-point registers are not supported");

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
