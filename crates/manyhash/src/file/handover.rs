//! Files in hand that pass from a busy worker to an idle one when there are none to take, because there are none left or
//! too many wait for those: half-full lanes on two cores end sooner than full lanes on one.

use super::ordered::lock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Where workers without a file wait for some.
pub(super) struct Handover<File> {
    state: Mutex<State<File>>,
    /// A copy of `State::idle`, so that busy workers need not lock to look.
    idle: AtomicUsize,
    /// Those of them that wait for results too.
    bounded: AtomicUsize,
    changed: Condvar,
}

struct State<File> {
    offered: Vec<File>,
    busy: usize,
    idle: usize,
}

impl<File> Handover<File> {
    pub(super) fn new() -> Self {
        let state = State { offered: Vec::new(), busy: 0, idle: 0 };
        Handover {
            state: Mutex::new(state),
            idle: AtomicUsize::new(0),
            bounded: AtomicUsize::new(0),
            changed: Condvar::new(),
        }
    }

    /// A worker begins.
    pub(super) fn enter(&self) {
        lock(&self.state).busy += 1;
    }

    /// A worker ends, having nothing in hand.
    pub(super) fn leave(&self) {
        lock(&self.state).busy -= 1;
        self.changed.notify_all();
    }

    /// Whether a worker waits.
    pub(super) fn is_wanted(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Offers files to those who wait.
    pub(super) fn offer(&self, files: Vec<File>) {
        lock(&self.state).offered.extend(files);
        self.changed.notify_all();
    }

    /// There are results, for which a worker may wait.
    pub(super) fn advance(&self) {
        // Whoever does not count yet looks at the results after that, and sees these: they are behind a lock.
        if self.bounded.load(Ordering::Relaxed) > 0 {
            // Whoever was about to wait does so now, and is told.
            drop(lock(&self.state));
            self.changed.notify_all();
        }
    }

    /// Waits, with nothing in hand, until files are offered, and takes its share; none when no busy worker is left, or
    /// when it need not wait any more, if it need not: that is looked at when there are results.
    pub(super) fn wait(&self, may_go_on: Option<impl Fn() -> bool>) -> Vec<File> {
        let mut state = lock(&self.state);
        self.bounded.fetch_add(usize::from(may_go_on.is_some()), Ordering::Relaxed);
        state.busy -= 1;
        state.idle += 1;
        self.idle.store(state.idle, Ordering::Relaxed);
        self.changed.notify_all();
        while state.offered.is_empty() && state.busy > 0 && !may_go_on.as_ref().is_some_and(|may_go_on| may_go_on()) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let share = state.offered.len().div_ceil(state.idle);
        let left = state.offered.len() - share;
        let files = state.offered.split_off(left);
        self.bounded.fetch_sub(usize::from(may_go_on.is_some()), Ordering::Relaxed);
        state.idle -= 1;
        state.busy += 1;
        self.idle.store(state.idle, Ordering::Relaxed);
        files
    }
}
