//! Which kernels advance a number of lanes soonest.
//!
//! A kernel costs the same for one active lane as for all of its lanes, and CPUs differ widely in what each costs:
//! two messages by dedicated instructions, eight in one register and sixty-four in four can each be the best. So the
//! costs are measured, on the machine at hand, at the first use of an algorithm: some 400 microseconds, once a
//! process. A table made elsewhere would be wrong for somebody's CPU, and lanes would then be slower than none.

use manyhash_core::kernel::MAX_LANES;
use manyhash_core::{Backend, Family, Kernel, LaneStates, Md5, Sha1, Sha256, Sha512, State};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A family that has a plan of its own in this process.
pub(crate) trait Planned: Family {
    /// The plan for the backend in use, measured at the first call.
    fn plan() -> &'static Plan<Self>;
}

macro_rules! planned {
    ($($family:ident)*) => {
        $(
            impl Planned for $family {
                fn plan() -> &'static Plan<Self> {
                    static PLAN: OnceLock<Plan<$family>> = OnceLock::new();
                    PLAN.get_or_init(|| Plan::measure(crate::backend::in_use()))
                }
            }
        )*
    };
}

planned!(Md5 Sha1 Sha256 Sha512);

/// The kernels of a backend, with what each costs, and the best choice of them for each number of lanes.
#[derive(Debug)]
pub(crate) struct Plan<F: Family> {
    /// By the number of active lanes less one: the kernels that take them, the first lanes first.
    covers: Vec<Vec<Kernel<F>>>,
    /// The cheapest kernel of one lane.
    single: Kernel<F>,
    costs: Vec<(Kernel<F>, Duration)>,
}

impl<F: Family> Plan<F> {
    /// Rows of blocks in one timing. After another kernel the first 16 or so can take half as long again, until the CPU
    /// has learned which loads may pass which stores.
    const ROWS: usize = 64;
    /// Bytes from the start of one lane's message to the next one's: apart, as messages are, since lanes that read the
    /// same address could all happen to contend with a kernel's stack for one part of the cache.
    const APART: usize = 192;
    /// Timings of each kernel. The least counts: an interrupted one is only ever too long.
    const ROUNDS: usize = 5;

    fn measure(backend: Backend) -> Self {
        let bytes = Self::ROWS * F::BLOCK_BYTES;
        let data = vec![0x55; bytes + MAX_LANES * Self::APART];
        let messages: [&[u8]; MAX_LANES] = std::array::from_fn(|lane| &data[lane * Self::APART..][..bytes]);
        let mut states = LaneStates::default();
        let mut costs: Vec<_> = F::kernels(backend).iter().map(|kernel| (kernel, Duration::MAX)).collect();
        // Kernel after kernel in each round, so that a core that speeds up meanwhile favours none of them.
        for _ in 0..Self::ROUNDS {
            for (kernel, least) in &mut costs {
                let start = Instant::now();
                kernel.compress(&mut states, 0, &messages[..kernel.lanes()], Self::ROWS);
                *least = start.elapsed().min(*least);
            }
        }
        Self::of(costs)
    }

    /// The plan that follows from what `ROWS` rows of each kernel cost.
    fn of(costs: Vec<(Kernel<F>, Duration)>) -> Self {
        let single = costs.iter().filter(|(kernel, _)| kernel.lanes() == 1).min_by_key(|(_, cost)| *cost);
        let per_lane = |(kernel, cost): &&(Kernel<F>, Duration)| cost.as_secs_f64() / kernel.lanes() as f64;
        let widest = costs.iter().min_by(|a, b| per_lane(a).total_cmp(&per_lane(b)));
        let (Some((single, _)), Some((widest, _))) = (single, widest) else {
            unreachable!("every backend has a kernel of one lane for every family")
        };

        // The least cost of n lanes is that of one kernel and of the lanes that it leaves.
        let mut least = vec![Duration::ZERO];
        let mut covers: Vec<Vec<Kernel<F>>> = vec![Vec::new()];
        for lanes in 1..=widest.lanes() {
            let left = |kernel: &Kernel<F>| lanes.saturating_sub(kernel.lanes());
            let choices = costs.iter().filter(|(kernel, _)| kernel.lanes() <= widest.lanes());
            let choices = choices.map(|(kernel, cost)| (cost.saturating_add(least[left(kernel)]), kernel));
            let (cost, kernel) = choices.min_by_key(|(cost, _)| *cost).unwrap_or((Duration::MAX, widest));
            let mut cover = covers[left(kernel)].clone();
            cover.push(*kernel);
            // Only one kernel can have more lanes than are left for it; last, it overwrites no lane in use.
            cover.sort_by_key(|kernel| std::cmp::Reverse(kernel.lanes()));
            least.push(cost);
            covers.push(cover);
        }
        covers.remove(0);
        Plan { covers, single: *single, costs }
    }

    /// The kernels with what each costs.
    pub(crate) fn costs(&self) -> impl Iterator<Item = (&'static str, usize, Duration)> {
        self.costs.iter().map(|(kernel, cost)| (kernel.name(), kernel.lanes(), *cost / Self::ROWS as u32))
    }

    /// The names of the kernels that advance so many lanes, at least 1 and at most [`width`](Self::width).
    pub(crate) fn cover(&self, lanes: usize) -> Vec<&'static str> {
        let cover = lanes.checked_sub(1).and_then(|i| self.covers.get(i));
        cover.into_iter().flatten().map(Kernel::name).collect()
    }

    /// The name of the kernel that advances a message alone.
    pub(crate) fn single(&self) -> &'static str {
        self.single.name()
    }

    /// Lanes that are worth filling: those of the kernel that costs least for each of its lanes.
    pub(crate) fn width(&self) -> usize {
        self.covers.len()
    }

    /// Advances the states of the first `messages.len()` lanes, at most [`width`](Self::width), by `blocks` blocks.
    pub(crate) fn compress(&self, states: &mut LaneStates<F>, messages: &[&[u8]], blocks: usize) {
        let Some(cover) = messages.len().checked_sub(1).and_then(|i| self.covers.get(i)) else { return };
        let mut first = 0;
        for kernel in cover {
            let end = messages.len().min(first + kernel.lanes());
            kernel.compress(states, first, &messages[first..end], blocks);
            first = end;
        }
    }

    /// Advances one state by whole blocks.
    pub(crate) fn compress_one(&self, state: &mut State<F>, blocks: &[u8]) {
        self.single.compress_one(state, blocks, blocks.len() / F::BLOCK_BYTES);
    }
}
