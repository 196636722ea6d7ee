//! Proves that files and S3 objects hold the same bytes, mostly without downloading them.
//!
//! - [`local`]: the ETags and checksums that S3 has for files.
//! - [`verify`]: whether two sides hold the same bytes, found out with as few requests as can be.
//! - [`remote`]: a bucket, whatever sends the requests.
//! - `http`: a client of S3 over HTTP, behind the feature `http`, which is on by default.
//! - `transfer`: files moved to buckets and back, each compared with what was computed, behind the same feature.
#![forbid(unsafe_code)]

#[cfg(feature = "http")]
pub mod http;
pub mod local;
pub mod remote;
#[cfg(feature = "http")]
pub mod transfer;
pub mod verify;

/// The README's Rust is compiled and run as a test.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../README.md")]
struct Readme;
