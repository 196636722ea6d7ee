//! The lanes of one core: jobs, the groups of lanes they run in, and the plan that picks kernels for them.
//!
//! A [`Job`] is a state and whole blocks to advance it by. [`run`] keeps a group of lanes full of jobs from a source;
//! [`Finals`] collects the ends of messages, padded, and hashes them a group at a time; [`Plan`] says which kernels
//! advance a number of lanes soonest. None of them knows an ISA or an algorithm by name.

mod finals;
mod plan;
mod rows;

pub(crate) use finals::Finals;
pub(crate) use plan::{Plan, Planned};
pub(crate) use rows::RowCounts;

use manyhash_core::kernel::MAX_LANES;
use manyhash_core::{Family, LaneStates, State};

/// What advances lanes: a [`Plan`], or somebody who watches one at it.
pub(crate) trait Advance<F: Family> {
    /// Lanes that are worth filling.
    fn width(&self) -> usize;

    /// Advances the states of the first `messages.len()` lanes, at most [`width`](Self::width), by `blocks` blocks.
    fn compress(&self, states: &mut LaneStates<F>, messages: &[&[u8]], blocks: usize);

    /// Rows that others advanced in its place, with so many lanes in use.
    fn count(&self, _lanes: usize, _rows: usize) {}
}

impl<F: Family, A: Advance<F>> Advance<F> for &A {
    fn width(&self) -> usize {
        (*self).width()
    }

    fn compress(&self, states: &mut LaneStates<F>, messages: &[&[u8]], blocks: usize) {
        (*self).compress(states, messages, blocks);
    }
}

/// A state, the whole blocks that it is to be advanced by, and what the caller knows it by.
pub(crate) struct Job<'a, F: Family, Tag> {
    pub(crate) state: State<F>,
    pub(crate) blocks: &'a [u8],
    pub(crate) tag: Tag,
}

/// Where jobs come from, and where their states go.
pub(crate) trait Source<'a, F: Family> {
    /// What a job is known by.
    type Tag: Copy;

    /// The next job, if there is one.
    fn next(&mut self) -> Option<Job<'a, F, Self::Tag>>;

    /// A job has ended in this state.
    fn done(&mut self, tag: Self::Tag, state: &State<F>);
}

/// Runs the jobs that a source has, `width` side by side, and gives each one's state back to it as it ends.
///
/// All lanes advance together by the smallest number of blocks that any has left; those that ended are refilled, and
/// so on. Nothing waits: without further jobs the lanes that are left run on, by whatever kernels the plan has for
/// their number.
pub(crate) fn run<'a, F: Family, S: Source<'a, F>>(plan: &impl Advance<F>, width: usize, source: &mut S) {
    let width = width.clamp(1, plan.width());
    let mut lanes = Lanes::<F, S::Tag>::new();
    let mut more = true;
    loop {
        while more && lanes.active() < width {
            match source.next() {
                Some(job) if job.blocks.is_empty() => source.done(job.tag, &job.state),
                Some(job) => lanes.push(job),
                None => more = false,
            }
        }
        if lanes.active() == 0 {
            return;
        }
        lanes.advance(plan);
        lanes.retire(source);
    }
}

/// A group of lanes, the first [`active`](Self::active) of them in use.
struct Lanes<'a, F: Family, Tag> {
    states: LaneStates<F>,
    /// What is left of each lane's blocks.
    blocks: Vec<&'a [u8]>,
    tags: Vec<Tag>,
}

impl<'a, F: Family, Tag: Copy> Lanes<'a, F, Tag> {
    fn new() -> Self {
        Lanes {
            states: LaneStates::default(),
            blocks: Vec::with_capacity(MAX_LANES),
            tags: Vec::with_capacity(MAX_LANES),
        }
    }

    fn active(&self) -> usize {
        self.blocks.len()
    }

    fn push(&mut self, job: Job<'a, F, Tag>) {
        self.states.set(self.active(), &job.state);
        self.blocks.push(job.blocks);
        self.tags.push(job.tag);
    }

    /// Advances every lane by as many blocks as all of them have.
    fn advance(&mut self, plan: &impl Advance<F>) {
        let shortest = self.blocks.iter().map(|blocks| blocks.len()).min().unwrap_or(0);
        let count = shortest / F::BLOCK_BYTES;
        plan.compress(&mut self.states, &self.blocks, count);
        for blocks in &mut self.blocks {
            *blocks = &blocks[count * F::BLOCK_BYTES..];
        }
    }

    /// Takes out the lanes that have nothing left; the last lanes move into the gaps.
    fn retire(&mut self, source: &mut impl Source<'a, F, Tag = Tag>) {
        let mut lane = 0;
        while lane < self.active() {
            if self.blocks[lane].is_empty() {
                source.done(self.tags[lane], &self.states.get(lane));
                self.blocks.swap_remove(lane);
                self.tags.swap_remove(lane);
                let last = self.active();
                if lane < last {
                    let state = self.states.get(last);
                    self.states.set(lane, &state);
                }
            } else {
                lane += 1;
            }
        }
    }
}
