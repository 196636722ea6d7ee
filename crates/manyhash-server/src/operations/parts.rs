//! UploadPart and ListParts.

use super::{commit, limit, moment, owner};
use crate::call::{Call, read};
use crate::headers;
use crate::ingest::Verified;
use crate::kept::{self, KeptUpload, KeptUploadedPart};
use crate::response::Answer;
use http::StatusCode;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, ChecksumType};
use manyhash_s3::error::S3Error;
use manyhash_s3::etag::{self, ETag};
use manyhash_s3::limits::MAX_PARTS;
use manyhash_s3::xml::{ListPartsResult, ListedPart};
use manyhash_store::{Change, Upload};

pub(super) async fn upload(call: &mut Call) -> Result<Answer, S3Error> {
    let number = number(call)?;
    let (_, kept) = find(call)?;
    let algorithm = kept.checksum.map(|(algorithm, _)| algorithm);
    expect_algorithm(call, kept.checksum)?;
    let verified = call.receive(algorithm).await?;
    let (etag, checksum) = put(call, number, verified, algorithm).await?;
    let mut answer = Answer::empty(StatusCode::OK).with("etag", format!("\"{etag}\""));
    if let Some(checksum) = checksum {
        answer.set(checksum.algorithm().header(), checksum.to_string());
    }
    Ok(answer)
}

/// The number of the part that a call is about.
pub(super) fn number(call: &Call) -> Result<u16, S3Error> {
    let text = call.query.get("partNumber").unwrap_or_default();
    match text.parse::<u16>() {
        Ok(number) if number > 0 && u32::from(number) <= MAX_PARTS => Ok(number),
        _ => Err(S3Error::part_number_out_of_range(text)),
    }
}

/// The upload that a call is about.
pub(super) fn find(call: &Call) -> Result<(Upload, KeptUpload), S3Error> {
    call.expect_bucket()?;
    let id = call.query.get("uploadId").unwrap_or_default();
    let upload = call.state.store.upload(call.bucket(), call.key(), id).map_err(read)?;
    let upload = upload.ok_or_else(|| S3Error::no_such_upload(id))?;
    let kept = kept::decode(&upload.attributes)?;
    Ok((upload, kept))
}

/// Fails if a part is sent with a checksum of another algorithm than its upload was begun with.
fn expect_algorithm(call: &Call, upload: Option<(ChecksumAlgorithm, ChecksumType)>) -> Result<(), S3Error> {
    let expected = upload.map(|(algorithm, _)| algorithm);
    let said = headers::checksum_claim(&call.parts.headers, &call.caller.payload, expected)?.said();
    let fits = match (said, upload) {
        // Clients add a checksum of their own to parts of uploads that were begun without one.
        (_, None) => true,
        (Some(said), Some((algorithm, _))) => said == algorithm,
        // That of the whole can be had without theirs.
        (None, Some((_, kind))) => kind == ChecksumType::FullObject,
    };
    if fits { Ok(()) } else { Err(S3Error::checksum_algorithm_differs(expected, said)) }
}

/// Keeps a part that was received. Returns its ETag and the checksum that is told.
pub(super) async fn put(
    call: &Call,
    number: u16,
    verified: Verified,
    algorithm: Option<ChecksumAlgorithm>,
) -> Result<(String, Option<Checksum>), S3Error> {
    let Verified { content, md5, checksum } = verified;
    let said = headers::checksum_claim(&call.parts.headers, &call.caller.payload, algorithm)?.said();
    let shown = algorithm.is_some() || said.is_some();
    let etag = etag::single(&md5);
    let change = Change::PutPart {
        bucket: call.bucket().to_owned(),
        key: call.key().to_owned(),
        upload: call.query.get("uploadId").unwrap_or_default().to_owned(),
        number,
        content,
        modified: call.state.milliseconds(),
        etag: etag.clone(),
        attributes: kept::encode(&KeptUploadedPart { md5, checksum, shown })?,
    };
    commit(call, change).await?;
    Ok((etag, shown.then_some(checksum)))
}

pub(super) fn list(call: &Call) -> Result<Answer, S3Error> {
    let (upload, kept) = find(call)?;
    let max_parts = limit(call, "max-parts")?;
    let marker = match call.query.filled("part-number-marker") {
        None => 0,
        Some(text) => match text.parse::<u32>() {
            Ok(number) if number <= 0x7fff_ffff => number,
            _ => return Err(S3Error::limit_not_a_number("part-number-marker", text)),
        },
    };
    let after = u16::try_from(marker).unwrap_or(u16::MAX);
    // One more tells whether there is another page.
    let mut found = call.state.store.parts(&upload, after, max_parts as usize + 1).map_err(read)?;
    let is_truncated = found.len() > max_parts as usize && max_parts > 0;
    found.truncate(max_parts as usize);
    let mut parts = Vec::with_capacity(found.len());
    for part in found {
        let kept: KeptUploadedPart = kept::decode(&part.attributes)?;
        parts.push(ListedPart {
            part_number: u32::from(part.number),
            last_modified: moment(part.modified),
            etag: ETag::new(part.etag),
            size: part.extent.length,
            checksums: kept.shown.then_some(kept.checksum).into(),
        });
    }
    let result = ListPartsResult {
        bucket: call.bucket().to_owned(),
        key: call.key().to_owned(),
        upload_id: upload.id,
        initiator: Some(owner(call)),
        owner: Some(owner(call)),
        storage_class: Some("STANDARD".to_owned()),
        part_number_marker: marker,
        next_part_number_marker: parts.last().map(|part| part.part_number),
        max_parts,
        is_truncated,
        checksum_algorithm: kept.checksum.map(|(algorithm, _)| algorithm),
        checksum_type: kept.checksum.map(|(_, kind)| kind),
        parts,
    };
    Ok(Answer::xml(StatusCode::OK, result.to_xml()))
}
