//! `manyhash s3 etag --like` of an object on a server on this machine.

use crate::common::directory;
use crate::s3_bucket::{Bucket, bytes};
use manyhash_s3_client::http::Proof;
use std::fs;

#[test]
fn the_service_tells_the_cut() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    let bytes = bytes(12_000_001);
    // A size that no guess would try.
    let part_size = 5 * 1024 * 1024 + 77;
    bucket.put("whole", b"1", Proof::None);
    bucket.put_in_parts("parts", &bytes.chunks(part_size).collect::<Vec<_>>(), None);
    let etag = |like: &str| bucket.s3(root, &["etag", "--json", "--like", like, "file"]);
    fs::write(root.join("file"), &bytes).expect("a file");
    let outcome = etag("s3://bucket/parts");
    let line = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.status == Some(0) && line.contains(&format!("-3\",\"part_size\":{part_size}}}")), "{outcome:?}");
    fs::write(root.join("file"), &bytes[1..]).expect("a file");
    let outcome = etag("s3://bucket/parts");
    assert_eq!((outcome.status, outcome.stdout.len()), (Some(1), 0), "{outcome:?}");
    fs::write(root.join("file"), "1").expect("a file");
    let outcome = etag("s3://bucket/whole");
    let expected = "{\"name\":\"file\",\"size\":1,\"etag\":\"c4ca4238a0b923820dcc509a6f75849b\"}\n";
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "{outcome:?}");
    let outcome = etag("s3://bucket/none");
    assert!(outcome.status == Some(1) && outcome.stderr.starts_with(b"manyhash: --like: "), "{outcome:?}");
}
