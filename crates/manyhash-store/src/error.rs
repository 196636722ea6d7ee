//! What can go wrong.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

/// The reason why a change was not made.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum CommitError {
    /// There is no such bucket.
    #[error("there is no such bucket: create it first")]
    NoSuchBucket,
    /// There is no object with this key, and the condition demands one.
    #[error("there is no object with this key, and the condition demands one")]
    NoSuchKey,
    /// There is no such upload, or it was completed or aborted.
    #[error("there is no such upload: it was completed, aborted, or never created")]
    NoSuchUpload,
    /// There is a bucket with this name.
    #[error("there is a bucket with this name")]
    BucketExists,
    /// There is an upload with this id to this key.
    #[error("there is an upload with this id to this key: use another id")]
    UploadExists,
    /// The name of the bucket is empty, longer than 255 bytes, or contains a NUL.
    #[error("the name of a bucket has 1 to 255 bytes, none of them NUL")]
    InvalidName,
    /// The bucket contains objects.
    #[error("the bucket contains objects: delete them first")]
    BucketNotEmpty,
    /// The condition does not hold.
    #[error("the object that has the key is not as the condition demands")]
    PreconditionFailed,
    /// The part is not there any more, or was replaced, or is named twice.
    #[error("part {0} was replaced, was dropped, or is named twice: list the parts again")]
    PartGone(u16),
    /// The content that was to be copied or kept is not there any more.
    #[error("the content to be copied is not there any more: read its object again")]
    SourceGone,
    /// The body does not have the length that it is said to have.
    #[error("the body has {found} bytes and was announced with {announced}")]
    Length {
        /// The length that the content was given with.
        announced: u64,
        /// The length of the body.
        found: u64,
    },
    /// The disk failed. [`io::ErrorKind::StorageFull`] says that there is no room.
    ///
    /// Nothing of the change is there; unless it was the commit of the index that failed, and the index could not be
    /// opened again to see. Then the change is there as a whole, or not at all.
    #[error("the disk failed: {0}")]
    Disk(#[source] Arc<io::Error>),
    /// The store was closed before the change was made.
    #[error("the store is closed: open it again")]
    Closed,
}

impl CommitError {
    /// Whether there was no room on the disk.
    pub fn is_storage_full(&self) -> bool {
        matches!(self, CommitError::Disk(error) if is_storage_full(error))
    }
}

impl From<io::Error> for CommitError {
    fn from(error: io::Error) -> Self {
        CommitError::Disk(Arc::new(error))
    }
}

/// Whether a disk, or a user's share of it, has no room.
pub(crate) fn is_storage_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The reason why something could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The content was deleted since its object was read.
    #[error("the content was deleted since its object was read: read the object again")]
    Gone,
    /// The range does not lie in the content.
    #[error("the range ends at {end}, and the content has {length} bytes")]
    Range {
        /// The end of the range.
        end: u64,
        /// The length of the content.
        length: u64,
    },
    /// The index contains what this version cannot read.
    #[error("{0}: it is damaged, or of a later version; run a check of the store")]
    Damaged(&'static str),
    /// The disk failed.
    #[error("the disk failed: {0}")]
    Disk(#[from] io::Error),
    /// The disk failed, and the index is being opened again. That takes as long as reading the index.
    #[error("the disk failed, and the index is being opened again: try again in a moment")]
    Reopening,
    /// The store is closed.
    #[error("the store is closed: open it again")]
    Closed,
}

/// The reason why a directory could not be opened as a store.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has it open.
    #[error("{0} is open in another process: stop that one first")]
    InUse(PathBuf),
    /// There are bodies and no index.
    #[error("{0} contains segments or blobs and no index.redb: restore the index, or choose an empty directory")]
    IndexMissing(PathBuf),
    /// The index was written by another version.
    #[error("{path} has format {found}, and this version reads format {known}: use the version that wrote it")]
    Format {
        /// The index.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The format that this version writes.
        known: u64,
    },
    /// The index cannot be read.
    #[error("{path} is damaged ({reason}): restore it from a copy")]
    Damaged {
        /// The index.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The disk failed.
    #[error("{path}: {error}")]
    Disk {
        /// The file or directory.
        path: PathBuf,
        /// The error.
        #[source]
        error: io::Error,
    },
}
