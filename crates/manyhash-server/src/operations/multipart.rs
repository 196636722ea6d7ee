//! CreateMultipartUpload, CompleteMultipartUpload and AbortMultipartUpload.

use super::{commit, get, parts};
use crate::call::{Call, read};
use crate::headers;
use crate::ingest::internal;
use crate::kept::{self, Kept, KeptPart, KeptUpload, KeptUploadedPart};
use crate::response::Answer;
use data_encoding::BASE64URL_NOPAD;
use http::StatusCode;
use manyhash_s3::checksum::{self, Checksum, ChecksumAlgorithm, ChecksumType, ObjectChecksum};
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::etag::{self, ETag};
use manyhash_s3::limits::{MAX_PARTS, MIN_PART_BYTES};
use manyhash_s3::xml::{
    CompleteMultipartUpload, CompleteMultipartUploadResult, CompletedPart, InitiateMultipartUploadResult,
};
use manyhash_store::{Change, Part};
use std::collections::BTreeMap;

pub(super) async fn create(call: &mut Call) -> Result<Answer, S3Error> {
    let object = headers::kept(&call.parts.headers)?;
    let checksum = headers::upload_checksum(&call.parts.headers)?;
    call.expect_bucket()?;
    let mut id = [0; 24];
    call.state.world.random(&mut id).map_err(internal)?;
    let id = BASE64URL_NOPAD.encode(&id);
    let change = Change::CreateUpload {
        bucket: call.bucket().to_owned(),
        key: call.key().to_owned(),
        id: id.clone(),
        started: call.state.milliseconds(),
        attributes: kept::encode(&KeptUpload { object, checksum })?,
    };
    commit(call, change).await?;
    let result =
        InitiateMultipartUploadResult { bucket: call.bucket().to_owned(), key: call.key().to_owned(), upload_id: id };
    let mut answer = Answer::xml(StatusCode::OK, result.to_xml());
    if let Some((algorithm, kind)) = checksum {
        answer.set("x-amz-checksum-algorithm", algorithm.name());
        answer.set("x-amz-checksum-type", kind.name());
    }
    Ok(answer)
}

