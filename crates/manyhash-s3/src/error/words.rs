//! S3's other messages, and the elements that go with them.

use super::{ErrorCode, S3Error};
use crate::checksum::{ChecksumAlgorithm, ChecksumType};
use const_hex as hex;
use data_encoding::BASE64;

/// About headers, parameters and names.
impl S3Error {
    /// Refuses the value of a parameter or header. An empty `value` is not repeated.
    pub fn invalid_argument(name: &str, value: &str, message: &'static str) -> S3Error {
        argument(name, value).with_message(message)
    }

    /// Refuses a limit such as `max-keys` that is negative or too large.
    pub fn limit_out_of_range(name: &str, value: &str) -> S3Error {
        argument(name, value).with_message(format!("Argument {name} must be an integer between 0 and 2147483647"))
    }

    /// Refuses a limit such as `max-keys` that is no number.
    pub fn limit_not_a_number(name: &str, value: &str) -> S3Error {
        argument(name, value).with_message(format!("Provided {value} not an integer or within integer range"))
    }

    /// Refuses a part number that is not from 1 to 10,000.
    pub fn part_number_out_of_range(value: &str) -> S3Error {
        let message = "Part number must be an integer between 1 and 10000, inclusive.";
        S3Error::invalid_argument("partNumber", value, message)
    }

    /// Refuses a part number below 1 in the list of parts to be assembled.
    pub fn listed_part_number_too_small(value: i32) -> S3Error {
        S3Error::invalid_argument("PartNumber", &value.to_string(), "PartNumber must be >= 1")
    }

    /// Refuses a range to copy that is not of the form `bytes=first-last`.
    pub fn invalid_copy_range(value: &str) -> S3Error {
        let message = "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last \
                       are the zero-based offsets of the first and last bytes to copy";
        S3Error::invalid_argument("x-amz-copy-source-range", value, message)
    }

    /// Refuses a range to copy that ends after its source.
    pub fn copy_range_exceeds(size: u64) -> S3Error {
        argument("x-amz-copy-source-range", &size.to_string())
            .with_message(format!("Range specified is not valid for source object of size: {size}"))
    }

    /// Refuses a source to copy that is larger than one copy may be.
    pub fn copy_source_too_large(limit: u64) -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(format!(
            "The specified copy source is larger than the maximum allowable size for a copy source: {limit}"
        ))
    }

    /// Refuses to copy an object to itself with nothing changed.
    pub fn copy_to_itself() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(
            "This copy request is illegal because it is trying to copy an object to itself without changing the \
             object's metadata, storage class, website redirect location or encryption attributes.",
        )
    }

    /// Refuses `Range` and `partNumber` in one request.
    pub fn range_and_part_number() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest)
            .with_message("Cannot specify both Range header and partNumber query parameter")
    }

    /// Refuses GetObjectAttributes without a list of attributes.
    pub fn object_attributes_missing() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(
            "The x-amz-object-attributes header specifying the attributes to be retrieved is either missing or empty",
        )
    }

    /// Answers about a bucket, with its name: `NoSuchBucket`, `BucketNotEmpty` and their like.
    pub fn bucket(code: ErrorCode, name: &str) -> S3Error {
        S3Error::new(code).with("BucketName", name)
    }

    /// Answers that there is no such upload.
    pub fn no_such_upload(id: &str) -> S3Error {
        S3Error::new(ErrorCode::NoSuchUpload).with("UploadId", id)
    }

    /// Answers that there is no such object.
    pub fn no_such_key(key: &str) -> S3Error {
        S3Error::new(ErrorCode::NoSuchKey).with("Key", key)
    }

    /// Answers that a condition such as `If-Match` does not hold.
    pub fn precondition_failed(condition: &str) -> S3Error {
        S3Error::new(ErrorCode::PreconditionFailed).with("Condition", condition)
    }

    /// Answers that a method cannot be used on a resource: `BUCKET`, `OBJECT`, `SERVICE` or `UPLOAD`.
    pub fn method_not_allowed(method: &str, resource_type: &str) -> S3Error {
        S3Error::new(ErrorCode::MethodNotAllowed).with("Method", method).with("ResourceType", resource_type)
    }

    /// Answers that a header asks for what the server lacks.
    pub fn header_not_implemented(header: &str) -> S3Error {
        S3Error::new(ErrorCode::NotImplemented).with("Header", header)
    }

    /// Answers that an element of the request's document asks for what the server lacks.
    pub fn element_not_implemented(element: &str) -> S3Error {
        S3Error::new(ErrorCode::NotImplemented).with("Element", element)
    }

    /// Answers that a parameter of the query asks for what the server lacks.
    pub fn parameter_not_implemented(parameter: &str) -> S3Error {
        S3Error::new(ErrorCode::NotImplemented).with("Parameter", parameter)
    }
}

