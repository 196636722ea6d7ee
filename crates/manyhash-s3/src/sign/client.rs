//! Signing, for a client.

use super::canonical::{self, CanonicalRequest, encode_query};
use super::{
    ALGORITHM, Credentials, MAX_EXPIRES_SECONDS, SERVICE, Signature, SigningKey, UNSIGNED_PAYLOAD,
    X_AMZ_CONTENT_SHA256, X_AMZ_DATE, X_AMZ_SECURITY_TOKEN, query_pairs, scope, string_to_sign,
};
use crate::time;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Uri, header, request};
use jiff::Timestamp;

/// Headers that proxies and clients change on their way, or that are not known yet when a request is signed.
const UNSIGNED_HEADERS: [header::HeaderName; 9] = [
    header::ACCEPT_ENCODING,
    header::AUTHORIZATION,
    header::CONNECTION,
    header::EXPECT,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::USER_AGENT,
    header::HeaderName::from_static("x-amzn-trace-id"),
];

/// Why a request cannot be signed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// Neither the URI nor the headers name the host.
    #[error("the request names no host: give its URI an authority, or set the header `host`")]
    MissingHost,
    /// A value cannot be sent.
    #[error("{0} has characters that cannot be sent in a header")]
    InvalidValue(&'static str),
    /// A presigned URL can be valid for 1 to 604,800 seconds.
    #[error("a presigned URL cannot be valid for {0} seconds: choose 1 to 604800 (7 days)")]
    Expires(u32),
    /// The URL would be too long.
    #[error("the presigned URL is too long")]
    TooLong,
}

/// Signs a request: sets `host` (if it is missing), `x-amz-date`, `x-amz-content-sha256`, `x-amz-security-token` and
/// `authorization`.
///
/// All headers are signed but those that are changed on the way, so they must not be changed afterwards. The path should
/// be encoded by [`encode_path`](super::encode_path), and the query by [`encode_query`]. Returns the signature, from
/// which a body in chunks continues.
///
/// ```
/// use http::Request;
/// use jiff::Timestamp;
/// use manyhash_s3::sign::{Credentials, Payload, sign};
///
/// let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
/// let mut request = Request::get("https://examplebucket.s3.amazonaws.com/test.txt").body(())?.into_parts().0;
/// sign(&mut request, &credentials, "us-east-1", &Payload::Unsigned.as_str(), Timestamp::now())?;
/// assert!(request.headers["authorization"].to_str()?.starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the host is not known, or if a value cannot be sent in a header.
pub fn sign(
    request: &mut request::Parts,
    credentials: &Credentials,
    region: &str,
    payload_hash: &str,
    now: Timestamp,
) -> Result<Signature, SigningError> {
    let signer = Signer::new(credentials, region, now);
    let headers = &mut request.headers;
    if !headers.contains_key(header::HOST) {
        headers.insert(header::HOST, host(&request.uri)?);
    }
    headers.insert(X_AMZ_DATE, value("the date", &signer.moment)?);
    headers.insert(X_AMZ_CONTENT_SHA256, value("the payload hash", payload_hash)?);
    if let Some(token) = credentials.session_token() {
        headers.insert(X_AMZ_SECURITY_TOKEN, secret("the session token", token)?);
    }

    let signed_headers = signed_headers(headers);
    let query = canonical::query(request.uri.query().unwrap_or_default(), false);
    let (method, uri) = (&request.method, &request.uri);
    let signature = signer.sign(CanonicalRequest::new(method, uri, &query, headers, &signed_headers, payload_hash));
    let (credential, names) = (signer.credential(), signed_headers.join(";"));
    let authorization = format!("{ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}");
    headers.insert(header::AUTHORIZATION, secret("the access key or region", &authorization)?);
    Ok(signature)
}

