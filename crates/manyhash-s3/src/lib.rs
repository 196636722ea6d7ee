//! S3's rules, without I/O.
//!
//! What a server and a client of S3 have in common, and nothing that reads or writes: no sockets, no files, no runtime.
//!
//! - [`checksum`]: the ten checksums of objects, their composites, and CRCs of objects from those of parts.
//! - [`etag`]: the entity tag of an object, of one upload or of parts, and the conditions that name it.
//! - [`limits`]: sizes and numbers that S3 allows.
//! - [`part_size`]: the sizes of parts that an object can have been uploaded in, and the one that gives its ETag.
//! - [`sign`]: Signature Version 4: checked for a server, made for a client.
//! - [`chunked`]: bodies in `aws-chunked` encoding, with signed chunks and trailers.
//! - [`xml`]: the documents of requests and answers.
//! - [`error`]: refusals in S3's words.
//! - [`time`]: the forms in which S3 writes a moment.
//!
//! Digests come from `manyhash`, so that a caller with many bodies at once can fill SIMD lanes: this crate says which
//! digests an object needs and what is made of them.
//!
//! No input makes this crate panic.
#![forbid(unsafe_code)]

pub mod checksum;
pub mod chunked;
pub mod error;
pub mod etag;
pub mod limits;
pub mod part_size;
pub mod sign;
pub mod time;
pub mod xml;

pub use error::{ErrorCode, S3Error};

/// The README's Rust is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
