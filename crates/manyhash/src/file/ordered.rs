//! What the workers share: the source of files, and results put back into the source's order.

use super::disk::Disks;
use super::{Digested, Source};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Files that may be taken ahead of the first one that is not done: what bounds the results that wait. With names of
/// usual length they take some 10 MB.
const AHEAD: u64 = 1 << 15;

/// Files that are taken at a time.
const BATCH: usize = 16;

/// Files that are put into the order of a disk that rotates; and after so many the system is asked again whether it does.
const ORDER: usize = 1024;

/// The caller's source of files.
type Files<'a, T> = dyn Iterator<Item = (T, Source)> + Send + 'a;

/// The caller's sink for results.
type Done<'a, T> = dyn FnMut(T, io::Result<Digested>) -> ControlFlow<()> + Send + 'a;

/// A source of files, and a sink that gets their results in the source's order.
pub(super) struct Ordered<'a, T> {
    files: Mutex<Numbered<'a, T>>,
    disks: &'a Disks,
    results: Mutex<Results<'a, T>>,
    /// A result was given to the sink, or it wants no more.
    advanced: Condvar,
}

struct Numbered<'a, T> {
    files: Box<Files<'a, T>>,
    /// Those that were drawn from it.
    drawn: u64,
    ended: bool,
    /// Those that were put into order and not taken yet.
    ordered: VecDeque<Taken<T>>,
    /// Those to draw before the disk is looked at again.
    unlooked: usize,
}

struct Results<'a, T> {
    /// The sink, unless a worker gives results to it.
    done: Option<Box<Done<'a, T>>>,
    /// The number of the file whose result is due next, or is in the sink.
    due: u64,
    waiting: BTreeMap<u64, (T, io::Result<Digested>)>,
    stopped: bool,
    /// Workers that wait for new ones.
    waiters: usize,
}

impl<T> Results<'_, T> {
    /// Takes out the result that is due, if it has come and is wanted.
    fn next(&mut self) -> Option<(T, io::Result<Digested>)> {
        if self.stopped { None } else { self.waiting.remove(&self.due) }
    }
}

/// A file with its place in the order.
pub(super) struct Taken<T> {
    pub(super) number: u64,
    pub(super) tag: T,
    pub(super) source: Source,
}

/// What asking for files may bring.
pub(super) enum Take {
    /// One or more.
    Files,
    /// None now: another worker is asking.
    Later,
    /// None until the result of a file after this one is due, for which too many others wait.
    Bounded { until: u64 },
    /// None ever.
    Ended,
}

impl<'a, T> Numbered<'a, T> {
    fn draw(&mut self) -> Option<Taken<T>> {
        let next = if self.ended { None } else { self.files.next() };
        let Some((tag, source)) = next else {
            self.ended = true;
            return None;
        };
        self.drawn += 1;
        Some(Taken { number: self.drawn - 1, tag, source })
    }

    /// Draws the next file, and with it those that should be read in another order.
    fn draw_ordered(&mut self, disks: &Disks) -> Option<Taken<T>> {
        if let Some(file) = self.ordered.pop_front() {
            return Some(file);
        }
        let first = self.draw()?;
        if self.unlooked > 0 {
            self.unlooked -= 1;
            return Some(first);
        }
        if !matches!(&first.source, Source::Path(path) if disks.wants_order(path)) {
            self.unlooked = ORDER;
            return Some(first);
        }
        self.ordered.push_back(first);
        while self.ordered.len() < ORDER
            && let Some(file) = self.draw()
        {
            self.ordered.push_back(file);
        }
        Disks::sort(self.ordered.make_contiguous());
        self.ordered.pop_front()
    }
}

impl<'a, T> Ordered<'a, T> {
    pub(super) fn new(files: Box<Files<'a, T>>, done: Box<Done<'a, T>>, disks: &'a Disks) -> Self {
        let numbered = Numbered { files, drawn: 0, ended: false, ordered: VecDeque::new(), unlooked: 0 };
        Ordered {
            files: Mutex::new(numbered),
            disks,
            results: Mutex::new(Results {
                done: Some(done),
                due: 0,
                waiting: BTreeMap::new(),
                stopped: false,
                waiters: 0,
            }),
            advanced: Condvar::new(),
        }
    }

    /// The next files, added to `taken`. With `wait` it waits for another worker that is asking; whoever waits must have no
    /// file in hand.
    pub(super) fn take(&self, wait: bool, taken: &mut VecDeque<Taken<T>>) -> Take {
        let files = match self.files.try_lock() {
            // Another worker is asking, which may take as long as the caller's source does.
            Err(TryLockError::WouldBlock) if !wait => return Take::Later,
            Err(TryLockError::WouldBlock) => self.files.lock().ok(),
            files => files.ok(),
        };
        // A source that panicked gives no more.
        let Some(mut files) = files else { return Take::Ended };
        let (due, stopped) = self.due();
        if stopped {
            return Take::Ended;
        }
        if files.drawn >= due + AHEAD && files.ordered.is_empty() {
            return Take::Bounded { until: files.drawn - AHEAD };
        }
        while taken.len() < BATCH {
            match files.draw_ordered(self.disks) {
                // Whoever reads it may be long about it, and should keep no others from being read meanwhile.
                Some(file) if matches!(file.source, Source::Stdin) => {
                    taken.push_back(file);
                    break;
                }
                Some(file) => taken.push_back(file),
                None if taken.is_empty() => return Take::Ended,
                None => break,
            }
        }
        Take::Files
    }

    /// The number of the file whose result is due next, and whether no more results are wanted.
    pub(super) fn due(&self) -> (u64, bool) {
        let results = lock(&self.results);
        (results.due, results.stopped)
    }

    /// Waits until all files before this one are done; false if its result is not wanted any more. Whoever waits must have
    /// no other in hand.
    pub(super) fn wait_for_turn(&self, number: u64) -> bool {
        self.wait_until(|due| due >= number)
    }

    /// Waits until something is so, given the number of the file whose result is due next; false if no more results are
    /// wanted. It is looked at when there are new results.
    pub(super) fn wait_until(&self, is_so: impl Fn(u64) -> bool) -> bool {
        let mut results = lock(&self.results);
        results.waiters += 1;
        while !results.stopped && !is_so(results.due) {
            results = self.advanced.wait(results).unwrap_or_else(PoisonError::into_inner);
        }
        results.waiters -= 1;
        !results.stopped
    }

    /// Gives results to the sink when their turn has come. A worker that is at it already gives those of the others too,
    /// and holds no lock while it is in the sink: that may take its time, and the others go on. They are told by `given`
    /// what was given, also between two results.
    pub(super) fn done(&self, done: impl IntoIterator<Item = (u64, T, io::Result<Digested>)>, given: impl Fn()) {
        let mut results = lock(&self.results);
        results.waiting.extend(done.into_iter().map(|(number, tag, result)| (number, (tag, result))));
        self.tell(&results);
        // A sink that panicked is not put back, and nobody wants results any more.
        let Some(mut sink) = results.done.take() else { return };
        while let Some((tag, result)) = results.next() {
            drop(results);
            given();
            let flow = sink(tag, result);
            results = lock(&self.results);
            results.due += 1;
            results.stopped |= flow.is_break();
            self.tell(&results);
        }
        results.done = Some(sink);
        drop(results);
        given();
    }

    /// Wakes whoever waits for results: a call to the system, whether anybody waits or not.
    fn tell(&self, results: &Results<'_, T>) {
        if results.waiters > 0 {
            self.advanced.notify_all();
        }
    }

    /// Whether no more results are wanted.
    pub(super) fn stopped(&self) -> bool {
        self.due().1
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
