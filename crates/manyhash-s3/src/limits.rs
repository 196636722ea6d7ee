//! What S3 allows at most, and at least.

/// Bytes in the smallest part of an object, but for the last, which can be of any size: 5 MiB.
pub const MIN_PART_BYTES: u64 = 5 << 20;

/// Bytes in the largest part of an object: 5 GiB.
pub const MAX_PART_BYTES: u64 = 5 << 30;

/// Parts of an object, which are numbered from 1: 10,000.
pub const MAX_PARTS: u32 = 10_000;

/// Bytes in the largest object: 10,000 parts of 5 GiB, which are 48.8 TiB.
pub const MAX_OBJECT_BYTES: u64 = MAX_PARTS as u64 * MAX_PART_BYTES;

/// Bytes in the largest object that is uploaded or copied at once: 5 GiB.
pub const MAX_UPLOAD_BYTES: u64 = 5 << 30;

/// Keys, parts or uploads in one page of a list: 1,000.
pub const MAX_LISTED: u32 = 1000;

/// Buckets in one page of a list: 10,000.
pub const MAX_LISTED_BUCKETS: u32 = 10_000;

/// Keys in one request to delete objects: 1,000.
pub const MAX_DELETED_KEYS: usize = 1000;

/// Bytes of UTF-8 in a key: 1,024.
pub const MAX_KEY_BYTES: usize = 1024;

/// Bytes in a user's metadata, names and values together: 2,048.
pub const MAX_METADATA_BYTES: usize = 2048;
