//! What S3 answers to a request that it refuses: a code, a status, a message, and elements that say more.
//!
//! Codes and messages are S3's own words, since programs compare them. Where S3 has several messages for one code, the
//! commonest is the code's own and the others are made by a constructor of [`S3Error`].

mod words;

use crate::xml::Writer;
use http::StatusCode;
use std::borrow::Cow;
use std::fmt;

/// The table of codes: a variant, its name in XML, its status and its message.
macro_rules! codes {
    ($($(#[$about:meta])* $variant:ident, $name:literal, $status:ident, $message:literal;)*) => {
        /// The code of an error, as in the element `Code`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$about])* $variant,)*
        }

        impl ErrorCode {
            /// Every code, in alphabetical order.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant),*];

            /// Returns the name, such as `NoSuchKey`.
            pub const fn code(self) -> &'static str {
                match self {
                    $(ErrorCode::$variant => $name,)*
                }
            }

            /// Returns the status of the answer.
            pub const fn status(self) -> StatusCode {
                match self {
                    $(ErrorCode::$variant => StatusCode::$status,)*
                }
            }

            /// Returns the message that goes with the code unless a request needs another.
            pub const fn message(self) -> &'static str {
                match self {
                    $(ErrorCode::$variant => $message,)*
                }
            }

            /// Finds the code with this name, or `None` if it is none of these.
            pub fn from_code(code: &str) -> Option<ErrorCode> {
                match code {
                    $($name => Some(ErrorCode::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// The request gives rights by an access list, and the bucket has none.
    AccessControlListNotSupported, "AccessControlListNotSupported", BAD_REQUEST, "The bucket does not allow ACLs.";
    /// The key that signed the request has no right to do this, or nobody signed it.
    AccessDenied, "AccessDenied", FORBIDDEN, "Access Denied.";
    /// The header `Authorization` cannot be read.
    AuthorizationHeaderMalformed, "AuthorizationHeaderMalformed", BAD_REQUEST,
        "The authorization header that you provided is not valid.";
    /// The query of a presigned URL cannot be read.
    AuthorizationQueryParametersError, "AuthorizationQueryParametersError", BAD_REQUEST,
        "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, \
         X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.";
    /// A digest differs from that of the body.
    BadDigest, "BadDigest", BAD_REQUEST, "The Content-MD5 you specified did not match what we received.";
    /// The request cannot be read.
    BadRequest, "BadRequest", BAD_REQUEST, "An error occurred when parsing the HTTP request.";
    /// The bucket's name is taken by another owner.
    BucketAlreadyExists, "BucketAlreadyExists", CONFLICT,
        "The requested bucket name is not available. The bucket name can not be an existing collection, and the bucket \
         namespace is shared by all users of the system. Please select a different name and try again.";
    /// The bucket exists and belongs to whom asked for it.
    BucketAlreadyOwnedByYou, "BucketAlreadyOwnedByYou", CONFLICT,
        "Your previous request to create the named bucket succeeded and you already own it.";
    /// A bucket with objects cannot be deleted.
    BucketNotEmpty, "BucketNotEmpty", CONFLICT, "The bucket you tried to delete is not empty.";
    /// Another write of the same key ended first.
    ConditionalRequestConflict, "ConditionalRequestConflict", CONFLICT,
        "The conditional request cannot succeed due to a conflicting operation against this resource.";
    /// The object or part is larger than S3 allows.
    EntityTooLarge, "EntityTooLarge", BAD_REQUEST, "Your proposed upload exceeds the maximum allowed object size.";
    /// A part other than the last is smaller than S3 allows.
    EntityTooSmall, "EntityTooSmall", BAD_REQUEST, "Your proposed upload is smaller than the minimum allowed size";
    /// The body ended early, or is longer than announced.
    IncompleteBody, "IncompleteBody", BAD_REQUEST,
        "You did not provide the number of bytes specified by the Content-Length HTTP header";
    /// The server failed.
    InternalError, "InternalError", INTERNAL_SERVER_ERROR, "We encountered an internal error, please try again.";
    /// No such access key is known.
    InvalidAccessKeyId, "InvalidAccessKeyId", FORBIDDEN,
        "The AWS Access Key Id you provided does not exist in our records.";
    /// A parameter or header has a value that S3 does not take.
    InvalidArgument, "InvalidArgument", BAD_REQUEST, "Invalid Argument";
    /// No bucket can have this name.
    InvalidBucketName, "InvalidBucketName", BAD_REQUEST, "The specified bucket is not valid.";
    /// A chunk of a signed body is too small.
    InvalidChunkSizeError, "InvalidChunkSizeError", BAD_REQUEST,
        "Only the last chunk is allowed to have a size less than 8192 bytes";
    /// `Content-MD5` is not the base64 of 16 bytes.
    InvalidDigest, "InvalidDigest", BAD_REQUEST, "The Content-Md5 you specified is not valid.";
    /// A key whose path leads above its bucket. S3's code is the number.
    InvalidKeyPath, "400", BAD_REQUEST, "Bad Request";
    /// The region of a new bucket is not this one.
    InvalidLocationConstraint, "InvalidLocationConstraint", BAD_REQUEST,
        "The specified location-constraint is not valid";
    /// A part that is to be assembled was not uploaded, or differs.
    InvalidPart, "InvalidPart", BAD_REQUEST,
        "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified \
         entity tag may not match the part's entity tag.";
    /// The object has no part of this number.
    InvalidPartNumber, "InvalidPartNumber", RANGE_NOT_SATISFIABLE, "The requested partnumber is not satisfiable.";
    /// The parts to be assembled are not in ascending order.
    InvalidPartOrder, "InvalidPartOrder", BAD_REQUEST,
        "The list of parts was not in ascending order. Parts must be ordered by part number.";
    /// The range begins after the object's end.
    InvalidRange, "InvalidRange", RANGE_NOT_SATISFIABLE, "The requested range is not satisfiable";
    /// The place that a website redirects to is no place.
    InvalidRedirectLocation, "InvalidRedirectLocation", BAD_REQUEST,
        "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.";
    /// The request contradicts itself or S3's rules.
    InvalidRequest, "InvalidRequest", BAD_REQUEST, "Invalid Request.";
    /// Objects cannot be kept in this storage class.
    InvalidStorageClass, "InvalidStorageClass", BAD_REQUEST, "The storage class you specified is not valid";
    /// The session token is of no use.
    InvalidToken, "InvalidToken", BAD_REQUEST, "The provided token is malformed or otherwise invalid.";
    /// The path or query cannot be decoded.
    InvalidURI, "InvalidURI", BAD_REQUEST, "The specified URI couldn't be parsed.";
    /// The key has more than 1,024 bytes.
    KeyTooLongError, "KeyTooLongError", BAD_REQUEST, "Your key is too long.";
    /// The trailer of a body in chunks cannot be read, or was not announced.
    MalformedTrailerError, "MalformedTrailerError", BAD_REQUEST,
        "The request contained trailing data that was not well-formed or did not conform to our published schema.";
    /// The body is not the XML that was expected.
    MalformedXML, "MalformedXML", BAD_REQUEST,
        "The XML you provided was not well-formed or did not validate against our published schema.";
    /// The body of a request other than an upload is too long.
    MaxMessageLengthExceeded, "MaxMessageLengthExceeded", BAD_REQUEST, "Your request was too big.";
    /// The user's metadata has more than 2 KB.
    MetadataTooLarge, "MetadataTooLarge", BAD_REQUEST,
        "Your metadata headers exceed the maximum allowed metadata size";
    /// The method cannot be used here.
    MethodNotAllowed, "MethodNotAllowed", METHOD_NOT_ALLOWED,
        "The specified method is not allowed against this resource.";
    /// The length of the body was not announced.
    MissingContentLength, "MissingContentLength", LENGTH_REQUIRED, "You must provide the Content-Length HTTP header.";
    /// The request needs a body.
    MissingRequestBodyError, "MissingRequestBodyError", BAD_REQUEST, "Request Body is empty";
    /// The request needs another header.
    MissingSecurityHeader, "MissingSecurityHeader", BAD_REQUEST, "Your request was missing a required header.";
    /// There is no such bucket.
    NoSuchBucket, "NoSuchBucket", NOT_FOUND, "The specified bucket does not exist.";
    /// The bucket has no policy.
    NoSuchBucketPolicy, "NoSuchBucketPolicy", NOT_FOUND, "The bucket policy does not exist.";
    /// The bucket has no rules for other origins.
    NoSuchCORSConfiguration, "NoSuchCORSConfiguration", NOT_FOUND, "The CORS configuration does not exist";
    /// There is no such object.
    NoSuchKey, "NoSuchKey", NOT_FOUND, "The specified key does not exist.";
    /// The bucket has no rules for its objects' lives.
    NoSuchLifecycleConfiguration, "NoSuchLifecycleConfiguration", NOT_FOUND,
        "The lifecycle configuration does not exist";
    /// The bucket has no block of public access.
    NoSuchPublicAccessBlockConfiguration, "NoSuchPublicAccessBlockConfiguration", NOT_FOUND,
        "The public access block configuration was not found";
    /// The bucket or object has no tags.
    NoSuchTagSet, "NoSuchTagSet", NOT_FOUND, "The TagSet does not exist.";
    /// There is no such multipart upload, or no more.
    NoSuchUpload, "NoSuchUpload", NOT_FOUND,
        "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been \
         aborted or completed.";
    /// The object has no such version.
    NoSuchVersion, "NoSuchVersion", NOT_FOUND, "The specified version does not exist.";
    /// The bucket is not a website.
    NoSuchWebsiteConfiguration, "NoSuchWebsiteConfiguration", NOT_FOUND,
        "The specified bucket does not have a website configuration";
    /// The server lacks what the request asks for.
    NotImplemented, "NotImplemented", NOT_IMPLEMENTED,
        "A header you provided implies functionality that is not implemented.";
    /// The object is the one that the client has. The answer has no body.
    NotModified, "NotModified", NOT_MODIFIED, "Not Modified";
    /// The bucket does not lock objects.
    ObjectLockConfigurationNotFoundError, "ObjectLockConfigurationNotFoundError", NOT_FOUND,
        "Object Lock configuration does not exist for this bucket.";
    /// Another operation on the same resource is going on.
    OperationAborted, "OperationAborted", CONFLICT,
        "A conflicting conditional operation is currently in progress against this resource. Please try again.";
    /// The bucket has no controls of ownership.
    OwnershipControlsNotFoundError, "OwnershipControlsNotFoundError", NOT_FOUND,
        "The bucket ownership controls were not found.";
    /// The state of the object is not what the request demands.
    PreconditionFailed, "PreconditionFailed", PRECONDITION_FAILED,
        "At least one of the pre-conditions you specified did not hold.";
    /// The bucket is not replicated.
    ReplicationConfigurationNotFoundError, "ReplicationConfigurationNotFoundError", NOT_FOUND,
        "The replication configuration was not found";
    /// The head of the request is too long.
    RequestHeaderSectionTooLarge, "RequestHeaderSectionTooLarge", BAD_REQUEST,
        "Your request header section exceeds the maximum allowed size.";
    /// The clocks of client and server differ by more than 15 minutes.
    RequestTimeTooSkewed, "RequestTimeTooSkewed", FORBIDDEN,
        "The difference between the request time and the current time is too large.";
    /// The client sends too slowly, or stopped.
    RequestTimeout, "RequestTimeout", BAD_REQUEST,
        "Your socket connection to the server was not read from or written to within the timeout period.";
    /// The bucket's objects are not encrypted by the server.
    ServerSideEncryptionConfigurationNotFoundError, "ServerSideEncryptionConfigurationNotFoundError", NOT_FOUND,
        "The server side encryption configuration was not found";
    /// The server cannot answer now.
    ServiceUnavailable, "ServiceUnavailable", SERVICE_UNAVAILABLE, "Service is unable to handle request.";
    /// The signature is not that of this request and key.
    SignatureDoesNotMatch, "SignatureDoesNotMatch", FORBIDDEN,
        "The request signature we calculated does not match the signature you provided. Check your key and signing \
         method.";
    /// The client is to wait before it tries again.
    SlowDown, "SlowDown", SERVICE_UNAVAILABLE, "Please reduce your request rate.";
    /// The request takes no body.
    UnexpectedContent, "UnexpectedContent", BAD_REQUEST, "This request does not support content.";
    /// The SHA-256 of the body differs from that in the signed request.
    XAmzContentSHA256Mismatch, "XAmzContentSHA256Mismatch", BAD_REQUEST,
        "The provided 'x-amz-content-sha256' header does not match what was computed.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// A refusal in S3's words.
///
/// ```
/// use manyhash_s3::error::{ErrorCode, S3Error};
///
/// let error = S3Error::from(ErrorCode::NoSuchBucket).with("BucketName", "photos");
/// assert_eq!(error.status(), 404);
/// assert_eq!(
///     error.to_xml("/photos", "4442587FB7D0A2F9", None),
///     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchBucket</Code>\
///      <Message>The specified bucket does not exist.</Message><BucketName>photos</BucketName>\
///      <Resource>/photos</Resource><RequestId>4442587FB7D0A2F9</RequestId></Error>"
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {message}", code.code())]
#[non_exhaustive]
pub struct S3Error {
    /// The code.
    pub code: ErrorCode,
    /// The message, which may hold what the request said.
    pub message: Cow<'static, str>,
    /// Elements between the message and the resource, such as `BucketName`: names, which must be those of XML
    /// elements, and text.
    pub extra: Vec<(&'static str, String)>,
}

impl S3Error {
    /// Creates an error with the code's own message.
    pub const fn new(code: ErrorCode) -> Self {
        S3Error { code, message: Cow::Borrowed(code.message()), extra: Vec::new() }
    }

    /// Replaces the message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.message = message.into();
        self
    }

    /// Adds an element.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.extra.push((name, value.to_string()));
        self
    }

    /// Returns the status of the answer.
    pub const fn status(&self) -> StatusCode {
        self.code.status()
    }

    /// Writes the body of the answer. `resource` is the path of what the request was about.
    pub fn to_xml(&self, resource: &str, request_id: &str, host_id: Option<&str>) -> String {
        let mut xml = Writer::document();
        xml.open("Error");
        xml.text("Code", self.code.code());
        xml.text("Message", &self.message);
        for (name, value) in &self.extra {
            xml.text(name, value);
        }
        xml.text("Resource", resource);
        xml.text("RequestId", request_id);
        if let Some(host_id) = host_id {
            xml.text("HostId", host_id);
        }
        xml.close("Error");
        xml.finish()
    }
}

impl From<ErrorCode> for S3Error {
    fn from(code: ErrorCode) -> Self {
        S3Error::new(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::ChecksumAlgorithm::{Crc32, Crc64Nvme, Sha1, Sha256};
    use crate::checksum::ChecksumType::{Composite, FullObject};

    #[test]
    fn codes() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_code(code.code()), Some(*code));
            assert!(code.status().is_client_error() || code.status().is_server_error() || code.status() == 304);
            assert!(!code.message().is_empty());
            assert!(!code.message().contains("  ") || *code == ErrorCode::InvalidPart, "{code}: spaces of the source");
        }
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| format!("{code:?}")));
        assert_eq!(ErrorCode::from_code("400"), Some(ErrorCode::InvalidKeyPath));
        assert_eq!(ErrorCode::from_code(""), None);
    }

    /// As S3 says it.
    #[test]
    fn words() {
        let said = |error: S3Error| {
            let extra: String = error.extra.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            format!("{} {} {}{extra}", error.status().as_u16(), error.code, error.message)
        };
        for (error, expected) in [
            (
                S3Error::content_md5_differs(&[0; 16], &[255; 16]),
                "400 BadDigest The Content-MD5 you specified did not match what we received. \
                 CalculatedDigest=AAAAAAAAAAAAAAAAAAAAAA== ExpectedDigest=ffffffffffffffffffffffffffffffff",
            ),
            (
                S3Error::checksum_differs(Crc32),
                "400 BadDigest The CRC32 you specified did not match the calculated checksum.",
            ),
            (
                S3Error::part_checksum_differs(Sha256, 1),
                "400 BadDigest The sha256 you specified for part 1 did not match what we received.",
            ),
            (
                S3Error::part_checksum_missing(Sha1, 1),
                "400 InvalidRequest The upload was created using a sha1 checksum. The complete request must include \
                 the checksum for each part. It was missing for part 1 in the request.",
            ),
            (
                S3Error::checksum_type_not_allowed(Crc64Nvme, Composite),
                "400 InvalidRequest The COMPOSITE checksum type cannot be used with the crc64nvme checksum algorithm.",
            ),
            (
                S3Error::checksum_type_differs(FullObject),
                "400 InvalidRequest The upload was created using the FULL_OBJECT checksum mode. The complete request \
                 must use the same checksum mode.",
            ),
            (
                S3Error::checksum_algorithm_differs(Some(Crc32), None),
                "400 InvalidRequest Checksum Type mismatch occurred, expected checksum Type: CRC32, actual checksum \
                 Type: null",
            ),
            (
                S3Error::invalid_checksum_header("x-amz-checksum-crc32"),
                "400 InvalidRequest Value for x-amz-checksum-crc32 header is invalid.",
            ),
            (
                S3Error::invalid_assembled_size("-1"),
                "400 InvalidRequest Value for x-amz-mp-object-size header is less than zero: '-1'",
            ),
            (
                S3Error::invalid_assembled_size("x"),
                "400 InvalidRequest Value for x-amz-mp-object-size header is invalid: 'x'",
            ),
            (
                S3Error::limit_out_of_range("max-keys", "-5"),
                "400 InvalidArgument Argument max-keys must be an integer between 0 and 2147483647 \
                 ArgumentName=max-keys ArgumentValue=-5",
            ),
            (
                S3Error::limit_not_a_number("max-parts", "x"),
                "400 InvalidArgument Provided x not an integer or within integer range ArgumentName=max-parts \
                 ArgumentValue=x",
            ),
            (
                S3Error::listed_part_number_too_small(-4),
                "400 InvalidArgument PartNumber must be >= 1 ArgumentName=PartNumber ArgumentValue=-4",
            ),
            (
                S3Error::no_such_part_number(5, 3),
                "416 InvalidPartNumber The requested partnumber is not satisfiable. ActualPartCount=3 \
                 PartNumberRequested=5",
            ),
            (
                S3Error::invalid_argument("x-amz-content-sha256", "", "no"),
                "400 InvalidArgument no ArgumentName=x-amz-content-sha256",
            ),
        ] {
            assert_eq!(said(error), expected);
        }
    }

    #[test]
    fn body() {
        let error = S3Error::no_such_key("a&<b>\u{1}\r").with("X-Amz-Expires", 5);
        assert_eq!(
            error.to_xml("/\"", "1", Some("2")),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does \
             not exist.</Message><Key>a&amp;&lt;b&gt;&#x1;&#xd;</Key><X-Amz-Expires>5</X-Amz-Expires>\
             <Resource>/&quot;</Resource><RequestId>1</RequestId><HostId>2</HostId></Error>"
        );
        assert_eq!(error.to_string(), "NoSuchKey: The specified key does not exist.");
    }
}
