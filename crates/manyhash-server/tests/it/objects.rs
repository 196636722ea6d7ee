//! Objects put, read, listed and deleted.

use crate::client::{Running, noise};
use data_encoding::BASE64;
use manyhash::Algorithm;
use manyhash_s3::checksum::{ChecksumAlgorithm, digest};
use manyhash_s3::sign::Payload;

/// Lengths at the edges of blocks, segments and files.
const LENGTHS: [usize; 10] = [0, 1, 63, 64, 4096, 128 << 10, (128 << 10) + 1, 1 << 20, (1 << 20) + 7, 3_000_000];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_put_is_got() {
    let server = Running::start().await;
    for length in LENGTHS {
        let body = noise(length, 1);
        let etag = format!("\"{}\"", manyhash::digest(Algorithm::Md5, &body));
        for payload in [None, Some(Payload::Unsigned)] {
            let mut request = server.request("PUT", "/bucket/a/b%20c").body(&body).header("x-amz-meta-tint", "blue");
            if let Some(payload) = payload {
                request = request.payload(payload);
            }
            let put = request.header("content-type", "text/x").send().await.expect(200);
            assert_eq!(put.header("etag"), Some(&*etag));
        }
        let got = server.get("/bucket/a/b%20c").await.expect(200);
        assert!(got.body == body, "{length}");
        assert_eq!(got.header("etag"), Some(&*etag));
        assert_eq!(got.header("content-type"), Some("text/x"));
        assert_eq!(got.header("x-amz-meta-tint"), Some("blue"));
        assert_eq!(got.header("last-modified"), Some("Sun, 22 Nov 2026 12:00:00 GMT"));
        let head = server.request("HEAD", "/bucket/a/b%20c").send().await.expect(200);
        assert_eq!(head.header("content-length"), Some(&*length.to_string()));
    }
    server.request("DELETE", "/bucket/a/b%20c").send().await.expect(204);
    server.request("DELETE", "/bucket/a/b%20c").send().await.expect(204);
    server.expect_nothing("/bucket/a/b%20c").await;
    server.get("/bucket/a/b%20c").await.refused(404, "NoSuchKey");
    server.get("/other/a").await.refused(404, "NoSuchBucket");
}

