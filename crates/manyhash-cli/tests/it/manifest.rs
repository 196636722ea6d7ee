//! `manyhash manifest`.
#![cfg(unix)]

use crate::common::{Outcome, assert_outcome, corrupt, directory, hostile_names, manysum, name, run, write};
use crate::toolbox::manifest;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// A tree `d` of a few files.
fn tree() -> tempfile::TempDir {
    let directory = directory();
    for name in ["a", "b", "sub/c", "sub/.d", "sub/deep/e", "z"] {
        write(directory.path(), &format!("d/{name}"), name);
    }
    symlink("a", directory.path().join("d/link")).expect("a link");
    directory
}

const CHANGES: &str = "b: changed\nmoved: moved from a\nnew: new\nsub/c: missing\n";

/// Changes a file, moves one, makes one and removes one.
fn change(root: &Path) {
    write(root, "d/b", "other");
    fs::rename(root.join("d/a"), root.join("d/moved")).expect("it is moved");
    write(root, "d/new", "new");
    fs::remove_file(root.join("d/sub/c")).expect("it is removed");
}

#[test]
fn all_tasks_in_all_formats() {
    for (format, list) in
        [("gnu", "m"), ("bsd", "m"), ("hashdeep", "m.txt"), ("json", "m.json"), ("bagit", "manifest-md5.txt")]
    {
        let directory = directory();
        let root = directory.path();
        let below = if format == "bagit" { "data/" } else { "" };
        for name in ["a", "b", "sub/c", "z"] {
            write(root, &format!("d/{below}{name}"), name);
        }
        // In the tree, and yet not of it.
        let list = &format!("d/{list}");
        let create = |list: &str| manifest(root, &["create", "d", "-o", list, "--format", format, "-a", "md5"]);
        assert_outcome(&create(list), 0, "", "");
        assert_outcome(&manifest(root, &["verify", "d", list]), 0, "", "manyhash: 4 files: 4 as listed\n");
        let before = fs::read(root.join(list)).expect("a manifest");
        assert_outcome(&create(list), 0, "", "");
        assert_eq!(fs::read(root.join(list)).expect("a manifest"), before);

        write(root, &format!("d/{below}b"), "other");
        fs::rename(root.join(format!("d/{below}a")), root.join(format!("d/{below}moved"))).expect("it is moved");
        write(root, &format!("d/{below}new"), "new");
        fs::remove_file(root.join(format!("d/{below}sub/c"))).expect("it is removed");
        let changes = CHANGES.replace("a\n", &format!("{below}a\n"));
        let changes: String = changes.lines().map(|line| format!("{below}{line}\n")).collect();
        let summary = "manyhash: 5 files: 1 as listed, 1 changed, 1 missing, 1 moved, 1 new\n";
        assert_outcome(&manifest(root, &["verify", "d", list]), 30, &changes, summary);
        // Elsewhere, under a name of the same kind.
        let old = &format!("old-{}", list.rsplit('/').next().expect("a name"));
        let old = if format == "bagit" { "old/manifest-md5.txt" } else { old };
        write(root, old, &before);
        assert_outcome(&manifest(root, &["update", "d", list]), 0, &changes, summary);
        assert_outcome(&manifest(root, &["diff", old, list]), 30, &changes, summary);
        assert_outcome(&manifest(root, &["verify", "d", list]), 0, "", "manyhash: 4 files: 4 as listed\n");
        assert_outcome(&manifest(root, &["diff", list, list]), 0, "", "");

        let after = fs::read(root.join(list)).expect("a manifest");
        let modified = fs::metadata(root.join(list)).and_then(|list| list.modified()).expect("a file");
        assert_outcome(&manifest(root, &["update", "d", list]), 0, "", "manyhash: 4 files: 4 as listed\n");
        assert_eq!(fs::read(root.join(list)).expect("a manifest"), after, "the format stays");
        assert_eq!(fs::metadata(root.join(list)).and_then(|list| list.modified()).expect("a file"), modified);
    }
}

#[test]
fn a_manifest_is_what_manysum_prints() {
    let directory = tree();
    let root = directory.path();
    let printed = manysum(&root.join("d"), &["-r", "."], b"");
    let printed = String::from_utf8(printed.stdout).expect("UTF-8");
    let created = manifest(root, &["create", "d"]);
    assert_outcome(&created, 0, &printed.replace("  ./", "  "), "");
    // With the names that another tool gave.
    write(root, "list", &printed);
    assert_outcome(&manifest(root, &["verify", "d", "list"]), 0, "", "manyhash: 6 files: 6 as listed\n");
    let several = manifest(root, &["create", "d", "-a", "md5,sha1", "--format", "gnu"]);
    let message = "this format holds one algorithm; use bsd, hashdeep or json for several";
    assert_outcome(&several, 1, "", &format!("manyhash: {message}\n"));
}

