//! What the workers share: the source of files, and results put back into the source's order.

use super::Source;
use crate::Digest;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Files that may be taken ahead of the first one that is not done: what bounds the results that wait. With names of
/// usual length they take some 10 MB.
const AHEAD: u64 = 1 << 15;

/// The caller's source of files.
type Files<'a, T> = dyn Iterator<Item = (T, Source)> + Send + 'a;

/// The caller's sink for results.
type Done<'a, T> = dyn FnMut(T, io::Result<Vec<Digest>>) -> ControlFlow<()> + Send + 'a;

/// A source of files, and a sink that gets their results in the source's order.
pub(super) struct Ordered<'a, T> {
    files: Mutex<Numbered<'a, T>>,
    results: Mutex<Results<'a, T>>,
    /// A result was given to the sink, or it wants no more.
    advanced: Condvar,
}

struct Numbered<'a, T> {
    files: Box<Files<'a, T>>,
    taken: u64,
    ended: bool,
}

struct Results<'a, T> {
    done: Box<Done<'a, T>>,
    /// The number of the file whose result is due next.
    due: u64,
    waiting: BTreeMap<u64, (T, io::Result<Vec<Digest>>)>,
    stopped: bool,
}

/// A file with its place in the order.
pub(super) struct Taken<T> {
    pub(super) number: u64,
    pub(super) tag: T,
    pub(super) source: Source,
}

/// What asking for a file may bring.
pub(super) enum Take<T> {
    File(Taken<T>),
    /// None now: too many results wait for a file that is not done.
    Later,
    /// None ever.
    Ended,
}

impl<'a, T> Ordered<'a, T> {
    pub(super) fn new(files: Box<Files<'a, T>>, done: Box<Done<'a, T>>) -> Self {
        Ordered {
            files: Mutex::new(Numbered { files, taken: 0, ended: false }),
            results: Mutex::new(Results { done, due: 0, waiting: BTreeMap::new(), stopped: false }),
            advanced: Condvar::new(),
        }
    }

    /// The next file. With `wait`, never [`Take::Later`]; whoever waits must have no file in hand.
    pub(super) fn take(&self, wait: bool) -> Take<T> {
        loop {
            let mut files = lock(&self.files);
            let results = lock(&self.results);
            if results.stopped || files.ended {
                return Take::Ended;
            }
            if files.taken < results.due + AHEAD {
                drop(results);
                let Some((tag, source)) = files.files.next() else {
                    files.ended = true;
                    return Take::Ended;
                };
                files.taken += 1;
                return Take::File(Taken { number: files.taken - 1, tag, source });
            }
            // Others, who may have the file in hand that all wait for, must not wait for this lock.
            drop(files);
            if !wait {
                return Take::Later;
            }
            drop(self.advanced.wait(results).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Waits until all files before this one are done. Whoever waits must have no other in hand.
    pub(super) fn wait_for_turn(&self, number: u64) {
        let mut results = lock(&self.results);
        while results.due < number && !results.stopped {
            results = self.advanced.wait(results).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives a result to the sink when its turn has come.
    pub(super) fn done(&self, number: u64, tag: T, result: io::Result<Vec<Digest>>) {
        let mut results = lock(&self.results);
        let results = &mut *results;
        results.waiting.insert(number, (tag, result));
        while let Some((tag, result)) = results.waiting.remove(&results.due) {
            results.due += 1;
            if !results.stopped && (results.done)(tag, result).is_break() {
                results.stopped = true;
            }
        }
        self.advanced.notify_all();
    }

    /// Whether no more results are wanted.
    pub(super) fn stopped(&self) -> bool {
        lock(&self.results).stopped
    }

    /// Wants no more results.
    pub(super) fn stop(&self) {
        lock(&self.results).stopped = true;
        self.advanced.notify_all();
    }
}

/// A worker that panicked (in the caller's iterator or sink) left nothing half done; its panic goes on when all have
/// ended.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
