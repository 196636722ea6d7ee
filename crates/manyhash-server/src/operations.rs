//! What each operation does.

mod attributes;
mod buckets;
mod copy;
mod delete;
mod get;
mod list;
mod multipart;
mod parts;
mod put;
mod sound;

use crate::call::Call;
use crate::request::Operation;
use crate::response::Answer;
use jiff::Timestamp;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::limits::MAX_LISTED;
use manyhash_s3::xml::Owner;
use manyhash_store::{Change, CommitError, Committed};

/// Does what a call asks for.
pub(crate) async fn perform(call: &mut Call) -> Result<Answer, S3Error> {
    match call.operation {
        Operation::ListBuckets => buckets::list(call),
        Operation::CreateBucket => buckets::create(call).await,
        Operation::HeadBucket => buckets::head(call),
        Operation::DeleteBucket => buckets::delete(call).await,
        Operation::GetBucketLocation => buckets::location(call),
        Operation::GetBucketVersioning => buckets::versioning(call),
        Operation::ListObjects => list::objects(call),
        Operation::ListObjectsV2 => list::objects_v2(call),
        Operation::ListMultipartUploads => list::uploads(call),
        Operation::DeleteObjects => delete::objects(call).await,
        Operation::PutObject => put::object(call).await,
        Operation::CopyObject => copy::object(call).await,
        Operation::GetObject => get::object(call).await,
        Operation::HeadObject => get::head(call),
        Operation::DeleteObject => delete::object(call).await,
        Operation::GetObjectAttributes => attributes::object(call),
        Operation::CreateMultipartUpload => multipart::create(call).await,
        Operation::UploadPart => parts::upload(call).await,
        Operation::UploadPartCopy => copy::part(call).await,
        Operation::CompleteMultipartUpload => multipart::complete(call).await,
        Operation::AbortMultipartUpload => multipart::abort(call).await,
        Operation::ListParts => parts::list(call),
    }
}

/// Whom all objects belong to: the one who holds the key.
fn owner(call: &Call) -> Owner {
    Owner { id: call.caller.access_key.clone(), display_name: None }
}

/// A time of the store as S3's documents have it.
fn moment(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or_default()
}

/// The value of a parameter that limits a list. S3 lists no more than 1,000 at once, whatever is asked for.
fn limit(call: &Call, name: &str) -> Result<u32, S3Error> {
    let Some(text) = call.query.filled(name) else { return Ok(MAX_LISTED) };
    match text.parse::<i64>() {
        Ok(value @ 0..=0x7fff_ffff) => Ok(u32::try_from(value).map_or(MAX_LISTED, |value| value.min(MAX_LISTED))),
        Ok(_) => Err(S3Error::limit_out_of_range(name, text)),
        Err(_) => Err(S3Error::limit_not_a_number(name, text)),
    }
}

/// Makes a change last. When this returns, it is on the disk and others see it.
async fn commit(call: &Call, change: Change) -> Result<Committed, S3Error> {
    call.state.store.commit(change).await.map_err(|error| refusal(call, &error))
}

/// Why a change was not made, in S3's words.
fn refusal(call: &Call, error: &CommitError) -> S3Error {
    match error {
        CommitError::NoSuchBucket => S3Error::bucket(ErrorCode::NoSuchBucket, call.bucket()),
        CommitError::NoSuchKey => S3Error::no_such_key(call.key()),
        CommitError::NoSuchUpload => S3Error::no_such_upload(call.query.get("uploadId").unwrap_or_default()),
        CommitError::BucketExists => S3Error::bucket(ErrorCode::BucketAlreadyOwnedByYou, call.bucket()),
        CommitError::BucketNotEmpty => S3Error::bucket(ErrorCode::BucketNotEmpty, call.bucket()),
        CommitError::PreconditionFailed => {
            let condition = if call.header("if-match").is_some() { "If-Match" } else { "If-None-Match" };
            S3Error::precondition_failed(condition)
        }
        CommitError::PartGone(number) => {
            S3Error::invalid_part(call.query.get("uploadId").unwrap_or_default(), u32::from(*number), "")
        }
        CommitError::SourceGone => ErrorCode::NoSuchKey.into(),
        CommitError::Disk(error) => crate::ingest::disk(error),
        other => crate::ingest::internal(other),
    }
}
