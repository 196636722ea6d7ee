//! What headers say: of a body, of what is to be kept with an object, of conditions and ranges.

use crate::ingest::ChecksumClaim;
use crate::kept::Kept;
use data_encoding::BASE64;
use http::HeaderMap;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, ChecksumType};
use manyhash_s3::chunked;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::etag::ETagCondition;
use manyhash_s3::limits::MAX_METADATA_BYTES;
use manyhash_s3::sign::Payload;
use manyhash_store::Condition;
use std::ops::Range;

/// A header's value, if it is text.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Headers that claim or demand something. If one could be read in two ways, what was claimed might not be compared.
const ONCE: &[&str] = &[
    "content-md5",
    "if-match",
    "if-none-match",
    "x-amz-content-sha256",
    "x-amz-copy-source",
    "x-amz-copy-source-if-match",
    "x-amz-copy-source-if-none-match",
    "x-amz-copy-source-range",
    "x-amz-decoded-content-length",
    "x-amz-mp-object-size",
    "x-amz-sdk-checksum-algorithm",
];

/// Refuses a request that makes a claim twice, or in what is no text.
pub(crate) fn expect_clear_claims(headers: &HeaderMap) -> Result<(), S3Error> {
    for name in ONCE {
        let mut values = headers.get_all(*name).iter();
        let unclear = values.next().is_some_and(|value| value.to_str().is_err()) || values.next().is_some();
        if unclear {
            return Err(S3Error::invalid_argument(name, "", "The header must be there once, and in ASCII."));
        }
    }
    Ok(())
}

/// The length of the body without its framing.
pub(crate) fn body_length(headers: &HeaderMap, payload: &Payload) -> Result<u64, S3Error> {
    if payload.is_streaming() {
        return chunked::decoded_length(headers);
    }
    let length = text(headers, "content-length").and_then(|length| length.trim().parse().ok());
    length.ok_or(ErrorCode::MissingContentLength.into())
}

