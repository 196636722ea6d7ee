//! What S3 says of signatures that it cannot read or does not take. Clients and other servers' tests compare the words.

use super::*;

fn signed(uri: &str, headers: &[(&str, &str)]) -> request::Parts {
    let mut request = request(Method::PUT, uri, headers);
    sign(&mut request, &credentials(), REGION, &Payload::Unsigned.as_str(), now()).unwrap();
    request
}

fn assert_refused(request: &request::Parts, code: ErrorCode, message: &str) -> S3Error {
    let error = verify(request).unwrap_err();
    assert_eq!((error.code, &*error.message), (code, message));
    error
}

/// The error of an object's upload whose header is replaced.
fn with_header(name: &'static str, value: &str) -> request::Parts {
    let mut request = signed("http://localhost/bucket/key", &[]);
    request.headers.insert(name, value.parse().unwrap());
    request
}

fn extra<'e>(error: &'e S3Error, name: &str) -> Option<&'e str> {
    error.extra.iter().find(|(key, _)| *key == name).map(|(_, value)| &**value)
}

const SIGNATURE: &str = "Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024";

#[test]
fn header_without_form() {
    use ErrorCode::{InvalidArgument, InvalidRequest};
    let form = "Authorization header is invalid -- one and only one ' ' (space) required.";
    let error = assert_refused(&with_header("authorization", "nonsense"), InvalidArgument, form);
    let argument = |error: &S3Error| {
        ["ArgumentName", "ArgumentValue"].map(|name| extra(error, name).unwrap_or_default().to_owned())
    };
    assert_eq!(argument(&error), ["Authorization", "nonsense"]);

    for scheme in ["AWS3", "Basic", "AWS4-ECDSA-P256-SHA256", ""] {
        let header = with_header("authorization", &format!("{scheme} Credential=a"));
        let error = assert_refused(&header, InvalidArgument, "Unsupported Authorization Type");
        assert_eq!(argument(&error), ["Authorization", scheme]);
    }
    let old = "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.";
    assert_refused(&with_header("authorization", "AWS AKIAIOSFODNN7EXAMPLE:frJIUN8DYpKDtOLCwo="), InvalidRequest, old);

    let mut twice = signed("http://localhost/", &[]);
    twice.headers.append("authorization", HeaderValue::from_static("AWS4-HMAC-SHA256 b"));
    assert_refused(&twice, InvalidArgument, form);
    let mut binary = signed("http://localhost/", &[]);
    binary.headers.insert("authorization", HeaderValue::from_bytes(b"AWS4-HMAC-SHA256 \xff").unwrap());
    assert_refused(&binary, InvalidArgument, form);
}

#[test]
fn header_with_wrong_components() {
    let credential = "Credential=AK/20130524/us-east-1/s3/aws4_request";
    let names = "SignedHeaders=host;x-amz-content-sha256;x-amz-date";
    for (components, about) in [
        (
            format!("{credential},{SIGNATURE}"),
            "the authorization header requires three components: Credential, SignedHeaders, and Signature.",
        ),
        (
            format!("{credential},{names},{SIGNATURE},More=1"),
            "the authorization header requires three components: Credential, SignedHeaders, and Signature.",
        ),
        (
            format!("{credential}, SignedHeaders-host, {SIGNATURE}"),
            "the authorization component \"SignedHeaders-host\" is malformed.",
        ),
        (
            format!("{credential}, SignedHeaders=host=, {SIGNATURE}"),
            "the authorization component \"SignedHeaders=host=\" is malformed.",
        ),
        (format!("Who=AK,{names},{SIGNATURE}"), "missing Credential."),
        (format!("{credential},Headers=host,{SIGNATURE}"), "missing SignedHeaders."),
        (format!("{credential},{names},Sign=1"), "missing Signature."),
        (format!("{credential},{credential},{SIGNATURE}"), "missing SignedHeaders."),
        (format!("{credential},SignedHeaders=host;x-amz-date;host,{SIGNATURE}"), "SignedHeaders names a header twice."),
    ] {
        let header = with_header("authorization", &format!("AWS4-HMAC-SHA256 {components}"));
        let message = format!("The authorization header is malformed; {about}");
        assert_refused(&header, ErrorCode::AuthorizationHeaderMalformed, &message);
    }
    // Order and spaces are of no account.
    let header = format!("AWS4-HMAC-SHA256   {SIGNATURE} ,{names}, {credential}");
    let error = verify(&with_header("authorization", &header)).unwrap_err();
    assert_eq!(error.code, ErrorCode::SignatureDoesNotMatch);
}

