//! Fewer files may be open than workers would have in hand: in a process of its own, whose limit it is.
#![cfg(unix)]

mod common;

use common::{bytes, reference};
use manyhash::Algorithm;
use manyhash::file::{Files, Source};
use nix::sys::resource::{Resource, setrlimit};
use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// Files that may be open at once.
const LIMIT: u64 = 48;

#[test]
fn no_more_files_are_open_than_may_be() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let content = bytes(100_000);
    let paths: Vec<_> = (0..400).map(|i| folder.path().join(i.to_string())).collect();
    for (i, path) in paths.iter().enumerate() {
        std::fs::write(path, &content[i..]).expect("a file in the temporary folder");
    }
    setrlimit(Resource::RLIMIT_NOFILE, LIMIT, LIMIT).expect("it can be lowered");
    let check = |threads| {
        let sources = paths.iter().enumerate().map(|(i, path)| (i, Source::Path(path.clone())));
        let mut seen = 0;
        Files::new(&[Algorithm::Md5.into()]).threads(NonZeroUsize::new(threads)).digest(sources, |i, digested| {
            let digests = digested.expect("a readable file").digests;
            assert_eq!(digests, [reference(Algorithm::Md5, &content[i..])]);
            seen += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(seen, paths.len());
    };
    for threads in [1, 4, 100] {
        check(threads);
    }
    // The process has others open, all but a few of those that it may have.
    let mut others: Vec<_> = std::iter::from_fn(|| File::open(&paths[0]).ok()).collect();
    for _ in 0..2 {
        others.pop();
        for threads in [1, 4] {
            check(threads);
        }
    }
}
