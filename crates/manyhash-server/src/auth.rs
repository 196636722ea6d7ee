//! Who asks, and whether they may.

use crate::headers;
use crate::keys::{Access, Key};
use crate::request::{Operation, Query, Target};
use crate::state::State;
use http::HeaderMap;
use http::request::Parts;
use manyhash_s3::chunked::SignatureChain;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::sign::{Authorization, Payload};
use std::sync::Arc;
use std::time::Instant;

/// Who signed a request, and how its body is signed.
pub(crate) struct Caller {
    pub(crate) access_key: String,
    pub(crate) key: Arc<Key>,
    pub(crate) payload: Payload,
    pub(crate) chain: Option<SignatureChain>,
}

/// Finds out who signed a request. The signature covers its head; what it says of the body is compared later.
pub(crate) fn authenticate(state: &State, parts: &Parts) -> Result<Caller, S3Error> {
    let (method, uri, headers) = (&parts.method, &parts.uri, &parts.headers);
    let authorization = Authorization::from_request(uri, headers)?.ok_or(S3Error::new(ErrorCode::AccessDenied))?;
    if let Some(region) = &state.config.region {
        authorization.check_region(region)?;
    }
    authorization.check_session_token(None)?;
    let found = state.keys.find(&authorization);
    let (key, signing_key) = found
        .ok_or_else(|| S3Error::new(ErrorCode::InvalidAccessKeyId).with("AWSAccessKeyId", &authorization.access_key))?;
    let payload_hash = authorization.payload_hash(uri, headers)?;
    let payload = Payload::parse(&payload_hash)?;
    let seed = authorization.verify(method, uri, headers, &payload_hash, &signing_key, state.world.now())?;
    let chain = payload
        .has_signed_chunks()
        .then(|| SignatureChain::new(signing_key, authorization.timestamp, &authorization.scope(), seed));
    if state.config.rate.is_some_and(|rate| !key.is_within(rate, Instant::now())) {
        return Err(ErrorCode::SlowDown.into());
    }
    Ok(Caller { access_key: authorization.access_key, key, payload, chain })
}

/// Whether the caller may do what is asked for.
pub(crate) fn authorize(caller: &Caller, operation: Operation, target: &Target, query: &Query) -> Result<(), S3Error> {
    let Some(bucket) = &target.bucket else { return Ok(()) };
    let key = &caller.key;
    let may = match operation {
        Operation::ListObjects | Operation::ListObjectsV2 | Operation::ListMultipartUploads => {
            key.may_list(bucket, query.get("prefix").unwrap_or_default())
        }
        // Each key is looked at when the list of them is known.
        Operation::DeleteObjects => key.may_write_some(bucket),
        _ => key.may(operation.access(), bucket, target.key.as_deref()),
    };
    if may { Ok(()) } else { Err(ErrorCode::AccessDenied.into()) }
}

/// Whether all belongs to whom the caller believes it belongs to: clients say so to be safe from their own mistakes.
pub(crate) fn expect_owner(caller: &Caller, headers: &HeaderMap, name: &str) -> Result<(), S3Error> {
    match headers::text(headers, name) {
        Some(owner) if owner != caller.access_key => Err(ErrorCode::AccessDenied.into()),
        _ => Ok(()),
    }
}

/// Whether the caller may read what is copied.
pub(crate) fn authorize_source(caller: &Caller, bucket: &str, key: &str) -> Result<(), S3Error> {
    if caller.key.may(Access::Read, bucket, Some(key)) { Ok(()) } else { Err(ErrorCode::AccessDenied.into()) }
}
