//! The documents of S3's requests and answers.
//!
//! Each is a struct, which a server writes and a client reads or the other way round: `to_xml` and `from_xml`. Requests
//! are read by `from_request`, which refuses in S3's words what S3 refuses. An element that a struct does not know is
//! skipped, since S3 adds some every year (but see [`CreateBucketConfiguration`]); an element that is there twice, or has no value of its kind, is refused.
//!
//! They are read and written here and not by serde, since a key is any text: quick-xml's serde trims the spaces around
//! it, and writes a carriage return so that it is read as a line feed. A request to delete `" a"` must not delete
//! `"a"`.
//!
//! Nothing hostile in a document does harm: no entities are declared or expanded, no depth exhausts the stack, and
//! what is kept of a document is at most a few times its length.

mod bucket;
mod checksums;
mod element;
mod error;
mod list;
mod multipart;
mod object;
mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::error::{ErrorCode, S3Error};
pub use bucket::{
    Bucket, Buckets, CreateBucketConfiguration, ListAllMyBucketsResult, LocationConstraint, Owner,
    VersioningConfiguration,
};
pub use checksums::ChecksumElements;
pub use element::EncodingType;
pub use error::ErrorResponse;
pub use list::{CommonPrefix, ListObjectsResult, ListObjectsV2Result, ListedObject};
pub use multipart::{
    CompleteMultipartUpload, CompleteMultipartUploadResult, CompletedPart, CopyPartResult,
    InitiateMultipartUploadResult, ListMultipartUploadsResult, ListPartsResult, ListedPart, ListedUpload,
};
pub use object::{
    AttributeChecksum, AttributePart, AttributeParts, CopyObjectResult, Delete, DeleteError, DeleteResult, Deleted,
    GetObjectAttributesResponse, ObjectIdentifier,
};
pub(crate) use write::Writer;

/// The beginning of every document that is written here.
///
/// A server that needs long for an answer can send it ahead, and spaces after it.
pub const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// Bytes in the longest document that `from_request` reads. The longest request that S3 allows is a list of 1,000 keys,
/// each of 1,024 bytes and each byte of 6 when it is escaped.
pub const MAX_REQUEST_BYTES: usize = 8 << 20;

/// Why bytes are not the document that was expected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum XmlError {
    /// The document is not text.
    #[error("not UTF-8")]
    NotUtf8,
    /// The document is not XML, for this reason.
    #[error("not well-formed XML: {0}")]
    NotWellFormed(String),
    /// The document ends in an element.
    #[error("not well-formed XML: an element has no end")]
    Unfinished,
    /// There is nothing in the document.
    #[error("no element: an empty document")]
    Empty,
    /// It is another document.
    #[error("`{found}`, not `{expected}`")]
    Root {
        /// The root of the document that was expected.
        expected: &'static str,
        /// The root that is there.
        found: String,
    },
    /// An element that must be there is not.
    #[error("`{element}` is missing")]
    Missing {
        /// The element.
        element: &'static str,
    },
    /// An element is there twice that can be there once.
    #[error("`{element}` is there twice")]
    Twice {
        /// The element.
        element: &'static str,
    },
    /// An element does not hold a value of its kind.
    #[error("`{element}` does not hold a value of its kind")]
    Value {
        /// The element.
        element: &'static str,
    },
    /// An element stands where there can be none.
    #[error("`{name}` stands where no element can be")]
    Unexpected {
        /// The element.
        name: String,
    },
    /// Text stands where there can be none.
    #[error("text stands between elements")]
    Text,
    /// The document has a type. S3's have none.
    #[error("a document type: S3's documents have none")]
    Doctype,
    /// A reference is to an entity that XML does not know by itself.
    #[error("a reference to an entity that is not declared")]
    Entity,
    /// Elements stand in one another too deep.
    #[error("elements stand in one another too deep")]
    TooDeep,
}

/// S3 tells no more of it.
impl From<XmlError> for S3Error {
    fn from(_: XmlError) -> Self {
        S3Error::new(ErrorCode::MalformedXML)
    }
}

/// Refuses a request that is longer than any can be.
fn check_length(body: &[u8]) -> Result<(), S3Error> {
    if body.len() > MAX_REQUEST_BYTES { Err(S3Error::message_too_long(MAX_REQUEST_BYTES)) } else { Ok(()) }
}
