//! One request while it is answered.

use crate::auth::Caller;
use crate::headers;
use crate::ingest::{self, ChecksumClaim, Claims, Received, Verified};
use crate::request::{Operation, Query, Target};
use crate::state::State;
use bytes::Bytes;
use http::request::Parts;
use http_body::Body;
use hyper::body::Incoming;
use manyhash_s3::checksum::ChecksumAlgorithm;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::limits::MAX_UPLOAD_BYTES;
use manyhash_s3::xml::MAX_REQUEST_BYTES;
use manyhash_store::ReadError;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// One request, signed by somebody who may ask for it.
pub(crate) struct Call {
    pub(crate) state: Arc<State>,
    pub(crate) operation: Operation,
    pub(crate) parts: Parts,
    pub(crate) target: Target,
    pub(crate) query: Query,
    pub(crate) caller: Caller,
    /// What is left of it is not wanted.
    pub(crate) body: Incoming,
    /// Whether any of it was, so that a client that waited for that sends it now.
    pub(crate) is_asked_for: bool,
}

impl Call {
    /// The bucket. Operations that have none do not ask.
    pub(crate) fn bucket(&self) -> &str {
        self.target.bucket.as_deref().unwrap_or_default()
    }

    /// The key. Operations that have none do not ask.
    pub(crate) fn key(&self) -> &str {
        self.target.key.as_deref().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        headers::text(&self.parts.headers, name)
    }

    /// Fails if the bucket does not exist.
    pub(crate) fn expect_bucket(&self) -> Result<manyhash_store::Bucket, S3Error> {
        let found = self.state.store.bucket(self.bucket()).map_err(read)?;
        found.ok_or_else(|| S3Error::bucket(ErrorCode::NoSuchBucket, self.bucket()))
    }

    /// Receives an object or a part, after all that is known beforehand was looked at. `expected` is the algorithm of
    /// the upload that a part belongs to.
    pub(crate) async fn receive(&mut self, expected: Option<ChecksumAlgorithm>) -> Result<Verified, S3Error> {
        let claims = self.claims(expected)?;
        if claims.length.is_some_and(|length| length > MAX_UPLOAD_BYTES) {
            return Err(S3Error::too_large(claims.length.unwrap_or_default(), MAX_UPLOAD_BYTES));
        }
        if self.state.full.load(Relaxed) {
            return Err(ErrorCode::SlowDown.into());
        }
        // Bodies that come at the same time share lanes, so the engine hears of each as soon as it is known.
        let _announcement = self.state.engine.announce();
        self.is_asked_for = true;
        let source = Received::new(&self.state, &mut self.body);
        ingest::ingest(&self.state, source, claims).await
    }

    /// Receives the XML of a request.
    pub(crate) async fn receive_document(&mut self, required: bool) -> Result<Bytes, S3Error> {
        let claims = self.claims(None)?;
        let limit = if self.operation == Operation::CreateBucket { SHORT_DOCUMENT } else { MAX_REQUEST_BYTES };
        let length = claims.length.and_then(|length| usize::try_from(length).ok()).filter(|length| *length <= limit);
        let length = length.ok_or_else(|| S3Error::message_too_long(limit))?;
        // Documents wait in memory for their end, so they come out of what there is for bodies.
        let _paid = self.state.budget.take(length).ok_or(S3Error::new(ErrorCode::SlowDown))?;
        if required && claims.content_md5.is_none() && matches!(claims.checksum, ChecksumClaim::Computed(_)) {
            return Err(S3Error::digest_required());
        }
        self.is_asked_for = true;
        let source = Received::new(&self.state, &mut self.body);
        ingest::gather(&self.state, source, claims).await
    }

    /// What the head says of the body.
    fn claims(&self, expected: Option<ChecksumAlgorithm>) -> Result<Claims, S3Error> {
        let headers = &self.parts.headers;
        let payload = self.caller.payload;
        // Operations whose body may be left out are sent without a length too.
        let length = match headers::body_length(headers, &payload) {
            Err(_) if self.operation != Operation::PutObject && self.body.is_end_stream() => 0,
            length => length?,
        };
        Ok(Claims {
            payload,
            length: Some(length),
            chain: self.caller.chain.clone(),
            content_md5: headers::content_md5(headers)?,
            checksum: match self.operation {
                // There it is that of the object.
                Operation::CompleteMultipartUpload => ChecksumClaim::Computed(ChecksumAlgorithm::Crc64Nvme),
                _ => headers::checksum_claim(headers, &payload, expected)?,
            },
        })
    }
}

/// The longest document that says a few words.
const SHORT_DOCUMENT: usize = 64 << 10;

/// A failure to read the index.
pub(crate) fn read(error: ReadError) -> S3Error {
    match error {
        // It is being deleted, or replaced: whoever asks again finds out.
        ReadError::Gone | ReadError::Reopening => ErrorCode::SlowDown.into(),
        error => ingest::internal(error),
    }
}
