//! `manysum -o`.
#![cfg(unix)]

mod common;

use common::{EMPTY, directory, manysum, touch};
use std::fs;
use std::path::Path;

/// Runs it with `-o SUMS`, and returns its status and what is in the file then.
#[track_caller]
fn written(directory: &Path, arguments: &[&str]) -> (Option<i32>, Vec<u8>) {
    let outcome = manysum(directory, &[&["-o", "SUMS"], arguments].concat(), b"");
    assert_eq!(outcome.stdout, b"");
    (outcome.status, fs::read(directory.join("SUMS")).unwrap_or_default())
}

#[test]
fn lines_go_to_the_file() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/a", "t/b"]);
    for arguments in [&["-r", "t"][..], &["-r", "t", "--tag"], &["t/a", "missing"], &["-z", "t/b"]] {
        let expected = manysum(root, arguments, b"");
        assert_eq!(written(root, arguments), (expected.status, expected.stdout));
    }
    fs::write(root.join("list"), format!("{EMPTY}  t/a\n{EMPTY}  missing\n")).expect("a list");
    assert_eq!(written(root, &["-c", "list"]), (Some(1), b"t/a: OK\nmissing: FAILED open or read\n".to_vec()));
}

#[test]
fn a_walk_does_not_see_the_file() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/a", "t/SUMS"]);
    let first = written(root, &["-r", "."]);
    assert_eq!(first, (Some(0), format!("{EMPTY}  ./t/SUMS\n{EMPTY}  ./t/a\n").into_bytes()));
    assert_eq!(written(root, &["-r", "."]), first);
    assert_eq!(manysum(root, &["-c", "SUMS", "--quiet"], b"").status, Some(0));
    assert_eq!(fs::read_dir(root).expect("a directory").count(), 2);
}

#[test]
fn what_was_there_stays_until_the_end() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["a"]);
    fs::write(root.join("SUMS"), "old").expect("a file");
    assert_eq!(written(root, &["--no-such-option"]), (Some(1), b"old".to_vec()));
    // The file itself, where it is named, is read before it is replaced.
    let old = manysum(root, &["SUMS"], b"").stdout;
    assert_eq!(written(root, &["SUMS"]), (Some(0), old));
}

#[test]
fn a_file_that_cannot_be_written() {
    let directory = directory();
    fs::create_dir(directory.path().join("dir")).expect("a directory");
    for (output, message) in [("none/SUMS", "No such file or directory"), ("dir", "is a directory")] {
        let outcome = manysum(directory.path(), &["-", "-o", output], b"");
        assert_eq!((outcome.status, outcome.stdout), (Some(1), Vec::new()));
        assert_eq!(String::from_utf8_lossy(&outcome.stderr), format!("manysum: {output}: {message}\n"));
    }
}
