//! What all threads share: the lock, the engine's threads, and how they wake each other.

use super::JobError;
use super::costs::Costs;
use super::inner::{After, Inner, Taken};
use super::slots::Id;
use super::sync::{Arc, Condvar, Mutex, MutexGuard, thread};
use super::work;
use crate::Algorithm;
use crate::stream::FamilyRows;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How long chunks that nobody waits for are left at the most, in the hope of others to fill lanes with. Somebody may wait
/// for their buffers all the same.
const LINGER: Duration = Duration::from_millis(1);

pub(super) struct Shared {
    inner: Mutex<Inner>,
    /// Where the engine's threads sleep.
    work: Condvar,
    /// The process that the threads are in: they do not survive a fork, and the lock may be held for ever after one.
    process: u32,
    pub(super) threads: usize,
}

impl Shared {
    pub(super) fn new(threads: usize, memory: usize) -> Self {
        let inner = Mutex::new(Inner::new(threads, memory));
        Shared { inner, work: Condvar::new(), process: std::process::id(), threads }
    }

    /// # Errors
    /// In a process that was forked after the engine was made.
    pub(super) fn check_process(&self) -> Result<(), JobError> {
        if self.process == std::process::id() { Ok(()) } else { Err(JobError::Forked) }
    }

    /// The pool of these algorithms.
    ///
    /// # Errors
    /// In a process that was forked after the engine was made.
    pub(super) fn pool(&self, algorithms: &[Algorithm]) -> Result<usize, JobError> {
        self.check_process()?;
        if let Some(pool) = self.lock().pool(algorithms) {
            return Ok(pool);
        }
        // Measured outside the lock, where that was not done before.
        let costs = Costs::of(algorithms);
        Ok(self.lock().make_pool(algorithms, costs))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code of callers runs under it, so that nothing is half done even if something of ours should panic.
        self.inner.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Does something under the lock, then what is left to do without it, and calls a thread if there is work for one.
    pub(super) fn with<T>(&self, action: impl FnOnce(&mut Inner, Instant, &mut After) -> T) -> T {
        let mut after = After::default();
        let mut inner = self.lock();
        let result = action(&mut inner, Instant::now(), &mut after);
        let call = after.call && inner.call();
        drop(inner);
        if call {
            self.work.notify_one();
        }
        after.settle();
        result
    }

    /// Sees to it that a job which waits is hashed: by this thread at once, or by one of the engine's.
    pub(super) fn see_to(&self, id: Id) {
        let mut inner = self.lock();
        let own = inner.take_own(id, Instant::now());
        let call = inner.call();
        drop(inner);
        if call {
            self.work.notify_one();
        }
        if let Some(taken) = own {
            self.hash(taken);
        }
    }

    /// As [`see_to`](Self::see_to) for a job whose caller does not wait for it yet: he may do it himself when he does,
    /// unless there are others, who should not wait for that.
    pub(super) fn announce(&self, id: Id) {
        let mut inner = self.lock();
        let call = (inner.others_wait() || !inner.is_own(id)) && inner.call();
        drop(inner);
        if call {
            self.work.notify_one();
        }
    }

    /// Hashes jobs and puts them back.
    fn hash(&self, mut taken: Taken) {
        let rows = FamilyRows::default();
        let done = catch_unwind(AssertUnwindSafe(|| work::run(&mut taken.works, &rows)));
        if done.is_err() {
            taken.works.iter_mut().for_each(|work| work.fail(JobError::Panicked));
        }
        self.with(|inner, now, after| inner.put_back(taken, &rows, now, after));
    }

    /// The life of one of the engine's threads.
    ///
    /// It looks for work under the lock and goes to sleep without letting go of it in between, and whoever brings work
    /// calls under the lock: so no call is lost.
    fn run(&self) {
        loop {
            let mut inner = self.lock();
            let (mut overdue, mut is_rested) = (false, false);
            let taken = loop {
                match inner.take(overdue, Instant::now()) {
                    Some(taken) => break taken,
                    // Jobs that other threads have in hand are theirs to finish.
                    None if inner.closed => return,
                    None => {}
                }
                inner.sleeping += 1;
                if !inner.lingering && (inner.is_leaving_jobs() || !is_rested) {
                    // Also if there is nothing yet: in a busy time there soon is, and needs no call.
                    is_rested = true;
                    inner.lingering = true;
                    let (guard, timeout) =
                        self.work.wait_timeout(inner, LINGER).unwrap_or_else(|poison| poison.into_inner());
                    (inner, overdue) = (guard, timeout.timed_out());
                    inner.lingering = false;
                } else {
                    inner = self.work.wait(inner).unwrap_or_else(|poison| poison.into_inner());
                    overdue = false;
                }
                inner.sleeping -= 1;
                inner.called = inner.called.saturating_sub(1);
            };
            let call = inner.call();
            drop(inner);
            if call {
                self.work.notify_one();
            }
            self.hash(taken);
        }
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// If one cannot be started; those that were are ended.
    pub(super) fn start(self: &Arc<Self>, name: &str) -> io::Result<()> {
        for i in 0..self.threads {
            let shared = self.clone();
            let builder = thread::Builder::new().name(format!("{name}-{i}"));
            if let Err(error) = builder.spawn(move || shared.run()) {
                self.close();
                return Err(error);
            }
        }
        Ok(())
    }

    /// No more jobs come. Those that are there are finished, then the threads end.
    pub(super) fn close(&self) {
        self.with(|inner, _, after| inner.close(after));
        self.work.notify_all();
    }
}
