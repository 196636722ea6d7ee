//! What hashing costs, by the number of messages side by side: all that the schedule knows of algorithms.

use crate::family::with_family;
use crate::lanes::{Advance, Planned};
use manyhash_core::{Algorithm, Family};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Seconds that it takes to advance messages side by side by one byte each, by their number.
///
/// Of several algorithms over the same bytes, it is the sum of what each costs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Costs {
    /// For one message and more, up to the number that costs least for each of them. Never falls.
    seconds: Vec<f64>,
    /// Numbers of messages above which a further one costs more.
    steps: Vec<usize>,
    /// Of rows from the soonest to the latest: what they take, and what each lane of theirs costs. The lower convex
    /// hull: what is above it, a mixture of others does better.
    hull: Vec<(f64, f64)>,
    known: Known,
}

/// The shares that were asked for before, by the numbers of messages and cores. They are for fewer messages than lanes, so
/// there are few of them. To find one anew can take longer than to hash what is shared out.
#[derive(Debug, Default)]
struct Known(Mutex<HashMap<(usize, usize), Share>>);

impl Clone for Known {
    fn clone(&self) -> Self {
        Known::default()
    }
}

/// What was asked for makes no costs differ.
impl PartialEq for Known {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Messages on cores: some cores with many side by side, others with fewer, which are done with theirs sooner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Share {
    pub(super) wide: Groups,
    pub(super) narrow: Groups,
    /// Bytes a second, all messages together.
    pub(super) rate: f64,
}

/// Cores with equally many messages side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Groups {
    pub(super) cores: usize,
    /// Messages on each core.
    pub(super) lanes: usize,
}

impl Share {
    fn cores(&self) -> usize {
        self.wide.cores + self.narrow.cores
    }

    /// Messages that are advanced at once.
    pub(super) fn lanes(&self) -> usize {
        self.wide.cores * self.wide.lanes + self.narrow.cores * self.narrow.lanes
    }
}

/// How much faster all must go for more cores to be used than need be.
const FASTER: f64 = 1.06;

