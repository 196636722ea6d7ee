//! `manysum -c` against the tools of GNU coreutils.
#![cfg(unix)]

use crate::common::{
    ALGORITHMS, EMPTY, Outcome, compare, compare_as, directory, hostile_files, manysum, without_summary,
};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A directory with an empty file `e` and a file `f` that is not empty, and the digest of the latter.
fn files() -> (TempDir, String) {
    let directory = directory();
    fs::write(directory.path().join("e"), "").expect("a file");
    fs::write(directory.path().join("f"), "f").expect("a file");
    let line = manysum(directory.path(), &["f"], b"").stdout;
    let digest = String::from_utf8(line).expect("a line").split_once(' ').expect("a name").0.to_owned();
    (directory, digest)
}

/// Compares on a list with `E` and `F` for the digests, given as a file and on standard input.
#[track_caller]
fn compare_list(directory: &Path, digest: &str, list: &str) {
    let list = list.replace('E', EMPTY).replace('F', digest);
    compare("sha256", directory, &["-c"], list.as_bytes());
    fs::write(directory.join("list"), &list).expect("a list");
    compare("sha256", directory, &["-c", "list"], b"");
}

#[test]
fn verdicts() {
    let (directory, digest) = files();
    for list in [
        "E  e\nF  f\n",
        "E  e\nF  f",
        "F  e\n",
        "F  e\nE  f\n",
        "E  missing\n",
        "E  missing\nE  gone\nF  e\nE  f\nbad\nworse\n",
        "E  missing\nF  e\nbad\nE  e\n",
        "E  .\n",
        "E  e/\n",
        "E  ./e\nF .//f\n",
    ] {
        compare_list(directory.path(), &digest, list);
    }
}

#[test]
fn forms_of_lines() {
    let (directory, digest) = files();
    let upper = format!("{}  e\n", EMPTY.to_uppercase());
    for list in [
        "E *e\n",
        "E e\nF f\nE  e\n",
        "E  e\nF f\n",
        "E\te\n",
        "E\t e\n",
        " \t E  e\n",
        "E   e\n",
        "E  e \n",
        "E  e\r\nF  f\r\n\r\n",
        "E  e\r\r\n",
        "\\E  e\n",
        "\\E  e\\n\n",
        "\\E  e\\q\n",
        "\\E  e\\\n",
        "\\\\E  e\n",
        "E  e\\n\n",
        "E  \n",
        "E *\n",
        "E \n",
        "E\n",
        "E0  e\n",
        "0E  e\n",
        "E  e\0rest\n",
        "E  \0e\n",
        "\\E  e\0rest\n",
        "E\0  e\n",
        "E  -\n",
        &upper,
    ] {
        compare_list(directory.path(), &digest, list);
    }
}

#[test]
fn tagged_lines() {
    let (directory, digest) = files();
    for list in [
        "SHA256 (e) = E\nSHA256 (f) = F\n",
        "SHA256(e)= E\n",
        "SHA256(e)=E\n",
        "SHA256 (e)\t = \tE\n",
        "SHA256 (e) E\n",
        "SHA256 (e) = E \n",
        "SHA256 (e) = E\0x\n",
        "SHA256 (e) = EE\n",
        "SHA256 () = E\n",
        "SHA256 (a) = (b) = E\n",
        "SHA256 (e = E\n",
        "SHA256 (\n",
        "SHA256\n",
        "SHA256E  e\n",
        "sha256 (e) = E\n",
        "MD5 (e) = E\n",
        "SHA512/256 (e) = E\n",
        "\\SHA256 (e) = E\n",
        "\\SHA256 (e\\\\x) = E\n",
        "\\SHA256 (e\\) = E\n",
        "  SHA256 (e) = E\r\n",
        "SHA256 (e) = E\nE  e\nF f\n",
    ] {
        compare_list(directory.path(), &digest, list);
    }
    // RHash's, which only manysum takes, under its own name.
    let padded = format!("SHA256  (e) = {EMPTY}\n");
    compare_as("sha256sum", directory.path(), &["-c"], padded.as_bytes());
    assert_eq!(manysum(directory.path(), &["-c", "-a", "sha256"], padded.as_bytes()).stdout, b"e: OK\n");
}

