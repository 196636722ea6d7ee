//! `manyhash s3`: ETags and checksums of files.

use crate::common::{Outcome, directory, run};
use std::fs;
use std::path::Path;

/// The MD5 of `1`.
const ONE: &str = "c4ca4238a0b923820dcc509a6f75849b";

/// MD5s and a CRC of 20,000,000 bytes, by Python's hashlib and zlib.
const WHOLE: &str = "f5baf68ee6e9b27ad366401d8529917d";
const IN_PARTS: &str = "1493af0d3dc98f52e171049233b792fe-3";
const IN_PARTS_OF_5_MIB: &str = "0197b31411e70323b76bdb8566b9e5a1-4";

fn s3(root: &Path, arguments: &[&str], input: &[u8]) -> Outcome {
    run(assert_cmd::cargo::cargo_bin_cmd!("manyhash"), root, &[&["s3"], arguments].concat(), input)
}

#[track_caller]
fn check(root: &Path, arguments: &[&str], expected: &str) {
    let outcome = s3(root, arguments, b"");
    assert_eq!((outcome.status, outcome.stderr.len()), (Some(0), 0), "{outcome:?}");
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected);
}

/// Bytes that no two parts have in common.
fn bytes() -> Vec<u8> {
    (0..2_500_000_u64).flat_map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect()
}

#[test]
fn etags() {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("one"), "1").expect("a file");
    fs::write(root.join("large"), bytes()).expect("a file");
    check(root, &["etag", "one", "large"], &format!("{ONE}  one\n{IN_PARTS}  large\n"));
    check(root, &["etag", "--part-size", "5M", "one", "large"], &format!("{ONE}  one\n{IN_PARTS_OF_5_MIB}  large\n"));
    check(root, &["etag", "--part-size", "20000001", "large"], &format!("{WHOLE}  large\n"));
    check(
        root,
        &["etag", "-j", "1", "--part-size", "5MiB", "--part-size", "8388608", "large"],
        &format!("{IN_PARTS_OF_5_MIB}  large\n{IN_PARTS}  large\n"),
    );
    check(
        root,
        &["etag", "--json", "one", "large"],
        &format!(
            "{{\"name\":\"one\",\"size\":1,\"etag\":\"{ONE}\"}}\n\
             {{\"name\":\"large\",\"size\":20000000,\"etag\":\"{IN_PARTS}\",\"part_size\":8388608}}\n"
        ),
    );
}

#[test]
fn standard_input_is_a_file_among_others() {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("one"), "1").expect("a file");
    let outcome = s3(root, &["etag", "one", "-", "one"], &bytes());
    let expected = format!("{ONE}  one\n{IN_PARTS}  -\n{ONE}  one\n");
    assert_eq!((outcome.status, String::from_utf8_lossy(&outcome.stdout)), (Some(0), expected.into()));
    for (arguments, expected) in [
        (&["checksum", "-a", "md5", "-"][..], "xMpCOKC5I4INzFCab3WEmw==  -\n"),
        (&["checksum", "--composite", "-a", "crc32", "-"], "1tjDkQ==-1  -\n"),
    ] {
        let outcome = s3(root, arguments, b"1");
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "{outcome:?}");
    }
}

#[test]
fn the_cut_of_an_etag_is_found() {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("large"), bytes()).expect("a file");
    let quoted = format!("\"{IN_PARTS_OF_5_MIB}\"");
    check(root, &["etag", "--like", &quoted, "large"], &format!("{IN_PARTS_OF_5_MIB}  large\n"));
    let object = format!("{{\"name\":\"large\",\"size\":20000000,\"etag\":\"{IN_PARTS}\",\"part_size\":8388608}}\n");
    check(root, &["etag", "--json", "--like", IN_PARTS, "large"], &object);
    check(root, &["etag", "--like", WHOLE, "large"], &format!("{WHOLE}  large\n"));
    // One byte changed.
    let mut other = bytes();
    other[12_345] ^= 1;
    fs::write(root.join("other"), other).expect("a file");
    let outcome = s3(root, &["etag", "--like", IN_PARTS, "other", "large", "-"], b"");
    assert_eq!(outcome.status, Some(1));
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), format!("{IN_PARTS}  large\n"));
    assert!(outcome.stderr.starts_with(b"manyhash: other: no part size that was tried gives"), "{outcome:?}");
    for etag in ["", "x", "c4ca", &format!("{ONE}-0")] {
        assert_eq!(s3(root, &["etag", "--like", etag, "large"], b"").status, Some(1), "{etag}");
    }
}

