//! Documents about uploads in parts.

use super::bucket::Owner;
use super::element::elements;
use super::list::CommonPrefix;
use super::{EncodingType, check_length};
use crate::checksum::{ChecksumAlgorithm, ChecksumType};
use crate::error::{ErrorCode, S3Error};
use crate::etag::ETag;
use crate::limits::MAX_PARTS;
use jiff::Timestamp;

elements! {
    /// The answer to CreateMultipartUpload.
    InitiateMultipartUploadResult("InitiateMultipartUploadResult") {
        /// The bucket.
        bucket: String = "Bucket",
        /// The key.
        key: String = "Key",
        /// The upload.
        upload_id: String = "UploadId",
    }

    /// A part in the list of parts to be assembled.
    CompletedPart {
        /// The number, which nobody has checked yet.
        part_number: i32 = "PartNumber",
        /// The entity tag.
        etag: ETag = "ETag",
        ..checksums
    }

    /// The body of CompleteMultipartUpload.
    CompleteMultipartUpload("CompleteMultipartUpload") {
        /// The parts in their order.
        parts: Vec<CompletedPart> = "Part",
    }

    /// The answer to CompleteMultipartUpload.
    CompleteMultipartUploadResult("CompleteMultipartUploadResult") {
        /// The address of the object.
        location: Option<String> = "Location",
        /// The bucket.
        bucket: String = "Bucket",
        /// The key.
        key: String = "Key",
        /// The entity tag of the object.
        etag: ETag = "ETag",
        /// What the checksum covers.
        checksum_type: Option<ChecksumType> = "ChecksumType",
        ..checksums
    }

    /// The answer to UploadPartCopy.
    CopyPartResult("CopyPartResult") {
        /// When the part was written.
        last_modified: Timestamp = "LastModified",
        /// The entity tag of the part.
        etag: ETag = "ETag",
        ..checksums
    }

    /// A part of an upload in a list.
    ListedPart {
        /// The number.
        part_number: u32 = "PartNumber",
        /// When it was written.
        last_modified: Timestamp = "LastModified",
        /// The entity tag.
        etag: ETag = "ETag",
        /// Bytes.
        size: u64 = "Size",
        ..checksums
    }

    /// The answer to ListParts.
    ListPartsResult("ListPartsResult") {
        /// The bucket.
        bucket: String = "Bucket",
        /// The key.
        key: String = "Key",
        /// The upload.
        upload_id: String = "UploadId",
        /// Who began it.
        initiator: Option<Owner> = "Initiator",
        /// Who will own the object.
        owner: Option<Owner> = "Owner",
        /// The storage class, such as `STANDARD`.
        storage_class: Option<String> = "StorageClass",
        /// What the numbers come after.
        part_number_marker: u32 = "PartNumberMarker",
        /// The last number here, which asks for the rest.
        next_part_number_marker: Option<u32> = "NextPartNumberMarker",
        /// How many parts were asked for.
        max_parts: u32 = "MaxParts",
        /// Whether there is more.
        is_truncated: bool = "IsTruncated",
        /// The algorithm of the parts' checksums.
        checksum_algorithm: Option<ChecksumAlgorithm> = "ChecksumAlgorithm",
        /// What the object's checksum will cover.
        checksum_type: Option<ChecksumType> = "ChecksumType",
        /// The parts.
        parts: Vec<ListedPart> = "Part",
    }

    /// An upload in a list.
    ListedUpload {
        /// The key.
        key: String = "Key" (Name),
        /// The upload.
        upload_id: String = "UploadId",
        /// Who began it.
        initiator: Option<Owner> = "Initiator",
        /// Who will own the object.
        owner: Option<Owner> = "Owner",
        /// The storage class, such as `STANDARD`.
        storage_class: Option<String> = "StorageClass",
        /// When it was begun.
        initiated: Timestamp = "Initiated",
        /// The algorithm of the parts' checksums.
        checksum_algorithm: Option<ChecksumAlgorithm> = "ChecksumAlgorithm",
        /// What the object's checksum will cover.
        checksum_type: Option<ChecksumType> = "ChecksumType",
    }

    /// The answer to ListMultipartUploads.
    ListMultipartUploadsResult("ListMultipartUploadsResult", encoding_type) {
        /// The bucket.
        bucket: String = "Bucket",
        /// What the keys come after.
        key_marker: String = "KeyMarker" (Name),
        /// What the uploads of that key come after.
        upload_id_marker: String = "UploadIdMarker",
        /// The last key here, which asks for the rest.
        next_key_marker: Option<String> = "NextKeyMarker" (Name),
        /// The last upload here, which asks for the rest.
        next_upload_id_marker: Option<String> = "NextUploadIdMarker",
        /// What the keys begin with.
        prefix: Option<String> = "Prefix" (Name),
        /// Up to where prefixes go.
        delimiter: Option<String> = "Delimiter" (Name),
        /// How names are encoded in the document.
        encoding_type: Option<EncodingType> = "EncodingType",
        /// How many uploads were asked for.
        max_uploads: u32 = "MaxUploads",
        /// Whether there is more.
        is_truncated: bool = "IsTruncated",
        /// The uploads.
        uploads: Vec<ListedUpload> = "Upload",
        /// The prefixes.
        common_prefixes: Vec<CommonPrefix> = "CommonPrefixes",
    }
}

impl CompleteMultipartUpload {
    /// Reads the body of a request. The numbers, tags and checksums of the parts remain to be checked.
    ///
    /// # Errors
    /// Returns S3's refusal of anything else, of no parts, and of more than an object can have.
    pub fn from_request(body: &[u8]) -> Result<Self, S3Error> {
        check_length(body)?;
        let request = Self::from_xml(body)?;
        if request.parts.is_empty() || request.parts.len() > MAX_PARTS as usize {
            return Err(S3Error::new(ErrorCode::MalformedXML));
        }
        Ok(request)
    }
}
