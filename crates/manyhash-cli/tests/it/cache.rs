//! `manysum --cache`, and `--io`.
#![cfg(unix)]

use crate::common::{assert_outcome, corrupt, manysum, write};
use crate::toolbox::manifest;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn what_has_not_changed_is_not_read() {
    // On tmpfs what is written through a mapping leaves the times.
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: there is no /dev/shm");
        return;
    };
    let root = directory.path();
    fs::create_dir(root.join("d")).expect("a directory");
    for name in ["a", "b"] {
        fs::write(root.join("d").join(name), name).expect("a file");
    }
    sleep(Duration::from_millis(2100)); // what is as young as the scan is not kept
    let cached = || manysum(root, &["-r", "--cache=cache", "--trust-times", "d"], b"");
    let before = cached();
    assert_eq!((before.status, &before.stdout), (Some(0), &manysum(root, &["-r", "d"], b"").stdout));
    if !corrupt(&root.join("d/a")) {
        eprintln!("skipped: /dev/shm is no tmpfs");
        return;
    }
    assert_eq!(cached(), before, "it was read again");
    assert_ne!(manysum(root, &["-r", "d"], b"").stdout, before.stdout);
    // Unless the times are trusted, nothing of it counts.
    assert_eq!(manysum(root, &["-r", "--cache=cache", "d"], b"").stdout, manysum(root, &["-r", "d"], b"").stdout);
    // Of another algorithm nothing is known, and what has changed is read.
    let of_other = || manysum(root, &["-r", "--cache=cache", "--trust-times", "-a", "md5", "d"], b"");
    assert_eq!(of_other().stdout, manysum(root, &["-r", "-a", "md5", "d"], b"").stdout);
    fs::write(root.join("d/a"), "other").expect("a file");
    assert_eq!(cached().stdout, manysum(root, &["-r", "d"], b"").stdout);
    // The sums of old are printed with sizes, which the cache has not.
    let sum = |arguments: &[&str]| manysum(root, &[arguments, &["-a", "crc", "d/b"]].concat(), b"").stdout;
    for _ in 0..2 {
        assert_eq!(sum(&["--cache=cache"]), sum(&[]));
    }
    fs::write(root.join("foreign"), "this is no cache of digests").expect("a file");
    let foreign = manysum(root, &["--cache=foreign", "d/b"], b"");
    assert_eq!((foreign.status, foreign.stdout), (Some(1), Vec::new()));
    assert!(String::from_utf8_lossy(&foreign.stderr).contains("foreign"), "it is named");
}

/// A page that has been written to through a mapping may be written to again without a word.
#[test]
fn what_is_written_through_a_mapping_is_read_again() {
    for directory in [tempfile::tempdir().ok(), tempfile::tempdir_in("/dev/shm").ok()].into_iter().flatten() {
        let root = directory.path();
        write(root, "d/f", [b'A'; 8192]);
        sleep(Duration::from_millis(2100));
        let file = fs::File::options().read(true).write(true).open(root.join("d/f")).expect("a file");
        // SAFETY: no other process maps the file, and programs that read it meanwhile end before it is written to.
        let mut mapped = unsafe { memmap2::MmapMut::map_mut(&file) }.expect("a mapping");
        mapped[0] = b'B';
        // As long as the ticks of any clock, and not as long as the page may be dirty.
        sleep(Duration::from_millis(2100));
        assert_eq!(manifest(root, &["update", "d", "m.sha256"]).status, Some(0));
        mapped[1] = b'C';
        mapped.flush().expect("it is written");
        drop((mapped, file));
        let update = manifest(root, &["update", "d", "m.sha256"]);
        assert_outcome(&update, 0, "f: changed\n", "manyhash: 1 file: 0 as listed, 1 changed\n");
        assert_eq!(manifest(root, &["verify", "d", "m.sha256"]).status, Some(0));
    }
}

/// A file system of a program's, whose times may be anything.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_kept_of_files_on_fuse() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { return eprintln!("skipped: there is no /dev/shm") };
    let root = directory.path();
    for name in ["real/a", "real/b"] {
        write(root, name, name);
    }
    fs::create_dir(root.join("d")).expect("a directory");
    let mut mount = std::process::Command::new("bindfs");
    if !mount.args(["real", "d"]).current_dir(root).output().is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: nothing can be mounted with bindfs");
    }
    let unmount = || std::process::Command::new("umount").arg(root.join("d")).status();
    let run = || {
        sleep(Duration::from_millis(2100));
        let created = ["m", "trusted"].map(|list| {
            let trust = if list == "m" { "--progress=never" } else { "--trust-times" };
            manifest(root, &["create", "d", "-o", list, trust]).status
        });
        let is_silent = crate::common::corrupt(&root.join("real/a"));
        let updated =
            [manifest(root, &["update", "d", "m"]), manifest(root, &["update", "d", "trusted", "--trust-times"])];
        (created, is_silent, updated)
    };
    // Unmounted, whatever comes of it.
    let outcome = std::panic::catch_unwind(run);
    unmount().expect("umount");
    let (created, is_silent, [usual, trusted]) = outcome.expect("no panic");
    assert_eq!(created, [Some(0); 2]);
    assert_outcome(&usual, 0, "a: changed\n", "manyhash: 2 files: 1 as listed, 1 changed\n");
    if is_silent {
        assert_outcome(&trusted, 0, "", "manyhash: 2 files: 2 as listed\n");
    }
}

#[test]
fn kinds_of_storage() {
    let directory = crate::common::directory();
    crate::common::hostile_files(directory.path());
    let printed = manysum(directory.path(), &["-r", "."], b"");
    assert_eq!(printed.status, Some(0));
    for kind in ["auto", "ssd", "hdd"] {
        assert_eq!(manysum(directory.path(), &["--io", kind, "-r", "."], b""), printed, "{kind}");
    }
    assert_eq!(manysum(directory.path(), &["--io", "tape", "-r", "."], b"").status, Some(1));
}
