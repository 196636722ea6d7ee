//! The thread that commits: what is stored waits for others at most a second, and nobody waits for the disk.

use super::error::CacheError;
use super::stamp::Stamp;
use super::store::{Store, Writable};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// When there is a commit.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// Files that do not wait for more.
    pub(super) files: usize,
    /// How long they wait otherwise.
    pub(super) delay: Duration,
}

impl Pace {
    /// A commit takes a few milliseconds, most of them the disk's: rarely enough to disturb no other reading, often
    /// enough that an interrupted run has little to do again.
    pub(super) const USUAL: Self = Pace { files: 8192, delay: Duration::from_secs(1) };
}

/// Files that wait at most, while the disk or another process holds up a commit: some 50 MB.
const MOST: usize = 1 << 18;

/// A database, and what waits to be written to it.
pub(super) struct SharedStore {
    pub(super) store: Store,
    pace: Pace,
    state: Mutex<Unwritten>,
    changed: Condvar,
    /// Whether something failed: nothing is looked up or stored from then on.
    failed: AtomicBool,
}

#[derive(Default)]
struct Unwritten {
    waiting: Vec<(Stamp, Vec<u8>)>,
    /// Those that there was no room for.
    left_out: usize,
    ending: bool,
    /// The first failure.
    error: Option<CacheError>,
}

impl SharedStore {
    pub(super) fn new(store: Store, pace: Pace) -> Self {
        let (state, changed, failed) = (Mutex::default(), Condvar::new(), AtomicBool::new(false));
        SharedStore { store, pace, state, changed, failed }
    }

    pub(super) fn store(&self, file: Stamp, record: Vec<u8>) {
        let mut state = self.lock();
        if state.waiting.len() >= MOST {
            state.left_out += 1;
            return;
        }
        state.waiting.push((file, record));
        let waiting = state.waiting.len();
        drop(state);
        if waiting == 1 || waiting == self.pace.files {
            self.changed.notify_one();
        }
    }

    /// Notes a failure, and gives up.
    pub(super) fn fail(&self, error: CacheError) {
        self.lock().error.get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// The result of some work, if neither it nor anything before it failed.
    pub(super) fn unless_failed<T>(&self, work: impl FnOnce() -> Result<T, CacheError>) -> Option<T> {
        if self.has_failed() {
            return None;
        }
        work().map_err(|error| self.fail(error)).ok()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Lets [`commit`](Self::commit) come to an end.
    pub(super) fn end(&self) {
        self.lock().ending = true;
        self.changed.notify_one();
    }

    /// What went wrong.
    pub(super) fn outcome(&self) -> Result<(), CacheError> {
        let mut state = self.lock();
        match state.error.take() {
            Some(error) => Err(error),
            None if state.left_out > 0 => {
                Err(CacheError::Stalled(self.store.path().to_owned(), std::mem::take(&mut state.left_out)))
            }
            None => Ok(()),
        }
    }

    /// Commits whatever is stored, until the end.
    pub(super) fn commit(&self) {
        let mut writable = None;
        loop {
            let more = |state: &mut Unwritten| !state.ending && state.waiting.len() < self.pace.files;
            let state = self.lock();
            let state = self
                .changed
                .wait_while(state, |state| state.waiting.is_empty() && !state.ending)
                .unwrap_or_else(PoisonError::into_inner);
            let (mut state, _) =
                self.changed.wait_timeout_while(state, self.pace.delay, more).unwrap_or_else(PoisonError::into_inner);
            let (mut files, ending) = (std::mem::take(&mut state.waiting), state.ending);
            drop(state);
            if !files.is_empty() && !self.has_failed() {
                // In the order of the database; of two versions of a file, the later one stays.
                files.sort_by_key(|(file, _)| file.key());
                let opened = writable.take().map_or_else(|| Writable::open(self.store.path()), Ok);
                match opened.and_then(|opened| opened.commit(&files).map(|()| opened)) {
                    Ok(opened) => writable = Some(opened),
                    Err(error) => self.fail(error),
                }
            }
            if ending {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Unwritten> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
