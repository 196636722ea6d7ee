//! `manyhash s3 verify` and `ls` against a server on this machine.

use crate::common::directory;
use crate::s3_bucket::{Bucket, MIB, bytes, write};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use manyhash_s3_client::http::Proof;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// A tree, and a bucket with the same under `p/`.
fn same() -> (TempDir, Bucket) {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    let large = bytes(11 * MIB);
    write(root, "tree/one", b"1");
    bucket.put("p/one", b"1", Proof::None);
    write(root, "tree/d/empty", b"");
    bucket.put("p/d/empty", b"", Proof::None);
    write(root, "tree/d.txt", b"before d/");
    bucket.put("p/d.txt", b"before d/", Proof::Trailer(ChecksumAlgorithm::Sha256));
    write(root, "tree/new\nline", b"2");
    bucket.put("p/new\nline", b"2", Proof::None);
    write(root, "tree/parts", &large);
    bucket.put_in_parts("p/parts", &large.chunks(5 * MIB).collect::<Vec<_>>(), None);
    write(root, "tree/uneven", &large);
    let (a, rest) = large.split_at(5 * MIB);
    let (b, c) = rest.split_at(5 * MIB + 77);
    let composite = Some((ChecksumAlgorithm::Sha256, ChecksumType::Composite));
    bucket.put_in_parts("p/uneven", &[a, b, c], composite);
    write(root, "tree/crc", &large);
    let crc = Some((ChecksumAlgorithm::Crc64Nvme, ChecksumType::FullObject));
    bucket.put_in_parts("p/crc", &[&large[..6 * MIB], &large[6 * MIB..]], crc);
    (directory, bucket)
}

#[test]
fn a_tree_and_a_bucket() {
    let (directory, bucket) = same();
    let root = directory.path();
    let said = bucket.verify(root, &["tree", "s3://bucket/p"], 0, "");
    assert!(said.contains("7 names: 7 same"), "{said}");
    assert!(said.contains("1 ListObjectsV2") && !said.contains("GetObject,"), "{said}");
    bucket.verify(root, &["s3://bucket/p/", "tree"], 0, "");
    bucket.verify(root, &["s3://bucket/p", "s3://bucket/p"], 0, "");

    // Everything that can differ, of the same size but for one.
    for name in ["one", "d.txt", "new\nline", "parts", "uneven", "crc"] {
        let path = root.join("tree").join(name);
        let mut bytes = fs::read(&path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).expect("a file");
    }
    write(root, "tree/d/empty", b"no more");
    write(root, "tree/e", b"e");
    bucket.put("p/f", b"f", Proof::None);
    let expected = "crc: differs\nd.txt: differs\nd/empty: differs\ne: missing\nf: extra\n\\new\\nline: differs\n\
                    one: differs\nparts: differs\nuneven: differs\n";
    let said = bucket.verify(root, &["tree", "s3://bucket/p"], 2 + 4 + 16, expected);
    assert!(said.contains("9 names: 0 same, 7 differ, 1 missing, 1 extra"), "{said}");
}

