//! What each worker does: in a process of its own, whose threads are known.
#![cfg(target_os = "linux")]

use manyhash::Algorithm;
use manyhash::file::{Files, Source};
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// Nanoseconds that each thread of this process was on a CPU, most first.
fn times() -> Vec<u64> {
    let threads = fs::read_dir("/proc/self/task").expect("threads");
    let mut times: Vec<_> = threads
        .map(|thread| {
            let text = fs::read_to_string(thread.expect("a thread").path().join("schedstat")).expect("its times");
            text.split(' ').next().and_then(|time| time.parse::<u64>().ok()).expect("a time")
        })
        .collect();
    times.sort_unstable_by(|one, other| other.cmp(one));
    times
}

/// One worker has taken them all when the other may take no more files.
#[test]
fn long_files_before_many_others_are_shared() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("long");
    File::create(&path).and_then(|file| file.set_len(96 << 20)).expect("a file of zeros");
    let long = (0..8).map(|_| Source::Path(path.clone()));
    let sources = long.chain((0..40_000).map(|_| Source::Known(Vec::new())));
    let mut at_last = Vec::new();
    Files::new(&[Algorithm::Sha512.into()]).threads(NonZeroUsize::new(2)).digest(sources.enumerate(), |i, digested| {
        assert_eq!(digested.expect("a readable file").bytes > 0, i < 8);
        if i == 7 {
            at_last = times();
        }
        ControlFlow::Continue(())
    });
    assert!(at_last[0] < 4 * at_last[1], "{at_last:?}");
}
