//! What is known without the engine's lock, so that a message which its caller hashes at once never takes it.
//!
//! All of it is counts and hints: nothing that has to be right follows from how two of them stand to each other, or to
//! what is under the lock. So their order is relaxed throughout.

use crate::Algorithm;
use crate::family::with_family;
use crate::lanes::{Advance, Planned};
use manyhash_core::Family;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Seconds: what takes no longer than this alone is hashed in the call that hands it over, which could not keep it for
/// less.
const AT_ONCE: f64 = 1e-6;

/// Seconds: what takes no longer than this alone is hashed by its caller, for to hand it over costs more.
pub(super) const TINY: f64 = 10e-6;

/// Seconds that a task takes to wait for another caller who hashes its message in lanes, about: what lanes save no more
/// than this of is hashed by its caller at once too.
pub(super) const SWITCH: f64 = 5e-6;

/// The same for a thread.
pub(super) const SWITCH_OF_THREAD: f64 = 2.0 * SWITCH;

/// Seconds: what takes no longer than this alone may be hashed in a task, if no lanes would be had.
pub(super) const SMALL: f64 = 250e-6;

/// Seconds: what takes longer than this alone is worth calling a thread for before anybody waits for it.
pub(super) const LONG: f64 = 2e-3;

/// The same for the model checker, whose messages are short: bytes.
const MODEL: (usize, usize, usize) = (20, 20, 200);

#[derive(Debug, Default)]
pub(super) struct Unlocked {
    /// Whether the last clone of the engine is gone. It is set under the lock, and threads look at it there.
    closed: AtomicBool,
    shards: [Shard; SHARDS],
}

/// Threads that count at once do so in lines of the cache of their own, as far as these go.
const SHARDS: usize = 8;

#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    /// Messages hashed by their callers at once.
    jobs: AtomicU64,
    /// Their bytes, by algorithm.
    bytes: [AtomicU64; Algorithm::ALL.len()],
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// This thread's shard, when divided by their number.
    static SHARD: usize = THREADS.fetch_add(1, Relaxed);
}

impl Unlocked {
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Relaxed);
    }

    /// A caller hashes a whole message himself.
    pub(super) fn add(&self, algorithms: &[Algorithm], bytes: usize) {
        self.add_bytes(algorithms.iter().copied(), bytes);
        self.add_job();
    }

    /// A caller hashes bytes of a message himself.
    pub(super) fn add_bytes(&self, algorithms: impl IntoIterator<Item = Algorithm>, bytes: usize) {
        let shard = self.shard();
        for algorithm in algorithms {
            shard.bytes[algorithm as usize].fetch_add(bytes as u64, Relaxed);
        }
    }

    /// These are a whole message.
    pub(super) fn add_job(&self) {
        self.shard().jobs.fetch_add(1, Relaxed);
    }

    fn shard(&self) -> &Shard {
        &self.shards[SHARD.with(|shard| *shard) % SHARDS]
    }

    pub(super) fn jobs(&self) -> u64 {
        self.shards.iter().map(|shard| shard.jobs.load(Relaxed)).sum()
    }

    pub(super) fn bytes(&self) -> impl Iterator<Item = (Algorithm, u64)> {
        Algorithm::ALL.iter().copied().map(|algorithm| {
            let bytes = self.shards.iter().map(|shard| shard.bytes[algorithm as usize].load(Relaxed));
            (algorithm, bytes.sum())
        })
    }
}

/// Bytes that the caller hashes himself, by how long they take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// In the very call that hands them over.
    pub(super) at_once: usize,
    /// However many others there are.
    pub(super) tiny: usize,
    /// The same for a thread that waits.
    pub(super) tiny_for_thread: usize,
    /// If there are few others.
    pub(super) small: usize,
    /// Seconds that a byte takes.
    pub(super) seconds: f64,
}

impl Most {
    /// Of one message.
    pub(super) fn of_one(algorithms: &[Algorithm]) -> Self {
        let alone = algorithms.iter().map(|algorithm| seconds_alone(*algorithm)).sum();
        Self::new(alone, alone - algorithms.iter().map(|algorithm| seconds_in_lanes(*algorithm)).sum::<f64>())
    }

    /// Of short messages, all together.
    pub(super) fn of_many(algorithm: Algorithm) -> Self {
        Self::new(seconds_in_lanes(algorithm), 0.0)
    }

    /// Of what takes so many seconds a byte, of which other callers' lanes would save so many.
    fn new(seconds: f64, saved: f64) -> Self {
        let (tiny, tiny_for_thread, small) = if cfg!(manyhash_shuttle) {
            MODEL
        } else {
            let small = SMALL / seconds;
            let tiny = |switch: f64| {
                let least = TINY / seconds;
                (if saved > 0.0 { least.max(switch / saved) } else { least }).min(small) as usize
            };
            (tiny(SWITCH), tiny(SWITCH_OF_THREAD), small as usize)
        };
        let at_once = ((AT_ONCE / seconds) as usize).min(tiny);
        Most { at_once, tiny, tiny_for_thread, small, seconds }
    }
}

/// Seconds that a byte of each message takes in full lanes.
fn seconds_in_lanes(algorithm: Algorithm) -> f64 {
    with_family!(algorithm, F, _start => {
        let width = F::plan().width();
        F::plan().row(width) / (width * F::BLOCK_BYTES) as f64
    })
}

/// Seconds that a byte of one message takes alone.
pub(super) fn seconds_alone(algorithm: Algorithm) -> f64 {
    with_family!(algorithm, F, _start => F::plan().row(1) / F::BLOCK_BYTES as f64)
}