#[test]
fn findings_in_json() {
    let directory = tree();
    let root = directory.path();
    assert_eq!(manifest(root, &["create", "d", "-o", "m"]).status, Some(0));
    change(root);
    let found = manifest(root, &["verify", "--json", "d", "m"]);
    let lines = r#"{"name":"b","status":"changed"}
{"name":"moved","status":"moved","from":{"name":"a"}}
{"name":"new","status":"new"}
{"name":"sub/c","status":"missing"}
"#;
    assert_outcome(&found, 30, lines, "manyhash: 7 files: 3 as listed, 1 changed, 1 missing, 1 moved, 1 new\n");
}

#[test]
fn every_name_there_can_be() {
    let directory = directory();
    let root = directory.path();
    fs::create_dir(root.join("d")).expect("a directory");
    let bytes = (1..=255u8).filter(|byte| *byte != b'/' && *byte != b'.' && (cfg!(target_os = "linux") || *byte < 128));
    let names = bytes.map(|byte| name(&[byte])).chain(hostile_names());
    for name in names {
        fs::write(root.join("d").join(&name), name.as_encoded_bytes()).expect("a file");
    }
    for format in ["gnu", "bsd", "json"] {
        assert_outcome(&manifest(root, &["create", "d", "-o", "m", "--format", format]), 0, "", "");
        let verified = manifest(root, &["verify", "d", "m"]);
        assert_eq!((verified.status, verified.stdout.len()), (Some(0), 0), "{format}: {verified:?}");
    }
    let hashdeep = || manifest(root, &["create", "d", "--format", "hashdeep", "-o", "m"]);
    assert_eq!(hashdeep().status, Some(1));
    let messages = String::from_utf8_lossy(&hashdeep().stderr).into_owned();
    assert!(messages.contains("manyhash: 'd/'$'\\n': a hashdeep list cannot hold this name"), "{messages}");
    // It can hold all others, those that end in a carriage return too.
    for entry in fs::read_dir(root.join("d")).expect("a directory") {
        let entry = entry.expect("an entry");
        if entry.file_name().as_encoded_bytes().contains(&b'\n') {
            fs::remove_file(entry.path()).expect("it is removed");
        }
    }
    assert_outcome(&hashdeep(), 0, "", "");
    for task in ["verify", "update", "verify"] {
        let outcome = manifest(root, &[task, "d", "m"]);
        assert_eq!((outcome.status, outcome.stdout.len()), (Some(0), 0), "{task}: {outcome:?}");
    }
}

#[test]
fn links_and_other_things_in_the_way() {
    let directory = tree();
    let root = directory.path();
    assert_eq!(manifest(root, &["create", "d", "-o", "m"]).status, Some(0));
    // A file becomes a directory; a directory is moved away, and a link leads to it.
    fs::remove_file(root.join("d/z")).expect("it is removed");
    fs::create_dir(root.join("d/z")).expect("a directory");
    fs::rename(root.join("d/sub"), root.join("elsewhere")).expect("it is moved");
    symlink("../elsewhere", root.join("d/sub")).expect("a link");
    let messages = "manyhash: d/z: not a regular file\nmanyhash: 6 files: 5 as listed, 1 missing\n";
    assert_outcome(&manifest(root, &["verify", "d", "m"]), 4, "z: missing\n", messages);
}

