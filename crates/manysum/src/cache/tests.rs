//! Caches as they are used, shared, killed and damaged. Whatever is found must be what was stored.

mod damage;
mod processes;

use super::stamp::{Stamp, Time};
use super::store::Writable;
use super::systems::FileSystems;
use super::writer::Pace;
use super::{Cache, CacheError};
use manyhash::file::{Files, Source};
use manyhash::{Algorithm, Digest, HashFunction};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const FUNCTIONS: [HashFunction; 2] = [HashFunction::Lanes(Algorithm::Md5), HashFunction::Blake3];

/// Commits all the time.
const HASTE: Pace = Pace { files: 50, delay: Duration::from_millis(1) };

/// One of many files.
fn file(number: u64) -> Stamp {
    let time = Time { seconds: 1_600_000_000 + number as i64 % 1000, nanoseconds: 123_456_789 };
    Stamp { device: 66, inode: 1000 + number, size: 3 * number, modified: time, changed: time }
}

/// What it is hashed to.
fn digests(file: &Stamp) -> Vec<Digest> {
    let content = format!("{file:?}");
    [Algorithm::Md5, Algorithm::Sha256].map(|algorithm| manyhash::digest(algorithm, content.as_bytes())).to_vec()
}

fn store(cache: &Cache, numbers: impl Iterator<Item = u64>) {
    numbers.map(file).for_each(|file| cache.remember(&file, &FUNCTIONS, &digests(&file)));
}

/// How many of the files are found; all that are, right.
#[track_caller]
fn found(cache: &Cache, numbers: impl Iterator<Item = u64>) -> u64 {
    let reader = cache.reader(&FUNCTIONS);
    let mut found = 0;
    for file in numbers.map(file) {
        if let Some(there) = reader.find(&file) {
            assert_eq!(there, digests(&file), "{file:?}");
            found += 1;
        }
    }
    found
}

/// A directory, and the path of a cache in it. In memory where that can be had: a disk only takes longer.
fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
    let path = directory.path().join("cache/manyhash/digests");
    (directory, path)
}

fn open(path: &Path) -> Cache {
    Cache::open(path, false).expect("it opens")
}

#[test]
fn what_is_stored_is_found() {
    let (_directory, path) = place();
    let cache = open(&path);
    assert_eq!(found(&cache, 0..3000), 0);
    store(&cache, (0..3000).rev());
    cache.finish().expect("it is stored");
    let cache = open(&path);
    assert_eq!(found(&cache, 0..4000), 3000);
    // One function of two, in any order, and one that is not there.
    let (md5, blake3) = (FUNCTIONS[0], FUNCTIONS[1]);
    let there = digests(&file(7));
    assert_eq!(cache.reader(&[blake3]).find(&file(7)), Some(vec![there[1]]));
    assert_eq!(cache.reader(&[blake3, md5]).find(&file(7)), Some(vec![there[1], there[0]]));
    assert_eq!(cache.reader(&[md5, Algorithm::Sha1.into()]).find(&file(7)), None);
}

#[test]
fn another_version_takes_the_place_of_one() {
    let (_directory, path) = place();
    let (old, new) = (file(5), Stamp { size: 1, ..file(5) });
    for (stored, lost) in [(old, new), (new, old)] {
        let cache = open(&path);
        cache.remember(&stored, &FUNCTIONS, &digests(&stored));
        cache.finish().expect("it is stored");
        let cache = open(&path);
        let reader = cache.reader(&FUNCTIONS);
        assert_eq!((reader.find(&stored), reader.find(&lost)), (Some(digests(&stored)), None));
    }
    // A digest of another function joins those of the same version.
    let cache = open(&path);
    let sha1 = manyhash::digest(Algorithm::Sha1, b"");
    cache.remember(&new, &[Algorithm::Sha1.into()], &[sha1]);
    cache.finish().expect("it is stored");
    let cache = open(&path);
    let all = [FUNCTIONS[0], Algorithm::Sha1.into(), FUNCTIONS[1]];
    assert_eq!(cache.reader(&all).find(&new), Some(vec![digests(&new)[0], sha1, digests(&new)[1]]));
}

