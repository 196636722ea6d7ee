//! `manyhash dups`.
#![cfg(unix)]

use crate::common::{Outcome, content, directory, name, write};
use crate::toolbox::{dups, dups_with_home};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

/// The same with one byte changed.
fn changed(mut content: Vec<u8>, at: usize) -> Vec<u8> {
    content[at] ^= 1;
    content
}

#[track_caller]
fn assert_text(outcome: &Outcome, text: &str, summary: &str) {
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), text);
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), format!("manyhash: {summary}\n"));
    assert_eq!(outcome.status, Some(0));
}

#[test]
fn groups_of_files_with_the_same_content() {
    let directory = directory();
    let root = directory.path();
    for name in ["b/one", "a/one", "a/again"] {
        write(root, name, "same");
    }
    for name in ["a/long", "b/long"] {
        write(root, name, content(100_000));
    }
    // Another beginning, middle or end; another size; and no bytes at all.
    for (name, at) in [("a/begin", 0), ("a/middle", 50_000), ("a/end", 99_999)] {
        write(root, name, changed(content(100_000), at));
    }
    write(root, "a/longer", content(100_001));
    write(root, "a/empty", "");
    write(root, "b/empty", "");
    // Further names and links are no duplicates; those of one follow it.
    fs::hard_link(root.join("a/long"), root.join("a/name")).expect("a hard link");
    symlink("one", root.join("a/symbolic")).expect("a link");
    symlink("loop", root.join("a/loop")).expect("a link");
    let long = "100000 bytes each:\na/long\nb/long\n";
    let short = "4 bytes each:\na/again\na/one\nb/one\n";
    let summary = "3 duplicates in 2 groups, 100.01 kB wasted";
    for arguments in [&["."][..], &["-a", "md5", "."], &["-a", "sha3-256", "-j", "1", "."]] {
        let there = |text: &str| text.replace("\na/", "\n./a/").replace("\nb/", "\n./b/");
        assert_text(&dups(root, arguments), &format!("{}\n{}", there(short), there(long)), summary);
    }
    // The order of the arguments decides, and no file counts twice.
    let short = "4 bytes each:\nb/one\na/again\na/one\n";
    let long = "100000 bytes each:\nb/long\na/long\na/name\n";
    assert_text(&dups(root, &["b", "a", "a", "b/one"]), &format!("{long}\n{short}"), summary);
    assert_text(&dups(root, &["b"]), "", "no duplicates");
}

/// Around the lengths at which ends overlap, and of which all is read at once.
#[test]
fn lengths_around_the_ends() {
    let directory = directory();
    let root = directory.path();
    for bytes in [1, 4095, 4096, 4097, 8191, 8192, 8193, 12_288] {
        for (name, content) in [("a", content(bytes)), ("b", content(bytes)), ("c", changed(content(bytes), bytes / 2))]
        {
            write(root, &format!("{bytes}/{name}"), content);
        }
        let unit = if bytes == 1 { "byte" } else { "bytes" };
        let outcome = dups(root, &[&bytes.to_string()]);
        let text = format!("{bytes} {unit} each:\n{bytes}/a\n{bytes}/b\n");
        assert_eq!((String::from_utf8_lossy(&outcome.stdout).as_ref(), outcome.status), (&*text, Some(0)));
    }
}

#[test]
fn names_of_any_bytes() {
    let directory = directory();
    let root = directory.path();
    for bytes in [&b"new\nline"[..], b"back\\slash", b"\xff\xfe", b"-delete"] {
        fs::write(root.join(name(bytes)), "x").expect("a file");
    }
    let outcome = dups(root, &["."]);
    assert_eq!(outcome.stdout, b"1 byte each:\n./-delete\n\\./back\\\\slash\n\\./new\\nline\n./\xff\xfe\n");
    let outcome = dups(root, &["--json", "-a", "md5", "."]);
    let object: serde_json::Value = serde_json::from_slice(&outcome.stdout).expect("an object");
    assert_eq!(
        object,
        serde_json::json!({
            "size": 1, "wasted": 3, "algorithm": "md5", "digest": "9dd4e461268c8034f5c8564e155c67a6",
            "files": [
                {"name": "./-delete"}, {"name": "./back\\slash"}, {"name": "./new\nline"},
                {"name": "./\u{fffd}\u{fffd}", "name_hex": "2e2ffffe"},
            ],
        })
    );
    assert!(outcome.stderr.is_empty());
    let outcome = dups(root, &["--zero", "."]);
    assert_eq!(outcome.stdout, b"1 byte each:\0./-delete\0./back\\slash\0./new\nline\0./\xff\xfe\0");
    assert_eq!(dups(root, &["--zero", "--json", "."]).status, Some(1));
}

