//! What all threads share: the lock, the engine's threads, and how they wake each other.

use super::JobError;
use super::costs::Costs;
use super::inner::{After, Inner, Taken};
use super::pool::Order;
use super::stretch;
use super::sync::{Arc, Condvar, Mutex, MutexGuard, thread, wait_for};
use super::turn::LINGER;
use super::unlocked::{Most, Unlocked};
use super::work::{self, JobResult, Messages};
use crate::Algorithm;
use crate::hasher::FamilyRows;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::Instant;

pub(super) struct SharedEngine {
    inner: Mutex<Inner>,
    pub(super) unlocked: Arc<Unlocked>,
    /// Where the engine's threads sleep.
    work: Condvar,
    /// The process that the threads are in: they do not survive a fork, and the lock may be held forever after one.
    process: u32,
    pub(super) threads: usize,
    /// By algorithm: the order of it alone.
    singles: [OnceLock<Arc<Order>>; Algorithm::ALL.len()],
}

impl SharedEngine {
    pub(super) fn new(threads: usize, memory: usize) -> Self {
        let unlocked = Arc::new(Unlocked::default());
        let inner = Mutex::new(Inner::new(threads, memory, unlocked.clone()));
        let singles = std::array::from_fn(|_| OnceLock::new());
        SharedEngine { inner, unlocked, work: Condvar::new(), process: std::process::id(), threads, singles }
    }

    /// # Errors
    /// In a process that was forked after the engine was made.
    pub(super) fn check_process(&self) -> Result<(), JobError> {
        if self.process == std::process::id() { Ok(()) } else { Err(JobError::Forked) }
    }

    /// These algorithms in this order.
    ///
    /// # Errors
    /// In a process that was forked after the engine was made, unless they are known without the lock.
    pub(super) fn order(&self, algorithms: &[Algorithm]) -> Result<Arc<Order>, JobError> {
        let single = if let [single] = algorithms { Some(&self.singles[*single as usize]) } else { None };
        if let Some(order) = single.and_then(|single| single.get()) {
            return Ok(order.clone());
        }
        self.check_process()?;
        let known = self.lock().order(algorithms);
        let order = known.unwrap_or_else(|| {
            // Measured outside the lock, where that was not done before.
            let costs = Costs::of(algorithms);
            self.lock().make_order(algorithms, costs)
        });
        if let Some(single) = single {
            let _ = single.set(order.clone());
        }
        Ok(order)
    }

    /// What a caller of these algorithms hashes himself.
    pub(super) fn most(&self, algorithms: &[Algorithm]) -> Most {
        match algorithms {
            [single] => match self.singles[*single as usize].get() {
                Some(order) => order.most,
                None => Most::of_one(algorithms),
            },
            _ => Most::of_one(algorithms),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code of callers runs under it, so that nothing is half done even if something of ours should panic.
        self.inner.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Does something under the lock, then what is left to do without it, and calls a thread if there is work for one.
    pub(super) fn with<T>(&self, action: impl FnOnce(&mut Inner, Instant, &mut After) -> T) -> T {
        let mut after = After::default();
        let mut inner = self.lock();
        let now = Instant::now();
        let result = action(&mut inner, now, &mut after);
        inner.appoint(now, &mut after);
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
        let begun = taken.begun;
        self.with(|inner, now, after| {
            stretch::add(now.saturating_duration_since(begun).as_secs_f64());
            inner.put_back(taken, &rows, now, after);
            then(inner, now, after)
        })
    }

    /// The digests of a batch of short messages, which this thread hashes.
    pub(super) fn hash_at_once(&self, algorithm: Algorithm, mut batch: impl Messages) -> JobResult {
        let (rows, begun) = (FamilyRows::default(), Instant::now());
        let digests = batch.run(&rows);
        self.with(|inner, now, _| {
            let time = now.saturating_duration_since(begun);
            stretch::add(time.as_secs_f64());
            inner.add_batch(algorithm, batch.bytes(), &rows, time);
        });
        digests
    }

    /// The life of one of the engine's threads.
    ///
    /// It looks for work under the lock and goes to sleep without letting go of it in between, and whoever brings work
    /// calls under the lock: so no call is lost.
    fn run(&self) {
        loop {
            let mut inner = self.lock();
            // Also if there is nothing to see to yet: in a busy time there soon is, and needs no call.
            let (mut may_be_late, mut is_to_watch) = (false, true);
            let taken = loop {
                let now = Instant::now();
                if inner.gate.is_waited_for() {
                    // Those who do not come for what they were granted are passed.
                    let mut after = After::default();
                    inner.admit(now, &mut after);
                    inner.appoint(now, &mut after);
                    drop(inner);
                    after.settle();
                    inner = self.lock();
                }
                match inner.take(may_be_late, now) {
                    Some(taken) => break taken,
                    // One stays for what callers have in hand and may leave.
                    None if inner.is_closed() && (inner.watching || !inner.has_jobs()) => return,
                    None => {}
                }
                inner.sleeping += 1;
                if !inner.watching && (is_to_watch || inner.is_to_be_watched()) {
                    (inner.watching, inner.watch_on) = (true, false);
                    (inner, may_be_late) = wait_for(&self.work, &self.inner, inner, LINGER);
                    inner.watching = false;
                    is_to_watch = inner.watch_on;
                } else {
                    inner = self.work.wait(inner).unwrap_or_else(|poison| poison.into_inner());
                    (may_be_late, is_to_watch) = (false, false);
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
        self.with(|inner, now, after| inner.close(now, after));
        self.work.notify_all();
    }
}
