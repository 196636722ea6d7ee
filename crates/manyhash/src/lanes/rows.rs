//! How full lanes have been.

use super::{Advance, Plan};
use manyhash_core::kernel::MAX_LANES;
use manyhash_core::{Family, LaneStates};
use std::cell::Cell;

/// Rows, a block of each lane in use, that have been advanced, by the number of lanes in use.
#[derive(Clone, Debug)]
pub(crate) struct RowCounts {
    by_lanes: [Cell<u64>; MAX_LANES + 1],
    /// The most lanes that were in use: further there is nothing to look for.
    most: Cell<usize>,
}

impl Default for RowCounts {
    fn default() -> Self {
        RowCounts { by_lanes: [const { Cell::new(0) }; MAX_LANES + 1], most: Cell::new(0) }
    }
}

impl RowCounts {
    pub(crate) fn add(&self, lanes: usize, rows: usize) {
        let lanes = lanes.min(MAX_LANES);
        let cell = &self.by_lanes[lanes];
        cell.set(cell.get() + rows as u64);
        self.most.set(self.most.get().max(lanes));
    }

    /// The numbers of lanes that were in use, with the rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.by_lanes[..=self.most.get()].iter().map(Cell::get).enumerate().filter(|(_, rows)| *rows > 0)
    }

    pub(crate) fn add_all(&self, other: &RowCounts) {
        other.iter().for_each(|(lanes, rows)| self.add(lanes, rows as usize));
    }

    /// The plan, watched.
    pub(crate) fn of<'a, F: Family>(&'a self, plan: &'a Plan<F>) -> impl Advance<F> + 'a {
        Watched { plan, rows: self }
    }
}

struct Watched<'a, F: Family> {
    plan: &'a Plan<F>,
    rows: &'a RowCounts,
}

impl<F: Family> Advance<F> for Watched<'_, F> {
    fn width(&self) -> usize {
        self.plan.width()
    }

    fn compress(&self, states: &mut LaneStates<F>, messages: &[&[u8]], blocks: usize) {
        self.rows.add(messages.len(), blocks);
        self.plan.compress(states, messages, blocks);
    }

    fn count(&self, lanes: usize, rows: usize) {
        self.rows.add(lanes, rows);
    }
}