#[test]
fn what_cannot_be_read() {
    let directory = tree();
    let root = directory.path();
    let none = "manyhash: none: No such file or directory\n";
    assert_outcome(&manifest(root, &["create", "none"]), 1, "", none);
    assert_outcome(&manifest(root, &["verify", "d", "none"]), 1, "", none);
    assert_outcome(&manifest(root, &["update", "d/a", "m"]), 1, "", "manyhash: d/a: not a directory\n");
    assert_eq!(manifest(root, &["create", "d", "-o", "m", "-a", "sha1"]).status, Some(0));
    let list = fs::read_to_string(root.join("m")).expect("a manifest") + "no line\n";
    write(root, "broken", &list);
    let broken = "manyhash: broken: 1 improperly formatted line, first at line 7\n";
    let verified = manifest(root, &["verify", "d", "broken"]);
    assert_outcome(&verified, 1, "", &format!("{broken}manyhash: 6 files: 6 as listed\n"));
    let left = "manyhash: broken: lines that cannot be read would be lost; left unchanged\n";
    assert_outcome(&manifest(root, &["update", "d", "broken"]), 1, "", &format!("{broken}{left}"));
    assert_eq!(fs::read_to_string(root.join("broken")).expect("a manifest"), list);
    assert_eq!(manifest(root, &["create", "d", "-o", "other", "-a", "md5"]).status, Some(0));
    let other = "manyhash: other: has digests of md5, but the other manifest of sha1\n";
    assert_outcome(&manifest(root, &["diff", "m", "other"]), 1, "", other);
    let refused = "manyhash: m: has digests of sha1; use create for others\n";
    assert_outcome(&manifest(root, &["update", "d", "m", "-a", "md5,sha256", "--format", "bsd"]), 1, "", refused);
    let named = "manyhash: bag: in a bag, this manifest must be named manifest-sha256.txt\n";
    assert_outcome(&manifest(root, &["create", "d", "--format", "bagit", "-o", "bag"]), 1, "", named);
}

/// Those of the test that the user of a child process has no right to.
fn as_nobody(root: &Path, arguments: &[&str]) -> Outcome {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("manyhash"));
    if fs::metadata("/proc/self").is_ok_and(|there| std::os::unix::fs::MetadataExt::uid(&there) == 0) {
        command.uid(65534);
    }
    command.env("XDG_CACHE_HOME", root.join("cache"));
    let arguments: Vec<&str> = ["manifest"].into_iter().chain(arguments.iter().copied()).collect();
    run(assert_cmd::Command::from_std(command), root, &arguments, b"")
}

#[test]
fn a_file_without_permission_keeps_its_line() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tree();
    let root = directory.path();
    let mode = |name: &str, mode| {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    mode("", 0o777);
    // The program too has to be within reach of others.
    let reachable = as_nobody(root, &["create", "d", "-o", "m"]);
    if reachable.status != Some(0) {
        eprintln!("skipped: another user cannot start the program: {reachable:?}");
        return;
    }
    let before = fs::read_to_string(root.join("m")).expect("a manifest");
    assert_eq!(as_nobody(root, &["create", "d", "-o", "h", "--format", "hashdeep"]).status, Some(0));
    let sizes = fs::read_to_string(root.join("h")).expect("a manifest").lines().count();
    mode("d/b", 0);
    mode("d/sub/deep", 0);
    let denied = "manyhash: d/b: Permission denied\nmanyhash: d/sub/deep: Permission denied\n";
    let verified = as_nobody(root, &["verify", "d", "m"]);
    assert_eq!(verified.status, Some(1));
    assert!(String::from_utf8_lossy(&verified.stderr).starts_with(denied), "{verified:?}");
    assert!(String::from_utf8_lossy(&verified.stdout).contains("b: unreadable\n"), "{verified:?}");
    assert_eq!(as_nobody(root, &["update", "d", "m"]).status, Some(1));
    let mut lines: Vec<_> = before.lines().collect();
    let after = fs::read_to_string(root.join("m")).expect("a manifest");
    let mut kept: Vec<_> = after.lines().collect();
    lines.sort_unstable();
    kept.sort_unstable();
    assert_eq!(kept, lines);
    assert_eq!(as_nobody(root, &["update", "d", "h"]).status, Some(1));
    assert_eq!(fs::read_to_string(root.join("h")).expect("a manifest").lines().count(), sizes);
    mode("d/sub/deep", 0o755);
}

#[test]
fn silent_corruption_is_found_by_hashing_again() {
    // On tmpfs what is written through a mapping leaves the times.
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: there is no /dev/shm");
        return;
    };
    let root = directory.path();
    for i in 0..20 {
        write(root, &format!("d/{i}"), i.to_string());
    }
    sleep(Duration::from_millis(2100)); // what is as young as the scan is not kept
    assert_eq!(manifest(root, &["create", "--trust-times", "d", "-o", "m"]).status, Some(0));
    let before = fs::read(root.join("m")).expect("a manifest");
    if !corrupt(&root.join("d/7")) {
        eprintln!("skipped: /dev/shm is no tmpfs");
        return;
    }
    // Nothing is read again, so nothing is seen.
    assert_outcome(
        &manifest(root, &["update", "--trust-times", "d", "m"]),
        0,
        "",
        "manyhash: 20 files: 20 as listed\n",
    );
    let found = manifest(root, &["update", "--trust-times", "--recheck", "1", "d", "m"]);
    let loud = "manyhash: d/7: CONTENT CHANGED, TIMES DID NOT: the manifest keeps the old digest\n";
    assert_outcome(&found, 1, "", &format!("{loud}manyhash: 20 files: 20 as listed\n"));
    assert_eq!(fs::read(root.join("m")).expect("a manifest"), before);
    assert_eq!(
        manifest(root, &["update", "--trust-times", "--recheck", "1", "d", "m"]).status,
        Some(1),
        "the cache keeps it too"
    );
    assert_eq!(manifest(root, &["verify", "d", "m"]).status, Some(2));
    let read = manifest(root, &["update", "--no-cache", "d", "m"]);
    assert_outcome(&read, 0, "7: changed\n", "manyhash: 20 files: 19 as listed, 1 changed\n");
    for wrong in ["1.5", "-1", "x"] {
        assert_eq!(manifest(root, &["update", &format!("--recheck={wrong}"), "d", "m"]).status, Some(1));
    }
}

