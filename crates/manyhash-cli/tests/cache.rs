//! `manysum --cache`, and `--io`.
#![cfg(unix)]

mod common;

use common::{corrupt, manysum};
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
    let cached = || manysum(root, &["-r", "--cache=cache", "d"], b"");
    let before = cached();
    assert_eq!((before.status, &before.stdout), (Some(0), &manysum(root, &["-r", "d"], b"").stdout));
    if !corrupt(&root.join("d/a")) {
        eprintln!("skipped: /dev/shm is no tmpfs");
        return;
    }
    assert_eq!(cached(), before, "it was read again");
    assert_ne!(manysum(root, &["-r", "d"], b"").stdout, before.stdout);
    // Of another algorithm nothing is known, and what has changed is read.
    let of_other = || manysum(root, &["-r", "--cache=cache", "-a", "md5", "d"], b"");
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

#[test]
fn kinds_of_storage() {
    let directory = common::directory();
    common::hostile_files(directory.path());
    let printed = manysum(directory.path(), &["-r", "."], b"");
    assert_eq!(printed.status, Some(0));
    for kind in ["auto", "ssd", "hdd"] {
        assert_eq!(manysum(directory.path(), &["--io", kind, "-r", "."], b""), printed, "{kind}");
    }
    assert_eq!(manysum(directory.path(), &["--io", "tape", "-r", "."], b"").status, Some(1));
}
