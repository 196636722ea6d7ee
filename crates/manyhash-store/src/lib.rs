//! A directory that keeps objects: what an S3 server stands on, without HTTP.
//!
//! [`Store::open`] opens a directory. A body is handed over with its SHA-256, which must have been computed from the
//! very bytes: the store does not hash what it is given. Content of one digest is stored once, however many objects
//! have it. [`Store::check`] hashes everything again.
//!
//! - [`Store::commit`] makes a [`Change`] and tells when it is durable. One thread makes all changes that are ready as
//!   one batch, with one sync for all their small bodies and one transaction of the index. Who writes alone waits for
//!   two syncs; a thousand who write together wait for two syncs as well.
//! - Reads ([`Store::object`], [`Store::list`], [`Store::read`]...) never wait for changes. They may wait for the disk.
//! - Whatever the moment of a crash: each change that was answered is there, and no other is there in part.
//!
//! # What is in the directory
//!
//! | name | what it is |
//! | --- | --- |
//! | `index.redb` | the index: buckets, objects, uploads, and where each body is |
//! | `segments/NNNNNNNN` | bodies of up to [`SMALL`] bytes, one after another, each behind a head with its SHA-256 |
//! | `blobs/NNNNNNNN/SHA256-ID` | larger bodies, a file each |
//! | `new/` | bodies that are being received, on systems without unnamed files |
//! | `lock` | held while a process has the directory open |
//!
//! A *blob* is a body that is kept, with a count of the objects and parts that refer to it. The index changes only in
//! the transaction of a batch, after everything that it will refer to is durable. What nothing refers to any more is
//! removed after the transaction is durable that said so.
// Files without names, and names that last, are had from Unix alone.
#![cfg(unix)]
#![forbid(unsafe_code)]

mod blobs;
mod change;
mod check;
mod commit;
pub mod disk;
mod error;
mod index;
mod layout;
mod list;
mod model;
mod new_file;
mod pins;
mod reader;
mod recovery;
mod segments;
mod stats;
mod store;
mod writer;

pub use change::{Body, Change, Committed, Condition, Content};
pub use check::{Damage, DamageKind, Holder, Miscount, Progress, Report};
pub use commit::Commit;
pub use error::{CommitError, OpenError, ReadError};
pub use list::{Entry, ListQuery, Listing, UploadEntry, UploadListing, UploadQuery};
pub use model::{Bucket, Extent, Object, Part, Upload};
pub use new_file::NewFile;
pub use pins::Pin;
pub use reader::Reader;
pub use stats::{Latency, StoreStats};
pub use store::{Store, StoreOptions};

/// The length up to which a body belongs into a segment, as [`Body::Small`]: 128 KiB.
///
/// A longer one is better off as a file of its own.
pub const SMALL: usize = 128 << 10;

/// The README's Rust is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