#[test]
fn killed_at_any_time() {
    let directory = directory();
    let root = directory.path();
    for i in 0..400 {
        write(root, &format!("d/{}/{i}", i % 7), vec![i as u8; 5000 + i]);
    }
    sleep(Duration::from_millis(2100));
    assert_eq!(manifest(root, &["create", "--no-cache", "d", "-o", "m"]).status, Some(0));
    let (mut random, mut kills) = (crate::common::random(), 0);
    for turn in 0.. {
        // A file that changes, so that there is something to write.
        write(root, &format!("d/{}/{}", turn % 7, turn % 7), turn.to_string());
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("manyhash"))
            .args(["manifest", "update", "d", "m"])
            .env("XDG_CACHE_HOME", root.join("cache"))
            .current_dir(root)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        sleep(Duration::from_micros(random(25_000) as u64));
        child.kill().expect("it is killed");
        let status = child.wait().expect("it ends");
        kills += usize::from(std::os::unix::process::ExitStatusExt::signal(&status) == Some(9));
        // Whole, and of some time.
        let lines = fs::read_to_string(root.join("m")).expect("a manifest").lines().count();
        assert_eq!(lines, 400);
        if kills >= 100 {
            break;
        }
        assert!(turn < 2000, "it ends before it is killed");
    }
    // With what the cache has by now.
    assert_eq!(manifest(root, &["update", "d", "m"]).status, Some(0));
    assert_outcome(&manifest(root, &["verify", "d", "m"]), 0, "", "manyhash: 400 files: 400 as listed\n");
    let again = manifest(root, &["create", "--no-cache", "d"]);
    assert_eq!(again.stdout, fs::read(root.join("m")).expect("a manifest"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk() {
    let directory = tree();
    let root = directory.path();
    fs::create_dir(root.join("small")).expect("a directory");
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"])
        .arg(root.join("small"))
        .stderr(std::process::Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    write(root, "small/m", "before");
    for i in 0..300 {
        write(root, &format!("d/many/{i}"), "");
    }
    let outcomes = [
        manifest(root, &["create", "d", "-o", "small/m"]),
        crate::common::manysum(root, &["-r", "d", "-o", "small/m"], b""),
    ];
    let names = fs::read_dir(root.join("small")).map(Iterator::count);
    let left = fs::read_to_string(root.join("small/m"));
    let unmounted = std::process::Command::new("umount").arg(root.join("small")).status().expect("umount");
    assert!(unmounted.success());
    for outcome in outcomes {
        assert_eq!(outcome.status, Some(1));
        let messages = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(messages.ends_with("small/m: No space left on device\n"), "{messages}");
    }
    assert_eq!((names.expect("a directory"), left.expect("a file").as_str()), (1, "before"));
}

#[test]
fn a_directory_that_comes_and_goes() {
    let directory = tree();
    let root = directory.path();
    let ended = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                for i in 0..40 {
                    write(root, &format!("d/sub/deep/{}/{i}", i % 5), "x");
                }
                fs::remove_dir_all(root.join("d/sub/deep")).expect("it is removed");
            }
        });
        for _ in 0..40 {
            for outcome in [manifest(root, &["create", "d"]), manysum(root, &["-r", "d"], b"")] {
                let messages = String::from_utf8_lossy(&outcome.stderr).into_owned();
                assert!(matches!(outcome.status, Some(0 | 1)), "{outcome:?}");
                assert_eq!(outcome.status == Some(0), messages.is_empty(), "{outcome:?}");
                let is_gone = |line: &str| line.ends_with(": No such file or directory");
                assert!(messages.lines().all(is_gone), "{messages}");
            }
        }
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