/// Credentials that cannot be right, and what is said of them in a header and in a query.
const WRONG_CREDENTIALS: [(&str, &str); 9] = [
    ("AK", "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\"."),
    (
        "AK/20130524/us-east-1/s3/aws4_request/more",
        "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".",
    ),
    ("AK/1/us-east-1/sns/aws4", "incorrect service \"sns\". This endpoint belongs to \"s3\"."),
    ("AK/1/us-east-1/s3/aws4", "incorrect terminal \"aws4\". This endpoint uses \"aws4_request\"."),
    (
        "AK/1/us-east-1/s3/aws4_request",
        "incorrect date format \"1\". This date in the credential must be in the format \"yyyyMMdd\".",
    ),
    (
        "AK/20130524T000000Z/us-east-1/s3/aws4_request",
        "incorrect date format \"20130524T000000Z\". This date in the credential must be in the format \"yyyyMMdd\".",
    ),
    (
        "AK/20130231/us-east-1/s3/aws4_request",
        "incorrect date format \"20130231\". This date in the credential must be in the format \"yyyyMMdd\".",
    ),
    ("AK/20130524/eu-west-1/s3/aws4_request", "the region \"eu-west-1\" is wrong; expecting \"us-east-1\""),
    ("AK/20130524//s3/aws4_request", "the region \"\" is wrong; expecting \"us-east-1\""),
];

#[test]
fn wrong_credentials() {
    let url = presigned("http://localhost/bucket/key");
    for (credential, about) in WRONG_CREDENTIALS {
        let value = format!("AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, {SIGNATURE}");
        let message = format!("The authorization header is malformed; {about}");
        let header = with_header("authorization", &value);
        let error = assert_refused(&header, ErrorCode::AuthorizationHeaderMalformed, &message);
        assert_eq!(extra(&error, "Region"), about.contains("region").then_some(REGION));

        let url = replace(&url, "X-Amz-Credential", Some(credential));
        let message = format!("Error parsing the X-Amz-Credential parameter; {about}");
        assert_refused(&get(&url), ErrorCode::AuthorizationQueryParametersError, &message);
    }
}

#[test]
fn dates() {
    let message = "AWS authentication requires a valid Date or x-amz-date header.";
    for date in ["", "03032006", "20130524T000000", "Fri, 24 May 2013 00:00:00 GMT"] {
        assert_refused(&with_header("x-amz-date", date), ErrorCode::AccessDenied, message);
    }
    let mut without = signed("http://localhost/", &[]);
    without.headers.remove("x-amz-date");
    assert_refused(&without, ErrorCode::AccessDenied, message);
    // `Date` will do, but the signature does not cover it.
    without.headers.insert("date", HeaderValue::from_static("Fri, 24 May 2013 00:00:00 GMT"));
    assert_eq!(verify(&without).unwrap_err().code, ErrorCode::SignatureDoesNotMatch);

    let message = "The authorization header is malformed; Invalid credential date. Date is not the same as X-Amz-Date.";
    let other_day = with_header("x-amz-date", "20130525T000000Z");
    assert_refused(&other_day, ErrorCode::AuthorizationHeaderMalformed, message);
}

