//! What is signed is verified, and nothing else; nothing that arrives makes a panic.

use super::*;

/// A request as clients make them: path and query are encoded.
fn any_request() -> impl Strategy<Value = request::Parts> {
    let method = prop::sample::select(vec![Method::GET, Method::PUT, Method::POST, Method::DELETE, Method::HEAD]);
    let query = prop::collection::vec((".{1,6}", ".{0,6}"), 0..4);
    let value = "[ -~]{0,12}";
    let headers = prop::collection::vec(("x-amz-meta-[a-c]|content-(type|md5)|range", value), 0..5);
    (method, ".{0,12}", query, headers).prop_map(|(method, key, query, headers)| {
        let query: Vec<String> =
            query.iter().map(|(name, value)| [encode_query(name), encode_query(value)].join("=")).collect();
        let uri = format!("http://localhost:9000/bucket/{}?{}", encode_path(key), query.join("&"));
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        super::request(method, &uri, &headers)
    })
}

/// A payload that a client signs.
fn any_payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        any::<[u8; 32]>().prop_map(Payload::Sha256),
        Just(Payload::Unsigned),
        Just(Payload::StreamingSigned),
        Just(Payload::StreamingSignedTrailer),
        Just(Payload::StreamingUnsignedTrailer),
    ]
}

/// The same request with each of its parts changed in turn.
fn altered(request: &request::Parts) -> Vec<(String, request::Parts)> {
    let mut all = Vec::new();
    let mut add = |name: &str, change: &dyn Fn(&mut request::Parts)| {
        let mut altered = request.clone();
        change(&mut altered);
        all.push((name.to_owned(), altered));
    };
    add("method", &|request| {
        request.method = if request.method == Method::GET { Method::HEAD } else { Method::GET };
    });
    let (path, query) = (request.uri.path(), request.uri.query().unwrap_or_default());
    for (name, uri) in [
        ("path", format!("{path}x?{query}")),
        ("slash", format!("/{path}?{query}")),
        ("bucket", format!("{}?{query}", path.replacen("bucket", "bucket2", 1))),
        ("query", format!("{path}?{query}&acl")),
        ("value", format!("{path}?{}", query.replacen('=', "=x", 1))),
        ("no query", path.to_owned()),
    ] {
        if uri.trim_end_matches('?') != format!("{path}?{query}").trim_end_matches('?') {
            add(name, &|request| request.uri = uri.parse().unwrap());
        }
    }
    for name in request.headers.keys().filter(|name| *name != "authorization") {
        add(name.as_str(), &|request| {
            let changed = [request.headers[name].as_bytes(), b"x"].concat();
            request.headers.insert(name, HeaderValue::from_bytes(&changed).unwrap());
        });
        add(&format!("no {name}"), &|request| drop(request.headers.remove(name)));
    }
    add("one more", &|request| drop(request.headers.insert("x-amz-acl", HeaderValue::from_static("public-read"))));
    all
}

fn is_refusal(error: &S3Error) -> bool {
    error.status().is_client_error()
}

