//! Signature Version 4: requests checked for a server, and signed for a client.
//!
//! A signature is an HMAC of a text that is made from the request: its method, path, query, some headers and the digest
//! of its body. Both sides make the text, so a part that is written in two ways has one way here (AWS: "Authenticating
//! Requests (AWS Signature Version 4)").
//!
//! A server reads the [`Authorization`] of a request, looks up the secret of its access key, and verifies:
//!
//! ```
//! use http::{HeaderMap, Method, Uri};
//! use jiff::Timestamp;
//! use manyhash_s3::S3Error;
//! use manyhash_s3::sign::{Authorization, KeyCache, Payload};
//!
//! /// What the body is, if the request is signed by this key.
//! fn check(method: &Method, uri: &Uri, headers: &HeaderMap, keys: &KeyCache) -> Result<Option<Payload>, S3Error> {
//!     let Some(authorization) = Authorization::from_request(uri, headers)? else { return Ok(None) };
//!     authorization.check_region("us-east-1")?;
//!     authorization.check_session_token(None)?;
//!     let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"; // That of `authorization.access_key`.
//!     let payload_hash = authorization.payload_hash(uri, headers)?;
//!     let key = keys.get(&authorization, secret);
//!     authorization.verify(method, uri, headers, &payload_hash, &key, Timestamp::now())?;
//!     Payload::parse(&payload_hash).map(Some)
//! }
//! # assert!(check(&Method::GET, &Uri::from_static("/"), &HeaderMap::new(), &KeyCache::default()).unwrap().is_none());
//! ```
//!
//! A client signs headers with [`sign`], or a URL for somebody else with [`presign`].
//!
//! Not here: Signature Version 2, Version 4A (public keys), and forms in the body of a POST.

mod authorization;
mod canonical;
mod client;
mod credential;
mod credentials;
mod header;
mod key;
mod payload;
mod query;
mod verify;

#[cfg(test)]
mod tests;

pub use authorization::Authorization;
pub use canonical::{encode_path, encode_query, query_pairs};
pub use client::{SigningError, presign, sign};
pub use credentials::Credentials;
pub use key::{KeyCache, Signature, SigningKey};
pub use payload::Payload;

pub(crate) use key::sha256;
pub(crate) use payload::sha256_from_hex;

/// The name of the method, in headers, queries and texts to sign.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The service of every scope here.
pub(crate) const SERVICE: &str = "s3";

/// What every scope ends with.
const TERMINATOR: &str = "aws4_request";

/// What stands for the digest of a body that is not signed.
const UNSIGNED_PAYLOAD: &str = "UNSIGNED-PAYLOAD";

const X_AMZ_CONTENT_SHA256: &str = "x-amz-content-sha256";
const X_AMZ_DATE: &str = "x-amz-date";
const X_AMZ_SECURITY_TOKEN: &str = "x-amz-security-token";

/// Seconds that clocks may differ.
const MAX_SKEW_SECONDS: i64 = 15 * 60;

/// Seconds that a presigned URL may be valid.
const MAX_EXPIRES_SECONDS: u32 = 7 * 24 * 60 * 60;

/// The text whose HMAC is a request's signature.
fn string_to_sign(moment: &str, scope: &str, canonical_request: &[u8; 32]) -> String {
    let digest = const_hex::Buffer::<32>::new().const_format(canonical_request);
    format!("{ALGORITHM}\n{moment}\n{scope}\n{}", digest.as_str())
}

/// The scope of a signing key, as in `20130524/us-east-1/s3/aws4_request`.
pub(crate) fn scope(day: &str, region: &str) -> String {
    [day, region, SERVICE, TERMINATOR].join("/")
}