#[tokio::test(flavor = "multi_thread")]
async fn ranges_and_conditions_are_kept() {
    let server = Running::start().await;
    let body = noise(300_000, 2);
    let etag = server.put("/bucket/k", &body).await.expect(200).header("etag").unwrap().to_owned();
    for (range, expected) in
        [("bytes=0-0", 0..1), ("bytes=-5", 299_995..300_000), ("bytes=131071-131073", 131_071..131_074)]
    {
        let got = server.request("GET", "/bucket/k").header("range", range).send().await.expect(206);
        assert_eq!(got.body, body[expected.clone()], "{range}");
        let content_range = format!("bytes {}-{}/300000", expected.start, expected.end - 1);
        assert_eq!(got.header("content-range"), Some(&*content_range));
    }
    let past = server.request("GET", "/bucket/k").header("range", "bytes=300000-").send().await;
    past.refused(416, "InvalidRange");

    let condition = |name, value: &str| server.request("GET", "/bucket/k").header(name, value);
    condition("if-none-match", &etag).send().await.expect(304);
    condition("if-match", "\"x\"").send().await.refused(412, "PreconditionFailed");
    condition("if-match", &etag).send().await.expect(200);
    condition("if-modified-since", "Sun, 22 Nov 2026 12:00:00 GMT").send().await.expect(304);
    condition("if-unmodified-since", "Sun, 22 Nov 2026 11:59:59 GMT").send().await.refused(412, "PreconditionFailed");

    let write = |name, value: &str| server.request("PUT", "/bucket/k").header(name, value).body(b"new");
    write("if-none-match", "*").send().await.refused(412, "PreconditionFailed");
    write("if-match", "\"x\"").send().await.refused(412, "PreconditionFailed");
    write("if-match", &etag).send().await.expect(200);
    let missing = server.request("PUT", "/bucket/none").header("if-match", &etag).body(b"x").send().await;
    missing.refused(404, "NoSuchKey");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_64_who_put_a_new_key_one_succeeds() {
    let server = std::sync::Arc::new(Running::start().await);
    let puts = (0..64_u8).map(|number| {
        let server = server.clone();
        tokio::spawn(async move {
            let body = vec![number; 1000];
            server.request("PUT", "/bucket/k").header("if-none-match", "*").body(&body).send().await.status
        })
    });
    let mut winners = Vec::new();
    for (number, put) in puts.collect::<Vec<_>>().into_iter().enumerate() {
        match put.await.unwrap() {
            200 => winners.push(number as u8),
            412 => {}
            status => panic!("{status}"),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(server.get("/bucket/k").await.expect(200).body, vec![winners[0]; 1000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_checksum_is_compared_and_given_back() {
    let server = Running::start().await;
    let body = noise(100_000, 3);
    for algorithm in ChecksumAlgorithm::ALL {
        let right = digest(algorithm, &body).to_string();
        let wrong = digest(algorithm, b"other").to_string();
        let put = |value: &str| server.request("PUT", "/bucket/k").header(algorithm.header(), value).body(&body);
        put(&wrong).send().await.refused(400, "BadDigest");
        put("AAAA").send().await.refused(400, "InvalidRequest");
        server.expect_nothing("/bucket/k").await;
        put(&right).send().await.expect(200);
        let head =
            server.request("HEAD", "/bucket/k").header("x-amz-checksum-mode", "ENABLED").send().await.expect(200);
        assert_eq!(head.header(algorithm.header()), Some(&*right));
        assert_eq!(head.header("x-amz-checksum-type"), Some("FULL_OBJECT"));
        let ranged = server.request("GET", "/bucket/k").header("x-amz-checksum-mode", "ENABLED");
        let ranged = ranged.header("range", "bytes=0-9").send().await.expect(206);
        assert_eq!(ranged.header(algorithm.header()), None);
        server.request("DELETE", "/bucket/k").send().await.expect(204);
    }
    server.put("/bucket/k", &body).await.expect(200);
    let head = server.request("HEAD", "/bucket/k").header("x-amz-checksum-mode", "ENABLED").send().await.expect(200);
    let expected = digest(ChecksumAlgorithm::Crc64Nvme, &body).to_string();
    assert_eq!(head.header("x-amz-checksum-crc64nvme"), Some(&*expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn content_md5_and_payload_hashes_are_compared() {
    let server = Running::start().await;
    let md5 = |bytes: &[u8]| BASE64.encode(manyhash::digest(Algorithm::Md5, bytes).as_bytes());
    let put = || server.request("PUT", "/bucket/k").body(b"body");
    put().header("content-md5", md5(b"other")).send().await.refused(400, "BadDigest");
    put().header("content-md5", "x").send().await.refused(400, "InvalidDigest");
    put().payload(Payload::Sha256([7; 32])).send().await.refused(400, "XAmzContentSHA256Mismatch");
    let two = put().header("x-amz-checksum-crc32", "AAAAAA==").header("x-amz-checksum-crc32c", "AAAAAA==");
    two.send().await.refused(400, "InvalidRequest");
    put().header("x-amz-sdk-checksum-algorithm", "CRC32").send().await.refused(400, "InvalidRequest");
    server.expect_nothing("/bucket/k").await;
    put().header("content-md5", md5(b"body")).send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn listings_have_pages_prefixes_and_order() {
    let server = Running::start().await;
    for key in ["a", "b/1", "b/2", "c%2F", "d/x/y", "%C3%BC"] {
        server.put(&format!("/bucket/{key}"), key.as_bytes()).await.expect(200);
    }
    let keys = |text: &str, element: &str| -> Vec<String> {
        let (start, end) = (format!("<{element}>"), format!("</{element}>"));
        text.split(&start).skip(1).map(|rest| rest.split(&end).next().unwrap().to_owned()).collect()
    };
    let all = server.get("/bucket?list-type=2").await.expect(200).text();
    assert_eq!(keys(&all, "Key"), ["a", "b/1", "b/2", "c/", "d/x/y", "ü"]);

    let (mut found, mut token) = (Vec::new(), None);
    loop {
        let continued = token.map_or(String::new(), |token: String| format!("&continuation-token={token}"));
        let page = server.get(&format!("/bucket?delimiter=%2F&list-type=2&max-keys=1{continued}")).await.expect(200);
        let text = page.text();
        found.extend(keys(&text, "Key"));
        found.extend(keys(&text, "CommonPrefixes"));
        if page.element("IsTruncated") == "false" {
            break;
        }
        token = Some(page.element("NextContinuationToken"));
    }
    let prefix = |name: &str| format!("<Prefix>{name}</Prefix>");
    assert_eq!(found, ["a".into(), prefix("b/"), prefix("c/"), prefix("d/"), "ü".into()]);

    let page = server.get("/bucket?marker=b%2F1&max-keys=2&prefix=").await.expect(200);
    assert_eq!(keys(&page.text(), "Key"), ["b/2", "c/"]);
    server.get("/bucket?max-keys=-1").await.refused(400, "InvalidArgument");
    server.get("/bucket?list-type=2&continuation-token=%21").await.refused(400, "InvalidArgument");

    let request = "<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object></Delete>";
    let md5 = BASE64.encode(manyhash::digest(Algorithm::Md5, request).as_bytes());
    server.request("POST", "/bucket?delete").body(request.as_bytes()).send().await.refused(400, "InvalidRequest");
    let deleted = server.request("POST", "/bucket?delete").header("content-md5", md5).body(request.as_bytes());
    assert_eq!(keys(&deleted.send().await.expect(200).text(), "Key"), ["a", "none"]);
    server.get("/bucket/a").await.refused(404, "NoSuchKey");
    server.request("DELETE", "/bucket").send().await.refused(409, "BucketNotEmpty");
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_share_their_content() {
    let server = Running::start().await;
    let body = noise(200_000, 4);
    server.request("PUT", "/bucket/a").header("x-amz-meta-m", "1").body(&body).send().await.expect(200);
    let copy = |source: &str| server.request("PUT", "/bucket/b").header("x-amz-copy-source", source);
    copy("/bucket/a").send().await.expect(200);
    server.request("DELETE", "/bucket/a").send().await.expect(204);
    let got = server.get("/bucket/b").await.expect(200);
    assert!(got.body == body && got.header("x-amz-meta-m") == Some("1"));
    copy("bucket/a").send().await.refused(404, "NoSuchKey");
    copy("bucket/b").send().await.refused(400, "InvalidRequest");
    let replaced = copy("bucket/b").header("x-amz-metadata-directive", "REPLACE").header("x-amz-meta-m", "2");
    replaced.send().await.expect(200);
    assert_eq!(server.get("/bucket/b").await.header("x-amz-meta-m"), Some("2"));
    let hashed = server.request("PUT", "/bucket/c").header("x-amz-copy-source", "bucket/b");
    let hashed = hashed.header("x-amz-checksum-algorithm", "SHA256").send().await.expect(200);
    assert_eq!(hashed.element("ChecksumSHA256"), digest(ChecksumAlgorithm::Sha256, &body).to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_is_there_after_a_restart() {
    let server = Running::start().await;
    let bodies = [noise(10, 5), noise(500_000, 6)];
    for (number, body) in bodies.iter().enumerate() {
        server.put(&format!("/bucket/{number}"), body).await.expect(200);
    }
    let directory = server.stop().await;
    let server = Running::start_in(directory, Default::default(), |_| {}).await;
    for (number, body) in bodies.iter().enumerate() {
        assert!(server.get(&format!("/bucket/{number}")).await.expect(200).body == *body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_shown() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = Running::start().await;
    server.put("/bucket/k", b"body").await.expect(200);
    let bad = server.request("PUT", "/bucket/%3Ck%3E").body(b"body").payload(Payload::Sha256([0; 32]));
    bad.send().await.refused(400, "XAmzContentSHA256Mismatch");
    let ask = async |path: &str| {
        let mut socket = tokio::net::TcpStream::connect(server.admin).await.unwrap();
        socket.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await.unwrap();
        let mut text = vec![0; 1 << 20];
        let mut end = 0;
        // The events never end.
        while let Ok(more @ 1..) = socket.read(&mut text[end..]).await {
            end += more;
            if path == "/events" && text[..end].windows(7).any(|window| window == b"\n\ndata:") {
                break;
            }
        }
        String::from_utf8(text[..end].to_vec()).unwrap()
    };
    let metrics = ask("/metrics").await;
    assert!(
        metrics.contains("manyhash_server_requests_total{operation=\"PutObject\",status=\"200\",code=\"\"} 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("manyhash_server_verdicts_total{digest=\"payload\",verdict=\"bad\"} 1\n"), "{metrics}");
    assert!(metrics.contains("manyhash_engine_threads ") && metrics.ends_with("# EOF\n"));
    assert_eq!(metrics.matches("# EOF").count(), 1);
    assert!(ask("/healthz").await.ends_with("ok\n"));
    let events = ask("/events").await;
    assert!(events.contains("\"code\":\"XAmzContentSHA256Mismatch\"") && events.contains("bucket/<k>"), "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_meant_is_not_done() {
    let server = Running::start().await;
    server.put("/bucket/k", b"body").await.expect(200);
    let versions = server.request("DELETE", "/bucket/k?versionId=abc").send().await;
    versions.refused(400, "InvalidArgument");
    let request = "<Delete><Object><Key>k</Key><VersionId>abc</VersionId></Object></Delete>";
    let md5 = |text: &[u8]| BASE64.encode(manyhash::digest(Algorithm::Md5, text).as_bytes());
    let deleted = server.request("POST", "/bucket?delete").header("content-md5", md5(request.as_bytes()));
    let deleted = deleted.body(request.as_bytes()).send().await.expect(200);
    assert_eq!(deleted.element("Code"), "InvalidArgument");
    server.get("/bucket/k").await.expect(200);

    let put = || server.request("PUT", "/bucket/new").body(b"body");
    let twice = put().header("content-md5", md5(b"body")).header("content-md5", md5(b"other"));
    twice.send().await.refused(400, "InvalidArgument");
    put().header("x-amz-trailer", "x-amz-checksum-crc32").send().await.refused(400, "InvalidRequest");
    for (uri, name, value) in [
        ("/bucket/new", "x-amz-write-offset-bytes", "4"),
        ("/bucket/new?annotation&annotationName=a", "x-amz-meta-a", "b"),
        ("/bucket/new?X-Amz-Server-Side-Encryption=AES256", "x-amz-meta-a", "b"),
        ("/bucket/new?uploadId=u&partNumber=1", "x-amz-server-side-encryption-customer-algorithm", "AES256"),
    ] {
        let put = server.request("PUT", uri).header(name, value).body(b"body");
        put.send().await.refused(501, "NotImplemented");
    }
    server.get("/bucket/new").await.refused(404, "NoSuchKey");
    server.request("DELETE", "/bucket/k?annotation&annotationName=a").send().await.refused(501, "NotImplemented");
    server.get("/bucket/k").await.expect(200);

    let tagged = "<CreateBucketConfiguration><Tags><Tag><Key>k</Key><Value>v</Value></Tag></Tags>\
        </CreateBucketConfiguration>";
    server.put("/tagged", tagged.as_bytes()).await.refused(501, "NotImplemented");
    server.request("HEAD", "/tagged").send().await.expect(404);
    let elsewhere = server.get("/?bucket-region=eu-west-1").await.expect(200).text();
    assert!(!elsewhere.contains("<Name>"), "{elsewhere}");
    assert_eq!(server.get("/?bucket-region=us-east-1").await.expect(200).element("Name"), "bucket");
}
