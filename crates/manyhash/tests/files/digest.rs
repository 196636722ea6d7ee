//! Files through the pipeline against the reference: every length, any number of threads, in order, with failures.

use crate::common::{bytes, reference};
use manyhash::file::{Files, Source};
use manyhash::{Algorithm, HashFunction, digest_many};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Files of these lengths in a folder of their own, with their contents.
fn files(lengths: &[usize]) -> (tempfile::TempDir, Vec<(PathBuf, Vec<u8>)>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let longest = bytes(lengths.iter().copied().max().unwrap_or(0) + 100);
    let files = lengths.iter().enumerate().map(|(i, length)| {
        let path = folder.path().join(i.to_string());
        let content = longest[i % 100..][..*length].to_vec();
        std::fs::write(&path, &content).expect("a file in the temporary folder");
        (path, content)
    });
    let files = files.collect();
    (folder, files)
}

fn check(algorithm: Algorithm, threads: usize, lengths: &[usize]) {
    let (_folder, files) = files(lengths);
    let mut found = Vec::new();
    let sources = files.iter().enumerate().map(|(i, (path, _))| (i, Source::Path(path.clone())));
    Files::new(&[algorithm.into()]).threads(NonZeroUsize::new(threads)).digest(sources, |i, digests| {
        found.push((i, digests.expect("a readable file").digests));
        ControlFlow::Continue(())
    });
    assert_eq!(found.len(), files.len());
    for (due, (i, digests)) in found.into_iter().enumerate() {
        assert_eq!(i, due, "in order");
        assert_eq!(digests, [reference(algorithm, &files[i].1)], "{algorithm}, {} bytes", files[i].1.len());
    }
}

#[test]
fn lengths_around_blocks_and_chunks() {
    let chunk = 32 << 10;
    let edges = [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1000, chunk - 1, chunk, chunk + 1, 3 * chunk + 5];
    for algorithm in Algorithm::ALL.iter().copied() {
        check(algorithm, 1, &edges);
        check(algorithm, 3, &edges);
    }
}

#[test]
fn few_and_many_small_and_large() {
    let lengths: Vec<usize> = (0..700).map(|i| if i % 97 == 3 { 300_000 + i } else { i * 13 % 5000 }).collect();
    for threads in [0, 1, 2, 5] {
        check(Algorithm::Sha256, threads, &lengths);
        check(Algorithm::Md5, threads, &lengths[..70]);
        check(Algorithm::Sha512, threads, &[2 << 20, 5, 1 << 20]);
    }
    check(Algorithm::Sha1, 2, &[]);
}

/// Also two of one family, and one twice.
#[test]
fn several_functions_in_one_read() {
    let algorithms = [Algorithm::Sha256, Algorithm::Md5, Algorithm::Sha384, Algorithm::Sha224, Algorithm::Md5];
    let functions = algorithms.map(HashFunction::Lanes);
    let lengths: Vec<usize> = (0..300).map(|i| if i % 97 == 3 { 200_000 + i } else { i * 13 % 5000 }).collect();
    let (_folder, files) = files(&lengths);
    for threads in [1, 3] {
        let sources = files.iter().enumerate().map(|(i, (path, _))| (i, Source::Path(path.clone())));
        let mut seen = 0;
        Files::new(&functions).threads(NonZeroUsize::new(threads)).digest(sources, |i, digests| {
            let due = algorithms.map(|algorithm| reference(algorithm, &files[i].1));
            assert_eq!(digests.expect("a readable file").digests, due, "{} bytes", lengths[i]);
            seen += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(seen, lengths.len());
    }
    let nothing = std::iter::once(((), Source::Path(files[0].0.clone())));
    Files::new(&[]).threads(NonZeroUsize::MIN).digest(nothing, |(), digests| {
        assert_eq!(digests.expect("a readable file").digests, []);
        ControlFlow::Continue(())
    });
}

#[test]
fn failures_come_in_their_turn() {
    let (folder, files) = files(&[10; 40]);
    let sources = files.iter().enumerate().map(|(i, (path, _))| match i % 4 {
        0 => (i, Source::Path(folder.path().join("missing"))),
        1 => (i, Source::Failed(io::Error::other("said before"))),
        2 => (i, Source::Path(folder.path().to_path_buf())),
        _ => (i, Source::Path(path.clone())),
    });
    let mut due = 0;
    Files::new(&[Algorithm::Md5.into()]).threads(NonZeroUsize::new(2)).digest(sources, |i, digest| {
        assert_eq!(i, due);
        due += 1;
        match i % 4 {
            0 => assert_eq!(digest.unwrap_err().kind(), io::ErrorKind::NotFound),
            1 => assert_eq!(digest.unwrap_err().to_string(), "said before"),
            2 => assert_eq!(digest.unwrap_err().kind(), io::ErrorKind::IsADirectory),
            _ => assert_eq!(digest.expect("a readable file").digests, [reference(Algorithm::Md5, &files[i].1)]),
        }
        ControlFlow::Continue(())
    });
    assert_eq!(due, 40);
}

#[test]
fn the_sink_may_end_it_all() {
    let (_folder, files) = files(&[100; 50]);
    let drawn = AtomicUsize::new(0);
    let sources = (0..1_000_000).map(|i| {
        drawn.fetch_add(1, Ordering::Relaxed);
        ((), Source::Path(files[i % 50].0.clone()))
    });
    let mut results = 0;
    Files::new(&[Algorithm::Sha1.into()]).threads(NonZeroUsize::new(2)).digest(sources, |(), _| {
        results += 1;
        if results == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(results, 10);
    // As many as may wait for a slow worker's file, and those in hand.
    assert!(drawn.into_inner() < 40_000, "files are drawn without end");
}

/// The panic goes on, whatever the other workers do meanwhile.
#[test]
fn the_source_may_panic() {
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (_folder, files) = files(&[100]);
        for turn in 0..200 {
            let sources = (0..1000).map(|i| {
                assert!(i < turn, "it is meant to");
                ((), Source::Path(files[0].0.clone()))
            });
            let digest = || {
                let functions = [Algorithm::Sha1.into()];
                Files::new(&functions).threads(NonZeroUsize::new(8)).digest(sources, |(), _| ControlFlow::Continue(()));
            };
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(digest)).expect_err("it panics");
        }
        ended.send(()).expect("somebody waits");
    });
    end.recv_timeout(Duration::from_secs(60)).expect("it ends");
}

/// So does one of the sink, on whichever thread it is called, while the others hash and wait for their turn.
#[test]
fn the_sink_may_panic() {
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (_folder, files) = files(&[100]);
        for turn in 0..200 {
            let sources = (0..1 << 16).map(|i| (i, Source::Path(files[0].0.clone())));
            let digest = || {
                let functions = [Algorithm::Sha1.into()];
                Files::new(&functions).threads(NonZeroUsize::new(1 + turn % 8)).digest(sources, |i, _| {
                    assert!(i < turn, "it is meant to");
                    ControlFlow::Continue(())
                });
            };
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(digest)).expect_err("it panics");
        }
        ended.send(()).expect("somebody waits");
    });
    end.recv_timeout(Duration::from_secs(60)).expect("it ends");
}