/// What becomes of a file that is read, for a cache of which this is said.
fn is_kept(file: &Path, systems: FileSystems) -> bool {
    let (_directory, path) = place();
    let cache = Cache::with(&path, Pace::USUAL, systems).expect("it opens");
    let functions = [FUNCTIONS[0]];
    Files::new(&functions).digest([((), Source::Path(file.to_owned()))].into_iter(), |(), digested| {
        cache.store(&functions, file, &digested.expect("it is read"));
        ControlFlow::Continue(())
    });
    cache.finish().expect("it is stored");
    let stamp = Stamp::of(&fs::metadata(file).expect("a file")).expect("a stamp");
    open(&path).reader(&functions).find(&stamp).is_some()
}

#[test]
fn a_file_is_kept_once_its_times_tell() {
    // This program, which is on a disk as a rule, and has not changed since it was built; and a file that is new.
    let old = std::env::current_exe().expect("a program");
    let directory = tempfile::tempdir().expect("a directory");
    let young = directory.path().join("young");
    fs::write(&young, "x").expect("a file");
    if [&old, &young].iter().any(|path| Stamp::of(&fs::metadata(path).expect("a file")).is_none()) {
        eprintln!("skipped: the clock of this file system is coarse");
        return;
    }
    assert!(is_kept(&old, FileSystems::with_age(Duration::ZERO)));
    assert!(!is_kept(&old, FileSystems::with_age(Duration::from_secs(1 << 40))));
    assert!(!is_kept(&young, FileSystems::with_age(Duration::from_secs(2))));
    assert!(!is_kept(&young, FileSystems::new(true)), "less than the ticks of clocks");
}

#[test]
fn files_elsewhere_are_looked_up_only_if_they_are_trusted() {
    let (_directory, path) = place();
    let file = file(5);
    let cache = open(&path);
    cache.remember(&file, &FUNCTIONS, &digests(&file));
    cache.finish().expect("it is stored");
    // The device of no file at all, and thus of none on a disk.
    for all in [false, true] {
        let cache = Cache::open(&path, all).expect("it opens");
        assert_eq!(cache.reader(&FUNCTIONS).find_at("/none".as_ref(), &file).is_some(), all);
    }
}

#[test]
fn a_commit_comes_by_itself() {
    let (_directory, path) = place();
    let cache = Cache::with(&path, HASTE, FileSystems::new(false)).expect("it opens");
    for number in 0..3 {
        store(&cache, number..=number);
        // However slow the disk is.
        let arrived = |_| {
            std::thread::sleep(Duration::from_millis(5));
            found(&cache, 0..=number) == number + 1
        };
        assert!((0..12_000).any(arrived));
    }
}

/// Another handle on the same file shares no more with this one than another process does.
#[test]
fn readers_do_not_wait_for_a_writer() {
    let (_directory, path) = place();
    let cache = open(&path);
    store(&cache, 0..100);
    cache.finish().expect("it is stored");
    let writer = Writable::open(&path).expect("it opens");
    writer
        .while_writing(|| {
            let cache = open(&path);
            assert_eq!(found(&cache, 0..100), 100);
        })
        .expect("it writes");
}

#[test]
fn what_is_no_cache_is_left_alone() {
    let (directory, path) = place();
    let root = directory.path();
    let text = root.join("text");
    fs::write(&text, "precious ".repeat(1000)).expect("a file");
    let other = root.join("other");
    drop(redb::Database::create(&other).expect("a database"));
    let short = root.join("short");
    fs::write(&short, "r").expect("a file");
    for path in [&text, &other, &short] {
        let before = fs::read(path).expect("a file");
        let error = Cache::open(path, false).err().expect("an error");
        assert!(matches!(&error, CacheError::Foreign(there) if there == path), "{error}");
        assert!(path == &other || fs::read(path).expect("a file") == before);
    }
    let fifo = root.join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).expect("a pipe");
    for path in [root, &fifo, Path::new("/dev/null"), &text.join("below")] {
        let error = Cache::open(path, false).err().expect("an error");
        assert!(matches!(&error, CacheError::Io(there, _) if there == path), "{error}");
        assert!(error.to_string().starts_with(&format!("digest cache {}: ", path.display())), "{error}");
    }
    // A file with nothing in it may become one.
    let empty = root.join("empty");
    fs::write(&empty, "").expect("a file");
    store(&open(&empty), 0..10);
    assert_eq!(found(&open(&empty), 0..10), 10);
    // Directories and files are nobody else's.
    drop(open(&path));
    use std::os::unix::fs::PermissionsExt;
    let modes = [path.parent().expect("a directory"), &path]
        .map(|path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o600]);
    assert_eq!(fs::read_dir(path.parent().expect("a directory")).expect("a directory").count(), 1);
}
