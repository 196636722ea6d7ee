//! `manysum -c` with the lists of other tools.
#![cfg(unix)]

use crate::common::{Outcome, directory, hostile_files, hostile_names, manysum, manysum_as, run, without_summary};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// MD5, SHA-1, SHA-256 and CRC-32 of `abc`.
const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";
const SHA1: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";
const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const CRC32: &str = "352441C2";

/// A directory with `a`, `b, c` and `bag/data/a`, which hold `abc`, and an empty file `e`.
fn files() -> TempDir {
    let directory = directory();
    let root = directory.path();
    fs::create_dir_all(root.join("bag/data")).expect("a directory");
    for name in ["a", "b, c", "bag/data/a"] {
        fs::write(root.join(name), "abc").expect("a file");
    }
    fs::write(root.join("e"), "").expect("a file");
    directory
}

/// What comes of a list, the digests of `abc` in place of their functions' names.
fn check_as(root: &Path, name: &str, list: &str, arguments: &[&str]) -> Outcome {
    let list = list.replace("[MD5]", MD5).replace("[SHA1]", SHA1).replace("[SHA256]", SHA256).replace("[CRC32]", CRC32);
    fs::write(root.join(name), list).expect("a list");
    manysum(root, &[&["-c"], arguments, &[name]].concat(), b"")
}

#[track_caller]
fn says(outcome: &Outcome, stdout: &str, stderr: &str, status: i32) {
    let messages = String::from_utf8(without_summary(&outcome.stderr)).expect("UTF-8");
    assert_eq!((String::from_utf8_lossy(&outcome.stdout).as_ref(), messages.as_str()), (stdout, stderr));
    assert_eq!(outcome.status, Some(status));
}

#[test]
fn the_list_says_whose_digests_they_are() {
    let directory = files();
    let root = directory.path();
    for (name, list) in [
        ("list", "[MD5]  a\n[MD5]  b, c\n"),
        ("list", "[MD5]  a\n[SHA256]  b, c\n"),
        ("list", "[SHA1] a\n[MD5] b, c\n"),
        ("list", "MD5 (a) = [MD5]\r\nSHA1 (b, c) = [SHA1]\r\n"),
        ("list", "SHA2-256(a)= [SHA256]\nCRC32 (b, c) = [CRC32]\n"),
        ("list", "         3  [MD5]  a\n         3  [MD5]  b, c\n"),
        (
            "list",
            "%%%% HASHDEEP-1.0\n%%%% size,md5,tiger,sha1,filename\n## c\n3,[MD5],00,[SHA1],a\n3,[MD5],,[SHA1],b, c\n",
        ),
        ("list", "1219131554 3 a\n1219131554 3 b, c\n"),
        ("list.sfv", "; c\na [CRC32]\nb, c [CRC32]\n"),
        (
            "list",
            "{\"name\": \"a\", \"algorithm\": \"md5\", \"digest\": \"[MD5]\"}\n\
             {\"name\": \"\", \"name_hex\": \"622c2063\", \"algorithm\": \"sha1\", \"digest\": \"[SHA1]\"}\n",
        ),
    ] {
        says(&check_as(root, name, list, &[]), "a: OK\nb, c: OK\n", "", 0);
        let upper = list.replace("[MD5]", &MD5.to_uppercase()).replace("[SHA1]", &SHA1.to_uppercase());
        says(&check_as(root, name, &upper, &[]), "a: OK\nb, c: OK\n", "", 0);
    }
    let list = "[MD5]  ./a\n[MD5]  ./bag/../a\n";
    says(&check_as(root, "list", list, &[]), "./a: OK\n./bag/../a: OK\n", "", 0);
    // Whoever names an algorithm means it.
    let nothing = "manysum: list: no properly formatted checksum lines found\n";
    says(&check_as(root, "list", list, &["-a", "sha256"]), "", nothing, 1);
}

