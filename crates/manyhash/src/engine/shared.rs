//! What all threads share: the lock, the engine's threads, and how they wake each other.

use super::JobError;
use super::costs::Costs;
use super::inner::{After, Inner, Taken};
use super::sync::{Arc, Condvar, Mutex, MutexGuard, thread};
use super::unlocked::Unlocked;
use super::work::{self, Messages, Outcome};
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
    pub(super) unlocked: Arc<Unlocked>,
    /// Where the engine's threads sleep.
    work: Condvar,
    /// The process that the threads are in: they do not survive a fork, and the lock may be held for ever after one.
    process: u32,
    pub(super) threads: usize,
}

impl Shared {
    pub(super) fn new(threads: usize, memory: usize) -> Self {
        let unlocked = Arc::new(Unlocked::default());
        let inner = Mutex::new(Inner::new(threads, memory, unlocked.clone()));
        Shared { inner, unlocked, work: Condvar::new(), process: std::process::id(), threads }
    }

    /// # Errors
    /// In a process that was forked after the engine was made.
    pub(super) fn check_process(&self) -> Result<(), JobError> {
        if self.process == std::process::id() { Ok(()) } else { Err(JobError::Forked) }
    }

    /// The pool of these algorithms, and the most callers who had better not hand over what they have for it.
    pub(super) fn pool(&self, algorithms: &[Algorithm]) -> (usize, usize) {
        let mut inner = self.lock();
        let pool = match inner.pool(algorithms) {
            Some(pool) => pool,
            None => {
                drop(inner);
                // Measured outside the lock, where that was not done before.
                let costs = Costs::of(algorithms);
                inner = self.lock();
                inner.make_pool(algorithms, costs)
            }
        };
        (pool, inner.alone(pool))
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

    /// Hashes jobs, puts them back, and does something more under the same lock.
    pub(super) fn hash<T>(&self, mut taken: Taken, then: impl FnOnce(&mut Inner, Instant, &mut After) -> T) -> T {
        let rows = FamilyRows::default();
        let done = catch_unwind(AssertUnwindSafe(|| work::run(&mut taken.works, &rows)));
        if done.is_err() {
            taken.works.iter_mut().for_each(|work| work.fail(JobError::Panicked));
        }
        self.with(|inner, now, after| {
            inner.put_back(taken, &rows, now, after);
            then(inner, now, after)
        })
    }

    /// The digests of a batch of short messages, which this thread hashes.
    pub(super) fn hash_at_once(&self, algorithm: Algorithm, mut batch: impl Messages) -> Outcome {
        let (rows, begun) = (FamilyRows::default(), Instant::now());
        let digests = batch.run(&rows);
        self.with(|inner, now, _| inner.add_batch(algorithm, batch.bytes(), &rows, now - begun));
        digests
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
                    None if inner.is_closed() => return,
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
            self.hash(taken, |_, _, _| {});
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