pub(crate) fn content_md5(headers: &HeaderMap) -> Result<Option<[u8; 16]>, S3Error> {
    let Some(value) = headers.get("content-md5") else { return Ok(None) };
    let md5 = BASE64.decode(value.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    let invalid = || S3Error::invalid_content_md5(&String::from_utf8_lossy(value.as_bytes()));
    md5.map(Some).ok_or_else(invalid)
}

const CHECKSUM: &str = "x-amz-checksum-";

/// Headers that begin as those of checksums, but hold none.
const NO_CHECKSUMS: &[&str] = &["algorithm", "type", "mode"];

/// The one checksum in the headers, if there is one.
pub(crate) fn checksum(headers: &HeaderMap) -> Result<Option<Checksum>, S3Error> {
    let Some((algorithm, value)) = checksum_text(headers)? else { return Ok(None) };
    let checksum = Checksum::parse(algorithm, value);
    checksum.map(Some).map_err(|_| S3Error::invalid_checksum_header(algorithm.header()))
}

/// The text of the one checksum in the headers, if there is one.
pub(crate) fn checksum_text(headers: &HeaderMap) -> Result<Option<(ChecksumAlgorithm, &str)>, S3Error> {
    let mut found = None;
    for (name, value) in headers {
        let Some(rest) = name.as_str().strip_prefix(CHECKSUM) else { continue };
        if NO_CHECKSUMS.contains(&rest) {
            continue;
        }
        let algorithm = ChecksumAlgorithm::from_header(name.as_str()).ok_or_else(S3Error::unknown_checksum_header)?;
        if found.replace((algorithm, value)).is_some() {
            return Err(S3Error::several_checksums());
        }
    }
    let Some((algorithm, value)) = found else { return Ok(None) };
    let text = value.to_str().map_err(|_| S3Error::invalid_checksum_header(algorithm.header()))?;
    Ok(Some((algorithm, text)))
}

/// Where the body's checksum is said. If it is nowhere, that of `expected` is computed, or CRC-64/NVME as S3 does.
pub(crate) fn checksum_claim(
    headers: &HeaderMap,
    payload: &Payload,
    expected: Option<ChecksumAlgorithm>,
) -> Result<ChecksumClaim, S3Error> {
    let value = checksum(headers)?;
    let trailers = chunked::announced_trailers(headers)?;
    // It would never come.
    if !trailers.is_empty() && !payload.has_trailers() {
        return Err(S3Error::unsupported_trailer());
    }
    if trailers.len() > 1 {
        return Err(S3Error::several_checksums());
    }
    let trailer = trailers.first().and_then(|name| ChecksumAlgorithm::from_header(name));
    let claim = match (value, trailer) {
        (Some(_), Some(_)) => return Err(S3Error::several_checksums()),
        (Some(checksum), None) => ChecksumClaim::Value(checksum),
        (None, Some(algorithm)) => ChecksumClaim::Trailer(algorithm),
        (None, None) => ChecksumClaim::Computed(expected.unwrap_or(ChecksumAlgorithm::Crc64Nvme)),
    };
    if let Some(name) = text(headers, "x-amz-sdk-checksum-algorithm") {
        let algorithm: ChecksumAlgorithm = name.parse().map_err(|_| S3Error::unknown_checksum_algorithm())?;
        match &claim {
            ChecksumClaim::Computed(_) => return Err(S3Error::checksum_not_sent()),
            claim if claim.algorithm() != algorithm => {
                return Err(S3Error::invalid_checksum_header("x-amz-sdk-checksum-algorithm"));
            }
            _ => {}
        }
    }
    Ok(claim)
}

/// The type of checksum that is asked for, or said.
pub(crate) fn checksum_type(headers: &HeaderMap) -> Result<Option<ChecksumType>, S3Error> {
    match text(headers, "x-amz-checksum-type").filter(|kind| !kind.is_empty()) {
        None => Ok(None),
        Some(kind) => kind.parse().map(Some).map_err(|_| S3Error::invalid_checksum_header("x-amz-checksum-type")),
    }
}

/// The algorithm and type of checksums that an upload in parts is begun with.
pub(crate) fn upload_checksum(headers: &HeaderMap) -> Result<Option<(ChecksumAlgorithm, ChecksumType)>, S3Error> {
    let kind = checksum_type(headers)?;
    let Some(name) = text(headers, "x-amz-checksum-algorithm").filter(|name| !name.is_empty()) else {
        return if kind.is_some() { Err(S3Error::checksum_type_without_algorithm()) } else { Ok(None) };
    };
    let algorithm: ChecksumAlgorithm = name.parse().map_err(|_| S3Error::unknown_checksum_algorithm())?;
    let kind = kind.unwrap_or(algorithm.default_type());
    if !algorithm.allows(kind) {
        return Err(S3Error::checksum_type_not_allowed(algorithm, kind));
    }
    Ok(Some((algorithm, kind)))
}

/// Headers that are kept with an object and sent with it.
pub(crate) const KEPT: &[&str] = &[
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-type",
    "expires",
    REDIRECT,
];

pub(crate) const REDIRECT: &str = "x-amz-website-redirect-location";

const METADATA: &str = "x-amz-meta-";

/// What is to be kept with an object.
pub(crate) fn kept(headers: &HeaderMap) -> Result<Kept, S3Error> {
    refuse_what_is_not_kept(headers)?;
    let mut kept = Kept::default();
    for name in KEPT {
        let Some(value) = headers.get(*name) else { continue };
        let mut value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        if *name == "content-encoding" {
            // The framing is not a property of the object.
            let codings = value.split(',').map(str::trim);
            value = codings.filter(|coding| !coding.eq_ignore_ascii_case("aws-chunked")).collect::<Vec<_>>().join(",");
        }
        if *name == REDIRECT && !["http://", "https://", "/"].iter().any(|start| value.starts_with(start)) {
            return Err(ErrorCode::InvalidRedirectLocation.into());
        }
        if !value.is_empty() {
            kept.headers.push(((*name).to_owned(), value));
        }
    }
    for name in headers.keys() {
        let Some(short) = name.as_str().strip_prefix(METADATA) else { continue };
        let values: Vec<_> =
            headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        kept.metadata.push((short.to_owned(), values.join(",")));
    }
    let bytes = kept.metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > MAX_METADATA_BYTES {
        return Err(S3Error::metadata_too_large(bytes, MAX_METADATA_BYTES));
    }
    Ok(kept)
}

/// Headers by which a client asks for what no operation does here, or makes it depend on what is not looked at. Without
/// this list it would wrongly believe it done: with an offset an object is appended to, not replaced.
///
/// What S3 has besides, and is not here, does no harm where it is ignored: who pays (`x-amz-request-payer`: nobody does), a
/// second factor and leave to delete what is locked (`x-amz-mfa`, `x-amz-bypass-governance-retention`: nothing needs them),
/// and what becomes of tags and annotations in a copy (there are none).
const NOT_DONE: &[&str] = &[
    "content-range",
    "x-amz-if-match-initiated-time",
    "x-amz-if-match-last-modified-time",
    "x-amz-if-match-size",
    "x-amz-write-offset-bytes",
];

/// How the names of such headers begin.
const NOT_DONE_STARTS: &[&str] = &["x-amz-server-side-encryption", "x-amz-copy-source-server-side-encryption"];

/// Refuses what no operation does.
pub(crate) fn refuse_what_is_not_done(headers: &HeaderMap) -> Result<(), S3Error> {
    let mut names = headers.keys().map(|name| name.as_str());
    match names.find(|name| NOT_DONE.contains(name) || NOT_DONE_STARTS.iter().any(|start| name.starts_with(start))) {
        Some(name) => Err(S3Error::header_not_implemented(name)),
        None => Ok(()),
    }
}

/// Refuses what a client would wrongly believe to be kept with an object.
fn refuse_what_is_not_kept(headers: &HeaderMap) -> Result<(), S3Error> {
    for name in headers.keys() {
        let name = name.as_str();
        if name == "x-amz-tagging" {
            return Err(S3Error::header_not_implemented(name));
        }
        if name.starts_with("x-amz-object-lock-") {
            return Err(
                S3Error::new(ErrorCode::InvalidRequest).with_message("Bucket is missing ObjectLockConfiguration")
            );
        }
    }
    refuse_access_lists(headers)?;
    match text(headers, "x-amz-storage-class") {
        None | Some("" | "STANDARD") => Ok(()),
        Some(_) => Err(ErrorCode::InvalidStorageClass.into()),
    }
}

/// Refuses access lists other than the one that all have.
pub(crate) fn refuse_access_lists(headers: &HeaderMap) -> Result<(), S3Error> {
    let grants = headers.keys().any(|name| name.as_str().starts_with("x-amz-grant-"));
    match text(headers, "x-amz-acl") {
        None | Some("" | "private" | "bucket-owner-full-control") if !grants => Ok(()),
        _ => Err(ErrorCode::AccessControlListNotSupported.into()),
    }
}

/// Refuses a new bucket that is to be another than all are: its objects belong to its owner, who alone has rights, nothing
/// locks them, and its name is in the one space of names.
pub(crate) fn expect_plain_bucket(headers: &HeaderMap) -> Result<(), S3Error> {
    refuse_access_lists(headers)?;
    for (name, plain) in [
        ("x-amz-bucket-namespace", "global"),
        ("x-amz-bucket-object-lock-enabled", "false"),
        ("x-amz-object-ownership", "BucketOwnerEnforced"),
    ] {
        if headers.get(name).is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(plain.as_bytes())) {
            return Err(S3Error::header_not_implemented(name));
        }
    }
    Ok(())
}