#[test]
fn bags() {
    let directory = files();
    let root = directory.path();
    fs::write(root.join("bag/data/100%\r\n"), "abc").expect("a file");
    let manifest = "[MD5]  data/a\n[MD5]\tdata/100%25%0D%0A\n";
    let stdout = "bag/data/a: OK\n\\bag/data/100%\\r\\n: OK\n";
    says(&check_as(root, "bag/manifest-md5.txt", manifest, &[]), stdout, "", 0);
    // From within, too.
    let within = manysum(&root.join("bag"), &["-c", "manifest-md5.txt"], b"");
    says(&within, "data/a: OK\n\\data/100%\\r\\n: OK\n", "", 0);
    let digest = manysum(root, &["-a", "sha512", "bag/manifest-md5.txt"], b"").stdout;
    let digest = String::from_utf8_lossy(&digest).split_once(' ').expect("a digest").0.to_owned();
    let tags = format!("{digest} manifest-md5.txt\n{digest} ../a\n");
    let outcome = check_as(root, "bag/tagmanifest-sha512.txt", &tags, &["--strict"]);
    says(&outcome, "bag/manifest-md5.txt: OK\n", "manysum: WARNING: 1 line is improperly formatted\n", 1);
}

#[test]
fn a_line_of_several_digests_needs_all() {
    let directory = files();
    let root = directory.path();
    let wrong = SHA1.replace("a999", "b999");
    let list = format!("%%%% HASHDEEP-1.0\n%%%% size,md5,sha1,filename\n3,[MD5],{wrong},a\n3,[MD5],[SHA1],b, c\n");
    let failed = "manysum: WARNING: 1 computed checksum did NOT match\n";
    says(&check_as(root, "list", &list, &[]), "a: FAILED\nb, c: OK\n", failed, 1);
    says(&check_as(root, "list", &list, &["-a", "md5"]), "a: OK\nb, c: OK\n", "", 0);
    let json = String::from_utf8(check_as(root, "list", &list, &["--json", "--quiet"]).stdout).expect("UTF-8");
    let expected = format!(
        "{{\"name\":\"a\",\"algorithm\":\"md5\",\"status\":\"ok\",\"digest\":\"{MD5}\"}}\n\
         {{\"name\":\"a\",\"algorithm\":\"sha1\",\"status\":\"failed\",\"digest\":\"{SHA1}\"}}\n"
    );
    assert_eq!(json, expected);
}

#[test]
fn lines_of_one_file_are_one_file() {
    let directory = files();
    let root = directory.path();
    let list = manysum(root, &["-a", "md5,sha256,blake3", "a", "e"], b"").stdout;
    let list = String::from_utf8(list).expect("UTF-8");
    let outcome = check_as(root, "list", &list, &[]);
    says(&outcome, "a: OK\na: OK\na: OK\ne: OK\ne: OK\ne: OK\n", "", 0);
    let summary = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(summary.starts_with("manysum: 2 files, 3 B: 2 ok; "), "{summary}");
    // A digest that is listed again is checked again.
    let twice = "[MD5]  a\n[MD5]  a\nMD5 (a) = d41d8cd98f00b204e9800998ecf8427e\n";
    let failed = "manysum: WARNING: 1 computed checksum did NOT match\n";
    says(&check_as(root, "list", twice, &[]), "a: OK\na: OK\na: FAILED\n", failed, 1);
    // From a pipe all is computed in one read.
    let pipe = manysum(root, &["-c", "list", "-"], b"x");
    assert_eq!(pipe.status, Some(1));
    fs::write(root.join("pipe"), "MD5 (-) = [MD5]\nSHA1 (-) = [SHA1]\n".replace("[MD5]", MD5).replace("[SHA1]", SHA1))
        .expect("a list");
    says(&manysum(root, &["-c", "pipe"], b"abc"), "-: OK\n-: OK\n", "", 0);
}

