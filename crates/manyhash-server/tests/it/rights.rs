//! Who may do what, and for how long a signature counts.

use crate::client::{Running, moment};
use jiff::SignedDuration;
use manyhash_s3::sign::Payload;

const KEYS: &str = r#"
[[key]]
access = "root"
secret = "secret"

[[key]]
access = "reader"
secret = "other"
rights = [{ bucket = "bucket", prefix = "public/", allow = ["read"] }]
"#;

async fn start() -> Running {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.toml");
    std::fs::write(&path, KEYS).unwrap();
    let server = Running::start_in(directory, Default::default(), |config| {
        config.keys = Some(path);
        config.region = Some("us-east-1".to_owned());
    })
    .await;
    server.put("/bucket", b"").await.expect(200);
    server
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_are_by_bucket_and_prefix() {
    let server = start().await;
    server.put("/bucket/public/k", b"1").await.expect(200);
    server.put("/bucket/private", b"2").await.expect(200);
    let reader = |method, uri| server.request(method, uri).by("reader", "other");
    reader("GET", "/bucket/public/k").send().await.expect(200);
    reader("GET", "/bucket/private").send().await.refused(403, "AccessDenied");
    reader("PUT", "/bucket/public/k").body(b"3").send().await.refused(403, "AccessDenied");
    reader("DELETE", "/bucket/public/k").send().await.refused(403, "AccessDenied");
    reader("GET", "/bucket?prefix=public/").send().await.expect(200);
    reader("GET", "/bucket").send().await.refused(403, "AccessDenied");
    reader("PUT", "/mine").send().await.refused(403, "AccessDenied");
    let copy = reader("PUT", "/bucket/public/c").header("x-amz-copy-source", "bucket/private");
    copy.send().await.refused(403, "AccessDenied");
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_are_compared() {
    let server = start().await;
    server.request("GET", "/").by("root", "wrong").send().await.refused(403, "SignatureDoesNotMatch");
    server.request("GET", "/").by("nobody", "x").send().await.refused(403, "InvalidAccessKeyId");
    for minutes in [-16, 16] {
        let request = server.request("GET", "/").at(moment() + SignedDuration::from_mins(minutes));
        request.send().await.refused(403, "RequestTimeTooSkewed");
    }
    server.request("GET", "/").at(moment() + SignedDuration::from_mins(14)).send().await.expect(200);
    server.request("GET", "/").payload(Payload::Unsigned).send().await.expect(200);
}