#[test]
fn tags_are_those_of_the_algorithm() {
    let (directory, _) = files();
    let mut list = String::new();
    for algorithm in ALGORITHMS.into_iter().chain(["sha512-256"]) {
        let line = manysum(directory.path(), &["-a", algorithm, "f"], b"").stdout;
        let line = String::from_utf8(line).expect("a line");
        let tag = algorithm.to_uppercase().replace('-', "/");
        list += &format!("{tag} (f) = {}\n", line.split_once(' ').expect("a name").0);
    }
    for algorithm in ALGORITHMS {
        compare(algorithm, directory.path(), &["-c"], list.as_bytes());
    }
    let outcome = manysum(directory.path(), &["-a", "sha512-256", "-c"], list.as_bytes());
    assert_eq!((&outcome.stdout[..], outcome.status), (&b"f: OK\n"[..], Some(0)));
}

#[test]
fn comments_and_empty_lists() {
    let (directory, digest) = files();
    for list in
        ["", "\n", "#\n", "# E  e\n", " # E  e\n", "\r\n", "#E  e\nE  e\n\n#\nF  f\n", "bad\n", "\n\n\nbad\n", "\0\n"]
    {
        compare_list(directory.path(), &digest, list);
    }
}

#[test]
fn lists_of_hostile_names() {
    let directory = directory();
    let files = hostile_files(directory.path());
    for algorithm in ALGORITHMS {
        let list = manysum(directory.path(), &[&["-a".into(), algorithm.into()], &files[..]].concat(), b"").stdout;
        compare(algorithm, directory.path(), &["-c"], &list);
        assert_eq!(manysum(directory.path(), &["-a", algorithm, "-c"], &list).status, Some(0));
        let wrong: Vec<u8> = list.split_inclusive(|&byte| byte == b'\n').flat_map(spoil).collect();
        compare(algorithm, directory.path(), &["-c"], &wrong);
    }
    let list = manysum(directory.path(), &files, b"").stdout;
    let elsewhere = crate::common::directory();
    compare("sha256", elsewhere.path(), &["-c"], &list);
}

/// A line with another first digit.
fn spoil(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    let digit = usize::from(line[0] == b'\\');
    line[digit] = if line[digit] == b'0' { b'1' } else { b'0' };
    line
}

#[test]
fn several_lists() {
    let (directory, digest) = files();
    let write = |name: &str, list: &str| {
        let list = list.replace('E', EMPTY).replace('F', &digest);
        fs::write(directory.path().join(name), list).expect("a list");
    };
    write("good", "E  e\nF  f\n");
    write("bad list", "F  e\nE  missing\nbad\n");
    write("none", "bad\n");
    write("reversed", "E e\nF f\n");
    write("stdin", "E  e\nE  -\n");
    fs::create_dir(directory.path().join("directory")).expect("a directory");
    let stdin = format!("{EMPTY}  e\n");
    for lists in [
        &["good", "bad list", "none", "missing list", "directory", "good"][..],
        &["good", "reversed", "good"],
        &["reversed", "good"],
        &["-", "good", "-"],
        &["good", "-"],
        &["stdin", "good"],
        &["stdin", "-"],
        &["directory"],
        &["nothing"],
        &[""],
    ] {
        let arguments = [&["-c"], lists].concat();
        compare("sha256", directory.path(), &arguments, stdin.as_bytes());
    }
}

#[test]
fn a_long_list() {
    let (directory, digest) = files();
    let list = (0..3000).map(|i| if i % 1000 == 7 { "F  e\n" } else { "E  e\nF  f\n" }).collect::<String>();
    compare_list(directory.path(), &digest, &list);
}

#[test]
#[cfg(target_os = "linux")]
fn a_list_that_cannot_be_read() {
    let (directory, _) = files();
    compare("sha256", directory.path(), &["-c", "/proc/self/mem", "missing"], b"");
    let run = |program: &str| {
        let stdin = fs::File::open(directory.path()).expect("a directory");
        let mut command = std::process::Command::new(program);
        command.env("LC_ALL", "C").arg("-c").stdin(stdin).output().expect("it starts")
    };
    let ours = run(env!("CARGO_BIN_EXE_manysum"));
    assert_eq!(String::from_utf8_lossy(&ours.stderr), "manysum: 'standard input': read error\n");
    if crate::common::has_coreutils("sha256sum") {
        assert_eq!(ours.status.code(), run("sha256sum").status.code());
    }
}

#[test]
fn threads_do_not_change_the_order() {
    let (directory, digest) = files();
    let list = format!("{EMPTY}  e\n{digest}  f\n{digest}  e\n{EMPTY}  missing\nbad\n").repeat(200);
    let check = |arguments: &[&str]| {
        let outcome = manysum(directory.path(), arguments, list.as_bytes());
        Outcome { stderr: without_summary(&outcome.stderr), ..outcome }
    };
    let expected = check(&["-c"]);
    for threads in ["-j1", "-j2", "-j5"] {
        assert_eq!(check(&["-c", threads]), expected);
    }
}
