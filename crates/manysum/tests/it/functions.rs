//! `manysum -a` with functions of other crates, and with several at once.
#![cfg(unix)]

use crate::common::{directory, has_coreutils, manysum, name, run};
use assert_cmd::Command;
use std::fs;
use std::path::Path;

fn files(root: &Path) {
    fs::write(root.join("abc"), "abc").expect("a file");
    fs::write(root.join("empty"), "").expect("a file");
    fs::write(root.join("long"), "0123456789".repeat(30_000)).expect("a file");
    fs::write(root.join(name(b"new\nline")), "x").expect("a file");
}

const NAMES: [&str; 4] = ["abc", "empty", "long", "new\nline"];

/// `manysum` and a tool of the host say the same.
#[track_caller]
fn assert_same(root: &Path, ours: &[&str], tool: &str, theirs: &[&str]) {
    let (own, other) = ([ours, &NAMES[..]].concat(), [theirs, &NAMES[..]].concat());
    let expected = run(Command::new(tool), root, &other, b"");
    assert_eq!(expected.status, Some(0), "{tool} {other:?}: {expected:?}");
    assert_eq!(manysum(root, &own, b""), expected, "{own:?}");
}

#[test]
fn blake2b_as_b2sum_and_sm3_as_cksum() {
    let directory = directory();
    let root = directory.path();
    files(root);
    if has_coreutils("b2sum") {
        assert_same(root, &["-a", "blake2b"], "b2sum", &[]);
        assert_same(root, &["-a", "BLAKE2b-256"], "b2sum", &["-l", "256"]);
        assert_same(root, &["-a", "blake2b", "--tag"], "b2sum", &["--tag"]);
        assert_same(root, &["-a", "blake2b-8", "--tag"], "b2sum", &["--tag", "-l", "8"]);
    }
    if has_coreutils("cksum") {
        assert_same(root, &["-a", "sm3", "--tag"], "cksum", &["-a", "sm3"]);
    }
}

/// Lists of the host's tools, and lists that it checks.
#[test]
fn lists_are_exchanged() {
    let directory = directory();
    let root = directory.path();
    files(root);
    if !has_coreutils("b2sum") {
        return;
    }
    for options in [&[][..], &["--tag"]] {
        let theirs = run(Command::new("b2sum"), root, &[options, &NAMES].concat(), b"");
        let checked = manysum(root, &["-a", "blake2b", "-c"], &theirs.stdout);
        assert_eq!(checked.stdout, b"abc: OK\nempty: OK\nlong: OK\n\\new\\nline: OK\n");
        let ours = manysum(root, &[&["-a", "blake2b"], options, &NAMES].concat(), b"");
        let checked = run(Command::new("b2sum"), root, &["-c", "--quiet"], &ours.stdout);
        assert_eq!((checked.status, checked.stdout), (Some(0), Vec::new()));
    }
}

#[test]
fn several_at_once() {
    let directory = directory();
    let root = directory.path();
    files(root);
    // RFC 1321, A.5; BLAKE3's test_vectors.json; the check value's catalogue has CRC-32 of "abc" too.
    let outcome = manysum(root, &["-a", "md5,blake3,crc32", "abc", "missing", "empty"], b"");
    let lines = "MD5 (abc) = 900150983cd24fb0d6963f7d28e17f72\n\
                 BLAKE3 (abc) = 6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85\n\
                 CRC32 (abc) = 352441c2\n\
                 MD5 (empty) = d41d8cd98f00b204e9800998ecf8427e\n\
                 BLAKE3 (empty) = af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\n\
                 CRC32 (empty) = 00000000\n";
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), lines);
    assert_eq!(outcome.stderr, b"manysum: missing: No such file or directory\n");
    assert_eq!(outcome.status, Some(1));
    // Each of them is checked by itself.
    for (algorithm, well) in [("md5", true), ("crc32", true), ("sha1", false)] {
        let checked = manysum(root, &["-a", algorithm, "-c", "--quiet"], lines.as_bytes());
        assert_eq!(checked.status, Some(if well { 0 } else { 1 }), "{checked:?}");
    }
    // The same from a pipe, and as JSON.
    let piped = manysum(root, &["-a", "crc32", "-a", "md5,crc32"], b"abc");
    assert_eq!(piped.stdout, b"CRC32 (-) = 352441c2\nMD5 (-) = 900150983cd24fb0d6963f7d28e17f72\n");
    let json = manysum(root, &["-a", "md5,crc32", "--json", "abc"], b"");
    let record = |algorithm: &str, digest: &str| {
        format!("{{\"name\":\"abc\",\"algorithm\":\"{algorithm}\",\"digest\":\"{digest}\"}}\n")
    };
    let records = [record("md5", "900150983cd24fb0d6963f7d28e17f72"), record("crc32", "352441c2")].concat();
    assert_eq!(String::from_utf8_lossy(&json.stdout), records);
}

#[test]
fn what_does_not_go_together() {
    let directory = directory();
    let root = directory.path();
    files(root);
    for (arguments, message) in [
        (&["-a", "md5,sha1", "-c", "abc"][..], "name the one that the list uses"),
        (&["-a", "md5", "-a", "sha1", "-c", "abc"], "name the one that the list uses"),
        (&["-a", "md5,sha1", "-t", "abc"], "use --tag instead"),
        (&["-a", "md5,md6", "abc"], "unknown algorithm; expected one of md5"),
        (&["-a", "blake2b-7", "abc"], "sysv, blake2b-BITS with a multiple of 8 up to 512"),
        (&["-a", "", "abc"], "unknown algorithm"),
    ] {
        let outcome = manysum(root, arguments, b"");
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(said.contains(message) && outcome.status == Some(1), "{arguments:?}: {said}");
        assert!(outcome.stdout.is_empty());
    }
}
