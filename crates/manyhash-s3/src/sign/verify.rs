//! Whether a request was signed with a key.

use super::authorization::Authorization;
use super::canonical::{self, CanonicalRequest};
use super::{MAX_SKEW_SECONDS, Signature, SigningKey, X_AMZ_SECURITY_TOKEN, string_to_sign};
use crate::error::{ErrorCode, S3Error};
use crate::time;
use http::{HeaderMap, Method, Uri};
use jiff::{SignedDuration, Timestamp};
use subtle::ConstantTimeEq;

const MAX_SKEW: SignedDuration = SignedDuration::from_secs(MAX_SKEW_SECONDS);

impl Authorization {
    /// Verifies the signature, and returns it: a body in chunks continues from it.
    ///
    /// `key` is that of [`KeyCache::get`](super::KeyCache::get), `payload_hash` is what
    /// [`payload_hash`](Self::payload_hash) returned. The path is taken as it was sent, and if that is not what was
    /// signed, as S3 encodes it.
    ///
    /// # Errors
    /// - `RequestTimeTooSkewed` if `now` and the timestamp differ by more than 15 minutes; for a presigned URL
    ///   `AccessDenied`, outside its time.
    /// - `AccessDenied` if the host or any header that begins with `x-amz-` is not signed.
    /// - `SignatureDoesNotMatch`.
    pub fn verify(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        payload_hash: &str,
        key: &SigningKey,
        now: Timestamp,
    ) -> Result<Signature, S3Error> {
        match self.presigned_expires {
            None => self.check_clock(now)?,
            Some(seconds) => self.check_validity(seconds, now)?,
        }
        self.check_signed_headers(headers)?;

        let query = canonical::query(uri.query().unwrap_or_default(), self.presigned_expires.is_some());
        let text = |request: &CanonicalRequest<'_>| {
            string_to_sign(&time::amz_date(self.timestamp), &self.scope(), &request.sha256())
        };
        let is_right = |signature: &Signature| -> bool {
            signature.hex().as_str().as_bytes().ct_eq(self.signature.as_bytes()).into()
        };
        let mut request = CanonicalRequest::new(method, uri, &query, headers, &self.signed_headers, payload_hash);
        let signature = key.sign(text(&request));
        if is_right(&signature) {
            return Ok(signature);
        }
        if request.encode_path() {
            let signature = key.sign(text(&request));
            if is_right(&signature) {
                return Ok(signature);
            }
        }
        Err(self.mismatch(text(&request), &request))
    }

    fn check_clock(&self, now: Timestamp) -> Result<(), S3Error> {
        if now.duration_since(self.timestamp).abs() <= MAX_SKEW {
            return Ok(());
        }
        Err(S3Error::new(ErrorCode::RequestTimeTooSkewed)
            .with("RequestTime", time::amz_date(self.timestamp))
            .with("ServerTime", to_seconds(now))
            .with("MaxAllowedSkewMilliseconds", MAX_SKEW.as_millis()))
    }

    fn check_validity(&self, seconds: u32, now: Timestamp) -> Result<(), S3Error> {
        let age = now.duration_since(self.timestamp);
        let message = if age < -MAX_SKEW {
            "Request is not yet valid"
        } else if age > SignedDuration::from_secs(seconds.into()) {
            "Request has expired."
        } else {
            return Ok(());
        };
        let mut error = S3Error::new(ErrorCode::AccessDenied).with_message(message);
        if let Ok(end) = self.timestamp.checked_add(SignedDuration::from_secs(seconds.into())) {
            error = error.with("Expires", to_seconds(end));
        }
        Err(error.with("X-Amz-Expires", seconds).with("ServerTime", to_seconds(now)))
    }

    fn check_signed_headers(&self, headers: &HeaderMap) -> Result<(), S3Error> {
        let is_signed = |name: &str| self.signed_headers.iter().any(|signed| signed == name);
        let names = headers.keys().map(|name| name.as_str()).filter(|name| name.starts_with("x-amz-"));
        let mut unsigned: Vec<&str> = names.chain(["host"]).filter(|name| !is_signed(name)).collect();
        if unsigned.is_empty() {
            return Ok(());
        }
        unsigned.sort_unstable();
        Err(S3Error::new(ErrorCode::AccessDenied)
            .with_message("There were headers present in the request which were not signed")
            .with("HeadersNotSigned", unsigned.join(", ")))
    }

    /// Says what was signed here, so that the other side can compare; but repeats no secret that the request holds.
    fn mismatch(&self, text: String, request: &CanonicalRequest<'_>) -> S3Error {
        let error = S3Error::new(ErrorCode::SignatureDoesNotMatch)
            .with("AWSAccessKeyId", &self.access_key)
            .with("StringToSign", text)
            .with("SignatureProvided", &self.signature);
        // Keys of objects come in headers too: `x-amz-server-side-encryption-customer-key`.
        let is_secret = |name: &String| name == X_AMZ_SECURITY_TOKEN || name.contains("customer-key");
        if self.session_token.is_some() || self.signed_headers.iter().any(is_secret) {
            error
        } else {
            error.with("CanonicalRequest", request.text())
        }
    }
}

/// As S3 writes a moment in errors.
fn to_seconds(moment: Timestamp) -> String {
    Timestamp::from_second(moment.as_second()).unwrap_or(moment).to_string()
}
