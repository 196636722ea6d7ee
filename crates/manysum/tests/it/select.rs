//! Which files `manysum` takes: globs, hidden names, symbolic links, and names read from a file.
#![cfg(unix)]

use crate::common::{directory, hostile_files, hostile_names, manysum, names, touch};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The files that `manysum -r` takes, without any message.
#[track_caller]
fn taken(directory: &Path, arguments: &[&str]) -> Vec<String> {
    let outcome = manysum(directory, &[&["-r"], arguments].concat(), b"");
    assert_eq!((outcome.status, String::from_utf8_lossy(&outcome.stderr)), (Some(0), "".into()), "{arguments:?}");
    names(&outcome.stdout)
}

#[test]
fn globs() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/a.rs", "t/b.c", "t/build/a.rs", "t/build/x/y.c", "t/d/build/z.rs", "t/d/a.h", "other.h"]);
    assert_eq!(taken(root, &["t", "--include=*.rs"]), ["t/a.rs", "t/build/a.rs", "t/d/build/z.rs"]);
    assert_eq!(taken(root, &["t", "--include=*.{c,h}"]), ["t/b.c", "t/build/x/y.c", "t/d/a.h"]);
    assert_eq!(taken(root, &["--include", "*.c", "--include", "*.h", "t/d", "t/build"]), ["t/d/a.h", "t/build/x/y.c"]);
    assert_eq!(taken(root, &["t", "--exclude=build"]), ["t/a.rs", "t/b.c", "t/d/a.h"]);
    assert_eq!(taken(root, &["t", "--exclude=build/*", "--exclude=*.c"]), ["t/a.rs", "t/d/a.h", "t/d/build/z.rs"]);
    assert_eq!(taken(root, &["t", "--include=d/**", "--exclude=[a-m].*"]), ["t/d/build/z.rs"]);
    // As in gitignore: a slash at the beginning is the directory named, and one at the end is for directories.
    assert_eq!(taken(root, &["t", "--exclude=/build"]), ["t/a.rs", "t/b.c", "t/d/a.h", "t/d/build/z.rs"]);
    assert_eq!(taken(root, &["t", "--include=/*.rs"]), ["t/a.rs"]);
    assert_eq!(taken(root, &["t/", "--exclude=build/", "--exclude=b.c/"]), ["t/a.rs", "t/b.c", "t/d/a.h"]);
    // What is named is taken.
    assert_eq!(taken(root, &["t/build", "other.h", "--exclude=*.h", "--exclude=build"]).last().unwrap(), "other.h");
    assert_eq!(taken(root, &["t/build", "--exclude=build"]), ["t/build/a.rs", "t/build/x/y.c"]);
}

#[test]
fn hidden_names() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/.hidden", "t/.git/x", "t/shown", ".t/x"]);
    assert_eq!(taken(root, &["t"]), ["t/.git/x", "t/.hidden", "t/shown"]);
    assert_eq!(taken(root, &["t", ".t", "--no-hidden"]), ["t/shown", ".t/x"]);
    assert_eq!(taken(root, &["t", "--no-hidden", "--hidden"]).len(), 3);
    assert_eq!(taken(root, &["t", "--hidden", "--no-hidden"]).len(), 1);
    let outcome = manysum(&root.join("t"), &["-r", ".", "--no-hidden"], b"");
    assert_eq!(names(&outcome.stdout), ["./shown"]);
}

#[test]
fn links_are_followed() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/file", "elsewhere/other"]);
    symlink("../elsewhere", root.join("t/way")).expect("a link");
    symlink("file", root.join("t/link")).expect("a link");
    assert_eq!(taken(root, &["t"]), ["t/file"]);
    assert_eq!(taken(root, &["t", "--follow"]), ["t/file", "t/link", "t/way/other"]);

    symlink("..", root.join("elsewhere/back")).expect("a link");
    symlink("nowhere", root.join("t/dangling")).expect("a link");
    symlink(".", root.join("t/loop")).expect("a link");
    let outcome = manysum(root, &["-r", "--follow", "t"], b"");
    let lines = names(&outcome.stdout);
    assert!(["t/file", "t/link", "t/way/other"].iter().all(|name| lines.iter().any(|line| line == name)), "{lines:?}");
    let messages = String::from_utf8_lossy(&outcome.stderr);
    assert!(messages.contains("manysum: t/dangling: No such file or directory\n"), "{messages}");
    assert!(messages.contains("manysum: t/loop: symbolic link leads back to a directory above it\n"), "{messages}");
    assert_eq!(outcome.status, Some(1));
}