#[test]
fn clocks_may_differ_by_15_minutes() {
    let request = signed("http://localhost/bucket/key", &[]);
    for seconds in [-900, -1, 0, 900] {
        verify_at(&request, SECRET, now() + SignedDuration::from_secs(seconds)).unwrap();
    }
    for seconds in [-5 * 86_400, -901, 901, 5 * 86_400] {
        let error = verify_at(&request, SECRET, now() + SignedDuration::from_secs(seconds)).unwrap_err();
        assert_eq!(error.code, ErrorCode::RequestTimeTooSkewed);
        assert_eq!(extra(&error, "RequestTime"), Some("20130524T000000Z"));
        assert_eq!(extra(&error, "MaxAllowedSkewMilliseconds"), Some("900000"));
        let server = (now() + SignedDuration::from_secs(seconds)).to_string();
        assert_eq!(extra(&error, "ServerTime"), Some(&*server));
    }
    for now in [Timestamp::MIN, Timestamp::MAX] {
        assert_eq!(verify_at(&request, SECRET, now).unwrap_err().code, ErrorCode::RequestTimeTooSkewed);
    }
}

#[test]
fn headers_that_must_be_signed() {
    let message = "There were headers present in the request which were not signed";
    let mut request = signed("http://localhost/bucket/key", &[]);
    request.headers.insert("content-type", HeaderValue::from_static("text/plain"));
    request.headers.insert("x-custom", HeaderValue::from_static("1"));
    verify(&request).unwrap();
    request.headers.insert("x-amz-tagging", HeaderValue::from_static("a=b"));
    request.headers.insert("x-amz-copy-source", HeaderValue::from_static("b/k"));
    let error = assert_refused(&request, ErrorCode::AccessDenied, message);
    assert_eq!(extra(&error, "HeadersNotSigned"), Some("x-amz-copy-source, x-amz-tagging"));

    let header = format!(
        "AWS4-HMAC-SHA256 Credential=AK/20130524/us-east-1/s3/aws4_request, \
         SignedHeaders=;x-amz-content-sha256;x-amz-date, {SIGNATURE}"
    );
    let error = assert_refused(&with_header("authorization", &header), ErrorCode::AccessDenied, message);
    assert_eq!(extra(&error, "HeadersNotSigned"), Some("host"));

    let url = presigned("http://localhost/bucket/key");
    let error = assert_refused(
        &super::request(Method::GET, &url, &[("x-amz-tagging", "a=b")]),
        ErrorCode::AccessDenied,
        message,
    );
    assert_eq!(extra(&error, "HeadersNotSigned"), Some("x-amz-tagging"));
}

#[test]
fn a_mismatch_says_what_was_signed() {
    let request = signed("http://localhost/bucket/key", &[("x-amz-meta-a", "1")]);
    let error = verify_at(&request, "another", now()).unwrap_err();
    assert_eq!((error.code, error.status().as_u16()), (ErrorCode::SignatureDoesNotMatch, 403));
    assert_eq!(extra(&error, "AWSAccessKeyId"), Some(ACCESS_KEY));
    let text = "AWS4-HMAC-SHA256\n20130524T000000Z\n20130524/us-east-1/s3/aws4_request\n";
    assert!(extra(&error, "StringToSign").unwrap().starts_with(text));
    let canonical = "PUT\n/bucket/key\n\nhost:localhost\nx-amz-content-sha256:UNSIGNED-PAYLOAD\n\
                     x-amz-date:20130524T000000Z\nx-amz-meta-a:1\n\n\
                     host;x-amz-content-sha256;x-amz-date;x-amz-meta-a\nUNSIGNED-PAYLOAD";
    assert_eq!(extra(&error, "CanonicalRequest"), Some(canonical));
    assert!(!format!("{error:?}").contains("another"));

    // What the request keeps secret is not repeated.
    let headers = [("x-amz-server-side-encryption-customer-key", "a2V5")];
    let error = verify_at(&signed("http://localhost/", &headers), "another", now()).unwrap_err();
    assert!(error.code == ErrorCode::SignatureDoesNotMatch && !format!("{error:?}").contains("a2V5"));
}

#[test]
fn payload_hashes() {
    let missing = "Missing required header for this request: x-amz-content-sha256";
    assert_refused(&with_header("x-amz-content-sha256", ""), ErrorCode::InvalidRequest, missing);
    let error = verify(&with_header("x-amz-content-sha256", "nonsense")).unwrap_err();
    assert_eq!((error.code, extra(&error, "ArgumentValue")), (ErrorCode::InvalidArgument, Some("nonsense")));
    assert_eq!(
        verify(&with_header("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")).unwrap_err().code,
        ErrorCode::SignatureDoesNotMatch
    );
}

