//! Hashes Arrow arrays of messages into Arrow arrays of digests.
//!
//! [`digest_array`] hashes one array, [`digest_chunks`] the chunks of one column. Values are not copied:
//! [`with_column`] lends an array's buffers to the library as a [`manyhash::Column`]. Digests are written side by side
//! into one buffer per array, which becomes the values of an array of the type chosen by [`Output`].

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
