//! Lists that do not say whose digests they have, and those that might not.
#![cfg(unix)]

use crate::common::{assert_outcome, directory, manysum, run, without_summary, write};
use crate::toolbox::manifest;
use std::fs;
use std::path::Path;

/// Every function but the sums of old, which lists are not kept of.
const FUNCTIONS: [&str; 23] = [
    "md5",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512-256",
    "blake3",
    "blake2b",
    "blake2b-8",
    "blake2b-256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "sm3",
    "keccak256",
    "ripemd160",
    "crc32",
    "crc32c",
    "crc64nvme",
    "xxh3",
    "xxh128",
];

fn tree() -> tempfile::TempDir {
    let directory = directory();
    for name in ["a", "b", "sub/c"] {
        write(directory.path(), &format!("d/{name}"), name);
    }
    directory
}

fn text(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(name)).expect("a list")
}

const AS_LISTED: &str = "manyhash: 3 files: 3 as listed\n";

#[test]
fn manifests_of_every_function_are_read_as_they_were_meant() {
    let directory = tree();
    let root = directory.path();
    for function in FUNCTIONS {
        for list in ["m", &format!("m.{function}"), "B3SUMS", "m.sha256"] {
            assert_outcome(&manifest(root, &["create", "d", "-a", function, "-o", list]), 0, "", "");
            let created = text(root, list);
            assert_outcome(&manifest(root, &["verify", "d", list]), 0, "", AS_LISTED);
            assert_outcome(&manifest(root, &["update", "d", list]), 0, "", AS_LISTED);
            assert_eq!(text(root, list), created, "{function} {list}");
            let checked = manysum(&root.join("d"), &["-c", &format!("../{list}")], b"");
            assert_eq!(checked.status, Some(0), "{function} {list}: {checked:?}");
            // Lines without tags would not be believed elsewhere, and are not written.
            let is_bare = created.as_bytes()[0].is_ascii_hexdigit() && !created.contains('(');
            let gnu = manifest(root, &["create", "d", "-a", function, "--format", "gnu", "-o", list]);
            assert_eq!(gnu.status, Some(i32::from(!is_bare)), "{function} {list}");
            if !is_bare {
                let what = "this format does not show that digests are of";
                assert!(
                    String::from_utf8_lossy(&gnu.stderr).contains(&format!("{what} {function}; use bsd")),
                    "{gnu:?}"
                );
            }
            assert_eq!(text(root, list), created);
            fs::remove_file(root.join(list)).expect("it is removed");
        }
    }
}

/// A list without tags of a tool that has one function.
fn bare(root: &Path, function: &str) -> String {
    let printed = manysum(&root.join("d"), &["-t", "-a", function, "-r", "."], b"");
    String::from_utf8(printed.stdout).expect("UTF-8")
}

#[test]
fn files_tell_whose_digests_a_list_has() {
    let directory = tree();
    let root = directory.path();
    for (function, guess) in
        [("blake3", "sha256"), ("sm3", "sha256"), ("blake2b", "sha512"), ("xxh128", "md5"), ("blake2b-160", "sha1")]
    {
        let list = bare(root, function);
        write(root, "m", &list);
        let (what, use_it) = ("does not name its algorithm, which is", format!("use --algorithm {function}"));
        let refused = format!("manyhash: m: {what} {function}, not {guess}, as a shows; {use_it}\n");
        // One is enough, even if others have changed.
        write(root, "d/b", "changed");
        for task in ["verify", "update"] {
            assert_outcome(&manifest(root, &[task, "d", "m"]), 1, "", &refused);
            assert_eq!(text(root, "m"), list);
        }
        let checked = manysum(&root.join("d"), &["-c", "../m"], b"");
        let tags = ["blake3", "blake2b", "blake2b-160"].contains(&function).then(|| function.replace("blake", "BLAKE"));
        let tag =
            tags.map_or(function.to_uppercase(), |tag| if function == "blake3" { tag.to_uppercase() } else { tag });
        let shown =
            format!("its digests are {tag}, not {}, as ./a shows; check it with -a {function}", guess.to_uppercase());
        let messages = format!("manysum: WARNING: 3 computed checksums did NOT match\nmanysum: ../m: {shown}\n");
        assert_eq!(String::from_utf8_lossy(&without_summary(&checked.stderr)), messages);
        write(root, "d/b", "b");
        assert_eq!(manysum(&root.join("d"), &["-c", "../m", "-a", function], b"").status, Some(0));
        // Named, it is read and then written with tags.
        assert_outcome(&manifest(root, &["verify", "d", "m", "-a", function]), 0, "", AS_LISTED);
        assert_outcome(&manifest(root, &["update", "d", "m", "-a", function]), 0, "", AS_LISTED);
        assert_outcome(&manifest(root, &["verify", "d", "m"]), 0, "", AS_LISTED);
    }
}

