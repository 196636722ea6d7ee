//! CopyObject and UploadPartCopy.

use super::buckets::is_bucket_name;
use super::get::{self, Found, Precondition};
use super::sound::Sound;
use super::{commit, moment, parts};
use crate::auth;
use crate::call::{Call, read};
use crate::headers::{self, REDIRECT};
use crate::ingest::{self, ChecksumClaim, Claims, Stored};
use crate::kept;
use crate::request::Target;
use crate::response::Answer;
use http::StatusCode;
use manyhash_s3::checksum::{ChecksumAlgorithm, ObjectChecksum};
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::etag::ETag;
use manyhash_s3::limits::MAX_UPLOAD_BYTES;
use manyhash_s3::sign::Payload;
use manyhash_s3::xml::{CopyObjectResult, CopyPartResult};
use manyhash_store::{Change, Extent};
use std::ops::Range;

pub(super) async fn object(call: &mut Call) -> Result<Answer, S3Error> {
    let replaces = match call.header("x-amz-metadata-directive") {
        None | Some("" | "COPY") => false,
        Some("REPLACE") => true,
        Some(value) => {
            let message = "Unknown metadata directive.";
            return Err(S3Error::invalid_argument("x-amz-metadata-directive", value, message));
        }
    };
    let asked = match call.header("x-amz-checksum-algorithm").filter(|name| !name.is_empty()) {
        None => None,
        Some(name) => Some(name.parse::<ChecksumAlgorithm>().map_err(|_| S3Error::unknown_checksum_algorithm())?),
    };
    let given = headers::kept(&call.parts.headers)?;
    let condition = headers::write_condition(&call.parts.headers)?;
    let source = source(call)?;
    call.expect_bucket()?;
    let found = find(call, &source)?;
    if found.object.length() > MAX_UPLOAD_BYTES {
        return Err(S3Error::copy_source_too_large(MAX_UPLOAD_BYTES));
    }
    let same = source.bucket == call.bucket() && source.key == call.key();
    if same && !replaces && asked.is_none() {
        return Err(S3Error::copy_to_itself());
    }
    let mut kept = found.kept;
    if replaces {
        (kept.headers, kept.metadata) = (given.headers, given.metadata);
    } else {
        // S3 does not copy where a website redirects to.
        kept.headers.retain(|(name, _)| name != REDIRECT);
        kept.headers.extend(given.headers.into_iter().filter(|(name, _)| name == REDIRECT));
    }
    // Another upload's name would make that upload seem complete here too.
    kept.upload = None;
    if let Some(algorithm) = asked
        && kept.checksum.is_none_or(|checksum| checksum.checksum.algorithm() != algorithm)
    {
        let whole = stored(call, &found.object.extents, 0..found.object.length())?;
        let (computed, _) = ingest::digest(&call.state, whole, algorithm).await?;
        kept.checksum = Some(ObjectChecksum::of_body(computed));
        kept.parts.iter_mut().for_each(|part| part.checksum = None);
    }
    let (etag, modified) = (found.object.etag.clone(), call.state.milliseconds());
    let change = Change::Copy {
        bucket: call.bucket().to_owned(),
        key: call.key().to_owned(),
        source: found.object,
        modified,
        etag: etag.clone(),
        attributes: kept::encode(&kept)?,
        condition,
    };
    commit(call, change).await?;
    let result = CopyObjectResult {
        last_modified: moment(modified),
        etag: ETag::new(etag),
        checksum_type: kept.checksum.map(|checksum| checksum.kind),
        checksums: kept.checksum.into(),
    };
    Ok(Answer::xml(StatusCode::OK, result.to_xml()))
}

