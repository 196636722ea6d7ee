//! What is counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a store holds, and what it has done since it was opened. See [`Store::stats`](crate::Store::stats).
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct StoreStats {
    /// Objects.
    pub objects: u64,
    /// Multipart uploads that are neither completed nor aborted.
    pub uploads: u64,
    /// Blobs.
    pub blobs: u64,
    /// Bytes of all blobs, each counted once.
    pub bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of the segments, up to where each was written.
    pub segment_bytes: u64,
    /// Bytes of the segments that belong to blobs.
    pub segment_live_bytes: u64,
    /// Blobs that nothing refers to and whose place is not free yet.
    pub trash: u64,
    /// Changes that were made.
    pub changes: u64,
    /// Changes that were not made, for whatever reason.
    pub refused: u64,
    /// Batches that contained changes.
    pub batches: u64,
    /// How many of those batches had how many changes: up to 1, 2, 4, 8 and so on, and the last the rest.
    pub batch_sizes: [u64; BATCH_SIZES],
    /// Bodies that were in the store already.
    pub deduplicated: u64,
    /// Bytes of the bodies that were in the store already.
    pub deduplicated_bytes: u64,
    /// Bytes of the bodies that were written.
    pub written_bytes: u64,
    /// Bytes of the bodies that were moved out of segments of which most was dead.
    pub moved_bytes: u64,
    /// Bodies that were to be moved and whose digest was wrong. A check names them.
    pub damaged: u64,
    /// Syncs of segments.
    pub segment_syncs: Latency,
    /// Syncs of directories.
    pub directory_syncs: Latency,
    /// Commits of the index.
    pub index_commits: Latency,
    /// How often the index was opened again after the disk had failed.
    pub reopened: u64,
}

/// The number of classes of [`StoreStats::batch_sizes`].
const BATCH_SIZES: usize = 12;

/// How often something was done, and how long it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Latency {
    /// How often.
    pub count: u64,
    /// How long in all.
    pub total: Duration,
}

/// The counters behind [`StoreStats`]. Only the writer counts.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) objects: AtomicU64,
    pub(crate) uploads: AtomicU64,
    pub(crate) blobs: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) segments: AtomicU64,
    pub(crate) segment_bytes: AtomicU64,
    pub(crate) segment_live_bytes: AtomicU64,
    pub(crate) trash: AtomicU64,
    pub(crate) changes: AtomicU64,
    pub(crate) refused: AtomicU64,
    batches: AtomicU64,
    batch_sizes: [AtomicU64; BATCH_SIZES],
    pub(crate) deduplicated: AtomicU64,
    pub(crate) deduplicated_bytes: AtomicU64,
    pub(crate) written_bytes: AtomicU64,
    pub(crate) moved_bytes: AtomicU64,
    pub(crate) damaged: AtomicU64,
    pub(crate) segment_syncs: Timed,
    pub(crate) directory_syncs: Timed,
    pub(crate) index_commits: Timed,
    pub(crate) reopened: AtomicU64,
}

/// A count, and nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Timed {
    count: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Timed {
    /// Does something, and counts it and its time.
    pub(crate) fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        add(&self.count, 1);
        add(&self.nanoseconds, u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        result
    }

    fn latency(&self) -> Latency {
        Latency { count: get(&self.count), total: Duration::from_nanos(get(&self.nanoseconds)) }
    }
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

/// Sets a counter.
pub(crate) fn set(counter: &AtomicU64, value: u64) {
    counter.store(value, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Counters {
    /// Counts a batch of so many changes.
    pub(crate) fn batch(&self, changes: usize) {
        add(&self.batches, 1);
        let class = changes.max(1).next_power_of_two().trailing_zeros() as usize;
        if let Some(count) = self.batch_sizes.get(class.min(BATCH_SIZES - 1)) {
            add(count, 1);
        }
    }

    pub(crate) fn stats(&self) -> StoreStats {
        StoreStats {
            objects: get(&self.objects),
            uploads: get(&self.uploads),
            blobs: get(&self.blobs),
            bytes: get(&self.bytes),
            segments: get(&self.segments),
            segment_bytes: get(&self.segment_bytes),
            segment_live_bytes: get(&self.segment_live_bytes),
            trash: get(&self.trash),
            changes: get(&self.changes),
            refused: get(&self.refused),
            batches: get(&self.batches),
            batch_sizes: self.batch_sizes.each_ref().map(get),
            deduplicated: get(&self.deduplicated),
            deduplicated_bytes: get(&self.deduplicated_bytes),
            written_bytes: get(&self.written_bytes),
            moved_bytes: get(&self.moved_bytes),
            damaged: get(&self.damaged),
            segment_syncs: self.segment_syncs.latency(),
            directory_syncs: self.directory_syncs.latency(),
            index_commits: self.index_commits.latency(),
            reopened: get(&self.reopened),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counters;

    #[test]
    fn batches_are_counted_by_size() {
        let counters = Counters::default();
        for changes in [0, 1, 2, 3, 4, 5, 1024, 1025, 100_000] {
            counters.batch(changes);
        }
        let stats = counters.stats();
        assert_eq!((stats.batches, stats.batch_sizes), (9, [2, 1, 2, 1, 0, 0, 0, 0, 0, 0, 1, 2]));
    }
}
