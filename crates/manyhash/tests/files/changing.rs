//! Files that are written while they are read, errors of reading, and the kinds of storage.

use crate::common::{bytes, reference};
use manyhash::file::{Digested, Files, Source, Storage};
use manyhash::{Algorithm, Digest, HashFunction};
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

const MD5: [HashFunction; 1] = [HashFunction::Lanes(Algorithm::Md5)];

/// Files that are read, and mapped where that can be.
fn all_ways() -> Vec<Files<'static>> {
    let files = Files::new(&MD5);
    #[cfg(all(feature = "map", target_os = "linux"))]
    // SAFETY: nothing else here handles the signal or maps these files.
    return vec![files, files.map(unsafe { manyhash::file::SigbusGuard::install() }.expect("a handler"))];
    #[cfg(not(all(feature = "map", target_os = "linux")))]
    vec![files]
}

fn digest(files: &Files<'_>, sources: Vec<Source>) -> Vec<io::Result<Digested>> {
    let mut results = Vec::new();
    files.digest(sources.into_iter().map(|source| ((), source)), |(), result| {
        results.push(result);
        ControlFlow::Continue(())
    });
    results
}

fn paths<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<Source> {
    paths.into_iter().cloned().map(Source::Path).collect()
}

fn write(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a file in the temporary folder");
    path
}

fn md5(content: &[u8]) -> Digest {
    reference(Algorithm::Md5, content)
}

/// So many bytes that each way of reading is tried and one is taken.
#[test]
fn long_files_by_whichever_way() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let content = bytes(7 << 20);
    let files: Vec<_> = (0..24).map(|i| write(folder.path(), &i.to_string(), &content[i * 4321..])).collect();
    let due: Vec<_> = (0..24).map(|i| md5(&content[i * 4321..])).collect();
    for files_of in all_ways() {
        for threads in [1, 2] {
            let counter = AtomicU64::new(0);
            let results = digest(&files_of.threads(NonZeroUsize::new(threads)).counter(&counter), paths(&files));
            let mut total = 0;
            for (result, (path, due)) in results.into_iter().zip(files.iter().zip(&due)) {
                let Digested { digests, bytes, settled, .. } = result.expect("a readable file");
                assert_eq!(digests, [*due]);
                assert_eq!(bytes, settled.expect("nobody writes to it").len());
                assert_eq!(bytes, path.metadata().expect("a file").len());
                total += bytes;
            }
            assert_eq!(counter.into_inner(), total);
        }
    }
}

/// A file loses its end and gets another, again and again: what comes of it is its digest at some time or an error, and
/// the files beside it are right.
#[test]
fn truncation_and_growth() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let content = bytes(3 << 20);
    let steady: Vec<_> = (0..6).map(|i| write(folder.path(), &i.to_string(), &content)).collect();
    let due = md5(&content);
    let changing = write(folder.path(), "changing", &content);
    let ended = AtomicBool::new(false);
    let mut sources: Vec<&PathBuf> = steady.iter().collect();
    sources.insert(5, &changing);
    thread::scope(|scope| {
        scope.spawn(|| {
            let file = File::options().write(true).open(&changing).expect("a file");
            while !ended.load(Ordering::Relaxed) {
                for length in [1 << 20, 5, 3 << 20, (2 << 20) + 77, 4 << 20] {
                    file.set_len(length).expect("it changes");
                    thread::yield_now();
                }
            }
        });
        let (mut read, mut unsettled, mut failed) = (0, 0, 0);
        for files in all_ways() {
            for turn in 0..40 {
                let results = digest(&files.threads(NonZeroUsize::new(1 + turn % 2)), paths(sources.iter().copied()));
                for (i, result) in results.into_iter().enumerate() {
                    match result {
                        Ok(digested) if i == 5 => {
                            read += 1;
                            unsettled += usize::from(digested.settled.is_none());
                        }
                        Err(error) if i == 5 => {
                            failed += 1;
                            assert_eq!(error.to_string(), "File was truncated while it was read");
                        }
                        result => assert_eq!(result.expect("a readable file").digests, [due]),
                    }
                }
            }
        }
        ended.store(true, Ordering::Relaxed);
        assert!(read > 0 && unsettled + failed > 0, "{read} {unsettled} {failed}: it never changed");
    });
}