/// How much faster lanes must be than callers who hash themselves, each alone on a core, for handing over to be worth
/// it: those who come while a slice is hashed wait for its end, and then to be woken.
const WORTH_HANDING_OVER: f64 = 1.5;

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
        let steps = (1..=widest).filter(|lanes| seconds.get(*lanes).is_none_or(|next| *next > seconds[lanes - 1]));
        let steps: Vec<usize> = steps.collect();
        let mut hull: Vec<(f64, f64)> = Vec::new();
        for lanes in &steps {
            let point = (seconds[lanes - 1], seconds[lanes - 1] / *lanes as f64);
            let above = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) * (point.0 - a.0) >= (point.1 - a.1) * (b.0 - a.0);
            while hull.len() > 1 && above(hull[hull.len() - 2], hull[hull.len() - 1]) {
                hull.pop();
            }
            if hull.last().is_none_or(|last| point.1 < last.1) {
                hull.push(point);
            }
        }
        Costs { steps, hull, seconds, known: Known::default() }
    }

    /// Messages side by side that cost least for each of them.
    pub(super) fn width(&self) -> usize {
        self.seconds.len()
    }

    /// What full lanes save of the time that one message takes alone: a share from 0 to 1.
    pub(super) fn gain(&self) -> f64 {
        1.0 - self.seconds(self.width()) / self.width() as f64 / self.seconds(1)
    }

    /// Seconds for a byte of each of so many messages, at least 1 and at most [`width`](Self::width) of them.
    pub(super) fn seconds(&self, lanes: usize) -> f64 {
        self.seconds[lanes.clamp(1, self.width()) - 1]
    }

    /// How so many messages are best laid out over so many cores: on as few as will do, for lanes are cheaper than
    /// cores, but on all that are needed to be no more than [`FASTER`] slower than can be.
    ///
    /// Where these are fewer lanes than messages, the messages take turns.
    pub(super) fn share(&self, messages: usize, cores: usize) -> Share {
        let (messages, cores) = (messages.max(1), cores.max(1));
        if messages >= cores * self.width() {
            let wide = Groups { cores, lanes: self.width() };
            return self.rated(messages, wide, Groups { cores: 0, lanes: 1 });
        }
        let mut known = self.known.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry((messages, cores)).or_insert_with(|| self.find_share(messages, cores))
    }

    /// The share for fewer messages than there are lanes.
    fn find_share(&self, messages: usize, cores: usize) -> Share {
        let shares = || {
            let pairs = self.steps.iter().flat_map(|wide| self.steps.iter().map(move |narrow| (*wide, *narrow)));
            pairs.filter(|(wide, narrow)| narrow <= wide).flat_map(move |(wide, narrow)| {
                // All lanes of all cores used, or a core more or less of the wide ones.
                let all = messages.saturating_sub(cores * narrow).checked_div(wide - narrow).unwrap_or(0);
                [all, messages / wide, messages.div_ceil(wide)].into_iter().flat_map(move |count| {
                    let wide = Groups { cores: count.min(cores), lanes: wide };
                    let left = messages.saturating_sub(wide.cores * wide.lanes);
                    // As many narrow ones as are needed; or as there can be, so that the wide ones are not full.
                    [left.div_ceil(narrow), messages / narrow].map(|count| {
                        let narrow = Groups { cores: count.min(cores - wide.cores), lanes: narrow };
                        self.rated(messages, wide, narrow)
                    })
                })
            })
        };
        let shares = || shares().map(|share| (share, self.worth(&share, messages, cores)));
        let best = shares().map(|(_, worth)| worth).fold(0.0, f64::max);
        let good = shares().filter(|(_, worth)| worth * FASTER >= best);
        let fewest =
            good.min_by(|(a, a_worth), (b, b_worth)| a.cores().cmp(&b.cores()).then(b_worth.total_cmp(a_worth)));
        let share = fewest.map(|(share, _)| share);
        let share =
            share.unwrap_or_else(|| self.rated(messages, Groups { cores, lanes: 1 }, Groups { cores: 0, lanes: 1 }));
        if share.wide.cores > 0 { share } else { Share { wide: share.narrow, narrow: share.wide, ..share } }
    }

    /// The most callers, each with a message, who had better hash themselves, with so many cores: any number where lanes
    /// gain little.
    pub(super) fn callers_alone(&self, cores: usize) -> usize {
        let alone = |callers: usize| callers.min(cores) as f64 / self.seconds(1);
        let is_better = |callers: usize| self.dense(callers, cores).rate <= WORTH_HANDING_OVER * alone(callers);
        let (mut low, mut high) = (1, cores.max(1) * self.width());
        if is_better(high) {
            return usize::MAX;
        }
        while low < high {
            let middle = (low + high).div_ceil(2);
            if is_better(middle) { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// So many messages on as few cores as will do.
    pub(super) fn dense(&self, messages: usize, cores: usize) -> Share {
        let cores = messages.div_ceil(self.width()).clamp(1, cores.max(1));
        let lanes = messages.div_ceil(cores).clamp(1, self.width());
        self.rated(messages.max(1), Groups { cores, lanes }, Groups { cores: 0, lanes: 1 })
    }

    /// The rate that counts: half-way between the present one and that until all are done, were they equally long and
    /// stayed where they are, since those in narrow groups are done first and leave the others behind.
    fn worth(&self, share: &Share, messages: usize, cores: usize) -> f64 {
        let in_narrow = messages.min(share.narrow.cores * share.narrow.lanes);
        let in_wide = (messages - in_narrow).min(share.wide.cores * share.wide.lanes);
        if in_narrow == 0 || in_wide == 0 || in_narrow + in_wide < messages {
            return share.rate;
        }
        let (first, last) = (self.seconds(share.narrow.lanes), self.seconds(share.wide.lanes));
        let rates = self.steps.iter().map(|lanes| in_wide.min(cores * lanes) as f64 / self.seconds(*lanes));
        let rest = (1.0 - first / last) * in_wide as f64 / rates.fold(0.0, f64::max);
        f64::midpoint(share.rate, messages as f64 / (first + rest))
    }

    fn rated(&self, messages: usize, wide: Groups, narrow: Groups) -> Share {
        let rate = |messages: usize, lanes: usize| messages as f64 / self.seconds(lanes);
        // The narrow ones are faster: they are filled first.
        let in_narrow = messages.min(narrow.cores * narrow.lanes);
        let in_wide = (messages - in_narrow).min(wide.cores * wide.lanes);
        Share { wide, narrow, rate: rate(in_narrow, narrow.lanes) + rate(in_wide, wide.lanes) }
    }

    /// Seconds in which so many cores can be done with so many bytes, if all goes well. `long` are the longest messages
    /// among them, in falling order, as many as matter.
    ///
    /// A core's seconds are shared out among the messages beside each other. One that has to be done in T seconds can
    /// afford rows that take T / length on average, and has to pay the more for each byte, the sooner that is: what
    /// the [hull](Self::hull) says. T is when all can pay.
    pub(super) fn soonest(&self, long: &[u64], bytes: u64, cores: usize) -> f64 {
        let (slowest, least) = self.hull[self.hull.len() - 1];
        let fits = |seconds: f64| {
            let long = long.iter().map(|length| *length as f64).take_while(|length| length * slowest > seconds);
            let (sum, price) = long
                .fold((0.0, 0.0), |(sum, price), length| (sum + length, price + length * self.price(seconds / length)));
            price + (bytes as f64 - sum) * least <= seconds * cores as f64
        };
        let longest = long.first().map_or(0.0, |length| *length as f64 * self.seconds(1));
        let mut low = longest.max(bytes as f64 * least / cores as f64);
        let mut high = low * 16.0;
        // To a per cent or so.
        for _ in 0..10 {
            let middle = f64::midpoint(low, high);
            if fits(middle) { high = middle } else { low = middle }
        }
        if fits(low) { low } else { high }
    }

    /// Seconds of a core for a byte of a message, where its row takes so long on average.
    fn price(&self, seconds: f64) -> f64 {
        let after = self.hull.partition_point(|point| point.0 <= seconds);
        match (after.checked_sub(1).map(|i| self.hull[i]), self.hull.get(after)) {
            (None, _) => self.hull[0].1,
            (Some(before), None) => before.1,
            (Some(before), Some(after)) => {
                before.1 + (after.1 - before.1) * (seconds - before.0) / (after.0 - before.0)
            }
        }
    }

    /// The lanes of a group in which a byte takes no longer than this, or as soon as can be: the widest on the hull.
    pub(super) fn within(&self, seconds: f64) -> usize {
        let after = self.hull.partition_point(|point| point.0 <= seconds);
        let row = self.hull[after.saturating_sub(1)].0;
        self.seconds.partition_point(|cost| *cost <= row).max(1)
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
            let Share { wide, narrow, .. } = costs.share(messages, cores);
            [(wide.cores, wide.lanes), (narrow.cores, narrow.lanes)]
                .into_iter()
                .filter(|(cores, _)| *cores > 0)
                .collect()
        };
        let check = |messages, cores, expected: &[(usize, usize)]| {
            let share: Vec<(usize, usize)> = share(messages, cores);
            assert_eq!(share, expected, "{messages} messages on {cores} cores");
        };
        assert_eq!((costs.width(), &costs.steps[..]), (4, &[1, 4][..]));
        check(1, 8, &[(1, 1)]);
        check(2, 8, &[(2, 1)]);
        check(8, 8, &[(8, 1)]);
        check(4, 1, &[(1, 4)]);
        check(5, 2, &[(1, 4), (1, 1)]);
        check(8, 2, &[(2, 4)]);
        check(100, 2, &[(2, 4)]);
        assert_eq!((costs.within(0.5), costs.within(1.0), costs.within(2.0)), (1, 1, 4));
    }

    #[test]
    fn few_callers_hash_themselves() {
        // Lanes cost nothing: six callers on four cores gain half as much again from them.
        let free = Costs::new(vec![1.0; 8]);
        assert_eq!((free.callers_alone(1), free.callers_alone(4)), (1, 6));
        // Lanes gain nothing.
        assert_eq!(Costs::new(vec![1.0]).callers_alone(4), usize::MAX);
        // Four lanes gain 2: three quarters of that on a core with three messages.
        let costs = Costs::new(vec![1.0, 2.0, 2.0, 2.0]);
        assert_eq!(costs.callers_alone(1), 3);
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