#[test]
fn lines_that_cannot_be_read() {
    let directory = files();
    let root = directory.path();
    let outcome = check_as(root, "list", "bad\n[MD5]  a\nbad\n[SHA1]  a\n[SHA256]  e\nbad\n[MD5]  gone\n", &["-w"]);
    let stderr = "manysum: list: 1: improperly formatted checksum line\n\
                  manysum: list: 3: improperly formatted checksum line\n\
                  manysum: list: 6: improperly formatted checksum line\n\
                  manysum: gone: No such file or directory\n\
                  manysum: WARNING: 3 lines are improperly formatted\n\
                  manysum: WARNING: 1 listed file could not be read\n\
                  manysum: WARNING: 1 computed checksum did NOT match\n";
    says(&outcome, "a: OK\na: OK\ne: FAILED\ngone: FAILED open or read\n", stderr, 1);
    let outcome = check_as(root, "x.sfv", "a [CRC32]\na 00\n", &["-w", "-a", "crc32"]);
    let stderr = "manysum: x.sfv: 2: improperly formatted CRC32 checksum line\n\
                  manysum: WARNING: 1 line is improperly formatted\n";
    says(&outcome, "a: OK\n", stderr, 0);
    assert_eq!(check_as(root, "x.sfv", "a [CRC32]\na 00\n", &["--strict"]).status, Some(1));
}

#[test]
fn the_summary() {
    let directory = files();
    let root = directory.path();
    let list = "[MD5]  a\n[SHA1]  b, c\n[MD5]  e\n[SHA256]  gone\n[SHA256]  bag\n";
    let summary = |arguments: &[&str]| {
        let outcome = check_as(root, "list", list, arguments);
        let text = String::from_utf8(outcome.stderr).expect("UTF-8");
        text.lines().last().unwrap_or_default().to_owned()
    };
    for arguments in [&[][..], &["-w"], &["--json"], &["--strict"]] {
        let line = summary(arguments);
        let (counts, time) = line.split_once("; ").expect("a time");
        assert_eq!(counts, "manysum: 5 files, 6 B: 2 ok, 1 failed, 1 missing, 1 unreadable");
        let (time, rate) = time.split_once(", ").expect("a rate");
        assert!(["µs", "ms", " s"].iter().any(|unit| time.ends_with(unit)) && rate.ends_with("B/s"), "{line}");
    }
    for arguments in [["--quiet"], ["--status"]] {
        assert!(!summary(&arguments).contains(" files, "));
    }
    // A file's own line says all of it.
    assert_eq!(check_as(root, "list", "[MD5]  a\n", &[]).stderr, b"");
    assert!(summary(&["--ignore-missing"]).contains("5 files, 6 B: 2 ok, 1 failed, 1 missing, 1 unreadable; "));
}

#[test]
fn hostile_names_through_every_format() {
    let directory = directory();
    let root = directory.path();
    let files = hostile_files(root);
    let expected = hostile_names().len();
    for options in
        [&["--json"][..], &["--json", "-a", "md5,sha512,blake3"], &["--tag", "-a", "blake2b-256"], &["-a", "md5"]]
    {
        let arguments: Vec<OsString> = options.iter().map(OsString::from).chain(files.iter().cloned()).collect();
        let list = manysum(root, &arguments, b"").stdout;
        let outcome = manysum(root, &["-c"], &list);
        let summary = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(
            summary.starts_with(&format!("manysum: {expected} files, "))
                && summary.contains(&format!(": {expected} ok;"))
        );
        assert_eq!(outcome.status, Some(0), "{options:?}");
    }
}

#[test]
fn the_tools_of_coreutils_read_none_of_it() {
    let directory = files();
    let root = directory.path();
    for (name, list) in [
        ("list", "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n3,[MD5],a\n"),
        ("list", "3  [MD5]  a\n"),
        ("list", "MD-5 (a) = [MD5]\n"),
        ("list", "{\"name\": \"a\", \"algorithm\": \"md5\", \"digest\": \"[MD5]\"}\n"),
        ("list.sfv", "a [CRC32]\n"),
    ] {
        assert_eq!(check_as(root, name, list, &[]).status, Some(0), "{list}");
        let outcome = run(manysum_as("md5sum"), root, &["-c", name], b"");
        assert_eq!((outcome.stdout.len(), outcome.status), (0, Some(1)), "{list}");
    }
}
