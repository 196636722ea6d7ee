//! Who signed a request, and what of it, as the request says. Nothing of it is verified yet.

use super::credential::{Place, malformed_header, malformed_query};
use super::{UNSIGNED_PAYLOAD, X_AMZ_CONTENT_SHA256, header, query, scope};
use crate::error::{ErrorCode, S3Error};
use http::{HeaderMap, Uri};
use jiff::Timestamp;
use std::borrow::Cow;
use std::fmt;
use subtle::ConstantTimeEq;

/// What a request says of its signature: in the header `Authorization`, or in the query of a presigned URL.
#[derive(Clone)]
#[non_exhaustive]
pub struct Authorization {
    /// The access key, the public half of a pair.
    pub access_key: String,
    /// The day of the signing key, as in `20130524`. It is that of the timestamp.
    pub date: String,
    /// The region of the signing key.
    pub region: String,
    /// The service of the signing key: `s3`.
    pub service: String,
    /// The names of the headers that are signed, in lower case, in the request's order, none twice.
    pub signed_headers: Vec<String>,
    /// When the request was signed.
    pub timestamp: Timestamp,
    /// Seconds that a presigned URL is valid from then on, 1 to 604,800. `None` if a header is signed.
    pub presigned_expires: Option<u32>,
    /// The token of a session, if the keys belong to one.
    pub session_token: Option<String>,
    /// Of any form: if it is none, it is not the right one.
    pub(super) signature: String,
}

/// Shows neither the signature nor the token.
impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization")
            .field("access_key", &self.access_key)
            .field("scope", &self.scope())
            .field("signed_headers", &self.signed_headers)
            .field("timestamp", &self.timestamp)
            .field("presigned_expires", &self.presigned_expires)
            .finish_non_exhaustive()
    }
}

impl Authorization {
    /// Reads what a request says, or returns `None` if it is not signed.
    ///
    /// # Errors
    /// Returns S3's error for a signature that cannot be read, or of another version: `AuthorizationHeaderMalformed`,
    /// `AuthorizationQueryParametersError`, `InvalidArgument`, `InvalidRequest`, or `AccessDenied` without a date.
    pub fn from_request(uri: &Uri, headers: &HeaderMap) -> Result<Option<Authorization>, S3Error> {
        let parameters = query::Parameters::of(uri);
        match header::value(headers)? {
            Some(_) if parameters.are_a_signature() => Err(S3Error::invalid_argument(
                "Authorization",
                "",
                "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string \
                 parameter or the Authorization header should be specified",
            )),
            Some(value) => header::parse(value, headers).map(Some),
            None => parameters.parse(),
        }
    }

    /// Returns the scope of the signing key, as in `20130524/us-east-1/s3/aws4_request`.
    pub fn scope(&self) -> String {
        scope(&self.date, &self.region)
    }

    /// Checks that the request is meant for this region.
    ///
    /// # Errors
    /// `AuthorizationHeaderMalformed` or `AuthorizationQueryParametersError`, with the right region, which clients turn
    /// to.
    pub fn check_region(&self, region: &str) -> Result<(), S3Error> {
        if self.region == region {
            return Ok(());
        }
        let about = format!("the region {:?} is wrong; expecting {region:?}", self.region);
        Err(self.place().error(&about).with("Region", region))
    }

    /// Checks the token of the session that the access key belongs to, if it belongs to one.
    ///
    /// # Errors
    /// `InvalidToken` if the request has another token, none, or one where there is no session.
    pub fn check_session_token(&self, expected: Option<&str>) -> Result<(), S3Error> {
        let is_right = match (&self.session_token, expected) {
            (None, None) => true,
            (Some(token), Some(expected)) => token.as_bytes().ct_eq(expected.as_bytes()).into(),
            _ => false,
        };
        is_right.then_some(()).ok_or(ErrorCode::InvalidToken.into())
    }

    /// Returns what the request says of its body, for [`verify`](Self::verify) and for
    /// [`Payload::parse`](super::Payload::parse). A presigned URL need not say anything; its body is not signed.
    ///
    /// # Errors
    /// `InvalidRequest` if nothing is said where it must be.
    pub fn payload_hash<'r>(&self, uri: &'r Uri, headers: &'r HeaderMap) -> Result<Cow<'r, str>, S3Error> {
        let header = headers.get(X_AMZ_CONTENT_SHA256).filter(|value| !value.is_empty());
        match (header, self.place()) {
            (Some(value), _) => Ok(String::from_utf8_lossy(value.as_bytes())),
            (None, Place::Query) => {
                let parameters = query::Parameters::of(uri);
                Ok(Cow::Owned(parameters.get("X-Amz-Content-Sha256").unwrap_or(UNSIGNED_PAYLOAD).to_owned()))
            }
            (None, Place::Header) => Err(S3Error::new(ErrorCode::InvalidRequest)
                .with_message("Missing required header for this request: x-amz-content-sha256")),
        }
    }

    pub(super) fn place(&self) -> Place {
        if self.presigned_expires.is_some() { Place::Query } else { Place::Header }
    }
}

/// The names of signed headers, or an error if one is named twice: a short list could make a long text to sign.
pub(super) fn signed_headers(list: &str, place: Place) -> Result<Vec<String>, S3Error> {
    let names: Vec<String> = list.split(';').filter(|name| !name.is_empty()).map(str::to_ascii_lowercase).collect();
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == names.len() {
        return Ok(names);
    }
    Err(match place {
        Place::Header => malformed_header("SignedHeaders names a header twice."),
        Place::Query => malformed_query("X-Amz-SignedHeaders names a header twice.".to_owned()),
    })
}
