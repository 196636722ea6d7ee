//! Changes, and what comes of them.

use crate::{NewFile, Object, Pin};
use bytes::Bytes;

/// A body that was received and verified.
#[derive(Debug)]
pub struct Content {
    /// The SHA-256 of the body.
    pub sha256: [u8; 32],
    /// The length of the body in bytes.
    pub length: u64,
    /// The body.
    pub body: Body,
}

/// Where a body is.
#[derive(Debug)]
#[non_exhaustive]
pub enum Body {
    /// In memory, in pieces. It goes into a segment, together with others.
    Small(Vec<Bytes>),
    /// In a file.
    ///
    /// It should have been synced by [`NewFile::sync`], on a thread of the caller's; otherwise the thread that makes
    /// all changes does so, and all wait for it.
    File(NewFile),
    /// In the store already.
    Kept(Pin),
}

/// A change to what is kept. See [`Store::commit`](crate::Store::commit).
#[derive(Debug)]
#[non_exhaustive]
pub enum Change {
    /// Creates a bucket.
    CreateBucket {
        /// Its name: 1 to 255 bytes without a NUL.
        name: String,
        /// When, in milliseconds since 1970.
        created: i64,
        /// Whatever is to be kept with it.
        attributes: Vec<u8>,
    },
    /// Deletes a bucket without objects, and the uploads in it.
    DeleteBucket {
        /// Its name.
        name: String,
    },
    /// Puts an object, in place of one with the same key.
    Put {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
        /// The body.
        content: Content,
        /// When, in milliseconds since 1970.
        modified: i64,
        /// The ETag.
        etag: String,
        /// Whatever is to be kept with it.
        attributes: Vec<u8>,
        /// What must hold of the object that is there.
        condition: Condition,
    },
    /// Puts an object with the content of another, without copying it.
    Copy {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
        /// An object that was read from this store. Only its extents matter.
        source: Object,
        /// When, in milliseconds since 1970.
        modified: i64,
        /// The ETag.
        etag: String,
        /// Whatever is to be kept with it.
        attributes: Vec<u8>,
        /// What must hold of the object that is there.
        condition: Condition,
    },
    /// Deletes an object. There need not be one: [`Committed::existed`] says whether there was.
    Delete {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
        /// What must hold of the object that is there.
        condition: Condition,
    },
    /// Begins a multipart upload.
    CreateUpload {
        /// The bucket.
        bucket: String,
        /// The key of the object that is to be.
        key: String,
        /// The caller's name for it, which must be new among the uploads to this key.
        id: String,
        /// When, in milliseconds since 1970.
        started: i64,
        /// Whatever is to be kept with it.
        attributes: Vec<u8>,
    },
    /// Drops an upload and its parts.
    AbortUpload {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
        /// The upload's id.
        id: String,
    },
    /// Puts a part, in place of one with the same number. [`Committed::part`] is its id.
    PutPart {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
        /// The upload's id.
        upload: String,
        /// The part's number.
        number: u16,
        /// The body.
        content: Content,
        /// When, in milliseconds since 1970.
        modified: i64,
        /// The ETag.
        etag: String,
        /// Whatever is to be kept with it.
        attributes: Vec<u8>,
    },
    /// Makes an object of parts of an upload, without copying them, and drops the upload with its other parts.
    Complete {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
        /// The upload's id.
        upload: String,
        /// The parts in the order of the content: number and [`Part::id`](crate::Part::id). A part occurs once.
        parts: Vec<(u16, u64)>,
        /// When, in milliseconds since 1970.
        modified: i64,
        /// The ETag.
        etag: String,
        /// Whatever is to be kept with it.
        attributes: Vec<u8>,
        /// What must hold of the object that is there.
        condition: Condition,
    },
}

/// What must hold of the object that has the key at the moment of the change. The default demands nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Condition {
    /// There is none: `If-None-Match: *`. Of changes that demand this at the same time, one succeeds.
    pub absent: bool,
    /// There is one, and its ETag is among these, or one of these is `*`: `If-Match`.
    pub etag: Option<Vec<String>>,
}

/// What was found while a change was made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Committed {
    /// Whether an object, or a part, was replaced or deleted.
    pub existed: bool,
    /// Whether the content was in the store already, so that nothing was written.
    pub deduplicated: bool,
    /// The id of the part that was put.
    pub part: Option<u64>,
}