proptest! {
    #[test]
    fn a_signed_request(mut request in any_request(), payload in any_payload()) {
        let signature = sign(&mut request, &credentials(), REGION, &payload.as_str(), now()).unwrap();
        prop_assert_eq!(verify(&request), Ok(signature));
        // Without an authority, as it arrives; and with what nobody signs.
        let mut arrived = request.clone();
        arrived.uri = request.uri.path_and_query().unwrap().as_str().parse().unwrap();
        arrived.headers.insert("user-agent", HeaderValue::from_static("test"));
        prop_assert_eq!(verify(&arrived), Ok(signature));
        prop_assert!(is_refusal(&verify_at(&arrived, "another", now()).unwrap_err()));

        for (name, altered) in altered(&arrived) {
            let Err(error) = verify(&altered) else {
                // A header of white space alone is as good as none.
                let was_empty = name.strip_prefix("no ").and_then(|name| arrived.headers.get(name));
                let is_harmless = name == "user-agent"
                    || name == "no user-agent"
                    || was_empty.is_some_and(|value| value.as_bytes().trim_ascii().is_empty());
                prop_assert!(is_harmless, "{}", name);
                continue;
            };
            prop_assert!(is_refusal(&error), "{}: {}", name, error);
        }
    }

    #[test]
    fn a_presigned_url(request in any_request(), expires in 1u32..=604_800, late in 0i64..=604_800) {
        let request::Parts { method, uri, headers, .. } = &request;
        let url = presign(method, uri, headers, &credentials(), REGION, expires, now()).unwrap();
        let mut arrived = request.clone();
        arrived.uri = url.path_and_query().unwrap().as_str().parse().unwrap();
        arrived.headers.insert("host", HeaderValue::from_static("localhost:9000"));
        let verdict = verify_at(&arrived, SECRET, now() + SignedDuration::from_secs(late));
        prop_assert_eq!(verdict.is_ok(), late <= i64::from(expires), "{:?}", verdict);
        for (name, altered) in altered(&arrived) {
            let was_empty = name.strip_prefix("no ").and_then(|name| arrived.headers.get(name));
            match verify(&altered) {
                // It is not signed any more at all.
                Err(error) => prop_assert!(is_refusal(&error), "{}: {}", name, error),
                Ok(_) => prop_assert!(was_empty.is_some_and(|value| value.as_bytes().trim_ascii().is_empty()), "{}", name),
            }
        }
        // Each byte of the query counts.
        let query = url.query().unwrap();
        for i in (0..query.len()).step_by(7) {
            let mut changed = query.as_bytes().to_vec();
            changed[i] = if changed[i] == b'0' { b'1' } else { b'0' };
            let mut altered = arrived.clone();
            altered.uri = format!("{}?{}", url.path(), String::from_utf8(changed).unwrap()).parse().unwrap();
            prop_assert!(verify(&altered).is_err(), "{}", altered.uri);
        }
    }

    /// Clients differ in what of a path they encode; the key is the same.
    #[test]
    fn a_path_sent_in_another_way(key in "[!$&-;=@-_a-z|~]{1,12}") {
        let encoded = format!("/bucket/{}", encode_path(&key));
        let mut request = request(Method::GET, &format!("http://localhost{encoded}"), &[]);
        sign(&mut request, &credentials(), REGION, &Payload::Unsigned.as_str(), now()).unwrap();
        let all: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for path in [format!("/bucket/{key}"), format!("/bucket/{all}")] {
            let mut sent = request.clone();
            sent.uri = path.parse().unwrap();
            prop_assert!(verify(&sent).is_ok(), "{}", path);
        }
        // And one that signs what it sends.
        request.uri = format!("http://localhost/bucket/{key}").parse().unwrap();
        let (method, uri, headers) = (&request.method, &request.uri, &request.headers);
        let mut authorization = Authorization::from_request(uri, headers).unwrap().unwrap();
        let canonical = canonical::CanonicalRequest::new(
            method, uri, "", headers, &authorization.signed_headers, UNSIGNED_PAYLOAD,
        );
        let signing_key = SigningKey::derive(SECRET, "20130524", REGION, SERVICE);
        let text = string_to_sign("20130524T000000Z", &authorization.scope(), &canonical.sha256());
        authorization.signature = signing_key.sign(text).to_string();
        let verdict = authorization.verify(method, uri, headers, UNSIGNED_PAYLOAD, &signing_key, now());
        prop_assert!(verdict.is_ok(), "{:?}", verdict);
    }

    #[test]
    fn nothing_panics(
        header in prop::collection::vec(any::<u8>(), 0..100),
        start in prop::sample::select(vec!["", "AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA256 Credential=", "AWS "]),
        date in "\\PC{0,20}|[0-9]{8}T[0-9]{6}Z",
        query in "([A-Za-z0-9&=%+]|X-Amz-(Date|Signature|Expires)=|\\PC){0,30}",
        now in Timestamp::MIN.as_second()..=Timestamp::MAX.as_second(),
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in [("authorization", [start.as_bytes(), &header].concat()), ("x-amz-date", date.into())] {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.insert(name, value);
            }
        }
        let now = Timestamp::from_second(now).unwrap();
        for uri in [format!("/?{query}"), "/".to_owned()] {
            let Ok(uri) = uri.parse() else { continue };
            let (mut parts, ()) = Request::new(()).into_parts();
            (parts.uri, parts.headers) = (uri, headers.clone());
            prop_assert!(verify_at(&parts, SECRET, now).is_err());
        }
        let _ = Payload::parse(&query);
    }
}