pub(super) async fn part(call: &mut Call) -> Result<Answer, S3Error> {
    let number = parts::number(call)?;
    call.expect_bucket()?;
    let source = source(call)?;
    let (_, upload) = parts::find(call)?;
    let found = find(call, &source)?;
    let range = range(call, found.object.length())?;
    let length = range.end - range.start;
    if length > MAX_UPLOAD_BYTES {
        return Err(S3Error::copy_source_too_large(MAX_UPLOAD_BYTES));
    }
    let algorithm = upload.checksum.map(|(algorithm, _)| algorithm);
    let stored = stored(call, &found.object.extents, range)?;
    let claims = Claims {
        payload: Payload::Unsigned,
        length: Some(length),
        chain: None,
        content_md5: None,
        checksum: ChecksumClaim::Computed(algorithm.unwrap_or(ChecksumAlgorithm::Crc64Nvme)),
    };
    let verified = ingest::ingest(&call.state, stored, claims).await?;
    let (etag, checksum) = parts::put(call, number, verified, algorithm).await?;
    let result = CopyPartResult {
        last_modified: moment(call.state.milliseconds()),
        etag: ETag::new(etag),
        checksums: checksum.into(),
    };
    Ok(Answer::xml(StatusCode::OK, result.to_xml()))
}

/// What is copied: a bucket and a key.
struct Source {
    bucket: String,
    key: String,
}

/// What the header of the source names.
fn source(call: &Call) -> Result<Source, S3Error> {
    let text = call.header("x-amz-copy-source").unwrap_or_default();
    let invalid = |message| S3Error::invalid_argument("x-amz-copy-source", text, message);
    let (path, version) = match text.split_once('?') {
        Some((path, query)) => (path, query.strip_prefix("versionId=")),
        None => (text, None),
    };
    if version.is_some_and(|version| version != "null") {
        return Err(invalid("Invalid version id specified"));
    }
    let encoded = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let target = Target::of_path(path).ok().filter(|_| path.split('%').skip(1).all(encoded));
    let Target { bucket, key } = target.ok_or_else(|| invalid("Invalid copy source encoding"))?;
    let bucket = bucket.filter(|bucket| is_bucket_name(bucket));
    let bucket = bucket.ok_or_else(|| invalid("Invalid copy source bucket name"))?;
    let key = key.ok_or_else(|| invalid("Invalid copy source object key"))?;
    Ok(Source { bucket, key })
}

/// The object that is copied, if the caller may read it and its conditions hold.
fn find(call: &Call, source: &Source) -> Result<Found, S3Error> {
    auth::authorize_source(&call.caller, &source.bucket, &source.key)?;
    auth::expect_owner(&call.caller, &call.parts.headers, "x-amz-source-expected-bucket-owner")?;
    let found = get::find_by_name(call, &source.bucket, &source.key)?;
    let names = [
        "x-amz-copy-source-if-match",
        "x-amz-copy-source-if-none-match",
        "x-amz-copy-source-if-modified-since",
        "x-amz-copy-source-if-unmodified-since",
    ];
    match get::conditions(&call.parts.headers, names, &found.object)? {
        Precondition::Holds => Ok(found),
        Precondition::NotModified => Err(ErrorCode::PreconditionFailed.into()),
    }
}

/// A range of what is copied, compared with its SHA-256.
fn stored(call: &Call, extents: &[Extent], range: Range<u64>) -> Result<Sound, S3Error> {
    let reader = call.state.store.read(extents, range.clone()).map_err(read)?;
    Ok(Sound::new(&call.state, Stored::new(reader), extents, range))
}

/// The bytes of the source that become the part. Unlike a range that is read, it must lie in the source.
fn range(call: &Call, length: u64) -> Result<Range<u64>, S3Error> {
    let Some(text) = call.header("x-amz-copy-source-range").filter(|text| !text.is_empty()) else {
        return Ok(0..length);
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok());
    let numbers = text.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
    let numbers = numbers.and_then(|(first, last)| Some((digits(first)??, digits(last)??)));
    match numbers {
        Some((first, last)) if first <= last => match last.checked_add(1) {
            Some(end) if end <= length => Ok(first..end),
            _ => Err(S3Error::copy_range_exceeds(length)),
        },
        _ => Err(S3Error::invalid_copy_range(text)),
    }
}
