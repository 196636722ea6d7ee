//! `manyhash known`.
#![cfg(unix)]

use crate::common::{Outcome, directory, fifo, hostile_files, hostile_names, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const A: [&str; 3] = [
    "0cc175b9c0f1b6a831c399e269772661",
    "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
    "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
];
const B: [&str; 3] = [
    "92eb5ffee6ae2fec3ad71c777531578f",
    "e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98",
    "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",
];

fn known<S: AsRef<str>>(root: &Path, arguments: &[S], input: &[u8]) -> Outcome {
    let arguments: Vec<&str> = ["known"].into_iter().chain(arguments.iter().map(AsRef::as_ref)).collect();
    run(assert_cmd::cargo::cargo_bin_cmd!("manyhash"), root, &arguments, input)
}

/// Files `a`, `b` and `sub/c` that hold their names.
fn files(root: &Path) {
    fs::create_dir(root.join("dir")).expect("a directory");
    fs::create_dir(root.join("dir/sub")).expect("a directory");
    for (name, content) in [("a", "a"), ("b", "b"), ("sub/c", "c")] {
        fs::write(root.join("dir").join(name), content).expect("a file");
    }
}

fn said(outcome: &Outcome) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&outcome.stdout), text(&outcome.stderr), outcome.status)
}

/// Builds a set of lists in this form, and says which of the files are in it.
#[track_caller]
fn built(arguments: &[&str], list: &str, about: &str) {
    let directory = directory();
    let root = directory.path();
    files(root);
    let fill = |line: &str, digests: [&str; 3]| {
        let names = ["<md5>", "<sha1>", "<sha256>"].into_iter().zip(digests);
        names.fold(line.to_owned(), |line, (name, digest)| line.replace(name, digest))
    };
    // Lines of `a` begin with an A, and so on.
    let lines: Vec<String> = list
        .split_inclusive('\n')
        .map(|line| match line.split_at_checked(2) {
            Some(("A ", line)) => fill(line, A),
            Some(("B ", line)) => fill(line, B),
            _ => line.to_owned(),
        })
        .collect();
    fs::write(root.join("list"), lines.concat()).expect("a list");
    let outcome = known(root, &[&["build", "list", "-o", "set"], arguments].concat(), b"");
    let (_, message, status) = said(&outcome);
    assert!(message.starts_with(&format!("manyhash: {about}")), "{message}");
    assert_eq!((status, outcome.stdout.len()), (Some(0), 0));
    let outcome = known(root, &["match", "set", "dir"], b"");
    let lines = "dir/a: known\ndir/b: known\ndir/sub/c: unknown\n";
    assert_eq!(said(&outcome), (lines.into(), "manyhash: 3 files: 2 known, 1 unknown\n".into(), Some(0)));
}

#[test]
fn lists_in_every_form() {
    built(&[], "A <md5>\nB <md5>", "2 digests of md5; ");
    built(&[], "A <md5>\nB <md5>\nA <md5>\n", "2 digests of md5, 1 of them repeated; ");
    built(&[], "A <sha1>  a\r\nB <sha1> *b\r\n", "2 digests of sha1; ");
    built(&["-a", "SHA-1"], "# SHA-1\n\nA <sha1>  a\nB <sha1> *b\n", "2 digests of sha1; ");
    built(&[], "A SHA256 (a) = <sha256>\nB SHA256(b)= <sha256>\n", "2 digests of sha256; ");
    let hashdeep = "%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n## Invoked from: /\n## \n";
    let lines = "A 1,<md5>,<sha256>,/a\nB 1,<md5>,<sha256>,/b,1\n";
    built(&[], &[hashdeep, lines].concat(), "2 digests of sha256; ");
    built(&["-a", "md5"], &[hashdeep, lines].concat(), "2 digests of md5; ");
    let nsrl =
        "\"SHA-1\",\"MD5\",\"CRC32\",\"FileName\",\"FileSize\",\"ProductCode\",\"OpSystemCode\",\"SpecialCode\"\r\n";
    let lines = "A \"<sha1>\",\"<md5>\",\"E8B7BE43\",\"a \"x\",1,3095,\"WIN\",\"\"\r\n\
                 B \"<sha1>\",\"<md5>\",\"71BEEFF9\",\"b\",1,3095,\"WIN\",\"\"\r\n";
    built(&[], &[nsrl, lines].concat(), "2 digests of sha1; ");
    built(&["--algorithm=md5"], &["\u{feff}", nsrl, lines].concat(), "2 digests of md5; ");
    built(&[], "x\nA <sha256>\nB <sha256>", "WARNING: 1 line has no digest of sha256\n");
}

#[test]
fn upper_case_and_standard_input() {
    let directory = directory();
    let root = directory.path();
    files(root);
    let outcome = known(root, &["build", "-", "-o", "set"], A[1].to_uppercase().as_bytes());
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let outcome = known(root, &["match", "--known", "set", "dir", "-"], b"a");
    let lines = "dir/a\n-\n";
    assert_eq!(said(&outcome), (lines.into(), "manyhash: 4 files: 2 known, 2 unknown\n".into(), Some(0)));
}