#[test]
fn names_of_lists_tell() {
    let directory = tree();
    let root = directory.path();
    for (list, function) in [("B3SUMS", "blake3"), ("x.b3", "blake3"), ("B2SUMS", "blake2b"), ("x.sm3", "sm3")] {
        write(root, list, bare(root, function));
        assert_outcome(&manifest(root, &["verify", "d", list]), 0, "", AS_LISTED);
        assert_eq!(manysum(&root.join("d"), &["-c", &format!("../{list}")], b"").status, Some(0));
        // What was bare stays so.
        write(root, "d/a", "changed");
        assert_eq!(manifest(root, &["update", "d", list]).status, Some(0));
        write(root, "again", bare(root, function).replace("./", ""));
        assert_eq!(text(root, list), text(root, "again"));
        write(root, "d/a", "a");
    }
}

#[test]
fn where_no_file_tells_nothing_is_overwritten() {
    let directory = tree();
    let root = directory.path();
    let list = bare(root, "blake3");
    write(root, "m", &list);
    for name in ["a", "b", "sub/c"] {
        write(root, &format!("d/{name}"), "changed");
    }
    let changes = "a: changed\nb: changed\nsub/c: changed\n";
    let doubt = "m: no file is as listed, and it does not name its algorithm, which was taken to be sha256; \
                 name the right one with --algorithm";
    let summary = "manyhash: 3 files: 0 as listed, 3 changed\n";
    let verified = manifest(root, &["verify", "d", "m"]);
    assert_outcome(&verified, 2, changes, &format!("manyhash: {doubt}\n{summary}"));
    let updated = manifest(root, &["update", "d", "m"]);
    assert_outcome(&updated, 1, changes, &format!("manyhash: {doubt}; left unchanged\n{summary}"));
    assert_eq!(text(root, "m"), list);
    let checked = manysum(&root.join("d"), &["-c", "../m"], b"");
    let said = "../m: does not name its algorithm, which was taken to be SHA256; name the right one with -a\n";
    assert!(String::from_utf8_lossy(&checked.stderr).contains(said), "{checked:?}");
    // Whoever names the function means it.
    assert_outcome(&manifest(root, &["update", "d", "m", "-a", "blake3"]), 0, changes, summary);
    assert!(text(root, "m").starts_with("BLAKE3 (a) = "));
    // Gone and new, it says no more.
    write(root, "m", &list);
    fs::rename(root.join("d/a"), root.join("d/x")).expect("it is moved");
    fs::rename(root.join("d/b"), root.join("d/y")).expect("it is moved");
    fs::remove_file(root.join("d/sub/c")).expect("it is removed");
    assert_eq!(manifest(root, &["update", "--force", "d", "m"]).status, Some(1));
    assert_eq!(text(root, "m"), list);
}

#[test]
fn differences_of_lists_that_do_not_say() {
    let directory = tree();
    let root = directory.path();
    write(root, "bare", bare(root, "blake3"));
    assert_eq!(manifest(root, &["create", "d", "-a", "blake3", "-o", "m"]).status, Some(0));
    let what = "m: has digests of blake3, but the other manifest of sha256; one does not name its algorithm: use \
                --algorithm";
    assert_outcome(&manifest(root, &["diff", "bare", "m"]), 1, "", &format!("manyhash: {what}\n"));
    assert_outcome(&manifest(root, &["diff", "bare", "m", "-a", "blake3"]), 0, "", "");
}

#[test]
fn sets_of_known_digests() {
    let directory = tree();
    let root = directory.path();
    let list = bare(root, "blake3");
    write(root, "list", &list);
    write(root, "B3SUMS", &list);
    let build = |arguments: &[&str]| {
        let arguments = [&["known", "build", "-o", "set"], arguments].concat();
        let outcome = run(assert_cmd::cargo::cargo_bin_cmd!("manyhash"), root, &arguments, b"");
        assert_eq!(outcome.status, Some(0));
        String::from_utf8(outcome.stderr).expect("UTF-8")
    };
    let said = "manyhash: no list names its algorithm; took digests of 64 digits to be sha256; name another with \
                --algorithm\n";
    let guessed = build(&["list"]);
    assert!(guessed.starts_with("manyhash: 3 digests of sha256; ") && guessed.ends_with(said), "{guessed}");
    for told in [build(&["B3SUMS"]), build(&["list", "-a", "blake3"])] {
        assert!(told.starts_with("manyhash: 3 digests of blake3; ") && told.lines().count() == 1, "{told}");
    }
}

#[test]
fn xxh3_has_tags() {
    let directory = tree();
    let root = directory.path();
    let lines = |arguments: &[&str]| manysum(root, &[arguments, &["d/a"]].concat(), b"").stdout;
    assert!(lines(&["-a", "xxh3"]).starts_with(b"XXH3 (d/a) = "));
    // As it is asked for, and nothing else has them of itself.
    assert!(lines(&["-a", "xxh3", "-t"]).ends_with(b"  d/a\n") && lines(&["-a", "xxh128"]).ends_with(b"  d/a\n"));
}