/// What would be read next, and never ends, is not read any more.
#[test]
#[cfg(unix)]
fn nothing_is_read_after_the_end_of_it_all() {
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (_folder, files) = files(&[100]);
        for threads in [1, 2] {
            // The file is in hand while the device is opened, and has its result only then.
            let sources = [files[0].0.clone(), "/dev/zero".into()].map(|path| ((), Source::Path(path)));
            let mut results = 0;
            Files::new(&[Algorithm::Sha1.into()]).threads(NonZeroUsize::new(threads)).digest(
                sources.into_iter(),
                |(), _| {
                    results += 1;
                    ControlFlow::Break(())
                },
            );
            assert_eq!(results, 1);
        }
        ended.send(()).expect("somebody waits");
    });
    end.recv_timeout(Duration::from_secs(20)).expect("it ends");
}

/// They go on as far as results may wait, and the sink may use the library itself.
#[test]
fn a_sink_that_takes_its_time_holds_up_no_other_worker() {
    let (_folder, files) = files(&[100; 10]);
    let function = [HashFunction::from(Algorithm::Md5)];
    let source = |i: usize| Source::Path(files[i % 10].0.clone());
    let digest = |i: usize| reference(Algorithm::Md5, &files[i % 10].1);
    // Those that may be done before the first has been taken.
    let ahead = 1 << 15;
    let (drawn, mut due) = (AtomicUsize::new(0), 0);
    let sources = (0..ahead + 1000).map(|i| {
        drawn.fetch_add(1, Ordering::Relaxed);
        (i, source(i))
    });
    Files::new(&function).threads(NonZeroUsize::new(2)).digest(sources, |i, digested| {
        assert_eq!(i, due, "in order");
        due += 1;
        assert_eq!(digested.expect("a readable file").digests, [digest(i)]);
        if i == 0 {
            let end = Instant::now() + Duration::from_secs(60);
            while drawn.load(Ordering::Relaxed) < ahead {
                assert!(Instant::now() < end, "only {drawn:?} files were taken");
                std::thread::sleep(Duration::from_millis(1));
            }
            let mut again = Vec::new();
            Files::new(&function).threads(NonZeroUsize::new(2)).digest(
                (0..10).map(|i| (i, source(i))),
                |i, digested| {
                    again.push((i, digested.expect("a readable file").digests[0]));
                    ControlFlow::Continue(())
                },
            );
            assert_eq!(again, (0..10).map(|i| (i, digest(i))).collect::<Vec<_>>());
            let messages = vec![&files[0].1; 10_000];
            assert!(digest_many(Algorithm::Md5, &messages).iter().all(|found| *found == digest(0)));
        }
        ControlFlow::Continue(())
    });
    assert_eq!(due, ahead + 1000);
}

#[test]
fn a_slow_file_holds_back_only_so_many_others() {
    let (folder, files) = files(&[100; 10]);
    let pipe = folder.path().join("pipe");
    if !std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        if cfg!(target_os = "linux") {
            panic!("mkfifo is part of coreutils");
        }
        return;
    }
    let (drawn, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let sources = std::iter::once(pipe.clone()).chain((0..100_000).map(|i| files[i % 10].0.clone())).map(|path| {
        drawn.fetch_add(1, Ordering::Relaxed);
        ((), Source::Path(path))
    });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Opened by the reader as soon as it gets to it; the message ends when the writer has gone.
            let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).expect("a pipe to write to");
            let mut before = 0;
            loop {
                std::thread::sleep(Duration::from_millis(50));
                let now = drawn.load(Ordering::Relaxed);
                if now == before && now > 1 {
                    break;
                }
                before = now;
            }
            assert!(before < 50_000, "{before} files were taken ahead of a pipe without an end");
            assert_eq!(seen.load(Ordering::Relaxed), 0);
            io::Write::write_all(&mut writer, b"abc").expect("a reader");
        });
        Files::new(&[Algorithm::Md5.into()]).threads(NonZeroUsize::new(2)).digest(sources, |(), digest| {
            if seen.fetch_add(1, Ordering::Relaxed) == 0 {
                assert_eq!(digest.expect("a readable pipe").digests[0].to_hex(), "900150983cd24fb0d6963f7d28e17f72");
            }
            ControlFlow::Continue(())
        });
    });
    assert_eq!(seen.into_inner(), 100_001);
}
