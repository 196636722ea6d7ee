//! A set of algorithms that callers ask for, and how many of those callers there are at once.
//!
//! Only their jobs share lanes, so it is theirs that count. Callers who loop, each with one message after another, are
//! seen one at a time: a task that hashes its message itself keeps all others of its thread from bringing theirs. So
//! what was seen when somebody let the others go first is remembered, and is [expected](Pool::is_expecting) for a
//! while.

use super::sync::Arc;
use super::unlocked::Most;
use crate::Algorithm;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A set of algorithms.
#[derive(Debug)]
pub(super) struct Pool {
    /// In their own order.
    pub(super) algorithms: Vec<Algorithm>,
    /// The most callers who had better hash themselves.
    pub(super) alone: usize,
    /// Jobs that wait to be hashed or are being hashed.
    active: usize,
    /// Writers who let others go first.
    yielding: usize,
    /// Callers that were there at once when somebody last looked, or more if there were more not long before.
    seen: usize,
    hint: Arc<Hint>,
}

/// Algorithms in the order in which callers have named them.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) pool: usize,
    pub(super) hint: Arc<Hint>,
    pub(super) most: Most,
}

/// What is known of a pool without the lock. Nothing that has to be right follows from it, so its order is relaxed.
#[derive(Debug, Default)]
pub(super) struct Hint {
    /// Whether callers had better not hash themselves.
    is_crowded: AtomicBool,
    /// Callers without a slot who are hashing.
    inline: AtomicUsize,
    /// Messages that were not submitted yet.
    held: AtomicUsize,
    /// Streams that have written, and their writes so far.
    streams: AtomicUsize,
    writes: AtomicUsize,
    alone: usize,
}

impl Hint {
    /// Whether one caller more had better hash himself, as far as can be told.
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_crowded.load(Relaxed) && self.inline.load(Relaxed) < self.alone
    }

    /// Whether so many streams that are written in turns are more than had better be hashed by their writers.
    pub(super) fn is_exceeded_by(&self, streams: usize) -> bool {
        streams > self.alone
    }

    /// Counts a caller for as long as he hashes without a slot.
    pub(super) fn hashing(&self) -> Hashing<'_> {
        self.inline.fetch_add(1, Relaxed);
        Hashing(self)
    }

    /// Counts a message that is not submitted before its caller looks at it: one for each core, as a caller who asks for
    /// more at once wants them hashed side by side.
    pub(super) fn hold(self: &Arc<Self>, cores: usize) -> Option<Held> {
        if self.held.fetch_add(1, Relaxed) < cores {
            return Some(Held(self.clone()));
        }
        self.held.fetch_sub(1, Relaxed);
        None
    }
}

/// A caller who hashes without a slot.
pub(super) struct Hashing<'a>(&'a Hint);

impl Drop for Hashing<'_> {
    fn drop(&mut self) {
        self.0.inline.fetch_sub(1, Relaxed);
    }
}

/// A stream that writes: how many others do so in turns with it is seen by how often they have since it last did. One
/// thread may write to all of them, and would be a single caller otherwise. Those that are idle do not count.
#[derive(Debug)]
pub(super) struct Writing {
    hint: Arc<Hint>,
    last: Option<usize>,
}

impl Writing {
    pub(super) fn new(hint: Arc<Hint>) -> Self {
        hint.streams.fetch_add(1, Relaxed);
        Writing { hint, last: None }
    }

    /// It writes: how many streams are written in turns, this one included, as far as can be told.
    pub(super) fn beside(&mut self) -> usize {
        let now = self.hint.writes.fetch_add(1, Relaxed);
        let since = self.last.replace(now).map_or(1, |last| now.wrapping_sub(last));
        since.min(self.hint.streams.load(Relaxed))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.hint.streams.fetch_sub(1, Relaxed);
    }
}

/// A message that is not submitted yet.
pub(super) struct Held(Arc<Hint>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Relaxed);
    }
}

