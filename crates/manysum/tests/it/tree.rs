//! `manysum -r`.
#![cfg(unix)]

use crate::common::{directory, fifo, has_coreutils, hostile_files, manysum, name, names, run, touch, without_summary};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

#[test]
fn entries_are_sorted_by_the_bytes_of_their_names() {
    let directory = directory();
    touch(directory.path(), &["t/b", "t/a/z", "t/a.x", "t/a/B", "t/a-", "t/Z/\u{ef}", "t/Z/z", "t/10", "t/9", "u/x"]);
    let outcome = manysum(directory.path(), &["-r", "u", "t/", "t/b"], b"");
    let expected = ["u/x", "t/10", "t/9", "t/Z/z", "t/Z/\u{ef}", "t/a/B", "t/a/z", "t/a-", "t/a.x", "t/b", "t/b"];
    assert_eq!(names(&outcome.stdout), expected);
    assert_eq!((outcome.status, outcome.stderr), (Some(0), Vec::new()));
}

#[test]
fn only_regular_files_of_a_tree_are_taken() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/file", "elsewhere/other"]);
    fifo(root, "t/fifo");
    let _socket = std::os::unix::net::UnixListener::bind(root.join("t/socket")).expect("a socket");
    symlink("file", root.join("t/link")).expect("a link");
    symlink("..", root.join("t/up")).expect("a link");
    symlink("nowhere", root.join("t/dangling")).expect("a link");
    symlink("elsewhere", root.join("way")).expect("a link");
    symlink("t/file", root.join("file")).expect("a link");
    let outcome = manysum(root, &["-r", "t", "way", "file", "elsewhere/other"], b"");
    assert_eq!(names(&outcome.stdout), ["t/file", "way/other", "file", "elsewhere/other"]);
    assert_eq!((outcome.status, outcome.stderr), (Some(0), Vec::new()));
}

#[test]
fn arguments_are_taken_for_what_they_are() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/file"]);
    symlink("nowhere", root.join("dangling")).expect("a link");
    let path = fifo(root, "fifo");
    let writer = std::thread::spawn(move || fs::write(path, "").expect("a reader"));
    let outcome = manysum(root, &["--recursive", "missing", "fifo", "t", "dangling", "-"], b"");
    writer.join().expect("it is written");
    assert_eq!(names(&outcome.stdout), ["fifo", "t/file", "-"]);
    let messages = "manysum: missing: No such file or directory\nmanysum: dangling: No such file or directory\n";
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), messages);
    assert_eq!(outcome.status, Some(1));
}

#[test]
fn empty_directories_have_no_lines() {
    let directory = directory();
    fs::create_dir_all(directory.path().join("a/b")).expect("directories");
    let outcome = manysum(directory.path(), &["-r", "a", "."], b"");
    assert_eq!((outcome.stdout, outcome.stderr, outcome.status), (Vec::new(), Vec::new(), Some(0)));
}

#[test]
fn an_unreadable_directory_is_reported_and_the_others_are_read() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/a", "t/b/hidden", "t/c"]);
    let locked = root.join("t/b");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("a mode");
    // Root reads whatever it likes.
    let readable = fs::read_dir(&locked).is_ok();
    let outcome = manysum(root, &["-r", "t"], b"");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).expect("a mode");
    if readable {
        assert_eq!(names(&outcome.stdout), ["t/a", "t/b/hidden", "t/c"]);
        assert_eq!((outcome.status, outcome.stderr), (Some(0), Vec::new()));
    } else {
        assert_eq!(names(&outcome.stdout), ["t/a", "t/c"]);
        assert_eq!(String::from_utf8_lossy(&outcome.stderr), "manysum: t/b: Permission denied\n");
        assert_eq!(outcome.status, Some(1));
    }
}

#[test]
fn deep_trees() {
    let directory = directory();
    let deep = format!("t/{}file", "d/".repeat(300));
    touch(directory.path(), &[&deep]);
    let outcome = manysum(directory.path(), &["-r", "t"], b"");
    assert_eq!(names(&outcome.stdout), [deep]);
}

#[test]
fn the_same_lines_as_find_and_sha256sum() {
    if !has_coreutils("sha256sum") {
        return;
    }
    let directory = directory();
    let root = directory.path();
    for sub in ["t", "t/s\npace d", "t/s\npace d/dir\\", "t/-z"] {
        fs::create_dir(root.join(sub)).expect("a directory");
        hostile_files(&root.join(sub));
    }
    fs::create_dir(root.join("t").join(name(b"bytes\xf0"))).expect("a directory");
    hostile_files(&root.join("t").join(name(b"bytes\xf0")));
    let script = "find t -type f -print0 | sort -z | xargs -0 sha256sum --";
    let expected = Command::new("sh").args(["-c", script]).env("LC_ALL", "C").current_dir(root).output();
    let expected = expected.expect("a shell").stdout;
    let outcome = manysum(root, &["-r", "t"], b"");
    assert_eq!((outcome.status, outcome.stderr), (Some(0), Vec::new()));
    // The orders differ: `find` gives whole paths to `sort`.
    assert_eq!(sorted(&outcome.stdout), sorted(&expected));
    assert!(!expected.is_empty());

    // What it writes, both programs verify.
    let arguments: Vec<OsString> = vec!["-c".into(), "-".into()];
    let mut verified = manysum(root, &arguments, &outcome.stdout);
    verified.stderr = without_summary(&verified.stderr);
    assert_eq!(verified, run(assert_cmd::Command::new("sha256sum"), root, &arguments, &outcome.stdout));
    assert_eq!(verified.status, Some(0));
}

fn sorted(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = text.split(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// Paths may be longer than the system takes at once.
#[test]
#[cfg(target_os = "linux")]
fn trees_deeper_than_a_path() {
    let directory = directory();
    let root = directory.path();
    // Each level is made from the one before.
    let script =
        "name=$(printf 'd%.0s' {1..200}); for i in {1..50}; do mkdir $name && cd -P $name && : > f && : > g.tmp; done";
    let outcome = run(assert_cmd::Command::new("bash"), root, &["-ec", script], b"");
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let level = "d".repeat(200) + "/";
    let due: Vec<String> = (1..=50).rev().map(|depth| format!("./{}f", level.repeat(depth))).collect();
    for arguments in [&["-r", ".", "--exclude", "*.tmp"][..], &["-r", ".", "--include", "f", "--one-file-system"]] {
        let outcome = manysum(root, arguments, b"");
        assert_eq!((outcome.status, outcome.stderr), (Some(0), Vec::new()));
        assert_eq!(names(&outcome.stdout), due);
        let checked = manysum(root, &["-c", "--quiet"], &outcome.stdout);
        assert_eq!((checked.status, checked.stdout), (Some(0), Vec::new()));
    }
    // A link to a directory above would not be known for one.
    let outcome = manysum(root, &["-r", ".", "--follow"], b"");
    assert_eq!(outcome.status, Some(1));
    assert!(String::from_utf8_lossy(&outcome.stderr).ends_with(": File name too long\n"));
    assert_eq!(names(&outcome.stdout).len(), 2 * 20);
    assert_eq!(run(assert_cmd::Command::new("rm"), root, &["-rf", &"d".repeat(200)], b"").status, Some(0));
}