/// About sizes.
impl S3Error {
    /// Refuses an object or part that is too large.
    pub fn too_large(size: u64, limit: u64) -> S3Error {
        S3Error::new(ErrorCode::EntityTooLarge).with("ProposedSize", size).with("MaxSizeAllowed", limit)
    }

    /// Refuses a part other than the last that is too small.
    pub fn too_small(size: u64, limit: u64) -> S3Error {
        S3Error::new(ErrorCode::EntityTooSmall).with("ProposedSize", size).with("MinSizeAllowed", limit)
    }

    /// Refuses a key that is too long.
    pub fn key_too_long(size: usize, limit: usize) -> S3Error {
        S3Error::new(ErrorCode::KeyTooLongError).with("Size", size).with("MaxSizeAllowed", limit)
    }

    /// Refuses user metadata that is too long.
    pub fn metadata_too_large(size: usize, limit: usize) -> S3Error {
        S3Error::new(ErrorCode::MetadataTooLarge).with("Size", size).with("MaxSizeAllowed", limit)
    }

    /// Refuses a document that is too long.
    pub fn message_too_long(limit: usize) -> S3Error {
        S3Error::new(ErrorCode::MaxMessageLengthExceeded).with("MaxMessageLengthBytes", limit)
    }

    /// Answers that a range lies after the object's end.
    pub fn range_not_satisfiable(range: &str, size: u64) -> S3Error {
        S3Error::new(ErrorCode::InvalidRange).with("RangeRequested", range).with("ActualObjectSize", size)
    }

    /// Answers that the object has fewer parts.
    pub fn no_such_part_number(requested: u32, parts: u32) -> S3Error {
        S3Error::new(ErrorCode::InvalidPartNumber).with("ActualPartCount", parts).with("PartNumberRequested", requested)
    }

    /// Answers that a body ended before its announced length.
    pub fn body_ended_early() -> S3Error {
        S3Error::new(ErrorCode::IncompleteBody).with_message("The request body terminated unexpectedly")
    }

    /// Refuses a whole size that differs from the sum of the parts.
    pub fn assembled_size_differs(claimed: u64, actual: u64) -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(format!(
            "The provided 'x-amz-mp-object-size' header value {claimed} does not match what was computed: {actual}"
        ))
    }

    /// Refuses a whole size that is no size.
    pub fn invalid_assembled_size(value: &str) -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(match value.parse::<i64>() {
            Ok(..0) => format!("Value for x-amz-mp-object-size header is less than zero: '{value}'"),
            _ => format!("Value for x-amz-mp-object-size header is invalid: '{value}'"),
        })
    }
}

/// About digests.
impl S3Error {
    /// Refuses a `Content-MD5` that is not the base64 of 16 bytes.
    pub fn invalid_content_md5(value: &str) -> S3Error {
        S3Error::new(ErrorCode::InvalidDigest).with("Content-MD5", value)
    }

    /// Refuses a body whose MD5 differs from `Content-MD5`. S3 shows what it computed in base64, and what was
    /// expected in hexadecimal.
    pub fn content_md5_differs(computed: &[u8; 16], expected: &[u8; 16]) -> S3Error {
        S3Error::new(ErrorCode::BadDigest)
            .with("CalculatedDigest", BASE64.encode(computed))
            .with("ExpectedDigest", hex::encode(expected))
    }

    /// Refuses a body whose SHA-256 differs from that in the signed request.
    pub fn payload_hash_differs(claimed: &[u8; 32], computed: &[u8; 32]) -> S3Error {
        S3Error::new(ErrorCode::XAmzContentSHA256Mismatch)
            .with("ClientComputedContentSHA256", hex::encode(claimed))
            .with("S3ComputedContentSHA256", hex::encode(computed))
    }

    /// Refuses a body whose checksum differs from the one that was sent.
    pub fn checksum_differs(algorithm: ChecksumAlgorithm) -> S3Error {
        S3Error::new(ErrorCode::BadDigest)
            .with_message(format!("The {algorithm} you specified did not match the calculated checksum."))
    }

    /// Refuses a checksum in the list of parts to be assembled that is not the part's.
    pub fn part_checksum_differs(algorithm: ChecksumAlgorithm, number: u32) -> S3Error {
        S3Error::new(ErrorCode::BadDigest).with_message(format!(
            "The {} you specified for part {number} did not match what we received.",
            algorithm.lower_case_name()
        ))
    }