#[test]
fn checksums() {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("hello"), "hello world").expect("a file");
    fs::write(root.join("large"), bytes()).expect("a file");
    check(root, &["checksum", "-a", "XXHASH64", "hello"], "RatnNLIeaWg=  hello\n");
    check(
        root,
        &["checksum", "-a", "xxhash3,xxhash128", "hello"],
        "XXHASH3 (hello) = 1Eex6kDmmIs=\nXXHASH128 (hello) = 340J6T+HSQCpm4d1zBW2xw==\n",
    );
    check(root, &["checksum", "-a", "crc32", "large"], "hfWcVw==-3  large\n");
    check(root, &["checksum", "-a", "crc32", "--full-object", "large"], "OYAYLg==  large\n");
    check(root, &["checksum", "-a", "crc32", "--part-size", "1G", "large"], "OYAYLg==  large\n");
    let sha256 = "1oZkkZjhw4LhLTtN9wWJQvBl9tz7UQnloPeWTsF8kmo=";
    check(root, &["checksum", "-a", "sha256", "--full-object", "large"], &format!("{sha256}  large\n"));
    check(
        root,
        &["checksum", "-a", "sha1", "--json", "large"],
        "{\"name\":\"large\",\"size\":20000000,\"algorithm\":\"SHA1\",\"type\":\"COMPOSITE\",\
         \"checksum\":\"9/mf8P1FW7SE7XmpMdYUg/Sw7s8=-3\",\"part_size\":8388608}\n",
    );
    // The default, which is that of S3, and never a composite.
    let crc64 = s3(root, &["checksum", "large"], b"").stdout;
    assert_eq!(crc64, s3(root, &["checksum", "--full-object", "-a", "crc64nvme", "large"], b"").stdout);
    let outcome = s3(root, &["checksum", "--composite", "large"], b"");
    assert_eq!((outcome.status, outcome.stdout.len()), (Some(1), 0));
    assert!(outcome.stderr.starts_with(b"manyhash: --composite: there are no composites of CRC64NVME"), "{outcome:?}");
}

#[test]
fn what_goes_wrong_is_said() {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("a\nb"), "1").expect("a file");
    let outcome = s3(root, &["etag", "none", ".", "a\nb"], b"");
    assert_eq!((outcome.status, &outcome.stdout[..]), (Some(1), format!("\\{ONE}  a\\nb\n").as_bytes()));
    let messages = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(messages.lines().count(), 2, "{messages}");
    assert!(messages.starts_with("manyhash: none: ") && messages.contains("\nmanyhash: .: not a regular file"));
    fs::write(root.join("many"), vec![0; 10_001]).expect("a file");
    let outcome = s3(root, &["etag", "--part-size", "1", "many"], b"");
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.starts_with(b"manyhash: many: more than 10,000 parts of 1 bytes"), "{outcome:?}");
    for arguments in [
        &["etag"][..],
        &["etag", "--part-size", "0", "many"],
        &["etag", "--part-size", "1", "--like", ONE, "many"],
        &["checksum", "-a", "sha3", "many"],
        &["checksum", "--composite", "--full-object", "many"],
    ] {
        assert_eq!(s3(root, arguments, b"").status, Some(1), "{arguments:?}");
    }
}

/// More files than can be open at once.
#[test]
#[cfg(unix)]
fn few_files_can_be_open() {
    let directory = directory();
    for i in 0..100 {
        fs::write(directory.path().join(format!("{i:02}")), "1").expect("a file");
    }
    let program = assert_cmd::cargo::cargo_bin!("manyhash").display();
    let script = format!("ulimit -n 16 && '{program}' s3 etag *");
    let outcome = run(assert_cmd::Command::new("sh"), directory.path(), &["-c", &script], b"");
    let expected: String = (0..100).map(|i| format!("{ONE}  {i:02}\n")).collect();
    assert_eq!((outcome.status, String::from_utf8_lossy(&outcome.stdout)), (Some(0), expected.into()), "{outcome:?}");
}
