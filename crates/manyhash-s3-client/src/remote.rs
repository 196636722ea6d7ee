//! A bucket as what compares and copies objects sees it, whatever sends the requests.
//!
//! [`Remote`] is the one way to a bucket. The client of [`http`](crate::http) is one; another may stand on an SDK.
//! Retries, credentials, redirects and the number of requests at once are its affair: what it returns is final.
//!
//! A remote tells what the service said and concludes nothing. Which tag is an MD5 and which checksum covers what is
//! known to [`verify`](crate::verify).

mod address;

pub use address::{Address, AddressError};
use bytes::Bytes;
use futures_core::Stream;
use jiff::Timestamp;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, ChecksumType, ObjectChecksum};
use manyhash_s3::etag::ETag;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::pin::Pin;

/// A bucket.
pub trait Remote: Send + Sync {
    /// Returns the bucket's name.
    fn bucket(&self) -> &str;

    /// Returns a page of the objects whose keys begin with `prefix`: the first page, or the one after the page that
    /// gave `continuation`.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    fn list(&self, prefix: &str, continuation: Option<&str>) -> impl Future<Output = Result<Page, RemoteError>> + Send;

    /// Returns what the service tells of an object, or of a part of it.
    ///
    /// # Errors
    /// Returns an error of the kind [`RemoteErrorKind::NotFound`] if there is no such object or part, and others if the
    /// service refuses or cannot be reached.
    fn head(&self, key: &str, request: HeadRequest) -> impl Future<Output = Result<Head, RemoteError>> + Send;

    /// Returns an object's checksum and a page of its parts: the first page, or that of the parts with higher numbers
    /// than `part_marker`.
    ///
    /// # Errors
    /// Returns an error of the kind [`RemoteErrorKind::Unsupported`] if the service does not know the operation,
    /// [`RemoteErrorKind::NotFound`] if there is no such object, and others if the service refuses or cannot be reached.
    fn attributes(
        &self,
        key: &str,
        part_marker: Option<u32>,
    ) -> impl Future<Output = Result<Attributes, RemoteError>> + Send;

    /// Returns an object's bytes, or a range of them.
    ///
    /// # Errors
    /// Returns an error of the kind [`RemoteErrorKind::Changed`] if the object has not the tag that was asked for,
    /// [`RemoteErrorKind::NotFound`] if there is no such object, and others if the service refuses or cannot be reached.
    fn read(&self, key: &str, request: ReadRequest) -> impl Future<Output = Result<Body, RemoteError>> + Send;
}

/// A page of a list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Page {
    /// The objects, in the order of the bytes of their keys. Directory buckets have no order.
    pub objects: Vec<Listed>,
    /// What to ask for the next page with, if there is one.
    pub continuation: Option<String>,
}

/// An object in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The key, decoded.
    pub key: String,
    /// Bytes.
    pub size: u64,
    /// The entity tag.
    pub etag: Option<ETag>,
    /// When it was written.
    pub modified: Option<Timestamp>,
    /// The algorithms of its checksums. Their values are not in lists.
    pub checksum_algorithms: Vec<ChecksumAlgorithm>,
    /// What its checksum covers.
    pub checksum_type: Option<ChecksumType>,
    /// The storage class, such as `STANDARD`.
    pub storage_class: Option<String>,
}

/// What HeadObject is to tell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct HeadRequest {
    /// The part to tell of, from 1, instead of the object.
    pub part_number: Option<u32>,
    /// Whether checksums are told (`x-amz-checksum-mode: ENABLED`). Those of an object that is encrypted by a key of KMS
    /// need the right to decrypt.
    pub checksums: bool,
}

/// What HeadObject told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Head {
    /// Bytes of what was asked for: the object, or the part (`Content-Length`).
    pub content_length: u64,
    /// Bytes of the object: `Content-Length`, or for a part the total in `Content-Range`, where the service gives it.
    pub size: Option<u64>,
    /// The entity tag, which is the object's also where a part was asked for.
    pub etag: Option<ETag>,
    /// The number of parts (`x-amz-mp-parts-count`), which is told only where a part was asked for.
    pub parts_count: Option<u32>,
    /// The checksums as their headers have them: a composite is one that ends in a dash and a number.
    pub checksums: Vec<ObjectChecksum>,
    /// What the checksums cover (`x-amz-checksum-type`).
    pub checksum_type: Option<ChecksumType>,
    /// How it is encrypted where it is kept.
    pub encryption: Option<Encryption>,
    /// The user's metadata: names without `x-amz-meta-`, in lower case, and values.
    pub metadata: Vec<(String, String)>,
    /// When it was written.
    pub modified: Option<Timestamp>,
    /// The version, in a bucket that keeps versions.
    pub version: Option<String>,
    /// The storage class, where it is not `STANDARD`.
    pub storage_class: Option<String>,
}

