//! How soon so many cores are done with so many messages, in a simulation.
//!
//! The schedule that decides and the lanes that are filled are the engine's own; only the kernels are replaced, by a
//! clock that goes by what they cost. So the outcome is the same each time, on any machine. It is compared with bounds
//! that no schedule can beat.

use super::costs::Costs;
use super::schedule::{Bundle, Schedule};
use crate::lanes::{self, Advance, Job, Source};
use manyhash_core::{LaneStates, Md5, State};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rayon::prelude::*;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::iter::repeat_n;

/// Bytes in a block.
const BLOCK: u64 = 64;

/// Seconds to take jobs and to give them back: about what it takes the engine.
const OVERHEAD: f64 = 1e-6;

/// Lanes of kernels with the nanoseconds that a row of their blocks takes, as `manyhash speed` printed them on an AMD
/// EPYC (Zen 5).
const PLANS: [(&str, &[(usize, u64)]); 6] = [
    ("md5, AVX-512", &[(1, 68), (8, 128), (16, 132), (32, 137), (64, 183)]),
    ("sha1, AVX-512", &[(1, 29), (2, 32), (16, 80)]),
    ("sha256, AVX-512", &[(1, 30), (2, 42), (8, 148), (16, 149)]),
    ("md5, AVX2", &[(1, 71), (8, 177), (16, 178)]),
    ("sha256, AVX2", &[(1, 30), (2, 42)]),
    ("one lane", &[(1, 100)]),
];

/// The costs of the cheapest kernels for each number of lanes.
fn costs(kernels: &[(usize, u64)]) -> Costs {
    let widest = kernels.iter().map(|(lanes, _)| *lanes).max().expect("there are kernels");
    let mut least = vec![0];
    for lanes in 1..=widest {
        let choices = kernels.iter().map(|(own, nanos)| nanos + least[lanes.saturating_sub(*own)]);
        least.push(choices.min().expect("there are kernels"));
    }
    Costs::new(least[1..].iter().map(|nanos| *nanos as f64 * 1e-9 / BLOCK as f64).collect())
}

/// A clock in the place of a plan.
struct Clock<'a> {
    costs: &'a Costs,
    seconds: Cell<f64>,
}

impl Advance<Md5> for Clock<'_> {
    fn width(&self) -> usize {
        self.costs.width()
    }

    fn compress(&self, _: &mut LaneStates<Md5>, messages: &[&[u8]], blocks: usize) {
        self.seconds.set(self.seconds.get() + self.costs.seconds(messages.len()) * (blocks as u64 * BLOCK) as f64);
    }
}

/// Jobs whose time counts, not their states.
struct Timed<'a>(Vec<Job<'a, Md5, ()>>);

impl<'a> Source<'a, Md5> for Timed<'a> {
    type Tag = ();

    fn next(&mut self) -> Option<Job<'a, Md5, ()>> {
        self.0.pop()
    }

    fn done(&mut self, (): (), _: &State<Md5>) {}
}

/// Seconds that a core takes for its jobs.
fn duration(costs: &Costs, bundle: &Bundle, bytes: &[u8]) -> f64 {
    let clock = Clock { costs, seconds: Cell::new(OVERHEAD) };
    let state = [0; 4];
    let slices = bundle.jobs.iter().map(|(_, length)| &bytes[..*length as usize]);
    let mut jobs: Vec<_> = slices.map(|blocks| Job { state, blocks, tag: () }).collect();
    jobs.sort_by_key(|job| job.blocks.len());
    lanes::run(&clock, costs.width(), &mut Timed(jobs));
    clock.seconds.get()
}

/// Seconds until all messages, which are there from the beginning, are hashed.
fn makespan(costs: &Costs, cores: usize, lengths: &[u64], bytes: &[u8]) -> f64 {
    let mut schedule = Schedule::new(cores);
    let pool = schedule.add_pool(costs.clone());
    let mut left = lengths.to_vec();
    for (job, bytes) in lengths.iter().enumerate() {
        schedule.add(pool, job as u32, *bytes, *bytes);
    }
    // Cores that hash, by when they are done, in femtoseconds, so that they can be ordered.
    let mut running = BinaryHeap::new();
    let mut bundles = BTreeMap::new();
    let mut now = 0.0;
    loop {
        while bundles.len() < cores
            && let Some(bundle) = schedule.take()
        {
            let end = now + duration(costs, &bundle, bytes);
            running.push(Reverse(((end * 1e15) as u64, bundle.group)));
            bundles.insert(bundle.group, (end, bundle));
        }
        let Some(Reverse((_, group))) = running.pop() else { break };
        let (end, bundle) = bundles.remove(&group).expect("it runs");
        now = end;
        schedule.end(group);
        for (job, bytes) in bundle.jobs {
            left[job as usize] -= bytes;
            if left[job as usize] > 0 {
                schedule.give_back(job, left[job as usize], left[job as usize]);
            }
        }
    }
    assert!(left.iter().all(|left| *left == 0), "something is left though all cores are idle");
    now
}

