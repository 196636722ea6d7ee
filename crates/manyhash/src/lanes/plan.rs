//! Which kernels advance a number of lanes soonest.
//!
//! A kernel costs the same for one active lane as for all of its lanes, and CPUs differ widely in what each costs:
//! two messages by dedicated instructions, eight in one register and sixty-four in four can each be the best. So the
//! costs are measured, on the machine at hand, at the first use of an algorithm: a millisecond, once a process, and a
//! tenth of that where only one message is hashed at a time. A table made elsewhere would be wrong for somebody's CPU,
//! and lanes would then be slower than none.

use super::Advance;
use crate::short::ShortPlan;
use manyhash_core::kernel::MAX_LANES;
use manyhash_core::{Backend, Family, Kernel, Kernels, LaneStates, ShortKernel};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use zeroize::DefaultIsZeroes;

/// A family that has a plan of its own in this process.
pub(crate) trait Planned: Kernels<Word: DefaultIsZeroes> {
    /// What hashes one message alone soonest, measured at the first call.
    fn single() -> &'static Single<Self>;

    /// The plan for the backend in use, measured at the first call.
    fn plan() -> &'static Plan<Self>;

    /// The same for whole short messages.
    fn short_plan() -> &'static ShortPlan<Self>;
}

macro_rules! planned {
    ($($family:ident $($arch:literal $module:ident::$file:ident)*;)*) => {
        $(
            impl Planned for manyhash_core::$family {
                #[inline]
                fn single() -> &'static Single<Self> {
                    static SINGLE: OnceLock<Single<manyhash_core::$family>> = OnceLock::new();
                    measured(&SINGLE, Single::measure)
                }

                fn plan() -> &'static Plan<Self> {
                    static PLAN: OnceLock<Plan<manyhash_core::$family>> = OnceLock::new();
                    measured(&PLAN, Plan::measure)
                }

                fn short_plan() -> &'static ShortPlan<Self> {
                    static PLAN: OnceLock<ShortPlan<manyhash_core::$family>> = OnceLock::new();
                    measured(&PLAN, ShortPlan::measure)
                }
            }
        )*
    };
}

manyhash_core::families!(planned);

/// What was measured before, or else is now.
///
/// Threads that come at the same time each measure for themselves, and the first one's outcome counts. Were they to wait
/// for the first, a process forked meanwhile would wait forever: it has no such thread.
#[inline]
fn measured<T>(cell: &'static OnceLock<T>, measure: impl FnOnce(Backend) -> T) -> &'static T {
    if let Some(value) = cell.get() {
        return value;
    }
    let value = measure(crate::backend::in_use());
    cell.get_or_init(|| value)
}

/// The kernels of a backend, with what each costs, and the best choice of them for each number of lanes.
#[derive(Debug)]
pub(crate) struct Plan<F: Family> {
    /// By the number of active lanes less one: the kernels that take them, the first lanes first.
    covers: Vec<Vec<Kernel<F>>>,
    /// In the same order: what `ROWS` rows of them cost.
    least: Vec<Duration>,
    costs: Vec<(Kernel<F>, Duration)>,
}

/// Rows of blocks in one timing. After another kernel the first 16 or so can take half as long again, until the CPU has
/// learned which loads may pass which stores.
const ROWS: usize = 64;

/// Bytes from the start of one lane's message to the next one's: apart, as messages are, since lanes that read the same
/// address could all happen to contend with a kernel's stack for one part of the cache.
const APART: usize = 192;

/// Minimum number of timings of each kernel. The least time counts: an interrupted one is only ever too long.
const ROUNDS: usize = 3;

/// How long the kernels of one lane are measured.
const SINGLE_TIME: Duration = Duration::from_micros(100);

/// How long all kernels are measured: CPUs that run wide registers slowly at first have been seen to take half of this
/// until they have the power for the full rate.
const TIME: Duration = Duration::from_millis(1);

/// What `ROWS` rows of each kernel cost.
fn measure<F: Family>(kernels: impl Iterator<Item = Kernel<F>>, time: Duration) -> Vec<(Kernel<F>, Duration)> {
    let bytes = ROWS * F::BLOCK_BYTES;
    let data = vec![0x55; bytes + MAX_LANES * APART];
    let messages: [&[u8]; MAX_LANES] = std::array::from_fn(|lane| &data[lane * APART..][..bytes]);
    let mut states = LaneStates::default();
    let mut costs: Vec<_> = kernels.map(|kernel| (kernel, Duration::MAX)).collect();
    let begin = Instant::now();
    let mut rounds = 0;
    // Kernel after kernel in each round, so that a core that speeds up meanwhile favours none of them.
    while rounds < ROUNDS || begin.elapsed() < time {
        for (kernel, least) in &mut costs {
            let start = Instant::now();
            kernel.compress(&mut states, 0, &messages[..kernel.lanes()], ROWS);
            *least = start.elapsed().min(*least);
        }
        rounds += 1;
    }
    costs
}

/// The cheapest kernel for one message alone.
#[derive(Debug)]
pub(crate) struct Single<F: Family> {
    kernel: Kernel<F>,
    /// Made of the same instructions, where there is one for whole short messages.
    short: Option<ShortKernel<F>>,
}

impl<F: Kernels> Single<F> {
    fn measure(backend: Backend) -> Self {
        let kernels = F::kernels(backend);
        let costs = measure(kernels.iter().filter(|kernel| kernel.lanes() == 1), SINGLE_TIME);
        let Some((kernel, _)) = costs.into_iter().min_by_key(|(_, cost)| *cost) else {
            unreachable!("every backend has a kernel of one lane for every family")
        };
        let short = F::kernels(backend).short().find(|short| short.lanes() == 1 && short.name() == kernel.name());
        Single { kernel, short }
    }

    /// For whole blocks.
    pub(crate) fn kernel(&self) -> &Kernel<F> {
        &self.kernel
    }

    /// For a message's last blocks, which it pads in registers.
    pub(crate) fn short(&self) -> Option<&ShortKernel<F>> {
        self.short.as_ref()
    }
}

impl<F: Kernels> Plan<F> {
    fn measure(backend: Backend) -> Self {
        Self::of(measure(F::kernels(backend).iter(), TIME))
    }

    /// The plan that follows from what `ROWS` rows of each kernel cost.
    fn of(costs: Vec<(Kernel<F>, Duration)>) -> Self {
        let per_lane = |(kernel, cost): &&(Kernel<F>, Duration)| cost.as_secs_f64() / kernel.lanes() as f64;
        let widest = costs.iter().min_by(|a, b| per_lane(a).total_cmp(&per_lane(b)));
        let Some((widest, _)) = widest else { unreachable!("every backend has kernels for every family") };

        let lanes: Vec<(usize, Duration)> = costs.iter().map(|(kernel, cost)| (kernel.lanes(), *cost)).collect();
        let (least, covers): (Vec<_>, Vec<_>) = covers(&lanes, widest.lanes()).into_iter().unzip();
        let covers =
            covers.into_iter().map(|cover: Vec<usize>| cover.into_iter().map(|i| costs[i].0).collect()).collect();
        Plan { covers, least, costs }
    }

    /// The kernels with what each costs.
    pub(crate) fn costs(&self) -> impl Iterator<Item = (&'static str, usize, Duration)> {
        self.costs.iter().map(|(kernel, cost)| (kernel.name(), kernel.lanes(), *cost / ROWS as u32))
    }

    /// The names of the kernels that advance so many lanes, at least 1 and at most [`width`](Self::width).
    pub(crate) fn cover(&self, lanes: usize) -> Vec<&'static str> {
        let cover = lanes.checked_sub(1).and_then(|i| self.covers.get(i));
        cover.into_iter().flatten().map(Kernel::name).collect()
    }

    /// Seconds that a row of so many lanes takes, at least 1 and at most [`width`](Self::width).
    pub(crate) fn row(&self, lanes: usize) -> f64 {
        self.least[lanes.clamp(1, self.width()) - 1].as_secs_f64() / ROWS as f64
    }
}