/// How an object is encrypted where it is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Encryption {
    /// With S3's own keys (`AES256`). The entity tag is still made of MD5s.
    S3,
    /// With a key of KMS (`aws:kms`). The entity tag is not made of MD5s.
    Kms,
    /// Twice, with a key of KMS (`aws:kms:dsse`). The entity tag is not made of MD5s.
    DualKms,
    /// With the caller's key (SSE-C). The entity tag is not made of MD5s.
    Customer,
    /// In a way not known here.
    Other,
}

impl Encryption {
    /// Finds the encryption of a name, as in the header `x-amz-server-side-encryption`.
    pub fn of_name(name: &str) -> Encryption {
        match name {
            "AES256" => Encryption::S3,
            "aws:kms" => Encryption::Kms,
            "aws:kms:dsse" => Encryption::DualKms,
            _ => Encryption::Other,
        }
    }
}

/// What GetObjectAttributes told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attributes {
    /// The entity tag.
    pub etag: Option<ETag>,
    /// Bytes.
    pub size: Option<u64>,
    /// The checksums. That of a composite may be without its number of parts, so that only
    /// [`checksum_type`](Self::checksum_type) tells it from another.
    pub checksums: Vec<ObjectChecksum>,
    /// What the checksums cover.
    pub checksum_type: Option<ChecksumType>,
    /// The number of parts, for an object in parts.
    pub parts_count: Option<u32>,
    /// The parts of this page by their numbers. S3 lists them only if they have checksums.
    pub parts: Vec<Part>,
    /// The last number of this page, if there is another page.
    pub next_part_marker: Option<u32>,
    /// The storage class, such as `STANDARD`.
    pub storage_class: Option<String>,
}

/// A part of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The number, from 1. Numbers can have gaps.
    pub number: u32,
    /// Bytes.
    pub size: u64,
    /// Its checksums.
    pub checksums: Vec<Checksum>,
}

/// What GetObject is to return.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadRequest {
    /// The bytes, or all of them. Never empty.
    pub range: Option<Range<u64>>,
    /// The tag that the object must still have.
    pub if_match: Option<ETag>,
}

/// The bytes of an object in pieces.
///
/// The body ends early only with an error: an answer that stops short of what it announced is one.
pub type Body = Pin<Box<dyn Stream<Item = Result<Bytes, RemoteError>> + Send>>;

/// Why a request failed, after all attempts. `Display` is that of its cause, which names bucket and key.
#[derive(Debug)]
pub struct RemoteError {
    kind: RemoteErrorKind,
    cause: Box<dyn Error + Send + Sync>,
}

/// What a failed request means to the caller.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum RemoteErrorKind {
    /// There is no such object, part or bucket.
    NotFound,
    /// The object has not the tag that was asked for.
    Changed,
    /// The service does not know the operation or a part of it.
    Unsupported,
    /// The caller has not the right to it.
    Denied,
    /// The object's bytes are in an archive, and must be restored first.
    Archived,
    /// Anything else: no connection, no credentials, a service that fails.
    Other,
}

impl RemoteErrorKind {
    /// Finds what a service's refusal means, by S3's code and the status of the answer. An answer to HEAD has no code,
    /// and means what its status does.
    pub fn of_refusal(code: &str, status: u16) -> RemoteErrorKind {
        match (code, status) {
            ("InvalidObjectState", _) => RemoteErrorKind::Archived,
            ("NotImplemented" | "MethodNotAllowed", _) | (_, 501 | 405) => RemoteErrorKind::Unsupported,
            (_, 404) | ("InvalidPartNumber", _) => RemoteErrorKind::NotFound,
            (_, 412) => RemoteErrorKind::Changed,
            (_, 401 | 403) => RemoteErrorKind::Denied,
            _ => RemoteErrorKind::Other,
        }
    }
}

/// Reads the value of a header `Content-Range`, as in `bytes 0-99/1000`: the range, and the length of all if it is told.
/// `None` if it is none of bytes.
pub fn parse_content_range(value: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (range, total) = value.strip_prefix("bytes")?.trim_start().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let end = last.checked_add(1).filter(|end| first < *end)?;
    Some((first..end, total.trim().parse().ok()))
}

impl RemoteError {
    /// Creates an error from its cause.
    pub fn new(kind: RemoteErrorKind, cause: impl Into<Box<dyn Error + Send + Sync>>) -> RemoteError {
        RemoteError { kind, cause: cause.into() }
    }

    /// Returns what it means.
    pub fn kind(&self) -> RemoteErrorKind {
        self.kind
    }

    /// Returns what it was created from.
    pub fn into_cause(self) -> Box<dyn Error + Send + Sync> {
        self.cause
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl Error for RemoteError {
    // The cause speaks for itself above, so it is not its own source as well.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}