#[test]
fn what_is_wrong_with_lists() {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("md5"), format!("{}\n{}  b\n", A[0], B[0])).expect("a list");
    fs::write(root.join("tagged"), format!("MD5 (a) = {}\nSHA1 (a) = {}\n", A[0], A[1])).expect("a list");
    fs::write(root.join("sha1 columns"), format!("SHA-1,name\n{},a\n", A[1])).expect("a list");
    fs::write(root.join("junk"), "no\ndigest\n").expect("a list");
    fs::write(root.join("empty"), "").expect("a list");
    fs::write(root.join("long"), format!("{}\n{}\n", "0".repeat(300_000), A[0])).expect("a list");
    fs::write(root.join("set"), "what was there").expect("a file");
    let want = "choose one with --algorithm\n";
    for (arguments, message) in [
        (&["md5", "tagged"][..], format!("tagged: 2: a digest of sha1 among those of md5; {want}")),
        (&["md5", "sha1 columns"], format!("'sha1 columns': 1: a digest of sha1 among those of md5; {want}")),
        (&["-w", "junk", "empty"], {
            let lines = "junk: 1: no digest\nmanyhash: junk: 2: no digest\n";
            let warning = "manyhash: WARNING: 2 lines have no digest\n";
            format!("{lines}{warning}manyhash: no digest found; nothing was written\n")
        }),
        (&["empty", "-a", "md5"], "no digest of md5 found; nothing was written\n".into()),
        (&["md5", "missing"], "missing: No such file or directory\n".into()),
        (&["md5", "."], ".: Is a directory\n".into()),
        (&["--strict", "long"], {
            let warning = "WARNING: 1 line has no digest of md5\n";
            format!("{warning}manyhash: nothing was written, because of --strict\n")
        }),
    ] {
        let outcome = known(root, &[&["build", "-o", "set"], arguments].concat(), b"");
        assert_eq!(said(&outcome), (String::new(), format!("manyhash: {message}"), Some(1)));
        assert_eq!(fs::read(root.join("set")).expect("a file"), b"what was there");
    }
    // With an algorithm named, what is of another is no line.
    let outcome = known(root, &["build", "-w", "-o", "set", "-a", "md5", "tagged", "sha1 columns", "long"], b"");
    let (_, message, status) = said(&outcome);
    for line in
        ["tagged: 2: no", "'sha1 columns': 1: no", "'sha1 columns': 2: no", "long: 1: no", "1 digest of md5, 1 of"]
    {
        assert!(message.contains(&format!("manyhash: {line}")), "{message}");
    }
    assert_eq!(status, Some(0));
    // Where nothing can be written, no list is read.
    let outcome = known(root, &["build", "-o", "none/set", "missing"], b"");
    assert_eq!(said(&outcome).1, "manyhash: none/set: No such file or directory\n");
    assert_eq!(known(root, &["build", "md5"], b"").status, Some(1));
}

/// A root with a set of `a` and `b`, and the files.
fn with_set() -> tempfile::TempDir {
    let directory = directory();
    files(directory.path());
    let outcome = known(directory.path(), &["build", "-", "-o", "set"], [A[0], "\n", B[0]].concat().as_bytes());
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    directory
}