/// The condition that a write depends on.
pub(crate) fn write_condition(headers: &HeaderMap) -> Result<Condition, S3Error> {
    // S3 compares tags alone before it writes.
    for name in ["if-modified-since", "if-unmodified-since"] {
        if headers.contains_key(name) {
            return Err(S3Error::header_not_implemented(name));
        }
    }
    let mut condition = Condition::default();
    let [matches, none_matches] = ["if-match", "if-none-match"].map(|name| text(headers, name));
    match (matches, none_matches) {
        (None, None) => {}
        (None, Some("*")) => condition.absent = true,
        (Some(etag), None) => condition.etag = Some(etags(etag)),
        // S3 knows no other: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
        _ => return Err(S3Error::header_not_implemented("If-None-Match")),
    }
    Ok(condition)
}

/// What `If-Match` names, as the store compares it.
pub(crate) fn etags(list: &str) -> Vec<String> {
    match ETagCondition::parse(list) {
        ETagCondition::OneOf(tags) => {
            tags.iter().filter(|tag| !tag.is_weak()).map(|tag| tag.as_str().to_owned()).collect()
        }
        _ => vec!["*".to_owned()],
    }
}

/// The bytes that `Range` asks for of an object, or `None` for all: S3 sends all if there are several ranges, or if what
/// it is given is no range.
pub(crate) fn range(value: &str, length: u64) -> Result<Option<Range<u64>>, S3Error> {
    let Some((first, last)) = value.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Ok(None);
    };
    let range = match (Place::of(first), Place::of(last)) {
        // All of nothing is nothing.
        (Place::Empty, Place::Number(1..)) if length == 0 => return Ok(None),
        (Place::Empty, Place::Number(suffix)) => length.saturating_sub(suffix)..length,
        (Place::Number(first), Place::Empty) => first..length,
        (Place::Number(first), Place::Number(last)) if first <= last => first..length.min(last.saturating_add(1)),
        _ => return Ok(None),
    };
    if range.is_empty() { Err(S3Error::range_not_satisfiable(value, length)) } else { Ok(Some(range)) }
}

/// What stands on one side of a range.
enum Place {
    Empty,
    /// What is too large for a number is after every end.
    Number(u64),
    Nonsense,
}

