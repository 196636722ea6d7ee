//! Lists of objects.

use super::EncodingType;
use super::bucket::Owner;
use super::element::elements;
use crate::checksum::{ChecksumAlgorithm, ChecksumType};
use crate::etag::ETag;
use jiff::Timestamp;

elements! {
    /// An object in a list.
    ListedObject {
        /// The key.
        key: String = "Key" (Name),
        /// When it was written.
        last_modified: Timestamp = "LastModified",
        /// The entity tag.
        etag: Option<ETag> = "ETag",
        /// The algorithms of its checksums, of which S3 keeps one.
        checksum_algorithm: Vec<ChecksumAlgorithm> = "ChecksumAlgorithm",
        /// What its checksum covers.
        checksum_type: Option<ChecksumType> = "ChecksumType",
        /// Bytes.
        size: u64 = "Size",
        /// The storage class, such as `STANDARD`.
        storage_class: Option<String> = "StorageClass",
        /// The owner, if that was asked for.
        owner: Option<Owner> = "Owner",
    }

    /// What several keys begin with, up to a delimiter.
    CommonPrefix {
        /// The prefix with the delimiter.
        prefix: String = "Prefix" (Name),
    }

    /// The answer to ListObjects.
    ListObjectsResult("ListBucketResult", encoding_type) {
        /// The bucket.
        name: String = "Name",
        /// What the keys begin with.
        prefix: String = "Prefix" (Name),
        /// What the keys come after.
        marker: String = "Marker" (Name),
        /// What to ask for the rest with, if there is more. S3 gives it with a delimiter only; without one the last key
        /// serves.
        next_marker: Option<String> = "NextMarker" (Name),
        /// How many keys and prefixes were asked for.
        max_keys: u32 = "MaxKeys",
        /// Up to where prefixes go.
        delimiter: Option<String> = "Delimiter" (Name),
        /// Whether there is more.
        is_truncated: bool = "IsTruncated",
        /// How names are encoded in the document.
        encoding_type: Option<EncodingType> = "EncodingType",
        /// The objects.
        contents: Vec<ListedObject> = "Contents",
        /// The prefixes.
        common_prefixes: Vec<CommonPrefix> = "CommonPrefixes",
    }

    /// The answer to ListObjectsV2.
    ListObjectsV2Result("ListBucketResult", encoding_type) {
        /// The bucket.
        name: String = "Name",
        /// What the keys begin with.
        prefix: String = "Prefix" (Name),
        /// What the keys come after.
        start_after: Option<String> = "StartAfter" (Name),
        /// What this was asked for with.
        continuation_token: Option<String> = "ContinuationToken",
        /// What to ask for the rest with, if there is more.
        next_continuation_token: Option<String> = "NextContinuationToken",
        /// How many keys and prefixes there are.
        key_count: u32 = "KeyCount",
        /// How many were asked for.
        max_keys: u32 = "MaxKeys",
        /// Up to where prefixes go.
        delimiter: Option<String> = "Delimiter" (Name),
        /// Whether there is more.
        is_truncated: bool = "IsTruncated",
        /// How names are encoded in the document.
        encoding_type: Option<EncodingType> = "EncodingType",
        /// The objects.
        contents: Vec<ListedObject> = "Contents",
        /// The prefixes.
        common_prefixes: Vec<CommonPrefix> = "CommonPrefixes",
    }
}
