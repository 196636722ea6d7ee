//! AWS's documented examples; S3's words for what cannot be read; and what is signed is what is verified.

use super::*;
use crate::error::{ErrorCode, S3Error};
use http::{HeaderMap, HeaderValue, Method, Request, Uri, request};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

mod clients;
mod examples;
mod round_trip;
mod words;

const ACCESS_KEY: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const REGION: &str = "us-east-1";

fn now() -> Timestamp {
    "2013-05-24T00:00:00Z".parse().unwrap()
}

fn credentials() -> Credentials {
    Credentials::new(ACCESS_KEY, SECRET)
}

fn request(method: Method, uri: &str, headers: &[(&str, &str)]) -> request::Parts {
    let request = Request::builder().method(method).uri(uri);
    headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value))
        .body(())
        .unwrap()
        .into_parts()
        .0
}

/// What a server does with a request.
fn verify_at(request: &request::Parts, secret: &str, now: Timestamp) -> Result<Signature, S3Error> {
    let request::Parts { method, uri, headers, .. } = request;
    let authorization = Authorization::from_request(uri, headers)?.ok_or(ErrorCode::AccessDenied)?;
    authorization.check_region(REGION)?;
    authorization.check_session_token(None)?;
    let hash = authorization.payload_hash(uri, headers)?;
    Payload::parse(&hash)?;
    let key = KeyCache::default().get(&authorization, secret);
    authorization.verify(method, uri, headers, &hash, &key, now)
}

fn verify(request: &request::Parts) -> Result<Signature, S3Error> {
    verify_at(request, SECRET, now())
}
