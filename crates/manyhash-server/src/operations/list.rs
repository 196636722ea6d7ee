//! ListObjects, ListObjectsV2 and ListMultipartUploads.

use super::{limit, moment, owner};
use crate::call::{Call, read};
use crate::kept::{self, Kept, KeptUpload};
use crate::response::Answer;
use data_encoding::BASE64URL_NOPAD;
use http::StatusCode;
use manyhash_s3::error::S3Error;
use manyhash_s3::etag::ETag;
use manyhash_s3::xml::{
    CommonPrefix, EncodingType, ListMultipartUploadsResult, ListObjectsResult, ListObjectsV2Result, ListedObject,
    ListedUpload,
};
use manyhash_store::{Entry, ListQuery, Listing, Object, UploadEntry, UploadQuery};

pub(super) fn objects(call: &Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    let max_keys = limit(call, "max-keys")?;
    let marker = call.query.filled("marker");
    let listing = list(call, marker, max_keys)?;
    let next = listing.next.clone();
    let (contents, common_prefixes) = entries(call, listing, true)?;
    let delimiter = call.query.filled("delimiter").map(str::to_owned);
    let result = ListObjectsResult {
        name: call.bucket().to_owned(),
        prefix: call.query.get("prefix").unwrap_or_default().to_owned(),
        marker: marker.unwrap_or_default().to_owned(),
        max_keys,
        is_truncated: next.is_some(),
        // Without a delimiter the last key is the marker of the next page, so S3 does not say it.
        next_marker: next.filter(|_| delimiter.is_some()),
        delimiter,
        encoding_type: encoding(call)?,
        contents,
        common_prefixes,
    };
    Ok(Answer::xml(StatusCode::OK, result.to_xml()))
}

pub(super) fn objects_v2(call: &Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    let max_keys = limit(call, "max-keys")?;
    let start_after = call.query.filled("start-after");
    let token = call.query.get("continuation-token");
    let continued = token.map(name_of_token).transpose()?;
    let listing = list(call, continued.as_deref().or(start_after), max_keys)?;
    let next = listing.next.clone();
    let with_owner = call.query.get("fetch-owner") == Some("true");
    let (contents, common_prefixes) = entries(call, listing, with_owner)?;
    let result = ListObjectsV2Result {
        name: call.bucket().to_owned(),
        prefix: call.query.get("prefix").unwrap_or_default().to_owned(),
        start_after: start_after.map(str::to_owned),
        continuation_token: token.map(str::to_owned),
        is_truncated: next.is_some(),
        next_continuation_token: next.map(|name| token_of_name(&name)),
        key_count: u32::try_from(contents.len() + common_prefixes.len()).unwrap_or(u32::MAX),
        max_keys,
        delimiter: call.query.filled("delimiter").map(str::to_owned),
        encoding_type: encoding(call)?,
        contents,
        common_prefixes,
    };
    Ok(Answer::xml(StatusCode::OK, result.to_xml()))
}

/// Clients pass a token on as it is; in letters that no URL changes, it survives that.
fn token_of_name(name: &str) -> String {
    BASE64URL_NOPAD.encode(name.as_bytes())
}