fn presigned(uri: &str) -> String {
    let uri = uri.parse().unwrap();
    presign(&Method::GET, &uri, &HeaderMap::new(), &credentials(), REGION, 900, now()).unwrap().to_string()
}

fn get(url: &str) -> request::Parts {
    request(Method::GET, url, &[])
}

/// The URL with another value of a parameter, or without it.
fn replace(url: &str, name: &str, value: Option<&str>) -> String {
    let (path, query) = url.split_once('?').unwrap();
    let pairs = query.split('&').filter_map(|pair| match pair.split_once('=') {
        Some((key, _)) if key == name => value.map(|value| format!("{key}={}", encode_query(value))),
        _ => Some(pair.to_owned()),
    });
    format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
}

#[test]
fn presigned_urls() {
    let url = presigned("http://localhost/bucket/key?x-id=GetObject");
    verify(&get(&url)).unwrap();
    let refused = |name: &str, value: Option<&str>, message: &str| {
        assert_refused(&get(&replace(&url, name, value)), ErrorCode::AuthorizationQueryParametersError, message);
    };

    let required = "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, \
                    X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.";
    for name in ["Algorithm", "Credential", "Signature", "Date", "SignedHeaders", "Expires"] {
        refused(&format!("X-Amz-{name}"), None, required);
        refused(&format!("X-Amz-{name}"), Some(""), required);
    }
    let both = "X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256\"";
    refused("X-Amz-Algorithm", Some("AWS4-SHA256"), both);
    refused("X-Amz-Algorithm", Some("AWS4-ECDSA-P256-SHA256"), "X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256\"");
    let form = "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"";
    refused("X-Amz-Date", Some("Fri, 24 May 2013 00:00:00 GMT"), form);
    let message = "Invalid credential date \"20130524\". This date is not the same as X-Amz-Date: \"20130525\".";
    refused("X-Amz-Date", Some("20130525T000000Z"), message);
    refused("X-Amz-SignedHeaders", Some("host;host"), "X-Amz-SignedHeaders names a header twice.");
    for text in ["soon", "1.5", "", "1e3"].into_iter().filter(|text| !text.is_empty()) {
        refused("X-Amz-Expires", Some(text), "X-Amz-Expires should be a number");
    }
    refused("X-Amz-Expires", Some("-3"), "X-Amz-Expires must be non-negative");
    refused("X-Amz-Expires", Some("0"), "X-Amz-Expires must be at least 1 second");
    let week = "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less \
                than 604800 seconds";
    refused("X-Amz-Expires", Some("604801"), week);
    refused("X-Amz-Expires", Some("9223372036854775807"), week);

    // Of two signatures the second is part of what is signed.
    let error = verify(&get(&format!("{url}&X-Amz-Signature=0"))).unwrap_err();
    assert_eq!(error.code, ErrorCode::SignatureDoesNotMatch);
    let error = verify_at(&get(&url), "another", now()).unwrap_err();
    assert_eq!(error.code, ErrorCode::SignatureDoesNotMatch);
    assert_refused(
        &get(&format!("{url}&X-Amz-Security-Token=my_token")),
        ErrorCode::InvalidToken,
        "The provided token is malformed or otherwise invalid.",
    );
    assert_refused(
        &get("http://localhost/bucket/key?AWSAccessKeyId=AK&Expires=1175139620&Signature=vjbyPxybdZaNmGa"),
        ErrorCode::InvalidRequest,
        "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.",
    );
    let mut both = signed(&url, &[]);
    both.method = Method::GET;
    assert_refused(
        &both,
        ErrorCode::InvalidArgument,
        "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter \
         or the Authorization header should be specified",
    );
}

