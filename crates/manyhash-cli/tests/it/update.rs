//! `manyhash manifest update`: what it keeps, and what it does not do unasked.
#![cfg(unix)]

use crate::common::{assert_outcome, directory, manysum, run, write};
use crate::toolbox::manifest;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn text(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(name)).expect("a list")
}

/// A directory `d` of so many files.
fn files(count: usize) -> tempfile::TempDir {
    let directory = directory();
    fs::create_dir(directory.path().join("d")).expect("a directory");
    (0..count).for_each(|i| write(directory.path(), &format!("d/{i:03}"), i.to_string()));
    directory
}

fn remove(root: &Path, files: std::ops::Range<usize>) {
    files.for_each(|i| fs::remove_file(root.join(format!("d/{i:03}"))).expect("it is removed"));
}

#[test]
fn many_missing_files_need_a_word() {
    for (listed, removed, is_refused) in [(1, 1, true), (3, 3, true), (10, 9, false), (19, 10, true), (21, 10, false)] {
        let directory = files(listed);
        let root = directory.path();
        assert_eq!(manifest(root, &["create", "d", "-o", "m"]).status, Some(0));
        let before = text(root, "m");
        remove(root, 0..removed);
        let updated = manifest(root, &["update", "d", "m"]);
        assert_eq!(updated.status, Some(i32::from(is_refused)), "{removed} of {listed}");
        assert_eq!(text(root, "m") == before, is_refused);
        if is_refused {
            let what = "are missing in d; left unchanged: check that d is the right directory";
            let files = if listed == 1 { "listed file" } else { "listed files" };
            let said = format!("manyhash: m: {removed} of {listed} {files} {what}");
            assert!(String::from_utf8_lossy(&updated.stderr).starts_with(&said), "{updated:?}");
            assert_eq!(manifest(root, &["update", "--force", "d", "m"]).status, Some(0));
            assert_eq!(text(root, "m").lines().filter(|line| !line.starts_with('#')).count(), listed - removed);
        }
    }
    // Those that were moved are there.
    let directory = files(12);
    let root = directory.path();
    assert_eq!(manifest(root, &["create", "d", "-o", "m"]).status, Some(0));
    fs::rename(root.join("d"), root.join("elsewhere")).expect("it is moved");
    fs::create_dir(root.join("d")).expect("a directory");
    fs::rename(root.join("elsewhere"), root.join("d/sub")).expect("it is moved");
    let updated = manifest(root, &["update", "d", "m"]);
    assert!(updated.stderr.ends_with(b"manyhash: 12 files: 0 as listed, 12 moved\n"), "{updated:?}");
    assert_eq!(updated.status, Some(0));
}

#[test]
fn a_manifest_without_files_knows_what_it_is() {
    for (format, algorithm, begins) in [
        ("gnu", "md5", "37b51d194a7513e45b56f6524f2d51f2  "),
        ("bsd", "sha1,blake3", "SHA1 (new) = "),
        ("json", "sha512", "{\"name\":\"new\",\"size\":3,\"algorithm\":\"sha512\""),
        ("hashdeep", "md5,sha1", "%%%% HASHDEEP-1.0\n%%%% size,md5,sha1,filename\n3,"),
    ] {
        let directory = files(0);
        let root = directory.path();
        let created = manifest(root, &["create", "d", "-o", "m", "-a", algorithm, "--format", format]);
        assert_outcome(&created, 0, "", "");
        let empty = text(root, "m");
        // To other tools it is a list without lines.
        if format == "gnu" && crate::common::has_coreutils("md5sum") {
            let checked = run(assert_cmd::Command::new("md5sum"), root, &["-c", "m"], b"");
            assert_eq!(checked.stderr, b"md5sum: m: no properly formatted checksum lines found\n");
        }
        assert_outcome(&manifest(root, &["verify", "d", "m"]), 0, "", "manyhash: 0 files: 0 as listed\n");
        assert_outcome(&manifest(root, &["update", "d", "m"]), 0, "", "manyhash: 0 files: 0 as listed\n");
        assert_eq!(text(root, "m"), empty);
        write(root, "d/new", "bar");
        assert_eq!(manifest(root, &["update", "d", "m"]).status, Some(0));
        assert!(text(root, "m").starts_with(begins), "{}", text(root, "m"));
        assert_eq!(manifest(root, &["verify", "d", "m"]).status, Some(0));
        fs::remove_file(root.join("d/new")).expect("it is removed");
        assert_eq!(manifest(root, &["update", "d", "m", "--force"]).status, Some(0));
        assert_eq!(text(root, "m"), empty);
    }
}

