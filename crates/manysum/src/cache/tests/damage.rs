//! Caches on disks that are full or fail.

use super::{found, open, place, store};
use crate::cache::{Cache, CacheError};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

/// Opens what is left of a cache, and uses it in all ways. Neither may it find anything wrong, nor bring the program
/// down; an error names the file.
#[track_caller]
fn use_it(path: &Path) {
    let named = |error: CacheError| assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    match Cache::open(path, false) {
        Ok(cache) => {
            found(&cache, 0..2000);
            store(&cache, 1900..2100);
            if let Err(error) = cache.finish() {
                named(error);
            }
        }
        Err(error) => named(error),
    }
}

#[test]
fn a_damaged_cache_finds_nothing_wrong() {
    let (directory, path) = place();
    store(&open(&path), 0..2000);
    let whole = fs::read(&path).expect("a file");
    let damaged = directory.path().join("damaged");
    // What of the file the cache uses.
    let used = whole.chunks(4096).enumerate().filter(|(_, page)| page.iter().any(|byte| *byte != 0));
    let pages: Vec<usize> = used.map(|(number, _)| number * 4096).collect();
    let anywhere = |i: usize| pages[i * 7919 % pages.len()] + i * 104_729 % 4096;
    // The header byte for byte, and the beginnings of pages, where they say what they are.
    let header = 0..320;
    let beginnings = pages.iter().flat_map(|page| (0..24).step_by(5).map(move |i| page + i));
    for at in header.chain(beginnings).chain((0..200).map(anywhere)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&damaged, &bytes).expect("a file");
        use_it(&damaged);
    }
    for i in 0..100 {
        let at = anywhere(i);
        let mut bytes = whole.clone();
        let end = bytes.len().min(at + 512);
        bytes[at..end].fill(if i % 2 == 0 { 0 } else { 0xff });
        fs::write(&damaged, &bytes).expect("a file");
        use_it(&damaged);
        fs::write(&damaged, &whole[..at]).expect("a file");
        use_it(&damaged);
    }
    fs::write(&damaged, [&whole[..], &[7; 5000]].concat()).expect("a file");
    use_it(&damaged);
}

/// Another program at the same file, while it is open.
#[test]
fn a_cache_that_is_damaged_in_use_finds_nothing_wrong() {
    let (_directory, path) = place();
    store(&open(&path), 0..20_000);
    let cache = open(&path);
    assert_eq!(found(&cache, 0..10), 10);
    let file = File::options().write(true).open(&path).expect("a file");
    for at in (0..fs::metadata(&path).expect("a file").len()).step_by(4096) {
        file.write_all_at(&[at as u8; 30], at + 1).expect("it is written");
    }
    assert!(found(&cache, 0..20_000) < 20_000);
    file.set_len(5000).expect("it is cut");
    found(&cache, 0..20_000);
    store(&cache, 0..100);
    let error = cache.finish().expect_err("it cannot be used");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
}

/// A file system of few bytes; none where it may not be mounted.
struct Small(tempfile::TempDir);

impl Small {
    fn mount() -> Option<Self> {
        let directory = tempfile::tempdir().expect("a directory");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=3M", "tmpfs"]).arg(directory.path());
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Small(directory));
        }
        eprintln!("skipped: no file system can be mounted here");
        None
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_reported_at_the_end() {
    let Some(small) = Small::mount() else { return };
    let path = small.0.path().join("digests");
    store(&open(&path), 0..1000);
    let cache = open(&path);
    store(&cache, 1000..60_000);
    let error = cache.finish().expect_err("there is no room for it");
    assert!(matches!(&error, CacheError::Io(_, error) if error.kind() == std::io::ErrorKind::StorageFull), "{error}");
    let cache = open(&path);
    assert!(found(&cache, 0..60_000) >= 1000);
    // Nor is there for a new one.
    fs::write(small.0.path().join("rest"), vec![1; 3 << 20]).expect_err("there is no room for it");
    assert!(matches!(Cache::open(&small.0.path().join("other"), false), Err(CacheError::Io(..))));
    assert!(!small.0.path().join("other").exists());
}