pub(super) async fn abort(call: &mut Call) -> Result<Answer, S3Error> {
    let (upload, _) = parts::find(call)?;
    commit(call, Change::AbortUpload { bucket: upload.bucket, key: upload.key, id: upload.id }).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

pub(super) async fn complete(call: &mut Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    headers::checksum_text(&call.parts.headers)?;
    let body = call.receive_document(false).await?;
    let request = CompleteMultipartUpload::from_request(&body)?;
    let (upload, kept) = match parts::find(call) {
        Err(error) if error.code == ErrorCode::NoSuchUpload => return completed_before(call, error),
        found => found?,
    };
    let condition = headers::write_condition(&call.parts.headers)?;
    get::expect_writable(call, &condition)?;

    let uploaded = call.state.store.parts(&upload, 0, MAX_PARTS as usize).map_err(read)?;
    let uploaded = uploaded.into_iter().map(|part| (i64::from(part.number), part)).collect();
    let chosen = choose(&upload.id, &request.parts, &uploaded, kept.checksum)?;
    let size = chosen.iter().map(|(part, _)| part.extent.length).sum::<u64>();
    expect_size(call, size)?;
    let checksum = combine(&chosen, kept.checksum)?;
    expect_checksum(call, kept.checksum, checksum)?;

    let etag = etag::multipart(&chosen.iter().map(|(_, kept)| kept.md5).collect::<Vec<_>>());
    let object = Kept {
        checksum,
        parts: chosen
            .iter()
            .map(|(part, kept)| KeptPart {
                number: part.number,
                length: part.extent.length,
                checksum: kept.shown.then_some(kept.checksum),
            })
            .collect(),
        upload: Some(upload.id.clone()),
        ..kept.object
    };
    let change = Change::Complete {
        bucket: upload.bucket,
        key: upload.key,
        upload: upload.id,
        parts: chosen.iter().map(|(part, _)| (part.number, part.id)).collect(),
        modified: call.state.milliseconds(),
        etag: etag.clone(),
        attributes: kept::encode(&object)?,
        condition,
    };
    match commit(call, change).await {
        Ok(_) => Ok(completed(call, etag, checksum)),
        // Another request to complete it was first.
        Err(error) if error.code == ErrorCode::NoSuchUpload => completed_before(call, error),
        Err(error) => Err(error),
    }
}

fn completed(call: &Call, etag: String, checksum: Option<ObjectChecksum>) -> Answer {
    let host = call.header("host").unwrap_or_default();
    let result = CompleteMultipartUploadResult {
        location: Some(format!("http://{host}{}", call.parts.uri.path())),
        bucket: call.bucket().to_owned(),
        key: call.key().to_owned(),
        etag: ETag::new(etag),
        checksum_type: checksum.map(|checksum| checksum.kind),
        checksums: checksum.into(),
    };
    Answer::xml(StatusCode::OK, result.to_xml())
}

/// A client that did not hear of its success asks again, and is told of it.
fn completed_before(call: &Call, error: S3Error) -> Result<Answer, S3Error> {
    match get::find(call) {
        Ok(found) if found.kept.upload.is_some() && found.kept.upload.as_deref() == call.query.get("uploadId") => {
            Ok(completed(call, found.object.etag, found.kept.checksum))
        }
        _ => Err(error),
    }
}

type Chosen = (Part, KeptUploadedPart);

/// Whether a checksum is that of a part. One that was not computed is not.
fn is_of(said: &Checksum, part: &Part, kept: &KeptUploadedPart) -> bool {
    match said.algorithm() {
        algorithm if algorithm == kept.checksum.algorithm() => *said == kept.checksum,
        ChecksumAlgorithm::Sha256 => said.as_bytes() == part.extent.sha256,
        ChecksumAlgorithm::Md5 => said.as_bytes() == kept.md5,
        _ => false,
    }
}

/// The parts that a request names, if they are what it says.
fn choose(
    upload: &str,
    wanted: &[CompletedPart],
    uploaded: &BTreeMap<i64, Part>,
    checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
) -> Result<Vec<Chosen>, S3Error> {
    let mut chosen: Vec<Chosen> = Vec::with_capacity(wanted.len());
    for part in wanted {
        let number = i64::from(part.part_number);
        if number < 1 {
            return Err(S3Error::listed_part_number_too_small(part.part_number));
        }
        if chosen.last().is_some_and(|(last, _)| number <= i64::from(last.number)) {
            return Err(ErrorCode::InvalidPartOrder.into());
        }
        let invalid = || S3Error::invalid_part(upload, part.part_number.unsigned_abs(), part.etag.as_str());
        let found = uploaded.get(&number).filter(|found| found.etag == part.etag.as_str()).ok_or_else(invalid)?;
        let kept: KeptUploadedPart = kept::decode(&found.attributes)?;
        match (part.checksums.of_part()?, checksum) {
            (Some(said), Some((algorithm, _))) if said.algorithm() != algorithm => {
                return Err(S3Error::part_checksum_differs(said.algorithm(), part.part_number.unsigned_abs()));
            }
            (Some(said), _) if !is_of(&said, found, &kept) => return Err(invalid()),
            (None, Some((algorithm, ChecksumType::Composite))) => {
                return Err(S3Error::part_checksum_missing(algorithm, part.part_number.unsigned_abs()));
            }
            _ => {}
        }
        if let Some((last, _)) = chosen.last()
            && last.extent.length < MIN_PART_BYTES
        {
            return Err(S3Error::too_small(last.extent.length, MIN_PART_BYTES)
                .with("PartNumber", last.number)
                .with("ETag", &last.etag));
        }
        chosen.push((found.clone(), kept));
    }
    Ok(chosen)
}

fn expect_size(call: &Call, size: u64) -> Result<(), S3Error> {
    match call.header("x-amz-mp-object-size") {
        None => Ok(()),
        Some(text) => match text.parse::<u64>() {
            Ok(claimed) if claimed == size => Ok(()),
            Ok(claimed) => Err(S3Error::assembled_size_differs(claimed, size)),
            Err(_) => Err(S3Error::invalid_assembled_size(text)),
        },
    }
}

/// The checksum of the object. An upload that was begun without one gets that of its parts, if they have one in common
/// that can be had of the whole.
fn combine(
    chosen: &[Chosen],
    checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
) -> Result<Option<ObjectChecksum>, S3Error> {
    let common = chosen.first().map(|(_, kept)| kept.checksum.algorithm());
    let asked = checksum.or(common.map(|algorithm| (algorithm, ChecksumType::FullObject)));
    let Some((algorithm, kind)) = asked else { return Ok(None) };
    let made = match kind {
        ChecksumType::FullObject => {
            let parts = chosen.iter().map(|(part, kept)| (kept.checksum, part.extent.length));
            checksum::full_object(algorithm, parts)
        }
        _ => checksum::composite(algorithm, &chosen.iter().map(|(_, kept)| kept.checksum).collect::<Vec<_>>()),
    };
    match made {
        Ok(made) => Ok(Some(made)),
        Err(_) if checksum.is_none() => Ok(None),
        Err(error) => Err(internal(error)),
    }
}

/// Compares the object's checksum with what the client says of it.
fn expect_checksum(
    call: &Call,
    asked: Option<(ChecksumAlgorithm, ChecksumType)>,
    made: Option<ObjectChecksum>,
) -> Result<(), S3Error> {
    let kind = asked.map(|(_, kind)| kind).or(made.map(|made| made.kind));
    if let Some(said) = headers::checksum_type(&call.parts.headers)?
        && Some(said) != kind
    {
        return Err(S3Error::checksum_type_differs(kind.unwrap_or(said)));
    }
    let Some((algorithm, text)) = headers::checksum_text(&call.parts.headers)? else { return Ok(()) };
    let claimed = ObjectChecksum::parse(algorithm, text);
    let claimed = claimed.map_err(|_| S3Error::invalid_checksum_header(algorithm.header()))?;
    // What cannot be compared is not taken.
    let made = made.filter(|made| made.checksum.algorithm() == algorithm).ok_or_else(|| {
        S3Error::checksum_algorithm_differs(made.map(|made| made.checksum.algorithm()), Some(algorithm))
    })?;
    // Composites are said with and without the number of parts.
    let good = claimed.checksum == made.checksum && claimed.parts.is_none_or(|_| claimed.parts == made.parts);
    call.state.metrics.verdict(algorithm.lower_case_name(), good);
    if good { Ok(()) } else { Err(S3Error::checksum_differs(algorithm)) }
}
