//! What hashing costs, by the number of messages side by side: all that the schedule knows of algorithms.

use crate::family::with_family;
use crate::lanes::{Advance, Planned};
use manyhash_core::{Algorithm, Family};

/// Seconds that it takes to advance messages side by side by one byte each, by their number.
///
/// Of several algorithms over the same bytes, it is the sum of what each costs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Costs {
    /// For one message and more, up to the number that costs least for each of them. Never falls.
    seconds: Vec<f64>,
}

/// A number of messages on a number of cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Share {
    pub(super) cores: usize,
    /// Messages on each core, side by side.
    pub(super) lanes: usize,
}

/// How much sooner all cores must be done for more of them to be used than need be.
const SOONER: f64 = 1.1;

impl Costs {
    /// By the plans of the algorithms, each of which is measured if that was not done before in this process.
    pub(super) fn of(algorithms: &[Algorithm]) -> Self {
        let plans: Vec<Vec<f64>> = algorithms.iter().map(|algorithm| by_plan(*algorithm)).collect();
        let most = plans.iter().map(Vec::len).max().unwrap_or(1);
        // A plan for fewer lanes takes one full group of them after another.
        let groups = |plan: &[f64], lanes: usize| {
            let rest = lanes % plan.len();
            let full = (lanes / plan.len()) as f64 * plan[plan.len() - 1];
            full + rest.checked_sub(1).map_or(0.0, |i| plan[i])
        };
        Self::new((1..=most).map(|lanes| plans.iter().map(|plan| groups(plan, lanes)).sum()).collect())
    }

    /// Of what one message, two, and so on cost, at least of one.
    pub(super) fn new(mut seconds: Vec<f64>) -> Self {
        // No algorithms at all cost something too, so that nothing is divided by zero.
        seconds.iter_mut().for_each(|seconds| *seconds = seconds.max(1e-15));
        for i in (1..seconds.len()).rev() {
            seconds[i - 1] = seconds[i - 1].min(seconds[i]);
        }
        let each = |lanes: usize| seconds[lanes - 1] / lanes as f64;
        let widest = (1..=seconds.len()).min_by(|a, b| each(*a).total_cmp(&each(*b))).unwrap_or(1);
        seconds.truncate(widest);
        Costs { seconds }
    }

    /// Messages side by side that cost least for each of them.
    pub(super) fn width(&self) -> usize {
        self.seconds.len()
    }

    /// Seconds for a byte of each of so many messages, at least 1 and at most [`width`](Self::width) of them.
    pub(super) fn seconds(&self, lanes: usize) -> f64 {
        self.seconds[lanes.clamp(1, self.width()) - 1]
    }

    /// How many of the cores so many equal messages should be on: as few as will do, for lanes are cheaper than cores,
    /// but all that are needed to be done sooner by more than [`SOONER`].
    pub(super) fn share(&self, messages: usize, cores: usize) -> Share {
        let (messages, cores) = (messages.max(1), cores.max(1));
        if messages >= cores * self.width() {
            return Share { cores, lanes: self.width() };
        }
        let soonest = self.seconds(messages.div_ceil(cores));
        let least = messages.div_ceil(self.width());
        let share = |cores| Share { cores, lanes: messages.div_ceil(cores) };
        let good = |share: &Share| self.seconds(share.lanes) <= SOONER * soonest;
        (least..=cores).map(share).find(good).unwrap_or(share(cores))
    }

    /// The widest group in which a byte takes no longer than this, if a message alone does not.
    pub(super) fn widest_within(&self, seconds: f64) -> usize {
        self.seconds.partition_point(|cost| *cost <= seconds).max(1)
    }
}

/// Of one algorithm.
fn by_plan(algorithm: Algorithm) -> Vec<f64> {
    with_family!(algorithm, F, _start => {
        let plan = F::plan();
        (1..=plan.width()).map(|lanes| plan.row(lanes) / F::BLOCK_BYTES as f64).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::{Costs, Share};
    use manyhash_core::Algorithm;

    #[test]
    fn lanes_come_before_cores_unless_cores_are_sooner() {
        // One message 1 s, two to four together 1.8 s.
        let costs = Costs::new(vec![1.0, 1.8, 1.8, 1.8]);
        let share = |messages, cores| {
            let Share { cores, lanes } = costs.share(messages, cores);
            (cores, lanes)
        };
        assert_eq!(costs.width(), 4);
        assert_eq!(share(1, 8), (1, 1));
        assert_eq!(share(2, 8), (2, 1));
        assert_eq!(share(8, 8), (8, 1));
        assert_eq!(share(9, 8), (5, 2));
        assert_eq!(share(4, 2), (1, 4));
        assert_eq!(share(6, 2), (2, 3));
        assert_eq!(share(100, 2), (2, 4));
        assert_eq!((costs.widest_within(0.5), costs.widest_within(1.0), costs.widest_within(2.0)), (1, 1, 4));
    }

    #[test]
    fn several_algorithms_cost_their_sum() {
        let [md5, sha512] = [Algorithm::Md5, Algorithm::Sha512].map(|algorithm| Costs::of(&[algorithm]));
        let both = Costs::of(&[Algorithm::Md5, Algorithm::Sha512]);
        assert!(both.width() >= md5.width().min(sha512.width()));
        let sum = md5.seconds(1) + sha512.seconds(1);
        assert!((both.seconds(1) - sum).abs() < sum / 1000.0, "{} {sum}", both.seconds(1));
        assert_eq!(Costs::of(&[]).width(), 1);
    }
}
