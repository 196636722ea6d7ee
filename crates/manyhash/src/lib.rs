//! Hash many messages at once, at the speed the machine has.
//!
//! A digest is a serial chain of blocks that no core can hurry, but SIMD lanes carry many messages side by side, and
//! cores multiply that. This library keeps the lanes full:
//!
//! - [`digest_many`] and [`Batch`]: messages in memory, of any number and any lengths, on all cores;
//! - [`Column`]: columns of messages in Arrow's layouts, to columns of digests (the crate `manyhash-arrow` takes and gives
//!   Arrow's arrays);
//! - [`Batch::key`]: HMACs of many messages; [`Batch::salt`]: pseudonyms; [`pbkdf2_many`]: keys of many passwords; [`merkle`]: levels of hash trees;
//! - [`Hasher`] and [`update_many`]: messages that come in pieces, advanced alone or together;
//! - [`engine::Engine`]: messages of callers who know nothing of each other, as futures;
//! - files: [`file::Files`], several functions in one read; with the feature `others` BLAKE3, SHA-3, CRCs and
//!   more beside the algorithms with lanes;
//! - [`digest`]: one message, which gains nothing from lanes and is hashed by the best code for one.
//!
//! The algorithm is an [`Algorithm`], which has a name, or a type: [`Sha256`] and its siblings. With the feature
//! `digest` the types have RustCrypto's traits.
//!
//! Which kernels are used, for how many messages at once, is measured at the first use of each algorithm, in about a
//! millisecond (for one message alone, a tenth of that; for messages of a few blocks, as long again), so that lanes are
//! never slower than one message after another; [`warm_up`] measures before, [`plan`] shows the outcome.
//!
//! Nothing here panics, whatever the input, but an index of [`Digests`] that is out of range, as that of a slice does. The
//! environment variable `MANYHASH_BACKEND` forces a backend; [`backend`] says what comes of a name that is none.
// `unsafe` is in one module of the feature `map`, `file::mapped`; without the feature there is none.
#![cfg_attr(not(all(feature = "map", target_os = "linux")), forbid(unsafe_code))]
#![deny(unsafe_code)]

mod backend;
mod batch;
mod column;
mod digest;
mod digests;
pub mod engine;
mod family;
pub mod file;
mod function;
mod hasher;
mod hmac;
mod lanes;
pub mod merkle;
mod pbkdf2;
mod plan;
mod running;
mod short;
mod typed;

pub use backend::{BACKEND_VARIABLE, BackendVariableError, backend};
pub use batch::{Batch, OutputLengthError, digest, digest_many};
pub use column::{Column, ColumnError, Encoding, Offset};
pub use digest::{Digest, DigestEncodingError};
pub use digests::Digests;
pub use engine::Engine;
#[cfg(feature = "others")]
pub use function::Blake2bLength;
pub use function::{HashFunction, UnknownHashFunctionError};
pub use hasher::{Hasher, update_many};
/// The table of algorithms, for bindings.
#[doc(hidden)]
pub use manyhash_core::algorithms;
pub use manyhash_core::{Algorithm, Backend, UnknownAlgorithmError};
pub use pbkdf2::{KeyLengthError, pbkdf2_many};
pub use plan::{KernelCost, KernelPlan, plan, warm_up};
pub use typed::*;

/// The README's Rust is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// And the crate's own README's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CrateReadme;