impl Place {
    fn of(text: &str) -> Self {
        match text.parse() {
            _ if text.is_empty() => Place::Empty,
            _ if !text.bytes().all(|byte| byte.is_ascii_digit()) => Place::Nonsense,
            Ok(number) => Place::Number(number),
            Err(_) => Place::Number(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_rfc_9110() {
        for (value, expected) in [
            ("bytes=0-0", Some(0..1)),
            ("bytes=0-", Some(0..10)),
            ("bytes=9-", Some(9..10)),
            ("bytes=2-5", Some(2..6)),
            ("bytes=2-100", Some(2..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-30", Some(0..10)),
            ("bytes=5-2", None),
            ("bytes=-", None),
            ("bytes=a-b", None),
            ("bytes=0-1,3-4", None),
            ("lines=0-1", None),
            ("bytes=2-99999999999999999999999", Some(2..10)),
        ] {
            assert_eq!(range(value, 10).unwrap(), expected, "{value}");
        }
        for value in ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999999-"] {
            assert_eq!(range(value, 10).unwrap_err().code, ErrorCode::InvalidRange, "{value}");
        }
        assert_eq!(range("bytes=-1", 0).unwrap(), None);
        assert!(range("bytes=-0", 0).is_err() && range("bytes=0-", 0).is_err());
    }

    fn map(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    #[test]
    fn metadata_is_combined_and_bounded() {
        let kept = kept(&map(&[
            ("x-amz-meta-a", "1"),
            ("x-amz-meta-a", "2"),
            ("content-encoding", "aws-chunked,gzip"),
            ("content-type", "text/plain"),
        ]))
        .unwrap();
        assert_eq!(kept.metadata, [("a".to_owned(), "1,2".to_owned())]);
        assert!(kept.headers.contains(&("content-encoding".to_owned(), "gzip".to_owned())));
        let long: &'static str = "x".repeat(2048).leak();
        let error = super::kept(&map(&[("x-amz-meta-a", long)])).unwrap_err();
        assert_eq!(error.code, ErrorCode::MetadataTooLarge);
    }

    #[test]
    fn what_would_not_be_done_is_refused() {
        for line in [
            ("x-amz-server-side-encryption", "AES256"),
            ("x-amz-server-side-encryption-customer-key", "x"),
            ("x-amz-copy-source-server-side-encryption-customer-algorithm", "AES256"),
            ("x-amz-write-offset-bytes", "4"),
            ("x-amz-if-match-size", "4"),
            ("x-amz-if-match-initiated-time", "Sun, 22 Nov 2026 12:00:00 GMT"),
            ("content-range", "bytes 0-3/8"),
        ] {
            let error = refuse_what_is_not_done(&map(&[line])).unwrap_err();
            assert_eq!(error.code, ErrorCode::NotImplemented, "{line:?}");
        }
        assert!(refuse_what_is_not_done(&map(&[("x-amz-request-payer", "requester"), ("range", "bytes=0-1")])).is_ok());
        for line in [
            ("x-amz-bucket-object-lock-enabled", "true"),
            ("x-amz-object-ownership", "ObjectWriter"),
            ("x-amz-bucket-namespace", "account-regional"),
            ("x-amz-acl", "public-read"),
        ] {
            assert!(expect_plain_bucket(&map(&[line])).is_err(), "{line:?}");
        }
        let plain = [("x-amz-bucket-object-lock-enabled", "False"), ("x-amz-object-ownership", "BucketOwnerEnforced")];
        assert!(expect_plain_bucket(&map(&plain)).is_ok());
        let dated = write_condition(&map(&[("if-unmodified-since", "Sun, 22 Nov 2026 12:00:00 GMT")]));
        assert_eq!(dated.unwrap_err().code, ErrorCode::NotImplemented);
        for line in [
            ("x-amz-tagging", "a=b"),
            ("x-amz-acl", "public-read"),
            ("x-amz-storage-class", "GLACIER"),
            ("x-amz-object-lock-mode", "COMPLIANCE"),
            ("x-amz-grant-read", "id=x"),
        ] {
            assert!(kept(&map(&[line])).is_err(), "{line:?}");
        }
        assert!(kept(&map(&[("x-amz-acl", "private"), ("x-amz-storage-class", "STANDARD")])).is_ok());
    }

    #[test]
    fn one_checksum_may_be_said() {
        let good = ("x-amz-checksum-crc32", "AAAAAA==");
        assert!(checksum(&map(&[good])).unwrap().is_some());
        for lines in [
            &[good, ("x-amz-checksum-sha1", "AAAAAA==")][..],
            &[("x-amz-checksum-crc32", "AAAA")],
            &[("x-amz-checksum-crc16", "AAAA")],
        ] {
            assert_eq!(checksum(&map(lines)).unwrap_err().code, ErrorCode::InvalidRequest, "{lines:?}");
        }
        assert!(checksum(&map(&[("x-amz-checksum-type", "COMPOSITE")])).unwrap().is_none());
    }
}