#[test]
fn what_was_compared() {
    let (directory, bucket) = same();
    let root = directory.path();
    let outcome = bucket.s3(root, &["verify", "--no-cache", "--json", "tree", "s3://bucket/p"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let lines: Vec<Value> = outcome
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("an object"))
        .collect();
    let of = |name: &str| lines.iter().find(|line| line["name"] == name).expect("a line").clone();
    assert_eq!(of("d/empty")["compared"], "empty");
    assert_eq!((&of("one")["compared"], &of("one")["from"]), (&"md5".into(), &serde_json::json!(["file", "etag"])));
    let parts = of("parts");
    assert_eq!(
        (&parts["compared"], &parts["parts"], &parts["part_size"]),
        (&"md5".into(), &3.into(), &(5 * MIB).into())
    );
    let uneven = of("uneven");
    assert_eq!((&uneven["compared"], &uneven["from"]), (&"sha256".into(), &serde_json::json!(["file", "checksum"])));
}

#[test]
fn lists_and_states() {
    let (directory, bucket) = same();
    let root = directory.path();
    let mut list = String::new();
    for (name, content) in [("d.txt", &b"before d/"[..]), ("one", b"1")] {
        list += &format!("{}  ./{name}\n", manyhash::digest(manyhash::Algorithm::Sha256, content));
    }
    list += &format!("{}  parts\n", manyhash::digest(manyhash::Algorithm::Sha256, bytes(11 * MIB)));
    write(root, "list", list.as_bytes());
    let others = "crc: extra\nd/empty: extra\n\\new\\nline: extra\n";
    // What S3 adds by itself is no SHA-256: the ETag of `one` is an MD5, and `parts` has neither.
    let outcome = bucket.s3(root, &["verify", "--no-cache", "list", "s3://bucket/p"]);
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    assert_eq!(outcome.status, Some(16 + 32), "{outcome:?}");
    assert!(text.contains("\none: unverified: ") && text.contains("\nparts: unverified: "), "{text}");
    assert!(!text.contains("d.txt"), "{text}");
    assert_eq!(
        bucket.s3(root, &["verify", "--no-cache", "--allow-unverified", "list", "s3://bucket/p"]).status,
        Some(16)
    );
    let expected = others.to_owned() + "uneven: extra\n";
    bucket.verify(root, &["--download", "list", "s3://bucket/p"], 16, &expected);
    write(root, "list", list.replace("  parts", "  partz").as_bytes());
    let expected = others.to_owned() + "parts: extra\npartz: missing\nuneven: extra\n";
    bucket.verify(root, &["--download", "list", "s3://bucket/p"], 4 + 16, &expected);
    // A tree against it, without a bucket.
    let missing =
        "crc: missing\nd/empty: missing\n\\new\\nline: missing\nparts: missing\npartz: extra\nuneven: missing\n";
    bucket.verify(root, &["tree", "list"], 4 + 16, missing);
}

#[test]
fn a_second_run_asks_for_lists_only() {
    let (directory, bucket) = same();
    let root = directory.path();
    let estimate = bucket.s3(root, &["verify", "--no-cache", "--dry-run", "--json", "tree", "s3://bucket/p"]);
    let estimate: Value = serde_json::from_slice(&estimate.stdout).expect("an object");
    assert_eq!((&estimate["ListObjectsV2"], &estimate["HeadObject"]), (&1.into(), &2.into()), "{estimate}");
    assert_eq!((&estimate["GetObjectAttributes"], &estimate["names"]), (&1.into(), &7.into()), "{estimate}");
    // A file of this moment is not remembered.
    std::thread::sleep(std::time::Duration::from_millis(3100));
    let said = bucket.verify(root, &["--state", "state", "tree", "s3://bucket/p"], 0, "");
    assert!(said.contains("2 HeadObject") && said.contains("1 GetObjectAttributes"), "{said}");
    let said = bucket.verify(root, &["--state", "state", "tree", "s3://bucket/p"], 0, "");
    assert!(said.contains("1 request: 1 ListObjectsV2\n"), "{said}");
    bucket.put("p/one", b"2", Proof::None);
    let said = bucket.verify(root, &["--state", "state", "tree", "s3://bucket/p"], 2, "one: differs\n");
    assert!(said.contains("1 HeadObject"), "{said}");
    let outcome = bucket.s3(root, &["verify", "--no-cache", "--state", "state", "tree", "s3://bucket/q"]);
    assert_eq!(outcome.status, Some(1));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("of another comparison"), "{outcome:?}");
}

#[test]
fn sides_that_are_none() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    write(root, "tree/one", b"1");
    write(root, "text", b"no list\n");
    for (arguments, words) in [
        (["tree", "s3://"], "must follow s3://"),
        (["nowhere", "tree"], "No such file"),
        (["tree", "s3://no-such-bucket"], "no-such-bucket"),
        (["tree", "text"], "no properly formatted line"),
    ] {
        let outcome = bucket.s3(root, &[&["verify", "--no-cache"], &arguments[..]].concat());
        assert_eq!(outcome.status.map(|status| status & 1), Some(1), "{arguments:?} {outcome:?}");
        assert!(String::from_utf8_lossy(&outcome.stderr).contains(words), "{arguments:?} {outcome:?}");
    }
}

#[test]
fn objects_and_their_checksums() {
    let (directory, bucket) = same();
    let root = directory.path();
    let outcome = bucket.s3(root, &["ls", "s3://bucket/p/d"]);
    let expected = format!(
        "{:>14}  {}  p/d.txt\n{:>14}  d41d8cd98f00b204e9800998ecf8427e  p/d/empty\n",
        9,
        manyhash::digest(manyhash::Algorithm::Md5, "before d/"),
        0
    );
    assert_eq!((outcome.status, String::from_utf8_lossy(&outcome.stdout).into_owned()), (Some(0), expected));
    let outcome = bucket.s3(root, &["ls", "--checksums", "--json", "s3://bucket/p/"]);
    let lines: Vec<Value> = String::from_utf8_lossy(&outcome.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert_eq!(lines.len(), 7);
    let uneven = lines.last().expect("a line");
    assert_eq!((&uneven["name"], &uneven["size"]), (&"p/uneven".into(), &(11 * MIB).into()));
    assert_eq!(uneven["checksums"][0]["algorithm"], "SHA256");
    assert!(uneven["checksums"][0]["value"].as_str().is_some_and(|value| value.ends_with("-3")), "{uneven}");
    let outcome = bucket.s3(root, &["ls", "bucket"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
}
