//! Lines as a request: its URI, then its headers. What it says of its signature is read and verified; then it is signed,
//! by a header and by its query, and verified again.
#![no_main]

use http::header::{HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Uri, request};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use manyhash_s3::S3Error;
use manyhash_s3::sign::{Authorization, Credentials, Payload, SigningKey, presign, sign};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const REGION: &str = "us-east-1";

fuzz_target!(|input: &[u8]| {
    let mut lines = input.split(|byte| *byte == b'\n');
    let Some(Ok(uri)) = lines.next().map(Uri::try_from) else { return };
    let mut request = Request::new(()).into_parts().0;
    request.uri = uri;
    for line in lines {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else { continue };
        let name = HeaderName::from_bytes(name);
        let value = HeaderValue::from_bytes(value.trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            request.headers.append(name, value);
        }
    }
    let now = "2013-05-24T00:00:00Z".parse().expect("a moment");

    let verdict = verify(&request, now);
    if let Ok(true) = verdict {
        // Nobody guesses a signature, so it is an example; and it is that of one method alone.
        request.method = Method::PATCH;
        assert!(verify(&request, now).is_err());
    }

    let is_presigned = request.uri.query().is_some_and(|query| query.contains('X') || query.contains("Signature"));
    if is_presigned || request.uri.query().is_some_and(|query| query.contains('%')) {
        return;
    }
    request.method = Method::PUT;
    request.headers.entry(HOST).or_insert(HeaderValue::from_static("localhost"));
    for name in ["authorization", "x-amz-security-token", "x-amz-content-sha256"] {
        request.headers.remove(name);
    }
    let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", SECRET);
    if let Ok(url) = presign(&Method::PUT, &request.uri, &request.headers, &credentials, REGION, 60, now) {
        let mut presigned = request.clone();
        presigned.uri = url;
        assert_eq!(verify(&presigned, now), Ok(true));
    }
    sign(&mut request, &credentials, REGION, &Payload::Unsigned.as_str(), now)
        .expect("a host, and values that are text");
    assert_eq!(verify(&request, now), Ok(true));
    request.method = Method::GET;
    assert!(verify(&request, now).is_err());
});

/// Whether the request is signed, and rightly.
fn verify(request: &request::Parts, now: Timestamp) -> Result<bool, S3Error> {
    let (uri, headers): (&Uri, &HeaderMap) = (&request.uri, &request.headers);
    let Some(authorization) = Authorization::from_request(uri, headers)? else { return Ok(false) };
    let _ = authorization.check_region(REGION);
    let _ = authorization.check_session_token(None);
    let hash = authorization.payload_hash(uri, headers)?;
    let _ = Payload::parse(&hash);
    let key = SigningKey::derive(SECRET, &authorization.date, &authorization.region, &authorization.service);
    let signature = authorization.verify(&request.method, uri, headers, &hash, &key, now)?;
    assert_eq!(signature.to_string().len(), 64);
    Ok(true)
}