/// By the number of messages less one: the most bytes in a second that so many can be hashed by, on so many cores.
fn rates(costs: &Costs, cores: usize, most: usize) -> Vec<f64> {
    let of_core = |lanes: usize| if lanes == 0 { 0.0 } else { lanes as f64 / costs.seconds(lanes) };
    let mut rates = vec![0.0; most + 1];
    for _ in 0..cores {
        let best = |messages: usize| {
            let choices = (0..=costs.width().min(messages)).map(|lanes| of_core(lanes) + rates[messages - lanes]);
            choices.fold(0.0, f64::max)
        };
        rates = (0..=most).map(best).collect();
    }
    rates.remove(0);
    rates
}

/// Seconds below which no schedule can be done. The lengths are in falling order.
///
/// First, the longest k messages cannot go on at more than the best rate for k messages. Second, what a core spends on a
/// row is shared out among its lanes: a message for whose bytes the rows take r seconds on average costs at least
/// g(r) core-seconds a byte, where g is the lower convex hull of what lanes cost each, by what their rows take. If all
/// is done in T seconds, then r is at most T / length, and the sum of all cores' seconds is at most T times the cores.
fn bound(costs: &Costs, cores: usize, lengths: &[u64], rates: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut by_rates = 0.0_f64;
    for (i, length) in lengths.iter().enumerate() {
        sum += *length as f64;
        by_rates = by_rates.max(sum / rates[i.min(rates.len() - 1)]);
    }
    let hull = hull(costs);
    let last = *hull.last().expect("a hull has points");
    let fits = |seconds: f64| {
        let longest = lengths.iter().take_while(|length| **length as f64 * last.0 > seconds);
        let (mut spent, mut long) = (0.0, 0.0);
        for length in longest {
            long += *length as f64;
            spent += *length as f64 * at(&hull, seconds / *length as f64);
        }
        spent + (sum - long) * last.1 <= seconds * cores as f64
    };
    let (mut low, mut high) = (by_rates, by_rates * 64.0);
    if fits(low) {
        return low;
    }
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if fits(middle) { high = middle } else { low = middle }
    }
    low
}

/// By what a row takes: what each of its lanes costs, the least of any mixture of rows.
fn hull(costs: &Costs) -> Vec<(f64, f64)> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for lanes in 1..=costs.width() {
        let seconds = costs.seconds(lanes);
        let point = (seconds, seconds / lanes as f64);
        if hull.last().is_some_and(|last| last.0 == point.0) {
            hull.pop();
        }
        while let [.., a, b] = &hull[..]
            && (b.1 - a.1) * (point.0 - a.0) >= (point.1 - a.1) * (b.0 - a.0)
        {
            hull.pop();
        }
        if hull.last().is_none_or(|last| point.1 < last.1) {
            hull.push(point);
        }
    }
    hull
}