fn name_of_token(token: &str) -> Result<String, S3Error> {
    let name = BASE64URL_NOPAD.decode(token.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    name.filter(|name| !name.is_empty()).ok_or_else(|| {
        S3Error::invalid_argument("continuation-token", token, "The continuation token provided is incorrect")
    })
}

fn encoding(call: &Call) -> Result<Option<EncodingType>, S3Error> {
    match call.query.filled("encoding-type") {
        None => Ok(None),
        Some("url") => Ok(Some(EncodingType::Url)),
        Some(value) => {
            Err(S3Error::invalid_argument("encoding-type", value, "Invalid Encoding Method specified in Request"))
        }
    }
}

fn list(call: &Call, after: Option<&str>, max: u32) -> Result<Listing, S3Error> {
    if max == 0 {
        return Ok(Listing::default());
    }
    let query = ListQuery {
        prefix: call.query.get("prefix").unwrap_or_default().to_owned(),
        delimiter: call.query.filled("delimiter").map(str::to_owned),
        after: after.map(str::to_owned),
        max: max as usize,
    };
    call.state.store.list(call.bucket(), &query).map_err(read)
}

fn entries(call: &Call, listing: Listing, with_owner: bool) -> Result<(Vec<ListedObject>, Vec<CommonPrefix>), S3Error> {
    let (mut contents, mut prefixes) = (Vec::new(), Vec::new());
    for entry in listing.entries {
        match entry {
            Entry::Object { key, object } => {
                let mut listed = listed(key, &object)?;
                listed.owner = with_owner.then(|| owner(call));
                contents.push(listed);
            }
            Entry::Prefix(prefix) => prefixes.push(CommonPrefix { prefix }),
            _ => return Err(crate::ingest::internal("an unknown entry in a listing")),
        }
    }
    Ok((contents, prefixes))
}

fn listed(key: String, object: &Object) -> Result<ListedObject, S3Error> {
    let kept: Kept = kept::decode(&object.attributes)?;
    Ok(ListedObject {
        key,
        last_modified: moment(object.modified),
        etag: Some(ETag::new(&object.etag)),
        checksum_algorithm: kept.checksum.iter().map(|object| object.checksum.algorithm()).collect(),
        checksum_type: kept.checksum.map(|object| object.kind),
        size: object.length(),
        storage_class: Some("STANDARD".to_owned()),
        owner: None,
    })
}

pub(super) fn uploads(call: &Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    let max_uploads = limit(call, "max-uploads")?;
    let key_marker = call.query.filled("key-marker");
    // S3 ignores it without a key.
    let id_marker = call.query.filled("upload-id-marker").filter(|_| key_marker.is_some());
    let query = UploadQuery {
        prefix: call.query.get("prefix").unwrap_or_default().to_owned(),
        delimiter: call.query.filled("delimiter").map(str::to_owned),
        key_after: key_marker.map(str::to_owned),
        id_after: id_marker.map(str::to_owned),
        max: max_uploads as usize,
    };
    let listing = if max_uploads == 0 {
        manyhash_store::UploadListing::default()
    } else {
        call.state.store.uploads(call.bucket(), &query).map_err(read)?
    };
    let mut result = ListMultipartUploadsResult {
        bucket: call.bucket().to_owned(),
        key_marker: key_marker.unwrap_or_default().to_owned(),
        upload_id_marker: id_marker.unwrap_or_default().to_owned(),
        is_truncated: listing.next.is_some(),
        prefix: call.query.filled("prefix").map(str::to_owned),
        delimiter: query.delimiter,
        encoding_type: encoding(call)?,
        max_uploads,
        ..ListMultipartUploadsResult::default()
    };
    if let Some((key, id)) = listing.next {
        result.next_key_marker = Some(key);
        result.next_upload_id_marker = id;
    }
    for entry in listing.entries {
        match entry {
            UploadEntry::Upload(upload) => {
                let kept: KeptUpload = kept::decode(&upload.attributes)?;
                result.uploads.push(ListedUpload {
                    key: upload.key,
                    upload_id: upload.id,
                    initiator: Some(owner(call)),
                    owner: Some(owner(call)),
                    storage_class: Some("STANDARD".to_owned()),
                    initiated: moment(upload.started),
                    checksum_algorithm: kept.checksum.map(|(algorithm, _)| algorithm),
                    checksum_type: kept.checksum.map(|(_, kind)| kind),
                });
            }
            UploadEntry::Prefix(prefix) => result.common_prefixes.push(CommonPrefix { prefix }),
            _ => return Err(crate::ingest::internal("an unknown entry in a listing")),
        }
    }
    Ok(Answer::xml(StatusCode::OK, result.to_xml()))
}