#[test]
#[cfg(target_os = "linux")]
fn other_file_systems_are_left_out() {
    use std::os::unix::fs::MetadataExt;
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/file"]);
    let device = |path: &Path| fs::metadata(path).expect("a directory").dev();
    let other = Path::new("/proc/sys/kernel/random");
    assert_ne!(device(root), device(other));
    symlink(other, root.join("t/link")).expect("a link");
    assert_eq!(taken(root, &["t", "--follow", "--one-file-system"]), ["t/file"]);
}

#[test]
fn names_from_a_file() {
    let directory = directory();
    let root = directory.path();
    let files = hostile_files(root);
    let expected = manysum(root, &files, b"");
    let mut list = Vec::new();
    for name in hostile_names() {
        list.extend_from_slice(name.as_encoded_bytes());
        list.push(0);
    }
    assert_eq!(manysum(root, &["--files-from", "-", "--from0"], &list), expected);
    fs::write(root.join("list"), list.strip_suffix(&[0]).expect("an end")).expect("a list");
    assert_eq!(manysum(root, &["--from0", "--files-from=list"], b""), expected);

    let outcome = manysum(root, &["--files-from=-"], b"plain\n leading\nmissing\n\n-\nreturn\r\n");
    let arguments = ["plain", " leading", "missing", "", "./-", "return\r"];
    let mut expected = manysum(root, &arguments, b"");
    expected.stderr = String::from_utf8_lossy(&expected.stderr).replace("./-", "-").into_bytes();
    assert_eq!(outcome, expected);
}

#[test]
fn directories_from_a_file() {
    let directory = directory();
    touch(directory.path(), &["t/x", "t/y", "u"]);
    let outcome = manysum(directory.path(), &["-r", "--files-from", "-", "--exclude=y"], b"u\nt\n");
    assert_eq!(names(&outcome.stdout), ["u", "t/x"]);
    let outcome = manysum(directory.path(), &["--files-from", "-"], b"");
    assert_eq!((outcome.stdout, outcome.status), (Vec::new(), Some(0)));
}

#[test]
fn a_list_of_names_that_cannot_be_read() {
    let directory = directory();
    fs::create_dir(directory.path().join("dir")).expect("a directory");
    for (list, message) in [("none", "No such file or directory"), ("dir", "Is a directory")] {
        let outcome = manysum(directory.path(), &["--files-from", list], b"");
        let expected = format!("manysum: {list}: {message}\n");
        assert_eq!((String::from_utf8_lossy(&outcome.stderr), outcome.status), (expected.into(), Some(1)));
    }
}

#[test]
fn options_that_need_others() {
    let directory = directory();
    for arguments in [
        &["--include=x"][..],
        &["--exclude=x"],
        &["--hidden"],
        &["--no-hidden"],
        &["--follow"],
        &["--one-file-system"],
        &["--from0"],
        &["--files-from=-", "file"],
        &["--files-from=-", "-c"],
        &["-r", "--include=["],
        &["-r", "--include=x/"],
        &["-r", "--exclude=./x"],
    ] {
        let outcome = manysum(directory.path(), arguments, b"");
        assert_eq!((outcome.status, outcome.stdout.len()), (Some(1), 0), "{arguments:?}");
        assert!(!outcome.stderr.is_empty());
        // Under the name of a tool there are none of these.
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        assert_eq!(
            crate::common::run(crate::common::manysum_as("md5sum"), directory.path(), &arguments, b"").status,
            Some(1)
        );
    }
}