/// For each number of active lanes from 1 to `widest`, the least cost and the kernels that have it, by their places among
/// these lanes and costs. In order, all kernels but the last have every lane in use, the last has one, and their lanes beside
/// each other are columns of [`LaneStates`].
fn covers(kernels: &[(usize, Duration)], widest: usize) -> Vec<(Duration, Vec<usize>)> {
    // The least cost of n lanes is that of one kernel and of the lanes that it leaves.
    let mut covers = vec![(Duration::ZERO, Vec::new())];
    for active in 1..=widest {
        let mut best = (Duration::MAX, Vec::new());
        for (i, &(lanes, cost)) in kernels.iter().enumerate() {
            let (rest, cover): &(Duration, Vec<usize>) = &covers[active.saturating_sub(lanes)];
            let columns = lanes + cover.iter().map(|other| kernels[*other].0).sum::<usize>();
            let cost = cost.saturating_add(*rest);
            if lanes <= widest && columns <= MAX_LANES && (best.1.is_empty() || cost < best.0) {
                best = (cost, [&cover[..], &[i]].concat());
            }
        }
        // Only one kernel can have more lanes than are left for it; last, it overwrites no lane in use.
        best.1.sort_by_key(|i| std::cmp::Reverse(kernels[*i].0));
        covers.push(best);
    }
    covers.remove(0);
    covers
}

impl<F: Family> Advance<F> for Plan<F> {
    /// The lanes of the kernel that costs least for each of them.
    fn width(&self) -> usize {
        self.covers.len()
    }

    fn compress(&self, states: &mut LaneStates<F>, messages: &[&[u8]], blocks: usize) {
        let Some(cover) = messages.len().checked_sub(1).and_then(|i| self.covers.get(i)) else { return };
        let mut first = 0;
        for kernel in cover {
            let end = messages.len().min(first + kernel.lanes());
            kernel.compress(states, first, &messages[first..end], blocks);
            first = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the kernels cost: numbers of lanes that are no powers of two among them.
        #[test]
        fn covers_fill_their_kernels_and_fit_into_the_columns(
            costs in proptest::collection::vec((prop_oneof![Just(1usize), Just(2), Just(3), Just(4), 5..=64usize], 1..1000u64), 1..8),
            alone in 1..1000u64,
        ) {
            let mut kernels: Vec<_> = costs.into_iter().map(|(lanes, cost)| (lanes, Duration::from_nanos(cost))).collect();
            // Every backend has one.
            kernels.push((1, Duration::from_nanos(alone)));
            let widest = kernels.iter().map(|(lanes, _)| *lanes).max().unwrap_or(1);
            let covers = covers(&kernels, widest);
            prop_assert_eq!(covers.len(), widest);
            for (active, (cost, cover)) in (1..).zip(&covers) {
                let lanes: Vec<usize> = cover.iter().map(|i| kernels[*i].0).collect();
                let (last, full) = lanes.split_last().expect("a lane needs a kernel");
                let full: usize = full.iter().sum();
                prop_assert!(full < active && active <= full + last && full + last <= MAX_LANES, "{active}: {lanes:?}");
                prop_assert_eq!(*cost, cover.iter().map(|i| kernels[*i].1).sum::<Duration>());
                prop_assert!(cost.as_nanos() <= active as u128 * u128::from(alone), "{active}: {lanes:?}");
            }
        }
    }
}
