//! Figures of what the engine is doing and has done.

use super::inner::Inner;
use super::slots::SlotState;
use super::unlocked::{Unlocked, seconds_alone};
use crate::Algorithm;
use crate::family::with_family;
use crate::hasher::{FamilyRows, Variant};
use crate::lanes::Advance;
use manyhash_core::Family;
use std::time::{Duration, Instant};

/// A snapshot of what an engine is doing and what it has done so far.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// Number of the engine's threads.
    pub threads: usize,
    /// Total time that the engine's threads have spent hashing.
    pub busy: Duration,
    /// Total time that callers' own threads have spent hashing what was not worth handing over. For messages of a few
    /// KiB this is not measured but computed from the plan's costs.
    pub inline: Duration,
    /// The slots in each state, in the order of [`SlotState::ALL`].
    pub states: Vec<StateStats>,
    /// Number of changes of slots' states.
    pub transitions: u64,
    /// Bytes handed over and not hashed yet, as far as they count against the bound.
    pub memory: u64,
    /// The bound on such bytes, as set by [`Builder::memory`](super::Builder::memory).
    pub memory_bound: u64,
    /// Number of jobs done, failed ones included. A job is a message, a stream or a batch of short messages.
    pub jobs: u64,
    /// Figures of each algorithm that was used.
    pub algorithms: Vec<AlgorithmStats>,
    /// How long jobs with something to hash waited for a thread, each time.
    pub queue_wait: Histogram,
    /// How long threads held jobs, each time.
    pub service: Histogram,
}

impl Stats {
    /// Returns the number of slots in a state.
    pub fn slots(&self, state: SlotState) -> usize {
        self.states.iter().find(|of| of.state == state).map_or(0, |of| of.slots)
    }
}

/// The slots in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StateStats {
    /// The state.
    pub state: SlotState,
    /// Number of slots in the state.
    pub slots: usize,
    /// Time that the oldest of them has been in the state.
    pub oldest: Option<Duration>,
}

/// What was hashed with an algorithm.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AlgorithmStats {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Number of bytes hashed.
    pub bytes: u64,
    /// Active lanes divided by the lanes worth filling, on average over rows of blocks: 0 to 1. Algorithms that share a
    /// compression function, such as SHA-224 and SHA-256, share lanes and this figure.
    pub occupancy: f64,
    /// Active lanes, added up over rows of blocks. With [`available_lanes`](Self::available_lanes) it gives the occupancy
    /// between two snapshots: by how much this has grown, divided by how much that has.
    pub active_lanes: u64,
    /// Lanes worth filling, added up over the same rows.
    pub available_lanes: u64,
    /// The kernels that were used, most used first. They are shared in the same way.
    pub kernels: Vec<KernelUse>,
}

/// How much a kernel was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct KernelUse {
    /// The name, as in [`KernelCost::name`](crate::KernelCost::name).
    pub name: &'static str,
    /// Number of rows that the kernel has advanced. A row is one block of each of its lanes.
    pub rows: u64,
}

/// A histogram of durations.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Histogram {
    /// Upper bounds, inclusive, each with the number of durations up to it and above the bound before. The last bound
    /// is [`Duration::MAX`].
    pub buckets: Vec<(Duration, u64)>,
    /// Number of durations.
    pub count: u64,
    /// Sum of the durations.
    pub sum: Duration,
}

/// Bounds double from a microsecond to about eight seconds.
const BUCKETS: usize = 25;

impl Default for Histogram {
    fn default() -> Self {
        let bound = |i: usize| if i + 1 == BUCKETS { Duration::MAX } else { Duration::from_micros(1 << i) };
        Histogram { buckets: (0..BUCKETS).map(|i| (bound(i), 0)).collect(), count: 0, sum: Duration::ZERO }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, time: Duration) {
        let micros = time.as_nanos().div_ceil(1000).max(1);
        let bucket = (micros.next_power_of_two().trailing_zeros() as usize).min(BUCKETS - 1);
        self.buckets[bucket].1 += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(time);
    }
}

/// What is added up as jobs come back.
#[derive(Clone, Default)]
pub(super) struct Figures {
    pub(super) rows: FamilyRows,
    pub(super) queue_wait: Histogram,
    pub(super) service: Histogram,
    pub(super) jobs: u64,
    busy: Duration,
    inline: Duration,
    bytes: [u64; Algorithm::ALL.len()],
}

impl Figures {
    pub(super) fn add_time(&mut self, time: Duration, by_engine: bool) {
        *(if by_engine { &mut self.busy } else { &mut self.inline }) += time;
    }

    pub(super) fn add_bytes(&mut self, algorithms: &[Algorithm], bytes: usize) {
        algorithms.iter().for_each(|algorithm| self.bytes[*algorithm as usize] += bytes as u64);
    }

    /// What callers hashed at once, one message at a time. They did not look at the clock, which takes as long as a
    /// short message does.
    pub(super) fn add_unlocked(&mut self, unlocked: &Unlocked) {
        self.jobs += unlocked.jobs();
        for (algorithm, bytes) in unlocked.bytes().filter(|(_, bytes)| *bytes > 0) {
            self.bytes[algorithm as usize] += bytes;
            with_family!(algorithm, F, _start => F::rows(&self.rows).add(1, bytes as usize / F::BLOCK_BYTES));
            self.inline += Duration::from_secs_f64(bytes as f64 * seconds_alone(algorithm));
        }
    }

    fn algorithms(&self) -> Vec<AlgorithmStats> {
        let used = Algorithm::ALL.iter().copied().zip(self.bytes).filter(|(_, bytes)| *bytes > 0);
        used.map(|(algorithm, bytes)| with_family!(algorithm, F, _start => self.of::<F>(algorithm, bytes))).collect()
    }

    fn of<F: Variant>(&self, algorithm: Algorithm, bytes: u64) -> AlgorithmStats {
        let (mut active, mut available, mut kernels) = (0, 0, Vec::<KernelUse>::new());
        let plan = F::plan();
        for (used, count) in F::rows(&self.rows).iter() {
            // Kernels for whole short messages can be wider than those of the plan.
            available += plan.width() as u64 * count;
            active += used.min(plan.width()) as u64 * count;
            for name in plan.cover(used) {
                match kernels.iter_mut().find(|kernel| kernel.name == name) {
                    Some(kernel) => kernel.rows += count,
                    None => kernels.push(KernelUse { name, rows: count }),
                }
            }
        }
        kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.rows));
        let occupancy = if available == 0 { 0.0 } else { active as f64 / available as f64 };
        AlgorithmStats { algorithm, bytes, occupancy, active_lanes: active, available_lanes: available, kernels }
    }
}

impl Inner {
    pub(super) fn stats(&self, threads: usize, now: Instant) -> Stats {
        let figures = self.figures();
        let state = |state| StateStats { state, slots: self.slots.count(state), oldest: self.slots.oldest(state, now) };
        Stats {
            threads,
            busy: figures.busy,
            inline: figures.inline,
            states: SlotState::ALL.iter().map(|of| state(*of)).collect(),
            transitions: self.slots.transitions(),
            memory: self.gate.held() as u64,
            memory_bound: self.gate.bound() as u64,
            jobs: figures.jobs,
            algorithms: figures.algorithms(),
            queue_wait: figures.queue_wait,
            service: figures.service,
        }
    }
}