impl Pool {
    pub(super) fn new(algorithms: Vec<Algorithm>, alone: usize) -> Self {
        Pool { algorithms, alone, active: 0, yielding: 0, seen: 0, hint: Arc::new(Hint { alone, ..Hint::default() }) }
    }

    pub(super) fn hint(&self) -> Arc<Hint> {
        self.hint.clone()
    }

    /// A job has something to hash.
    pub(super) fn enter(&mut self) {
        self.active += 1;
        self.tell();
    }

    /// A job has nothing left to hash.
    pub(super) fn leave(&mut self) {
        self.active -= 1;
        self.tell();
    }

    /// A writer lets others go first.
    pub(super) fn yields(&mut self) {
        self.yielding += 1;
    }

    /// A writer who did is back.
    pub(super) fn returns(&mut self) {
        self.yielding -= 1;
    }

    /// Callers at once: those with something to hash.
    pub(super) fn callers(&self) -> usize {
        self.active + self.yielding + self.hint.inline.load(Relaxed)
    }

    /// Somebody let others go first, and so many callers were there then.
    pub(super) fn see(&mut self, callers: usize) {
        // It takes some dozen looks to forget a crowd.
        self.seen = if callers >= self.seen { callers } else { self.seen - (self.seen - callers).div_ceil(4) };
        self.tell();
    }

    /// Whether so many callers had better hash themselves: if there were more lately, they are worth letting in first.
    pub(super) fn is_alone(&self, callers: usize, came_back: bool) -> bool {
        callers <= self.alone && (came_back || !self.is_expecting())
    }

    fn is_expecting(&self) -> bool {
        self.seen > self.alone
    }

    fn tell(&self) {
        let is_crowded = self.active > self.alone || self.is_expecting();
        if self.hint.is_crowded.load(Relaxed) != is_crowded {
            self.hint.is_crowded.store(is_crowded, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pool, Writing};

    #[test]
    fn a_crowd_is_expected_for_a_while() {
        let mut pool = Pool::new(Vec::new(), 3);
        let hint = pool.hint();
        assert!(!pool.is_expecting() && hint.is_quiet());
        (0..4).for_each(|_| pool.enter());
        assert!(!hint.is_quiet());
        pool.see(pool.callers());
        (0..4).for_each(|_| pool.leave());
        assert!(pool.is_expecting() && !hint.is_quiet());
        pool.see(1);
        assert!(!pool.is_expecting() && hint.is_quiet());
        // The more there were, the longer.
        pool.see(100);
        let looks = (1..).find(|_| {
            pool.see(1);
            !pool.is_expecting()
        });
        assert!(looks.is_some_and(|looks| looks > 5), "{looks:?}");
    }

    #[test]
    fn streams_that_are_written_in_turns_are_seen() {
        let pool = Pool::new(Vec::new(), 2);
        let mut streams: Vec<_> = (0..5).map(|_| Writing::new(pool.hint())).collect();
        let mut round = |of: std::ops::Range<usize>| streams[of].iter_mut().map(Writing::beside).collect::<Vec<_>>();
        assert_eq!(round(0..5), [1; 5], "none has written before");
        assert_eq!(round(0..5), [5; 5]);
        // Three are idle now.
        assert_eq!(round(0..2), [5; 2]);
        assert_eq!(round(0..2), [2; 2]);
        drop(streams);
        let mut alone = Writing::new(pool.hint());
        assert_eq!([alone.beside(), alone.beside()], [1; 2]);
    }

    #[test]
    fn who_hashes_without_a_slot_counts() {
        let pool = Pool::new(Vec::new(), 2);
        let hint = pool.hint();
        let first = hint.hashing();
        assert!(hint.is_quiet());
        let second = hint.hashing();
        assert_eq!((hint.is_quiet(), pool.callers()), (false, 2));
        drop((first, second));
        assert_eq!((hint.is_quiet(), pool.callers()), (true, 0));
    }
}