#[test]
fn comments_stay() {
    for format in ["gnu", "bsd", "hashdeep", "json"] {
        let directory = files(3);
        let root = directory.path();
        assert_eq!(manifest(root, &["create", "d", "-o", "m", "--format", format]).status, Some(0));
        let list = text(root, "m");
        let header = if format == "hashdeep" { 2 } else { 0 };
        let mut lines: Vec<&str> = list.lines().collect();
        lines.insert(header, "# by hand");
        lines.insert(header + 2, "# 2: again");
        write(root, "m", lines.join("\n") + "\n");
        write(root, "d/001", "changed");
        let summary = "manyhash: 3 files: 2 as listed, 1 changed\n";
        assert_outcome(&manifest(root, &["update", "d", "m"]), 0, "001: changed\n", summary);
        let updated = text(root, "m");
        assert_eq!(updated.lines().skip(header).take(2).collect::<Vec<_>>(), ["# by hand", "# 2: again"]);
        assert_eq!((updated.lines().count(), updated.matches('#').count()), (list.lines().count() + 2, 2));
        assert_eq!(manifest(root, &["verify", "d", "m"]).status, Some(0));
        if format != "json" {
            let left_out = "manyhash: m: comments dropped, because this format has none\n";
            let said = format!("{left_out}manyhash: 3 files: 3 as listed\n");
            assert_outcome(&manifest(root, &["update", "d", "m", "--format", "json"]), 0, "", &said);
        }
    }
}

#[test]
fn what_is_in_a_files_place() {
    let directory = files(3);
    let root = directory.path();
    assert_eq!(manifest(root, &["create", "d", "-o", "m"]).status, Some(0));
    fs::copy(root.join("m"), root.join("old")).expect("a copy");
    remove(root, 0..2);
    fs::create_dir(root.join("d/000")).expect("a directory");
    symlink("none", root.join("d/001")).expect("a link");
    let messages = "manyhash: d/000: not a regular file\nmanyhash: d/001: not a regular file\n";
    let messages = format!("{messages}manyhash: 3 files: 1 as listed, 2 missing\n");
    let findings = "000: missing\n001: missing\n";
    assert_outcome(&manifest(root, &["verify", "d", "m"]), 4, findings, &messages);
    assert_outcome(&manifest(root, &["update", "d", "m"]), 0, findings, &messages);
    let summary = "manyhash: 3 files: 1 as listed, 2 missing\n";
    assert_outcome(&manifest(root, &["diff", "old", "m"]), 4, findings, summary);
}

#[test]
fn absolute_names() {
    let directory = files(3);
    let root = directory.path();
    write(root, "d/sub/x", "x");
    let absolute = |tree: &str| {
        let tree = root.canonicalize().expect("a path").join(tree);
        String::from_utf8(manysum(root, &["-r".as_ref(), tree.as_os_str()], b"").stdout).expect("UTF-8")
    };
    write(root, "m", absolute("d"));
    let summary = "manyhash: 4 files: 4 as listed\n";
    // By a link, too.
    symlink("d", root.join("link")).expect("a link");
    for tree in ["d", "d/", "./d", "link"] {
        assert_outcome(&manifest(root, &["verify", tree, "m"]), 0, "", summary);
    }
    assert_eq!(manifest(root, &["create", "d", "-o", "relative"]).status, Some(0));
    assert_outcome(&manifest(root, &["diff", "relative", "m"]), 0, "", "");
    assert_outcome(&manifest(root, &["diff", "m", "relative"]), 0, "", "");
    write(root, "d/sub/x", "y");
    let changed = "manyhash: 4 files: 3 as listed, 1 changed\n";
    assert_outcome(&manifest(root, &["update", "d", "m"]), 0, "sub/x: changed\n", changed);
    assert_outcome(&manifest(root, &["diff", "relative", "m"]), 2, "sub/x: changed\n", changed);
    assert!(text(root, "m").lines().all(|line| !line.contains('/') || line.ends_with("  sub/x")));
    // Files elsewhere are what they are.
    write(root, "m", absolute("d") + &absolute("relative"));
    let elsewhere = manifest(root, &["verify", "d", "m"]);
    assert_outcome(&elsewhere, 0, "", "manyhash: 5 files: 5 as listed\n");
}

#[test]
fn files_of_programs_that_were_stopped() {
    let directory = files(2);
    let root = directory.path();
    assert_eq!(manifest(root, &["create", "d", "-o", "m"]).status, Some(0));
    write(root, "d/.manyhash-aB3xY9.tmp", "half of it");
    let said = "manyhash: d/.manyhash-aB3xY9.tmp: left over from an interrupted program; skipped, and may be \
                deleted\n";
    let summary = "manyhash: 2 files: 2 as listed\n";
    for task in ["verify", "update"] {
        assert_outcome(&manifest(root, &[task, "d", "m"]), 0, "", &format!("{said}{summary}"));
    }
    assert_outcome(&manifest(root, &["create", "d"]), 0, &text(root, "m"), said);
}

