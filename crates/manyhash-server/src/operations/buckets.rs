//! Buckets themselves.

use super::{commit, moment, owner};
use crate::call::{Call, read};
use crate::headers;
use crate::response::Answer;
use http::StatusCode;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::limits::MAX_LISTED_BUCKETS;
use manyhash_s3::xml::{
    Bucket, Buckets, CreateBucketConfiguration, ListAllMyBucketsResult, LocationConstraint, VersioningConfiguration,
};
use manyhash_store::Change;

/// The region that is told to whoever asks, unless there is one by configuration.
const REGION: &str = "us-east-1";

fn region(call: &Call) -> &str {
    call.state.config.region.as_deref().unwrap_or(REGION)
}

pub(super) fn list(call: &Call) -> Result<Answer, S3Error> {
    let most = match call.query.filled("max-buckets") {
        None => MAX_LISTED_BUCKETS,
        Some(text) => match text.parse() {
            Ok(most @ 1..=MAX_LISTED_BUCKETS) => most,
            _ => {
                let message = "Argument max-buckets must be an integer between 1 and 10000.";
                return Err(S3Error::invalid_argument("max-buckets", text, message));
            }
        },
    } as usize;
    let prefix = call.query.filled("prefix");
    let after = call.query.filled("continuation-token").unwrap_or_default();
    let is_here = call.query.filled("bucket-region").is_none_or(|wanted| wanted == region(call));
    let mut found = call.state.store.buckets().map_err(read)?;
    found.retain(|bucket| {
        is_here
            && call.caller.key.may_see(&bucket.name)
            && bucket.name.starts_with(prefix.unwrap_or_default())
            && *bucket.name > *after
    });
    let more = found.len() > most;
    found.truncate(most);
    let result = ListAllMyBucketsResult {
        owner: Some(owner(call)),
        continuation_token: found.last().filter(|_| more).map(|bucket| bucket.name.clone()),
        prefix: prefix.map(str::to_owned),
        buckets: Buckets {
            buckets: found
                .into_iter()
                .map(|bucket| Bucket {
                    creation_date: moment(bucket.created),
                    name: bucket.name,
                    region: Some(region(call).to_owned()),
                })
                .collect(),
        },
    };
    Ok(Answer::xml(StatusCode::OK, result.to_xml()))
}

pub(super) async fn create(call: &mut Call) -> Result<Answer, S3Error> {
    if !is_bucket_name(call.bucket()) {
        return Err(S3Error::bucket(ErrorCode::InvalidBucketName, call.bucket()));
    }
    headers::expect_plain_bucket(&call.parts.headers)?;
    let body = call.receive_document(false).await?;
    // S3 has no name here for its first region, and refuses the one that it has elsewhere.
    if let Some(location) = CreateBucketConfiguration::from_request(&body)?.location_constraint
        && call.state.config.region.as_deref().is_some_and(|region| location != region || location == REGION)
    {
        return Err(S3Error::new(ErrorCode::InvalidLocationConstraint).with("LocationConstraint", location));
    }
    let (name, created) = (call.bucket().to_owned(), call.state.milliseconds());
    commit(call, Change::CreateBucket { name, created, attributes: Vec::new() }).await?;
    Ok(Answer::empty(StatusCode::OK).with("location", format!("/{}", call.bucket())))
}

pub(super) fn head(call: &Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    Ok(Answer::empty(StatusCode::OK).with("x-amz-bucket-region", region(call)))
}

pub(super) async fn delete(call: &Call) -> Result<Answer, S3Error> {
    commit(call, Change::DeleteBucket { name: call.bucket().to_owned() }).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

pub(super) fn location(call: &Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    // S3 calls its first region by no name here.
    let region = if region(call) == REGION { "" } else { region(call) };
    Ok(Answer::xml(StatusCode::OK, LocationConstraint { region: region.to_owned() }.to_xml()))
}

pub(super) fn versioning(call: &Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    Ok(Answer::xml(StatusCode::OK, VersioningConfiguration::default().to_xml()))
}

/// Bucket names as S3 has them, without those that it keeps for itself.
/// Source: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html>
pub(super) fn is_bucket_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    (3..=63).contains(&bytes.len())
        && bytes.iter().all(|byte| letter(*byte) || matches!(byte, b'.' | b'-'))
        && bytes.first().is_some_and(|byte| letter(*byte))
        && bytes.last().is_some_and(|byte| letter(*byte))
        && !name.contains("..")
        && name.parse::<std::net::Ipv4Addr>().is_err()
}

#[cfg(test)]
mod tests {
    use super::is_bucket_name;

    #[test]
    fn names_are_those_of_s3() {
        for name in ["abc", "a.b-c", "1-2", "a--b", &"x".repeat(63)] {
            assert!(is_bucket_name(name), "{name}");
        }
        for name in ["ab", "-ab", "ab-", ".ab", "a..b", "192.168.0.1", "Abc", "a_b", "a b", "ü-x", &"x".repeat(64)] {
            assert!(!is_bucket_name(name), "{name}");
        }
    }
}