#[test]
fn what_cannot_be_looked_at_is_said() {
    let directory = directory();
    let root = directory.path();
    write(root, "a", "x");
    symlink("nowhere", root.join("dangling")).expect("a link");
    let outcome = dups(root, &["a", "missing", "dangling"]);
    let errors = "manyhash: missing: No such file or directory\nmanyhash: dangling: No such file or directory\n";
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), format!("{errors}manyhash: no duplicates\n"));
    assert_eq!(outcome.status, Some(1));
    for arguments in [&[][..], &["--yes", "."], &["--delete", "--hardlink", "."], &["-a", "md6", "."]] {
        assert_eq!(dups(root, arguments).status, Some(1), "{arguments:?}");
    }
}

#[test]
fn nothing_is_changed_unless_it_was_confirmed() {
    let directory = directory();
    let root = directory.path();
    write(root, "a", "same");
    write(root, "b", "same");
    for option in ["--delete", "--hardlink", "--reflink"] {
        let outcome = dups(root, &[option, "."]);
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(said.contains("--yes is needed") && outcome.status == Some(1), "{said}");
        assert_ne!(inode(root, "a"), inode(root, "b"));
    }
}

fn inode(root: &Path, name: &str) -> u64 {
    fs::metadata(root.join(name)).expect("a file").ino()
}

#[test]
fn all_but_the_first_are_deleted() {
    let directory = directory();
    let root = directory.path();
    for name in ["keep/c", "a", "b", "other"] {
        write(root, name, content(if name == "other" { 9 } else { 10_000 }));
    }
    let outcome = dups(root, &["--delete", "--yes", "keep", "."]);
    assert!(String::from_utf8_lossy(&outcome.stderr).ends_with("2 files deleted\n"));
    let names: Vec<bool> = ["keep/c", "a", "b", "other"].iter().map(|name| root.join(name).exists()).collect();
    assert_eq!((names, outcome.status), (vec![true, false, false, true], Some(0)));
    assert_eq!(fs::read(root.join("keep/c")).expect("a file"), content(10_000));
}

