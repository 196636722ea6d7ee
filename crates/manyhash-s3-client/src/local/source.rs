//! Files on their way in, and results on their way out, in the same order.

use super::open::{OpenFile, Place};
use super::sweep::Sweep;
use super::{Digested, Error, Wanted};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where files come from: what the caller knows each by, its path, and what is asked of it.
type Files<'a, T> = Box<dyn Iterator<Item = (T, PathBuf, Wanted)> + Send + 'a>;

/// Where results go.
type Sink<'a, T> = Box<dyn FnMut(T, Result<Digested, Error>) -> ControlFlow<()> + Send + 'a>;

pub(super) fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file to be opened, and its place in the order.
pub(super) struct Unopened {
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) wanted: Wanted,
}

/// A segment of a file that is open.
pub(super) struct Unit {
    pub(super) number: u64,
    pub(super) file: Arc<OpenFile>,
    pub(super) sweep: Sweep,
    pub(super) place: Place,
}

/// What nobody has taken yet.
pub(super) struct Source<'a, T> {
    files: Files<'a, T>,
    /// Files that could not be opened yet, and the next one, so that it is known whether there is one.
    unopened: VecDeque<Unopened>,
    drawn: u64,
    /// What belongs to files without a result.
    tags: BTreeMap<u64, T>,
    /// Segments of files that are open.
    pub(super) units: VecDeque<Unit>,
    /// Files that somebody is about to open.
    pub(super) opening: usize,
}

impl<'a, T> Source<'a, T> {
    pub(super) fn new(files: Files<'a, T>) -> Self {
        let (unopened, tags, units) = (VecDeque::new(), BTreeMap::new(), VecDeque::new());
        let mut source = Source { files, unopened, drawn: 0, tags, units, opening: 0 };
        source.draw();
        source
    }

    fn draw(&mut self) {
        if let Some((tag, path, wanted)) = self.files.next() {
            self.tags.insert(self.drawn, tag);
            self.unopened.push_back(Unopened { number: self.drawn, path, wanted });
            self.drawn += 1;
        }
    }

    /// The number of the next file, if there is one.
    pub(super) fn due(&self) -> Option<u64> {
        self.unopened.front().map(|file| file.number)
    }

    /// Takes the next file.
    pub(super) fn take(&mut self) -> Option<Unopened> {
        let file = self.unopened.pop_front();
        if file.is_some() && self.unopened.is_empty() {
            self.draw();
        }
        file
    }

    /// Takes a file back that cannot be opened yet.
    pub(super) fn put_back(&mut self, file: Unopened) {
        self.unopened.push_front(file);
    }

    /// What belongs to a file whose result is there.
    pub(super) fn tag(&mut self, number: u64) -> Option<T> {
        self.tags.remove(&number)
    }
}

/// Results by the numbers of their files.
type Numbered<T> = BTreeMap<u64, (T, Result<Digested, Error>)>;

/// Results that wait for those of earlier files.
pub(super) struct Results<'a, T> {
    sink: Mutex<Sink<'a, T>>,
    waiting: Mutex<Numbered<T>>,
    due: AtomicU64,
    stopped: AtomicBool,
}

impl<'a, T> Results<'a, T> {
    pub(super) fn new(sink: Sink<'a, T>) -> Self {
        Results {
            sink: Mutex::new(sink),
            waiting: Mutex::new(BTreeMap::new()),
            due: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// The number of the file whose result is given next.
    pub(super) fn due(&self) -> u64 {
        self.due.load(Ordering::Relaxed)
    }

    /// Whether no more results are wanted.
    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Takes a result, and gives the caller all those whose turn has come. While another thread is at it, which may
    /// take its time, that one gives this one too.
    pub(super) fn end(&self, number: u64, tag: T, result: Result<Digested, Error>) {
        lock(&self.waiting).insert(number, (tag, result));
        while !self.stopped() && lock(&self.waiting).contains_key(&self.due()) {
            let Ok(mut sink) = self.sink.try_lock() else { return };
            loop {
                let Some((tag, result)) = lock(&self.waiting).remove(&self.due()) else { break };
                self.due.fetch_add(1, Ordering::Relaxed);
                if sink(tag, result) == ControlFlow::Break(()) {
                    return self.stop();
                }
            }
        }
    }
}
