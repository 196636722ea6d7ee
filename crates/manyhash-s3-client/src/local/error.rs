//! Why a file has no digests.

use std::io;

/// Why a file has no digests. It names no file: the caller knows which it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It is a directory, a pipe or a device.
    #[error("not a regular file; pass what can only be read once through standard input")]
    NotAFile,
    /// It was written to or cut off while it was read, so that its digests would be a mixture.
    #[error("changed while it was read; try again when nothing writes to it")]
    Changed,
    /// An object has 10,000 parts at most.
    #[error("more than 10,000 parts of {part_bytes} bytes, which no object has; choose larger parts")]
    TooManyParts {
        /// The bytes in a part.
        part_bytes: u64,
    },
    /// It is not as long as the parts that were asked for.
    #[error("has {size} bytes, but the parts have {parts_size}")]
    Size {
        /// Its bytes.
        size: u64,
        /// The bytes of the parts.
        parts_size: u64,
    },
}