#[test]
fn what_is_no_manifest() {
    let directory = files(2);
    let root = directory.path();
    write(root, "garbage", "this is\nno list\n");
    let lines = "manyhash: garbage: 2 improperly formatted lines, first at line 1\n";
    let said = "no properly formatted line found; if it does not name its algorithm, use --algorithm";
    let messages = format!("{lines}manyhash: garbage: {said}\n");
    for arguments in [["verify", "d", "garbage"], ["update", "d", "garbage"], ["diff", "garbage", "garbage"]] {
        assert_outcome(&manifest(root, &arguments), 1, "", &messages);
    }
    assert_eq!(text(root, "garbage"), "this is\nno list\n");
}

/// A bag with tag manifests, as bagit.py writes them.
fn bag() -> tempfile::TempDir {
    let directory = directory();
    let root = directory.path();
    for name in ["a", "100%", "sub/b"] {
        write(root, &format!("d/data/{name}"), name);
    }
    write(root, "d/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    write(root, "d/bag-info.txt", "Source: here\r\nPAYLOAD-OXUM: 1.1\r\nBagging-Date: 2026-11-22\r\n");
    let created = manifest(root, &["create", "d", "--format", "bagit", "-o", "d/manifest-sha256.txt"]);
    assert_outcome(&created, 0, "", "");
    for function in ["md5", "sha256"] {
        let tags = ["-a", function, "bagit.txt", "bag-info.txt", "manifest-sha256.txt"];
        let tags = manysum(&root.join("d"), &tags, b"").stdout;
        write(root, &format!("d/tagmanifest-{function}.txt"), tags);
    }
    directory
}

#[test]
fn the_rest_of_a_bag_is_kept_right() {
    let directory = bag();
    let root = directory.path();
    let info = |oxum: &str| format!("Source: here\r\nPAYLOAD-OXUM: {oxum}\r\nBagging-Date: 2026-11-22\r\n");
    assert_eq!(text(root, "d/bag-info.txt"), info("10.3"));
    let check = || {
        let lists = ["-c", "manifest-sha256.txt", "tagmanifest-md5.txt", "tagmanifest-sha256.txt"];
        let checked = manysum(&root.join("d"), &lists, b"");
        assert_eq!(checked.status, Some(0), "{checked:?}");
    };
    check();
    write(root, "d/data/new", "12345");
    let summary = "manyhash: 4 files: 3 as listed, 1 new\n";
    let updated = manifest(root, &["update", "d", "d/manifest-sha256.txt"]);
    assert_outcome(&updated, 0, "data/new: new\n", summary);
    assert_eq!(text(root, "d/bag-info.txt"), info("15.4"));
    check();
    // A second manifest of the payload is another one's.
    let other = manifest(root, &["create", "d", "--format", "bagit", "-o", "d/manifest-md5.txt"]);
    let said = "lists the payload too; left unchanged\n";
    assert_outcome(&other, 0, "", &format!("manyhash: d/manifest-sha256.txt: {said}"));
    write(root, "d/data/new", "123456");
    let updated = manifest(root, &["update", "d", "d/manifest-sha256.txt"]);
    let summary = "manyhash: 4 files: 3 as listed, 1 changed\n";
    assert_outcome(&updated, 0, "data/new: changed\n", &format!("manyhash: d/manifest-md5.txt: {said}{summary}"));
    check();
    // One elsewhere is not the bag's own.
    write(root, "old/manifest-sha256.txt", text(root, "d/manifest-sha256.txt"));
    fs::remove_file(root.join("d/data/new")).expect("it is removed");
    assert_eq!(manifest(root, &["update", "d", "old/manifest-sha256.txt"]).status, Some(0));
    assert_eq!(text(root, "d/bag-info.txt"), info("16.4"));
}

#[test]
fn names_in_bags_that_nobody_escaped() {
    let directory = bag();
    let root = directory.path();
    let escaped = text(root, "d/manifest-sha256.txt");
    assert!(escaped.contains("data/100%25\n"));
    // As bagit.py 1.9 has it; and a file whose name is what that would mean.
    write(root, "d/data/200%25", "200");
    let digest = manysum(&root.join("d"), &["data/200%25"], b"").stdout;
    let listed = escaped.replace("%25", "%") + &String::from_utf8(digest).expect("UTF-8");
    write(root, "d/manifest-sha256.txt", &listed);
    let summary = "manyhash: 4 files: 4 as listed\n";
    assert_outcome(&manifest(root, &["verify", "d", "d/manifest-sha256.txt"]), 0, "", summary);
    assert_eq!(manysum(&root.join("d"), &["-c", "manifest-sha256.txt"], b"").status, Some(0));
    assert_outcome(&manifest(root, &["update", "d", "d/manifest-sha256.txt"]), 0, "", summary);
    let updated = text(root, "d/manifest-sha256.txt");
    assert!(updated.contains("data/100%25\n") && updated.contains("data/200%2525\n"), "{updated}");
    assert_outcome(&manifest(root, &["verify", "d", "d/manifest-sha256.txt"]), 0, "", summary);
}
