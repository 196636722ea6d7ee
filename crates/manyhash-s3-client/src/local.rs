//! The ETags and checksums that S3 has for files.
//!
//! What S3 says of an object depends on how it was uploaded: at once, or in parts of some sizes ([`Cut`]). [`Files`]
//! computes all that is [`Wanted`] of a file from one read: whole checksums, those of parts, ETags, composites and CRCs
//! of full objects, for any number of cuts. [`Files::guess`] finds the cut that gives an ETag.
//!
//! A part is a message of its own, so that one file fills lanes and cores as many files do. A checksum of a whole file
//! is a single message, and is as slow as such a message is, unless it is a CRC.
//!
//! Digests are never a mixture of what a file was at different times: one that changes meanwhile has an error instead.

mod cut;
mod error;
mod files;
mod open;
mod plan;
mod pool;
mod source;
mod sweep;
#[cfg(test)]
mod tests;
mod wanted;
mod worker;

pub use cut::{Cut, PartEnds};
pub use error::Error;
pub use files::{Files, digest_reader};
#[cfg(feature = "http")]
pub(crate) use open::is_same;
pub use wanted::{Digested, Wanted};
