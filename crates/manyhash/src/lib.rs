//! Hashes many messages at once, in SIMD lanes on all cores.
//!
//! A digest is a serial chain of blocks, so one message cannot fill a SIMD register. Many messages can: each lane
//! carries one, and cores multiply that. This library keeps the lanes full:
//!
//! - [`digest_many`] and [`Batch`] hash messages in memory, any number of any lengths, on all cores.
//! - [`Column`] is a column of messages in one of Arrow's layouts, to be hashed into a column of digests. The crate
//!   `manyhash-arrow` takes and returns Arrow's arrays.
//! - [`Batch::key`] makes HMACs, [`Batch::salt`] pseudonyms, [`pbkdf2_many`] keys from passwords, and [`merkle`] levels
//!   of hash trees.
//! - [`Hasher`] and [`update_many`] hash messages that arrive in pieces, alone or together.
//! - [`engine::Engine`] hashes messages of independent callers, as futures.
//! - [`file::Files`] hashes files, with several functions in one read. The feature `others` adds BLAKE3, BLAKE2b, CRCs
//!   and more to the algorithms with lanes.
//! - [`digest`] hashes one message. It gains nothing from lanes and is hashed by the best code for one.
//!
//! An algorithm is either a value, [`Algorithm`], which has a name, or a type: [`Sha256`] and its siblings. With the
//! feature `digest` the types implement RustCrypto's traits.
//!
//! The kernels for each number of messages are chosen by measuring them at the first use of an algorithm, so that lanes
//! are never slower than one message after another. Measuring takes about a millisecond: a tenth of that for one
//! message alone, and as long again for messages of a few blocks. [`warm_up`] measures ahead of time; [`plan`] shows
//! the outcome.
//!
//! No input makes this library panic, except an index of [`Digests`] that is out of range, as with a slice. The
//! environment variable `MANYHASH_BACKEND` forces a backend; [`backend`] documents what an invalid name does.
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

/// The same for the crate's own README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CrateReadme;