    /// Refuses a list of parts to be assembled in which a part's checksum is missing.
    pub fn part_checksum_missing(algorithm: ChecksumAlgorithm, number: u32) -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(format!(
            "The upload was created using a {} checksum. The complete request must include the checksum for each \
             part. It was missing for part {number} in the request.",
            algorithm.lower_case_name()
        ))
    }

    /// Refuses a header that does not hold a checksum.
    pub fn invalid_checksum_header(name: &str) -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(format!("Value for {name} header is invalid."))
    }

    /// Refuses a trailer that does not hold a checksum.
    pub fn invalid_checksum_trailer(name: &str) -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(format!("Value for {name} trailing header is invalid."))
    }

    /// Refuses a header `x-amz-checksum-*` of no known algorithm.
    pub fn unknown_checksum_header() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest)
            .with_message("The algorithm type you specified in x-amz-checksum- header is invalid.")
    }

    /// Refuses the name of no known algorithm.
    pub fn unknown_checksum_algorithm() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(
            "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, \
             CRC32C, CRC64NVME, MD5, SHA1, SHA256, SHA512, XXHASH128, XXHASH3, XXHASH64]",
        )
    }

    /// Refuses several checksums of one body.
    pub fn several_checksums() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest)
            .with_message("Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.")
    }

    /// Refuses the name of an algorithm where no checksum follows.
    pub fn checksum_not_sent() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(
            "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers \
             were found.",
        )
    }

    /// Refuses a request that must be protected by a digest, and is not.
    pub fn digest_required() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest)
            .with_message("Missing required header for this request: Content-MD5 OR x-amz-checksum-*")
    }

    /// Refuses a trailer that is announced and not known.
    pub fn unsupported_trailer() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest)
            .with_message("The value specified in the x-amz-trailer header is not supported")
    }

    /// Refuses a type of checksum without an algorithm.
    pub fn checksum_type_without_algorithm() -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest)
            .with_message("The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.")
    }

    /// Refuses a type that an algorithm cannot have.
    pub fn checksum_type_not_allowed(algorithm: ChecksumAlgorithm, kind: ChecksumType) -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(format!(
            "The {kind} checksum type cannot be used with the {} checksum algorithm.",
            algorithm.lower_case_name()
        ))
    }

    /// Refuses to complete an upload with checksums of another type than it was begun with.
    pub fn checksum_type_differs(kind: ChecksumType) -> S3Error {
        S3Error::new(ErrorCode::InvalidRequest).with_message(format!(
            "The upload was created using the {kind} checksum mode. The complete request must use the same checksum \
             mode."
        ))
    }

    /// Refuses a part with another algorithm than its upload was begun with. `None` is no checksum.
    pub fn checksum_algorithm_differs(
        expected: Option<ChecksumAlgorithm>,
        actual: Option<ChecksumAlgorithm>,
    ) -> S3Error {
        let name = |algorithm: Option<ChecksumAlgorithm>| algorithm.map_or("null", ChecksumAlgorithm::name);
        S3Error::new(ErrorCode::InvalidRequest).with_message(format!(
            "Checksum Type mismatch occurred, expected checksum Type: {}, actual checksum Type: {}",
            name(expected),
            name(actual)
        ))
    }

    /// Refuses a part to be assembled that was not uploaded, or has another ETag.
    pub fn invalid_part(upload: &str, number: u32, etag: &str) -> S3Error {
        S3Error::new(ErrorCode::InvalidPart).with("UploadId", upload).with("PartNumber", number).with("ETag", etag)
    }

    /// Refuses a part to be assembled whose checksum cannot be read.
    pub fn invalid_part_checksum(value: &str) -> S3Error {
        S3Error::invalid_argument("Checksum", value, INVALID_PART_CHECKSUM)
    }

    /// Refuses a part to be assembled with several checksums.
    pub fn several_part_checksums<'c>(checksums: impl IntoIterator<Item = (ChecksumAlgorithm, &'c str)>) -> S3Error {
        let list = checksums
            .into_iter()
            .fold(String::new(), |list, (algorithm, value)| list + algorithm.name() + ":" + value + ";");
        S3Error::invalid_argument("Checksum", &list, INVALID_PART_CHECKSUM)
    }
}

const INVALID_PART_CHECKSUM: &str = "Invalid Base64 or multiple checksums present in request";

fn argument(name: &str, value: &str) -> S3Error {
    let error = S3Error::new(ErrorCode::InvalidArgument).with("ArgumentName", name);
    if value.is_empty() { error } else { error.with("ArgumentValue", value) }
}