#[test]
fn presigned_urls_have_their_time() {
    let request = get(&presigned("http://localhost/bucket/key"));
    let verify = |seconds| verify_at(&request, SECRET, now() + SignedDuration::from_secs(seconds));
    for seconds in [-900, 0, 900] {
        verify(seconds).unwrap();
    }
    for (seconds, message) in [(-901, "Request is not yet valid"), (901, "Request has expired.")] {
        let error = verify(seconds).unwrap_err();
        assert_eq!((error.code, &*error.message), (ErrorCode::AccessDenied, message));
        assert_eq!(extra(&error, "X-Amz-Expires"), Some("900"));
        assert_eq!(extra(&error, "Expires"), Some("2013-05-24T00:15:00Z"));
        assert!(extra(&error, "ServerTime").is_some());
    }
}

#[test]
fn sessions() {
    let credentials = credentials().with_session_token("a secret/+=");
    let mut request = request(Method::GET, "http://localhost/bucket/key", &[]);
    sign(&mut request, &credentials, REGION, &Payload::Unsigned.as_str(), now()).unwrap();
    let url = presign(&Method::GET, &request.uri, &HeaderMap::new(), &credentials, REGION, 60, now()).unwrap();
    for request in [request, get(&url.to_string())] {
        let request::Parts { method, uri, headers, .. } = &request;
        let authorization = Authorization::from_request(uri, headers).unwrap().unwrap();
        authorization.check_session_token(Some("a secret/+=")).unwrap();
        for token in [None, Some(""), Some("a secret")] {
            assert_eq!(authorization.check_session_token(token).unwrap_err().code, ErrorCode::InvalidToken);
        }
        let hash = authorization.payload_hash(uri, headers).unwrap();
        let key = SigningKey::derive(SECRET, "20130524", REGION, "s3");
        authorization.verify(method, uri, headers, &hash, &key, now()).unwrap();
        let key = SigningKey::derive("another", "20130524", REGION, "s3");
        let error = authorization.verify(method, uri, headers, &hash, &key, now()).unwrap_err();
        assert!(error.code == ErrorCode::SignatureDoesNotMatch && !format!("{error:?}").contains("secret"));
        assert!(!format!("{authorization:?}").contains("secret"));
    }
}

#[test]
fn nobody_signed() {
    for uri in ["http://localhost/bucket/key", "/", "/?Expires=1&x-amz-date=2&response-expires=3"] {
        assert!(Authorization::from_request(&uri.parse().unwrap(), &HeaderMap::new()).unwrap().is_none());
    }
}

#[test]
fn what_a_client_cannot_sign() {
    let sign = |uri: &str, credentials: &Credentials, region: &str| {
        super::sign(&mut get(uri), credentials, region, "UNSIGNED-PAYLOAD", now()).map(drop)
    };
    assert_eq!(sign("/", &credentials(), REGION), Err(SigningError::MissingHost));
    let invalid = |value| Err(SigningError::InvalidValue(value));
    assert_eq!(sign("http://h/", &credentials(), "a\n"), invalid("the access key or region"));
    let session = credentials().with_session_token("\n");
    assert_eq!(sign("http://h/", &session, REGION), invalid("the session token"));

    let uri = Uri::from_static("http://h/");
    let presign = |uri: &Uri, expires| {
        presign(&Method::GET, uri, &HeaderMap::new(), &credentials(), REGION, expires, now()).map(drop)
    };
    for expires in [0, 604_801, u32::MAX] {
        assert_eq!(presign(&uri, expires), Err(SigningError::Expires(expires)));
    }
    assert_eq!(presign(&Uri::from_static("/"), 1), Err(SigningError::MissingHost));
    let long = format!("http://h/{}", "k".repeat(65_500)).parse().unwrap();
    assert_eq!(presign(&long, 1), Err(SigningError::TooLong));
}

#[test]
fn hosts() {
    for (uri, host) in [
        ("http://h/", "h"),
        ("http://h:80/", "h"),
        ("http://h:443/", "h:443"),
        ("https://h:443/", "h"),
        ("https://user@h:9000/", "h:9000"),
        ("http://[::1]:9000/", "[::1]:9000"),
    ] {
        assert_eq!(signed(uri, &[]).headers["host"], host);
    }
    assert_eq!(signed("http://h/", &[("host", "other")]).headers["host"], "other");
}