/// Files are written over, deleted and put in the place of others while they are hashed: each gives a digest or an error, and
/// the files beside them are right.
#[test]
#[cfg(unix)]
fn files_that_are_written_over_and_vanish() {
    use std::os::unix::fs::FileExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let content = bytes(3 << 20);
    let steady: Vec<_> = (0..4).map(|i| write(folder.path(), &i.to_string(), &content)).collect();
    let [written, vanishing, other] =
        ["written", "vanishing", "other"].map(|name| write(folder.path(), name, &content));
    let due = md5(&content);
    let ended = AtomicBool::new(false);
    let sources = [&steady[0], &written, &steady[1], &vanishing, &steady[2], &steady[3]];
    thread::scope(|scope| {
        scope.spawn(|| {
            let file = File::options().write(true).open(&written).expect("a file");
            for turn in (0..=255).cycle().take_while(|_| !ended.load(Ordering::Relaxed)) {
                file.write_all_at(&[turn; 100_000], u64::from(turn) * 10_000).expect("it is written over");
                let _ = std::fs::remove_file(&vanishing);
                thread::yield_now();
                std::fs::write(&other, &content).expect("another file");
                std::fs::rename(&other, &vanishing).expect("it takes the other's place");
            }
        });
        for files in all_ways() {
            for turn in 0..40 {
                for (i, result) in
                    digest(&files.threads(NonZeroUsize::new(1 + turn % 2)), paths(sources)).into_iter().enumerate()
                {
                    match result {
                        Ok(digested) if i == 1 => assert_eq!(digested.bytes, content.len() as u64),
                        // A path leads to a whole file or to none.
                        Err(error) if i == 3 => assert_eq!(error.kind(), io::ErrorKind::NotFound),
                        result => assert_eq!(result.expect("a readable file").digests, [due]),
                    }
                }
            }
        }
        ended.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_is_known_is_given_in_its_turn() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = write(folder.path(), "file", b"abc");
    let sources = vec![Source::Path(path.clone()), Source::Known(vec![md5(b"known")]), Source::Path(path)];
    let results = digest(&Files::new(&MD5), sources);
    let found: Vec<_> = results.into_iter().map(|result| result.expect("a digest")).collect();
    assert_eq!(found.iter().map(|file| file.digests[0]).collect::<Vec<_>>(), [md5(b"abc"), md5(b"known"), md5(b"abc")]);
    assert!(found[1].bytes == 0 && found[1].settled.is_none() && found[2].bytes == 3);
}

/// More files than are put into order at a time, among them what cannot be.
#[test]
fn rotating_disks_keep_the_order() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let content = bytes(5000);
    let mut sources = Vec::new();
    for i in 0..2500 {
        if i % 3 == 0 {
            write(folder.path(), &i.to_string(), &content[..i]);
        }
        sources.push(Source::Path(folder.path().join(i.to_string())));
    }
    sources[1] = Source::Path("/dev/null".into());
    sources[2] = Source::Failed(io::Error::other("said before"));
    for threads in [1, 3] {
        let sources = sources.iter().map(|source| match source {
            Source::Path(path) => Source::Path(path.clone()),
            _ => Source::Failed(io::Error::other("said before")),
        });
        let results =
            digest(&Files::new(&MD5).threads(NonZeroUsize::new(threads)).storage(Storage::Hdd), sources.collect());
        assert_eq!(results.len(), 2500);
        for (i, result) in results.into_iter().enumerate() {
            match result {
                Ok(digested) if i == 1 => assert_eq!(digested.digests, [md5(b"")]),
                Ok(digested) => assert_eq!((i % 3, digested.digests), (0, vec![md5(&content[..i])])),
                Err(error) if i == 2 => assert_eq!(error.to_string(), "said before"),
                Err(error) => assert_eq!((i % 3 != 0, error.kind()), (true, io::ErrorKind::NotFound)),
            }
        }
    }
}

/// What is not in memory: dropped from there, where the file system does that.
#[test]
#[cfg(target_os = "linux")]
fn files_that_are_not_in_memory() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let content = bytes(5 << 20);
    let lengths = [0, 1, 5000, 100_000, 1 << 20, 5 << 20];
    let written: Vec<_> = (0..90).map(|i| write(folder.path(), &i.to_string(), &content[..lengths[i % 6]])).collect();
    let opened: Vec<_> = written.iter().map(|path| File::open(path).expect("a file")).collect();
    opened.iter().for_each(|file| file.sync_all().expect("it is on the disk"));
    for storage in [Storage::Ssd, Storage::Hdd, Storage::Auto] {
        for files in all_ways() {
            for file in &opened {
                rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).expect("advice");
            }
            for (i, result) in
                digest(&files.storage(storage).threads(NonZeroUsize::new(2)), paths(&written)).into_iter().enumerate()
            {
                let digested = result.expect("a readable file");
                assert_eq!(digested.digests, [md5(&content[..lengths[i % 6]])], "{storage:?}");
                assert!(digested.settled.is_some());
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn errors_of_reading() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = write(folder.path(), "file", b"abc");
    // Nothing is mapped at the address 0.
    let sources = [Source::Path(path.clone()), Source::Path("/proc/self/mem".into()), Source::Path(path)];
    for files in all_ways() {
        let sources = sources.iter().map(|source| match source {
            Source::Path(path) => Source::Path(path.clone()),
            _ => Source::Stdin,
        });
        let results = digest(&files, sources.collect());
        assert_eq!(results[1].as_ref().expect_err("it cannot be read").raw_os_error(), Some(5), "EIO");
        for i in [0, 2] {
            assert_eq!(results[i].as_ref().expect("a readable file").digests, [md5(b"abc")]);
        }
    }
}

/// They change without a word about it, so that nobody may take what was read for what is there.
#[test]
#[cfg(target_os = "linux")]
fn files_of_the_system_are_never_settled() {
    for path in ["/proc/version", "/proc/uptime", "/sys/kernel/uevent_seqnum"].map(PathBuf::from) {
        let result = digest(&Files::new(&MD5), paths([&path])).remove(0).expect("a readable file");
        assert!(result.bytes > 0 && result.settled.is_none(), "{}", path.display());
    }
}
