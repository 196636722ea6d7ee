//! `manysum -o`.
#![cfg(unix)]

use crate::common::{EMPTY, directory, manysum, run, touch};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
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

/// Runs a shell with both programs by their names.
fn shell(directory: &Path, script: &str) -> crate::common::Outcome {
    let programs = assert_cmd::cargo::cargo_bin!("manysum").parent().expect("a directory").to_owned();
    let script = format!("PATH={}:$PATH\n{script}", programs.display());
    run(assert_cmd::Command::new("bash"), directory, &["-c", &script], b"")
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/a", "private"]);
    for (mode, script) in [
        (0o600, "manysum -o private t/a"),
        (0o640, "manyhash manifest create --no-cache t -o private"),
        (0o604, "echo > t/b; manyhash manifest update --no-cache t private"),
        (0o400, "sha256sum t/a | manyhash known build - -o private"),
        (0o606, "manyhash simulate --total-size 64K --report private"),
    ] {
        fs::set_permissions(root.join("private"), fs::Permissions::from_mode(mode)).expect("a mode");
        let before = fs::metadata(root.join("private")).expect("a file");
        let outcome = shell(root, script);
        assert_eq!(outcome.status, Some(0), "{script}: {outcome:?}");
        let after = fs::metadata(root.join("private")).expect("a file");
        assert_ne!(before.ino(), after.ino(), "{script}: it is replaced");
        assert_eq!(after.mode() & 0o7777, mode, "{script}");
        if mode == 0o400 {
            fs::write(root.join("other"), "").expect("a file");
            fs::rename(root.join("other"), root.join("private")).expect("it is replaced");
        }
    }
}

/// Root gives files away, and others cannot make one that is not theirs.
#[test]
fn a_file_that_is_replaced_keeps_its_owner() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["a", "SUMS"]);
    if std::os::unix::fs::chown(root.join("SUMS"), Some(65534), Some(65533)).is_err() {
        eprintln!("skipped: only root can");
        return;
    }
    assert_eq!(written(root, &["a"]).0, Some(0));
    let there = fs::metadata(root.join("SUMS")).expect("a file");
    assert_eq!((there.uid(), there.gid()), (65534, 65533));
}

#[test]
fn what_is_no_file_is_written_to() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["a"]);
    let line = format!("{EMPTY}  a\n");
    for (script, due) in [
        ("(echo first; manysum -o /dev/stdout a; echo last) > log; cat log", format!("first\n{line}last\n")),
        ("(manysum -o /dev/stderr a; echo last >&2) 2> log; cat log", format!("{line}last\n")),
        ("echo first > log; manysum -o /dev/fd/3 a 3>> log; cat log", format!("first\n{line}")),
        ("manysum -o /dev/stdout a | cat", line.clone()),
        (
            "manysum -o >(cat > copy; mv copy copied) a; until [ -e copied ]; do sleep 0.01; done; cat copied",
            line.clone(),
        ),
        ("mkfifo pipe; cat pipe & manysum -o pipe a; wait; [ -p pipe ]", line.clone()),
        ("manysum -o /dev/null a; [ -c /dev/null ]", String::new()),
        ("manyhash manifest create --no-cache . -o /dev/stdout > log2; manysum -c log2 --quiet", String::new()),
    ] {
        let outcome = shell(root, script);
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), due, "{script}: {outcome:?}");
        for name in ["log", "log2", "copied", "pipe"] {
            let _ = fs::remove_file(root.join(name));
        }
    }
}

#[test]
fn a_file_that_is_replaced_keeps_its_access_control_list() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["a", "SUMS"]);
    let list = |root: &Path| shell(root, "getfacl -cn SUMS && getfattr -d SUMS").stdout;
    if shell(root, "chmod 640 SUMS && setfacl -m u:65534:rw SUMS && setfattr -n user.comment -v kept SUMS").status
        != Some(0)
    {
        eprintln!("skipped: no access control lists and attributes here");
        return;
    }
    let before = list(root);
    assert_eq!(written(root, &["a"]).0, Some(0));
    assert_eq!(String::from_utf8_lossy(&list(root)), String::from_utf8_lossy(&before));
    // One that its directory gives to new files is not the old one's.
    assert_eq!(shell(root, "setfacl -b SUMS && setfacl -d -m u:65534:rw .").status, Some(0));
    let before = list(root);
    assert_eq!(written(root, &["a"]).0, Some(0));
    assert_eq!(String::from_utf8_lossy(&list(root)), String::from_utf8_lossy(&before));
}
