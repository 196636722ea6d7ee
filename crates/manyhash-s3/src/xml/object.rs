//! Documents about objects.

use super::check_length;
use super::element::elements;
use crate::checksum::ChecksumType;
use crate::error::{ErrorCode, S3Error};
use crate::etag::ETag;
use crate::limits::MAX_DELETED_KEYS;
use jiff::Timestamp;

elements! {
    /// The answer to CopyObject.
    CopyObjectResult("CopyObjectResult") {
        /// When the copy was written.
        last_modified: Timestamp = "LastModified",
        /// The entity tag of the copy.
        etag: ETag = "ETag",
        /// What the checksum covers.
        checksum_type: Option<ChecksumType> = "ChecksumType",
        ..checksums
    }

    /// An object to be deleted, and the conditions on which it is.
    ObjectIdentifier {
        /// The key.
        key: String = "Key",
        /// The version.
        version_id: Option<String> = "VersionId",
        /// The entity tag that it must have.
        etag: Option<ETag> = "ETag",
        /// When it must have been written.
        last_modified_time: Option<Timestamp> = "LastModifiedTime",
        /// Bytes that it must have.
        size: Option<u64> = "Size",
    }

    /// The body of DeleteObjects.
    Delete("Delete") {
        /// The objects.
        objects: Vec<ObjectIdentifier> = "Object",
        /// Whether the answer is to have errors only.
        quiet: bool = "Quiet",
    }

    /// An object that is no more.
    Deleted {
        /// The key.
        key: String = "Key",
        /// The version.
        version_id: Option<String> = "VersionId",
    }

    /// An object that could not be deleted.
    DeleteError {
        /// The key.
        key: String = "Key",
        /// The version.
        version_id: Option<String> = "VersionId",
        /// The code of the error.
        code: String = "Code",
        /// Its message.
        message: String = "Message",
    }

    /// The answer to DeleteObjects.
    DeleteResult("DeleteResult") {
        /// What is no more, unless the request was to be quiet.
        deleted: Vec<Deleted> = "Deleted",
        /// What could not be deleted.
        errors: Vec<DeleteError> = "Error",
    }

    /// The checksum of an object in the answer to GetObjectAttributes. That of a composite has no number of parts.
    AttributeChecksum {
        /// What it covers.
        checksum_type: Option<ChecksumType> = "ChecksumType",
        ..checksums
    }

    /// A part of an object in the answer to GetObjectAttributes.
    AttributePart {
        /// The number.
        part_number: u32 = "PartNumber",
        /// Bytes.
        size: u64 = "Size",
        ..checksums
    }

    /// The parts of an object in the answer to GetObjectAttributes.
    AttributeParts {
        /// How many parts the object has.
        parts_count: Option<u32> = "PartsCount",
        /// What the numbers come after.
        part_number_marker: Option<u32> = "PartNumberMarker",
        /// The last number here, which asks for the rest.
        next_part_number_marker: Option<u32> = "NextPartNumberMarker",
        /// How many parts were asked for.
        max_parts: Option<u32> = "MaxParts",
        /// Whether there is more.
        is_truncated: bool = "IsTruncated",
        /// The parts. S3 lists them only if they have checksums.
        parts: Vec<AttributePart> = "Part",
    }

    /// The answer to GetObjectAttributes, with what was asked for.
    GetObjectAttributesResponse("GetObjectAttributesResponse") {
        /// The entity tag, which this document has without quotes.
        etag: Option<ETag> = "ETag" (Bare),
        /// The checksum.
        checksum: Option<AttributeChecksum> = "Checksum",
        /// The parts.
        object_parts: Option<AttributeParts> = "ObjectParts",
        /// The storage class, such as `STANDARD`.
        storage_class: Option<String> = "StorageClass",
        /// Bytes.
        object_size: Option<u64> = "ObjectSize",
    }
}

impl Delete {
    /// Reads the body of a request. A request for no object at all is one.
    ///
    /// # Errors
    /// Returns S3's refusal of anything else, of more than 1,000 objects, and of an object without a key.
    pub fn from_request(body: &[u8]) -> Result<Self, S3Error> {
        check_length(body)?;
        let request = Self::from_xml(body)?;
        if request.objects.len() > MAX_DELETED_KEYS || request.objects.iter().any(|object| object.key.is_empty()) {
            return Err(S3Error::new(ErrorCode::MalformedXML));
        }
        Ok(request)
    }
}

impl DeleteError {
    /// Creates the report of an error.
    pub fn new(key: impl Into<String>, error: &S3Error) -> Self {
        DeleteError {
            key: key.into(),
            version_id: None,
            code: error.code.code().to_owned(),
            message: error.message.clone().into_owned(),
        }
    }
}
