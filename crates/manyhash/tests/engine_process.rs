//! What the system may do to the engine: its process is forked, or gets no more threads.
#![cfg(target_os = "linux")]

mod common;
#[path = "engine/engines.rs"]
mod engines;

use engines::{assert_idle, expected, noise};
use manyhash::Algorithm::{Md5, Sha256};
use manyhash::engine::{BuildError, Digesting, Engine, HashStream, JobError};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, alarm, fork};
use std::future::Future;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Runs this in a fork of the process, and tells whether it returned, within ten seconds and without a panic.
fn returns_in_fork(code: impl FnOnce()) -> bool {
    // SAFETY: the child runs `code` and then ends at once, without unwinding into the test runner or running what is
    // left for the end of a process. That it may allocate although the parent has threads, glibc sees to.
    match unsafe { fork() }.expect("the process can be forked") {
        ForkResult::Child => {
            alarm::set(10);
            let status = i32::from(catch_unwind(AssertUnwindSafe(code)).is_err());
            // SAFETY: it takes any status, and does not return.
            unsafe { nix::libc::_exit(status) }
        }
        ForkResult::Parent { child } => matches!(waitpid(child, None), Ok(WaitStatus::Exited(_, 0))),
    }
}

/// What a caller has in hand when the process is forked.
struct InHand {
    pending: Vec<Digesting<manyhash::Algorithm>>,
    /// Of the first of these.
    digest: manyhash::Digest,
    begun: HashStream<manyhash::Algorithm>,
    unbegun: HashStream<manyhash::Algorithm>,
    short: HashStream<manyhash::Algorithm>,
}

impl InHand {
    fn new(engine: &Engine, bytes: &[u8]) -> Self {
        let pending = [100_000, 200_000, 300_000, 600_000].map(|length| engine.digest(Md5, bytes[..length].to_vec()));
        let mut begun = engine.stream(Sha256);
        begun.write(bytes.to_vec()).wait().expect("it is accepted");
        let digest = manyhash::digest(Md5, &bytes[..100_000]);
        InHand { pending: pending.into(), digest, begun, unbegun: engine.stream(Sha256), short: engine.stream(Sha256) }
    }

    /// In the child everything says that it is one, but for what needs no threads and was begun before.
    fn assert_forked(mut self, engine: &Engine) {
        assert_eq!(self.pending.remove(3).wait(), Err(JobError::Forked));
        // It was not submitted yet, and its own thread is here.
        assert_eq!(self.pending.remove(0).wait(), Ok(self.digest));
        drop(self.pending);
        assert_eq!(self.begun.write("more").wait(), Err(JobError::Forked));
        assert_eq!(self.begun.finish().wait(), Err(JobError::Forked));
        assert_eq!(self.short.write("abc").wait(), Ok(()));
        assert_eq!(self.short.finish().wait(), Ok(expected(Sha256, b"abc")));
        assert_eq!(self.unbegun.write(noise(1_000_000, 2)).wait(), Err(JobError::Forked));
        assert_eq!(self.unbegun.finish().wait(), Err(JobError::Forked));
        assert_eq!(engine.digest(Md5, "abc").wait(), Ok(expected(Md5, b"abc")));
        assert_eq!(engine.digest(Md5, vec![3; 5_000_000]).wait(), Err(JobError::Forked));
        assert_eq!(engine.digest_many(Md5, vec!["abc"]).wait(), Err(JobError::Forked));
        let tried = engine.try_digest(Md5, noise(10_000, 4)).expect("it does not say that there is no room");
        assert_eq!(tried.wait(), Err(JobError::Forked));
        let mut stream = engine.stream(Md5);
        assert_eq!(stream.write("abc").wait(), Ok(()));
        // By a thread that has hashed for so long that others would go first, if their tasks were here.
        (0..1000).for_each(|_| assert!(engine.digest(Md5, vec![0; 500]).wait().is_ok()));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(pin!(stream.write("def")).poll(&mut context), Poll::Ready(Ok(())));
        assert_eq!(stream.write(noise(1_000_000, 5)).wait(), Err(JobError::Forked));
        drop(stream);
        let stats = engine.stats();
        assert_eq!((stats.threads, stats.memory, stats.jobs), (0, 0, 0));
    }
}

#[test]
fn a_forked_process_is_told() {
    let engine = Engine::builder().threads(NonZeroUsize::new(2)).memory(1 << 20).build().expect("threads can be made");
    let bytes = noise(600_000, 1);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        // Takes the engine's lock all the time, so that the fork finds it taken in many a round.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                engine.stats();
            }
        });
        let returned = (0..500).all(|_| {
            let in_hand = InHand::new(&engine, &bytes);
            returns_in_fork(|| in_hand.assert_forked(&engine))
        });
        over.store(true, Ordering::Relaxed);
        assert!(returned, "a child hung or panicked");
    });
    // The parent has noticed nothing; a child may have an engine of its own, and may be the last to drop one.
    let message = noise(300_000, 3);
    assert_eq!(engine.digest(Md5, message.clone()).wait(), Ok(expected(Md5, &message)));
    assert_idle(&engine);
    let returned = returns_in_fork(move || {
        drop(engine);
        let engine = Engine::builder().threads(NonZeroUsize::MIN).build().expect("threads can be made");
        assert_eq!(engine.digest(Md5, message.clone()).wait(), Ok(expected(Md5, &message)));
    });
    assert!(returned, "the child hung or panicked");
}

/// Says to the process that [`threads_run_out`] starts that it is that process.
const LIMITED: &str = "MANYHASH_TEST_LIMITED";

/// In a process of its own, since the limit is the process's.
#[test]
fn threads_run_out() {
    if std::env::var_os(LIMITED).is_some() {
        return build_with_little_room();
    }
    let test = std::env::current_exe().expect("a test runs");
    let arguments = ["--exact", "threads_run_out", "--nocapture"];
    // Of the threads that can still be started, one may find no room for its signal stack, which ends the process before
    // any code of ours runs in it: the standard library has it so. Then the next try counts.
    let mut errors = String::new();
    let is_over = (0..5).any(|_| {
        let output = Command::new(&test).args(arguments).env(LIMITED, "1").output().expect("it can be started");
        errors = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success() || !errors.contains("failed to allocate an alternative stack")
    });
    assert!(is_over && !errors.contains("panicked"), "{errors}");
}

fn build_with_little_room() {
    let before = threads();
    // Measured before there is little room.
    let abc = expected(Sha256, b"abc");
    assert_eq!(manyhash::digest(Sha256, "abc"), abc);
    // Room for a few stacks, but not for a thousand.
    let room = address_space() + (200 << 20);
    setrlimit(Resource::RLIMIT_AS, room, room).expect("it can be lowered");
    match Engine::builder().threads(NonZeroUsize::new(1000)).build() {
        Err(error @ BuildError::Thread { threads: 1000, .. }) => {
            assert!(error.to_string().starts_with("cannot start 1000 threads"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let start = Instant::now();
    while threads() > before {
        assert!(start.elapsed() < Duration::from_secs(10), "{} threads are left", threads() - before);
        thread::yield_now();
    }
    let engine = Engine::builder().threads(NonZeroUsize::new(2)).build().expect("there is room for two");
    assert_eq!(engine.digest(Sha256, "abc").wait(), Ok(abc));
}

/// Bytes of addresses that this process uses.
fn address_space() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = statm.split(' ').next().and_then(|pages| pages.parse().ok()).expect("it begins with a number");
    pages * 4096
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("Linux has it").count()
}