/// Signs a URL that anybody can use for one method until it expires, after `expires` seconds.
///
/// `headers` are those that the user of the URL will have to send as they are. The body is not signed, unless
/// `x-amz-content-sha256` is among them.
///
/// # Errors
/// Returns an error if the host is not known, if `expires` is not from 1 to 604,800, or if the URL becomes too long.
pub fn presign(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    credentials: &Credentials,
    region: &str,
    expires: u32,
    now: Timestamp,
) -> Result<Uri, SigningError> {
    if !(1..=MAX_EXPIRES_SECONDS).contains(&expires) {
        return Err(SigningError::Expires(expires));
    }
    let mut headers = headers.clone();
    if !headers.contains_key(header::HOST) {
        headers.insert(header::HOST, host(uri)?);
    }
    let (signer, signed_headers) = (Signer::new(credentials, region, now), signed_headers(&headers));
    let (expires, names) = (expires.to_string(), signed_headers.join(";"));
    let added = [
        ("X-Amz-Algorithm", ALGORITHM),
        ("X-Amz-Credential", &signer.credential()),
        ("X-Amz-Date", &signer.moment),
        ("X-Amz-Expires", &expires),
        ("X-Amz-SignedHeaders", &names),
    ];
    let token = credentials.session_token().map(|token| ("X-Amz-Security-Token", token));
    let added = added.into_iter().chain(token).map(|(name, value)| (name.to_owned(), encode_query(value)));
    let given = query_pairs(uri.query().unwrap_or_default());
    let given = given.map(|(name, value)| (encode_query(name), encode_query(value)));
    let query = canonical::join(&mut given.chain(added).collect::<Vec<_>>());

    let payload_hash = headers.get(X_AMZ_CONTENT_SHA256).and_then(|value| value.to_str().ok());
    let payload_hash = payload_hash.unwrap_or(UNSIGNED_PAYLOAD);
    let signature = signer.sign(CanonicalRequest::new(method, uri, &query, &headers, &signed_headers, payload_hash));
    let path = format!("{}?{query}&X-Amz-Signature={signature}", uri.path());
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::from_maybe_shared(path).map_err(|_| SigningError::TooLong)?);
    Uri::from_parts(parts).map_err(|_| SigningError::MissingHost)
}

/// What signs, and when.
struct Signer<'c> {
    credentials: &'c Credentials,
    moment: String,
    day: String,
    region: &'c str,
}

impl<'c> Signer<'c> {
    fn new(credentials: &'c Credentials, region: &'c str, now: Timestamp) -> Self {
        Signer { credentials, moment: time::amz_date(now), day: time::amz_day(now), region }
    }

    fn credential(&self) -> String {
        [self.credentials.access_key(), "/", &scope(&self.day, self.region)].concat()
    }

    fn sign(&self, mut request: CanonicalRequest<'_>) -> Signature {
        request.encode_path();
        let text = string_to_sign(&self.moment, &scope(&self.day, self.region), &request.sha256());
        SigningKey::derive(self.credentials.secret_key(), &self.day, self.region, SERVICE).sign(text)
    }
}

fn signed_headers(headers: &HeaderMap) -> Vec<String> {
    let names = headers.keys().filter(|name| !UNSIGNED_HEADERS.contains(name));
    let mut names: Vec<String> = names.map(|name| name.as_str().to_owned()).collect();
    names.sort_unstable();
    names
}

/// What clients send as the host: without the port, if it is the scheme's own.
fn host(uri: &Uri) -> Result<HeaderValue, SigningError> {
    let authority = uri.authority().ok_or(SigningError::MissingHost)?;
    let is_default =
        matches!((uri.scheme_str(), authority.port_u16()), (Some("http"), Some(80)) | (Some("https"), Some(443)));
    let host = match authority.port().filter(|_| !is_default) {
        None => authority.host().to_owned(),
        Some(port) => format!("{}:{port}", authority.host()),
    };
    value("the host", &host)
}

fn value(name: &'static str, value: &str) -> Result<HeaderValue, SigningError> {
    value.parse().map_err(|_| SigningError::InvalidValue(name))
}

fn secret(name: &'static str, text: &str) -> Result<HeaderValue, SigningError> {
    let mut value = value(name, text)?;
    value.set_sensitive(true);
    Ok(value)
}