#[test]
fn duplicates_become_names_of_the_first() {
    let directory = directory();
    let root = directory.path();
    for name in ["real", "t/a", "t/b"] {
        write(root, name, content(5000));
    }
    // Named by a symbolic link, the file itself is what is linked to.
    symlink("real", root.join("link")).expect("a link");
    let outcome = dups(root, &["--hardlink", "--yes", "link", "t"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert_eq!((inode(root, "t/a"), inode(root, "t/b")), (inode(root, "real"), inode(root, "real")));
    assert!(!root.join("t/a").is_symlink() && root.join("link").is_symlink());
    assert_eq!(fs::read_dir(root.join("t")).expect("a directory").count(), 2);
    assert_text(&dups(root, &["."]), "", "no duplicates");
}

/// All names of a duplicate go at once, and those of the first file stay.
#[test]
fn names_of_duplicates() {
    for option in ["--delete", "--hardlink"] {
        let directory = directory();
        let root = directory.path();
        write(root, "a/x", content(5000));
        write(root, "b/x", content(5000));
        fs::hard_link(root.join("a/x"), root.join("a/y")).expect("a link");
        for name in ["b/y", "c", "z"] {
            fs::hard_link(root.join("b/x"), root.join(name)).expect("a link");
        }
        let found = "5000 bytes each:\na/x\nb/x\nb/y\nc\n";
        assert_text(&dups(root, &["a", "b", "./b/../b", "c"]), found, "1 duplicate in 1 group, 5.00 kB wasted");
        let outcome = dups(root, &["--json", "a", "b", "c"]);
        let object: serde_json::Value = serde_json::from_slice(&outcome.stdout).expect("an object");
        let files = serde_json::json!([
            {"name": "a/x", "links": [{"name": "a/y"}]},
            {"name": "b/x", "links": [{"name": "b/y"}, {"name": "c"}]},
        ]);
        assert_eq!(object["files"], files);
        // One name is outside of what was named.
        let outcome = dups(root, &[option, "--yes", "a", "b", "c", "b/x"]);
        let done = if option == "--delete" { "1 file deleted\n" } else { "1 file replaced by hard links\n" };
        assert!(String::from_utf8_lossy(&outcome.stderr).ends_with(done) && outcome.status == Some(0), "{outcome:?}");
        assert_eq!(inode(root, "a/x"), inode(root, "a/y"));
        assert_ne!(inode(root, "a/x"), inode(root, "z"));
        for name in ["b/x", "b/y", "c"] {
            match option {
                "--delete" => assert!(!root.join(name).exists()),
                _ => assert_eq!(inode(root, name), inode(root, "a/x")),
            }
        }
        assert_eq!(
            fs::read_dir(root.join("b")).expect("a directory").count(),
            if option == "--delete" { 0 } else { 2 }
        );
    }
}

/// More names than are set aside at once.
#[test]
fn a_duplicate_of_many_names() {
    let directory = directory();
    let root = directory.path();
    write(root, "a", "same");
    write(root, "d/0", "same");
    for i in 1..100 {
        fs::hard_link(root.join("d/0"), root.join(format!("d/{i}"))).expect("a link");
    }
    let outcome = dups(root, &["--hardlink", "--yes", "a", "d"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert_eq!(fs::metadata(root.join("a")).expect("a file").nlink(), 101);
    assert_eq!(fs::read_dir(root.join("d")).expect("a directory").count(), 100);
}

/// Files with other permissions are not made one, unless that is asked for, but those with the same are.
#[test]
fn attributes_are_kept_apart() {
    let directory = directory();
    let root = directory.path();
    for (name, mode) in [("a", 0o644), ("b", 0o600), ("c", 0o600), ("d", 0o644)] {
        write(root, name, "same");
        fs::set_permissions(root.join(name), PermissionsExt::from_mode(mode)).expect("permissions");
    }
    let outcome = dups(root, &["--hardlink", "--yes", "."]);
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(said.contains("manyhash: ./b: skipped: its permissions differ from those of "), "{said}");
    assert!(said.ends_with("2 files replaced by hard links, 1 skipped\n") && outcome.status == Some(0), "{said}");
    assert_eq!((inode(root, "d"), inode(root, "c")), (inode(root, "a"), inode(root, "b")));
    let mode = |name: &str| fs::metadata(root.join(name)).expect("a file").mode() & 0o777;
    assert_eq!((mode("a"), mode("b")), (0o644, 0o600));

    let outcome = dups(root, &["--hardlink", "--ignore-attributes", "--yes", "."]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert_eq!((inode(root, "b"), inode(root, "c"), mode("b")), (inode(root, "a"), inode(root, "a"), 0o644));
    assert_eq!(dups(root, &["--delete", "--ignore-attributes", "--yes", "."]).status, Some(1));
}

#[test]
#[cfg(target_os = "linux")]
fn extended_attributes_are_kept_apart() {
    use rustix::fs::{XattrFlags, setxattr};
    let directory = directory();
    let root = directory.path();
    for name in ["a", "b", "c"] {
        write(root, name, "same");
    }
    if let Err(error) = setxattr(root.join("b"), "user.comment", b"mine", XattrFlags::empty()) {
        eprintln!("skipped: no extended attributes: {error}");
        return;
    }
    let outcome = dups(root, &["--hardlink", "--yes", "."]);
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(said.contains("manyhash: ./b: skipped: its extended attributes"), "{said}");
    assert_eq!((inode(root, "c"), outcome.status), (inode(root, "a"), Some(0)));
    assert_ne!(inode(root, "b"), inode(root, "a"));
}

/// Where the file system shares no blocks, nothing changes, and each file is named.
#[test]
fn duplicates_share_blocks_or_stay() {
    let directory = directory();
    let root = directory.path();
    for name in ["a", "b"] {
        write(root, name, content(5000));
    }
    fs::set_permissions(root.join("b"), PermissionsExt::from_mode(0o640)).expect("permissions");
    let before = inode(root, "b");
    let outcome = dups(root, &["--reflink", "--yes", "."]);
    if outcome.status != Some(0) {
        let said = String::from_utf8_lossy(&outcome.stderr);
        assert!(said.contains("manyhash: ./b: cannot share blocks: "), "{said}");
        assert_eq!(outcome.status, Some(1));
    }
    assert_eq!(inode(root, "b"), before);
    let there = fs::metadata(root.join("b")).expect("a file");
    assert_eq!((fs::read(root.join("b")).expect("a file"), there.mode() & 0o777), (content(5000), 0o640));
    assert_eq!(fs::read_dir(root).expect("a directory").count(), 2);
}

/// A digest may be of a function that anybody can find collisions of: only the bytes count.
#[test]
fn the_same_digest_is_not_enough() {
    let directory = directory();
    let root = directory.path();
    let mut content = content(20);
    write(root, "a", &content);
    // The generator polynomial of CRC-32: it changes no remainder.
    for (byte, change) in content[3..].iter_mut().zip([0x41, 0x06, 0x71, 0xdb, 0x01]) {
        *byte ^= change;
    }
    write(root, "b", &content);
    for option in ["--delete", "--hardlink", "--reflink"] {
        let outcome = dups(root, &["-a", "crc32", option, "--yes", "."]);
        assert_eq!(outcome.stdout, b"20 bytes each:\n./a\n./b\n");
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        // Where no blocks can be shared, that is what is said.
        let why = said.contains("manyhash: ./b: differs from the first") || option == "--reflink";
        assert!(why && outcome.status == Some(1), "{said}");
        assert_eq!(fs::read(root.join("b")).expect("a file"), content);
    }
    assert_text(&dups(root, &["."]), "", "no duplicates");
}

#[test]
fn the_cache_is_where_it_is_named_or_usual_or_nowhere() {
    let (home, directory) = (directory(), directory());
    let (home, root) = (home.path(), directory.path());
    for name in ["a", "b"] {
        write(root, name, "same");
    }
    let (text, summary) = ("4 bytes each:\n./a\n./b\n", "1 duplicate in 1 group, 4 B wasted");
    let usual = home.join("manyhash/digests");
    let named = home.join("new/named").display().to_string();
    assert_text(&dups_with_home(home, root, &["--no-cache", "."]), text, summary);
    assert_eq!(fs::read_dir(home).expect("a directory").count(), 0);
    assert_text(&dups_with_home(home, root, &["--cache", &named, "."]), text, summary);
    assert!(!usual.exists() && Path::new(&named).exists());
    for _ in 0..2 {
        assert_text(&dups_with_home(home, root, &["."]), text, summary);
        assert!(usual.exists());
    }

    // The usual one is done without; one that was named has to be there.
    let unusable = "not a cache of this version of manyhash; name another file, or delete it";
    fs::write(&usual, "precious").expect("a file");
    let message = format!("digest cache {}: {unusable}", usual.display());
    let expected = format!("{message}; continuing without a cache\nmanyhash: {summary}");
    assert_text(&dups_with_home(home, root, &["."]), text, &expected);
    let outcome = dups_with_home(home, root, &["--cache", &usual.display().to_string(), "."]);
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), format!("manyhash: {message}\n"));
    assert_eq!((outcome.status, &outcome.stdout[..]), (Some(1), &b""[..]));
    assert_eq!(fs::read(&usual).expect("a file"), b"precious");
    assert_eq!(dups(root, &["--cache", "x", "--no-cache", "."]).status, Some(1));
}
