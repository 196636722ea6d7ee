//! GetObjectAttributes.

use super::get::{self, http_date};
use crate::call::Call;
use crate::kept::Kept;
use crate::response::Answer;
use http::StatusCode;
use manyhash_s3::checksum::ChecksumType;
use manyhash_s3::error::S3Error;
use manyhash_s3::etag::ETag;
use manyhash_s3::limits::MAX_LISTED;
use manyhash_s3::xml::{AttributeChecksum, AttributePart, AttributeParts, GetObjectAttributesResponse};

pub(super) fn object(call: &Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    let mut response = GetObjectAttributesResponse::default();
    let wanted = wanted(call)?;
    let [max_parts, marker] = ["x-amz-max-parts", "x-amz-part-number-marker"].map(|name| number(call, name));
    let (max_parts, marker) = (max_parts?.unwrap_or(MAX_LISTED).min(MAX_LISTED), marker?.unwrap_or(0));
    let found = get::find(call)?;
    for name in wanted {
        match name {
            "ETag" => response.etag = Some(ETag::new(&found.object.etag)),
            // S3 says the checksum without the number of parts here.
            "Checksum" => {
                response.checksum = found.kept.checksum.map(|object| AttributeChecksum {
                    checksum_type: Some(object.kind),
                    checksums: object.checksum.into(),
                });
            }
            "ObjectParts" => response.object_parts = parts(&found.kept, max_parts, marker),
            "StorageClass" => response.storage_class = Some("STANDARD".to_owned()),
            "ObjectSize" => response.object_size = Some(found.object.length()),
            _ => return Err(unknown(name)),
        }
    }
    Ok(Answer::xml(StatusCode::OK, response.to_xml()).with("last-modified", http_date(found.object.modified)))
}

const ATTRIBUTES: &str = "x-amz-object-attributes";

/// The attributes that are asked for, in one header or several.
fn wanted(call: &Call) -> Result<Vec<&str>, S3Error> {
    let values = call.parts.headers.get_all(ATTRIBUTES).iter().filter_map(|value| value.to_str().ok());
    let names: Vec<&str> =
        values.flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Err(S3Error::object_attributes_missing());
    }
    let known = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"];
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(unknown(name)),
        None => Ok(names),
    }
}

fn unknown(name: &str) -> S3Error {
    S3Error::invalid_argument(ATTRIBUTES, name, "Invalid attribute name specified.")
}

fn number(call: &Call, name: &str) -> Result<Option<u32>, S3Error> {
    let Some(text) = call.header(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    match text.parse::<i64>() {
        Ok(value @ 0..=0x7fff_ffff) => Ok(u32::try_from(value).ok()),
        Ok(_) => Err(S3Error::limit_out_of_range(name, text)),
        Err(_) => Err(S3Error::limit_not_a_number(name, text)),
    }
}

/// A page of the parts. S3 says each of them only if the object's checksum is made of theirs.
fn parts(kept: &Kept, max_parts: u32, marker: u32) -> Option<AttributeParts> {
    let count = u32::try_from(kept.parts.len()).unwrap_or(u32::MAX);
    if count == 0 {
        return None;
    }
    let composite = kept.checksum.is_some_and(|checksum| checksum.kind == ChecksumType::Composite);
    if !composite {
        return Some(AttributeParts { parts_count: Some(count), ..AttributeParts::default() });
    }
    let mut after = kept.parts.iter().filter(|part| u32::from(part.number) > marker);
    let parts: Vec<_> = after
        .by_ref()
        .take(max_parts as usize)
        .map(|part| AttributePart {
            part_number: u32::from(part.number),
            size: part.length,
            checksums: part.checksum.into(),
        })
        .collect();
    Some(AttributeParts {
        parts_count: Some(count),
        part_number_marker: Some(marker),
        next_part_number_marker: Some(parts.last().map_or(marker, |part| part.part_number)),
        max_parts: Some(max_parts),
        is_truncated: after.next().is_some(),
        parts,
    })
}