fn at(hull: &[(f64, f64)], seconds: f64) -> f64 {
    let after = hull.partition_point(|point| point.0 <= seconds);
    match (after.checked_sub(1).and_then(|i| hull.get(i)), hull.get(after)) {
        // Sooner than alone, for rounding: as if alone.
        (None, _) => hull[0].1,
        (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (seconds - a.0) / (b.0 - a.0),
        (Some(a), None) => a.1,
    }
}

const KINDS: [&str; 5] = ["equal", "log-normal", "one giant", "all tiny", "tails"];

/// Lengths of a kind, in proportion to each other, in no order.
fn lengths(kind: &str, lanes: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    // From a single message to many times as many as there are lanes, each number of digits as often.
    let count = |random: &mut Xoshiro256PlusPlus| {
        let most = (16 * lanes) as f64;
        most.powf(random.random_range(0.0..1.0)) as usize
    };
    let length = |random: &mut Xoshiro256PlusPlus| 2_f64.powf(random.random_range(0.0..4.0));
    match kind {
        "equal" => {
            let length = length(random);
            repeat_n(length, count(random)).collect()
        }
        "log-normal" => {
            let lengths = LogNormal::new(length(random).ln(), 1.5).expect("the parameters are finite");
            let count = count(random);
            lengths.sample_iter(random).take(count).collect()
        }
        "one giant" => {
            let (small, count) = (length(random) / 16.0, count(random));
            let giant = small * count as f64 * random.random_range(0.01..4.0);
            repeat_n(small, count).chain([giant]).collect()
        }
        "all tiny" => repeat_n((), 10_000 * lanes).map(|()| random.random_range(1.0..4096.0)).collect(),
        "tails" => {
            // As many as there are lanes and a few more; or each half as long as the one before, many times over; or
            // short ones and a few that come last and are as long as all before them on a lane.
            let length = length(random);
            match random.random_range(0..3) {
                0 => repeat_n(length, lanes + random.random_range(1..=lanes)).collect(),
                1 => (0..lanes * 4).map(|i| length * 8.0 / f64::from(1 << (i % 12))).collect(),
                _ => {
                    let long = repeat_n(length * 4.0, random.random_range(1..=lanes));
                    repeat_n(length / 16.0, lanes * 32).chain(long).collect()
                }
            }
        }
        _ => unreachable!("there is no such kind"),
    }
}

/// Whole blocks of these lengths, all of them longer by a factor that makes the bound as many seconds as it should be.
fn scaled(lengths: Vec<f64>, costs: &Costs, cores: usize, rates: &[f64], seconds: f64) -> (Vec<u64>, f64) {
    let bytes = |factor: f64| -> Vec<u64> {
        lengths.iter().map(|length| ((length * factor) as u64).max(1).next_multiple_of(BLOCK)).collect()
    };
    let bound = |lengths: &[u64]| {
        let mut lengths = lengths.to_vec();
        lengths.sort_unstable_by_key(|length| Reverse(*length));
        bound(costs, cores, &lengths, rates)
    };
    let mega = bytes(1e6);
    let lengths = bytes(1e6 * seconds / bound(&mega));
    let bound = bound(&lengths);
    (lengths, bound)
}

/// One case.
struct Case {
    seed: u64,
    plan: &'static str,
    kind: &'static str,
    cores: usize,
    messages: usize,
    /// To the bound.
    ratio: f64,
}

fn case(seed: u64, bytes: &[u8]) -> Case {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (plan, kernels) = PLANS[seed as usize % PLANS.len()];
    let kind = KINDS[seed as usize / PLANS.len() % KINDS.len()];
    let costs = costs(kernels);
    let cores = *[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64].choose(&mut random).expect("there are some");
    let rates = rates(&costs, cores, cores * costs.width());
    let lengths = lengths(kind, cores * costs.width(), &mut random);
    let (lengths, bound) = scaled(lengths, &costs, cores, &rates, random.random_range(0.01..0.03));
    let ratio = makespan(&costs, cores, &lengths, bytes) / bound;
    Case { seed, plan, kind, cores, messages: lengths.len(), ratio }
}

/// 300 seeded cases, or 1,000 if the environment variable `MANYHASH_SLOW` is set: at most 1.05 times the bound in the middle, at most 1.25 times at the worst.
#[test]
fn the_makespan_is_close_to_the_bound() {
    // A slice is no longer than this, even of the cheapest.
    let bytes = vec![0; 4 << 20];
    let seeds = if std::env::var_os("MANYHASH_SLOW").is_some() { 1000 } else { 300 };
    let mut cases: Vec<Case> = (0..seeds).into_par_iter().map(|seed| case(seed, &bytes)).collect();
    cases.sort_unstable_by(|a, b| a.ratio.total_cmp(&b.ratio));
    for kind in KINDS {
        let own: Vec<f64> = cases.iter().filter(|case| case.kind == kind).map(|case| case.ratio).collect();
        println!("{kind}: median {:.3}, worst {:.3} of {}", own[own.len() / 2], own[own.len() - 1], own.len());
    }
    for Case { seed, plan, kind, cores, messages, ratio } in cases.iter().rev().take(5) {
        println!("{ratio:.3}: seed {seed}: {plan}, {kind}, {messages} messages on {cores} cores");
    }
    let (least, median, worst) = (cases[0].ratio, cases[cases.len() / 2].ratio, cases[cases.len() - 1].ratio);
    println!("all: median {median:.3}, worst {worst:.3}");
    assert!(least >= 0.999, "the bound is none");
    assert!(median <= 1.05 && worst <= 1.25, "median {median:.3}, worst {worst:.3}");
}
