//! What is kept: buckets, objects, uploads and their parts.

use crate::index::BlobKey;
use serde::{Deserialize, Serialize};

/// A bucket.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// When it was created, in milliseconds since 1970.
    pub created: i64,
    /// What the caller gave with it.
    pub attributes: Vec<u8>,
}

/// A body that is kept, as objects and parts refer to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Extent {
    /// Its SHA-256.
    pub sha256: [u8; 32],
    /// Its length in bytes.
    pub length: u64,
    /// Which one of those with this SHA-256: there are several in a store that was opened without deduplication.
    pub(crate) id: u64,
}

impl Extent {
    pub(crate) fn new(key: &BlobKey, length: u64) -> Self {
        Extent { sha256: key.sha256(), length, id: key.id() }
    }

    pub(crate) fn key(&self) -> BlobKey {
        BlobKey::new(&self.sha256, self.id)
    }
}

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Object {
    /// When it was put, in milliseconds since 1970.
    pub modified: i64,
    /// Its ETag, as the caller gave it.
    pub etag: String,
    /// Its content, in order: one extent, or one for each part of a multipart upload.
    pub extents: Vec<Extent>,
    /// What the caller gave with it.
    pub attributes: Vec<u8>,
}

impl Object {
    /// Returns the length of the content in bytes.
    pub fn length(&self) -> u64 {
        self.extents.iter().fold(0, |sum, extent| sum.saturating_add(extent.length))
    }
}

/// A multipart upload that is neither completed nor aborted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Upload {
    /// The bucket of the object that is to be.
    pub bucket: String,
    /// The key of the object that is to be.
    pub key: String,
    /// The caller's name for the upload.
    pub id: String,
    /// When it was created, in milliseconds since 1970.
    pub started: i64,
    /// What the caller gave with it.
    pub attributes: Vec<u8>,
    /// The store's name for it: no other upload ever has the same.
    pub(crate) serial: u64,
}

/// A part of a multipart upload.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Part {
    /// Its number.
    pub number: u16,
    /// When it was put, in milliseconds since 1970.
    pub modified: i64,
    /// Its ETag, as the caller gave it.
    pub etag: String,
    /// Its content.
    pub extent: Extent,
    /// What the caller gave with it.
    pub attributes: Vec<u8>,
    /// Which one of those that were put with this number: a part that is replaced by another has another.
    pub id: u64,
}
