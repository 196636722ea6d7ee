//! Arrow arrays of messages to Arrow arrays of digests.
//!
//! The values of an input array are borrowed: [`with_column`] lends its buffers to the library as a [`manyhash::Column`].
//! Digests are written side by side into one buffer an array, which becomes the values of an output array of the type that
//! [`Output`] names. [`digest_array`] does both for one array, [`digest_chunks`] for the chunks of one column.

mod column;
mod digest;
mod output;
mod pages;
mod views;

pub use column::{ArrayError, check_type, with_column};
pub use digest::{Chunks, digest_array, digest_chunks};
pub use output::{Output, in_type};

/// The README's Rust is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
