//! What the library does where no thread can be started: all on the caller's.
//!
//! The test runs itself again with stacks for threads that have more memory than there are addresses.
#![cfg(target_os = "linux")]

use manyhash::file::{Files, Source};
use manyhash::{Algorithm, HashFunction, digest, digest_many};
use std::env;
use std::ops::ControlFlow;
use std::process::Command;
use std::thread::Builder;

const ALONE: &str = "MANYHASH_TEST_ALONE";

#[test]
fn the_callers_thread_goes_on_alone() {
    if env::var_os(ALONE).is_some() {
        return alone();
    }
    let mut test = Command::new(env::current_exe().expect("the test"));
    test.args(["--exact", "no_threads::the_callers_thread_goes_on_alone", "--test-threads", "1"]);
    let output = test.env(ALONE, "1").env("RUST_MIN_STACK", (1_u64 << 50).to_string()).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

fn alone() {
    assert!(Builder::new().spawn(|| ()).is_err(), "there should be no threads");
    let messages: Vec<Vec<u8>> = (0..64).map(|i| vec![i; 100_000]).collect();
    let digests = digest_many(Algorithm::Sha256, &messages);
    let expected = messages.iter().map(|message| digest(Algorithm::Sha256, message));
    assert!(digests.into_iter().eq(expected));

    let directory = tempfile::tempdir().expect("a directory");
    let files = messages.iter().enumerate().map(|(i, message)| {
        let path = directory.path().join(i.to_string());
        std::fs::write(&path, message).expect("a file");
        (i, Source::Path(path))
    });
    let files: Vec<_> = files.collect();
    let functions = [Algorithm::Md5].map(HashFunction::Lanes);
    let mut done = 0;
    Files::new(&functions).digest(files.into_iter(), |i, digested| {
        let digested = digested.expect("it is read");
        assert_eq!((i, digested.digests[0]), (done, digest(Algorithm::Md5, &messages[i])));
        done += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(done, messages.len());
}