#[test]
fn what_is_printed() {
    let directory = with_set();
    let root = directory.path();
    for (arguments, lines) in [
        (&["dir"][..], "dir/a: known\ndir/b: known\ndir/sub/c: unknown\n"),
        (&["-z", "-j1", "dir"], "dir/a: known\0dir/b: known\0dir/sub/c: unknown\0"),
        (&["--known", "dir"], "dir/a\ndir/b\n"),
        (&["--unknown", "dir/sub", "dir/b"], "dir/sub/c\n"),
        (&["--unknown", "-z", "dir"], "dir/sub/c\0"),
    ] {
        let outcome = known(root, &[&["match", "set"], arguments].concat(), b"");
        assert_eq!((said(&outcome).0, outcome.status), (lines.into(), Some(0)), "{arguments:?}");
    }
    let outcome = known(root, &["match", "--json", "set", "dir/a", "dir/sub", "none"], b"");
    let objects: Vec<serde_json::Value> =
        outcome.stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(
        objects,
        [
            serde_json::json!({"name": "dir/a", "algorithm": "md5", "status": "known", "digest": A[0]}),
            serde_json::json!({
                "name": "dir/sub/c", "algorithm": "md5", "status": "unknown", "digest": "4a8a08f09d37b73795649038408b5f33"
            }),
            serde_json::json!({
                "name": "none", "algorithm": "md5", "status": "unreadable", "error": "No such file or directory"
            }),
        ]
    );
    assert_eq!((said(&outcome).1, outcome.status), ("manyhash: none: No such file or directory\n".into(), Some(1)));
    let outcome = known(root, &["match", "--json", "--known", "set", "dir"], b"");
    assert_eq!(outcome.stdout.iter().filter(|&&byte| byte == b'\n').count(), 2);
    for arguments in [&["set"][..], &["--known", "--unknown", "set", "dir"], &["--json", "-z", "set", "dir"]] {
        assert_eq!(known(root, &[&["match"], arguments].concat(), b"").status, Some(1), "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_read_fails_and_the_rest_goes_on() {
    let directory = with_set();
    let root = directory.path();
    // In a directory a pipe is passed over: nobody may ever write to it.
    fifo(&root.join("dir"), "pipe");
    let outcome = known(root, &["match", "set", "missing", "dir"], b"");
    let errors = "manyhash: missing: No such file or directory\n";
    let summary = "manyhash: 4 files: 2 known, 1 unknown, 1 unreadable\n";
    let lines = "dir/a: known\ndir/b: known\ndir/sub/c: unknown\n";
    assert_eq!(said(&outcome), (lines.into(), format!("{errors}{summary}"), Some(1)));
    fs::set_permissions(root.join("dir/a"), PermissionsExt::from_mode(0o000)).expect("permissions");
    if fs::read(root.join("dir/a")).is_err() {
        let outcome = known(root, &["match", "--unknown", "set", "dir/a"], b"");
        let message = "manyhash: dir/a: Permission denied\nmanyhash: 1 file: 0 known, 0 unknown, 1 unreadable\n";
        assert_eq!(said(&outcome), (String::new(), message.into(), Some(1)));
    }
}

#[test]
fn what_is_no_set() {
    let directory = with_set();
    let root = directory.path();
    let good = fs::read(root.join("set")).expect("a set");
    assert_eq!(good.len(), 8192);
    let changed = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let not = "not a set of known digests; build one with `manyhash known build`";
    for (bytes, message) in [
        (vec![], not.into()),
        (A[0].repeat(300).into_bytes(), not.into()),
        (good[..4000].to_vec(), not.into()),
        (changed(0), not.into()),
        (changed(24), "set of format 0, but only format 1 is supported; build it again".into()),
        (changed(32), "damaged in the 4096 bytes at offset 0; build it again".into()),
        (changed(5000), "damaged in the 4096 bytes at offset 4096; build it again".into()),
        (good[..5000].to_vec(), "has 5000 bytes instead of 8192; build it again".into()),
        ([&good[..], b"x"].concat(), "has 8193 bytes instead of 8192; build it again".to_owned()),
    ] {
        fs::write(root.join("bad set"), bytes).expect("a file");
        let outcome = known(root, &["match", "bad set", "dir"], b"");
        assert_eq!(said(&outcome), (String::new(), format!("manyhash: 'bad set': {message}\n"), Some(1)));
    }
    fifo(root, "pipe");
    for (set, message) in [("missing", "No such file or directory"), ("dir", not), ("pipe", not)] {
        let outcome = known(root, &["match", set, "dir"], b"");
        assert_eq!(said(&outcome).1, format!("manyhash: {set}: {message}\n"));
    }
}

#[test]
fn names_of_any_bytes() {
    let directory = directory();
    let root = directory.path();
    let dir = root.join("dir");
    fs::create_dir(&dir).expect("a directory");
    hostile_files(&dir);
    let list = crate::common::manysum(root, &["-r", "-a", "sha1", "dir"], b"");
    fs::write(root.join("list"), &list.stdout).expect("a list");
    let names = hostile_names().len();
    let outcome = known(root, &["build", "--strict", "list", "-o", "set"], b"");
    assert!(said(&outcome).1.starts_with(&format!("manyhash: {names} digests of sha1; ")), "{outcome:?}");
    let outcome = known(root, &["match", "--known", "set", "dir"], b"");
    // The lines are those of the list without the digests.
    let lines = list.stdout.split_inclusive(|&byte| byte == b'\n').map(|line| match line.strip_prefix(b"\\") {
        Some(line) => [b"\\", &line[42..]].concat(),
        None => line[42..].to_vec(),
    });
    assert_eq!(
        outcome.stdout.escape_ascii().to_string(),
        lines.collect::<Vec<_>>().concat().escape_ascii().to_string()
    );
    let outcome = known(root, &["match", "-z", "--known", "set", "dir"], b"");
    let mut found: Vec<_> = outcome.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty()).collect();
    let mut expected: Vec<Vec<u8>> =
        hostile_names().iter().map(|name| [b"dir/", name.as_encoded_bytes()].concat()).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// A set with any function's digests is matched by that function.
#[test]
fn every_function() {
    let directory = directory();
    let root = directory.path();
    files(root);
    for function in
        ["md5", "sha1", "sha224", "sha384", "sha512", "sha512-256", "blake3", "blake2b-8", "crc32", "xxh128"]
    {
        let tagged = crate::common::manysum(root, &["--tag", "-a", function, "dir/a"], b"");
        let bare = crate::common::manysum(root, &["-a", function, "dir/b"], b"");
        fs::write(root.join("list"), [tagged.stdout, bare.stdout].concat()).expect("a list");
        let outcome = known(root, &["build", "list", "-o", "set"], b"");
        assert!(said(&outcome).1.starts_with(&format!("manyhash: 2 digests of {function}; ")), "{outcome:?}");
        let outcome = known(root, &["match", "--unknown", "set", "dir"], b"");
        assert_eq!(said(&outcome).0, "dir/sub/c\n");
    }
}
