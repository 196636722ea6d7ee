//! How soon so many cores are done with so many messages, in a simulation.
//!
//! The schedule that decides and the lanes that are filled are the engine's own; only the kernels are replaced, by a
//! clock that goes by what they cost. So the outcome is the same each time, on any machine. It is compared with bounds
//! that no schedule can beat.

use super::costs::Costs;
use super::schedule::{Bundle, Schedule};
use crate::lanes::{self, Advance, Job};
use manyhash_core::{LaneStates, Md5};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
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

/// Seconds that a core takes for its jobs.
fn duration(costs: &Costs, bundle: &Bundle, bytes: &[u8]) -> f64 {
    let clock = Clock { costs, seconds: Cell::new(OVERHEAD) };
    let state = [0; 8];
    let slices = bundle.jobs.iter().map(|(_, length)| &bytes[..*length as usize]);
    let mut jobs: Vec<_> = slices.map(|blocks| Job { state, blocks, tag: () }).collect();
    jobs.sort_by_key(|job| job.blocks.len());
    lanes::run::<Md5, ()>(&clock, costs.width(), || jobs.pop(), |(), _| {});
    clock.seconds.get()
}

/// Seconds until all messages, which are there from the beginning, are hashed.
fn makespan(costs: &Costs, cores: usize, lengths: &[u64], bytes: &[u8]) -> f64 {
    let mut schedule = Schedule::new(cores);
    let pool = schedule.add_pool(costs.clone());
    let mut left = lengths.to_vec();
    for (job, bytes) in lengths.iter().enumerate() {
        schedule.add(pool, job as u32, *bytes);
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
            if std::env::var("TRACE").is_ok() { let mx = bundle.jobs.iter().map(|(j, _)| left[*j as usize]).max().unwrap(); println!("{now:.6} group {} jobs {} longest left {} slice {} for {:.6}", bundle.group, bundle.jobs.len(), mx, bundle.jobs[0].1, end-now); }
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
                schedule.give_back(job, left[job as usize]);
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
/// First, the longest k messages cannot go on at more than the best rate for k messages. Second, the work of one core:
/// if h is any concave function of the number of lanes that is nowhere above what they cost, and 0 for none, then a
/// message that is the j-th longest costs at least h(j) - h(j - 1) for each byte, wherever it is hashed: for whatever
/// lanes run side by side, the increments of theirs are at most those of the first, and their sum is at most the cost.
fn bound(costs: &Costs, cores: usize, lengths: &[u64], rates: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut bound = 0.0_f64;
    for (i, length) in lengths.iter().enumerate() {
        sum += *length as f64;
        bound = bound.max(sum / rates[i.min(rates.len() - 1)]);
    }
    // Of these functions, those that rise to `first` for the first `knee` lanes, and then by the steepest slope.
    for knee in (0..7).map(|i| 1_usize << i).filter(|knee| *knee <= costs.width()) {
        let top: u64 = lengths.iter().take(knee).sum();
        let most = (1..=costs.width()).map(|n| costs.seconds(n) / n.min(knee) as f64).fold(f64::INFINITY, f64::min);
        for step in 0..=16 {
            let first = most * f64::from(step) / 16.0;
            let slopes = (1..=costs.width()).map(|n| (costs.seconds(n) - first * n.min(knee) as f64) / n as f64);
            let slope = slopes.fold(f64::INFINITY, f64::min).max(0.0);
            bound = bound.max((first * top as f64 + slope * sum) / cores as f64);
        }
    }
    bound
}

const KINDS: [&str; 5] = ["equal", "log-normal", "one giant", "all tiny", "tails"];

/// Lengths of a kind: whole blocks, in no order.
fn lengths(kind: &str, lanes: usize, random: &mut Xoshiro256PlusPlus) -> Vec<u64> {
    // From a single message to many times as many as there are lanes, each number of digits as often.
    let count = |random: &mut Xoshiro256PlusPlus| {
        let most = (16 * lanes) as f64;
        most.powf(random.random_range(0.0..1.0)) as usize
    };
    let length = |random: &mut Xoshiro256PlusPlus| 2_f64.powf(random.random_range(20.0..24.0));
    let lengths: Vec<f64> = match kind {
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
        "all tiny" => repeat_n((), 2000 * lanes).map(|()| random.random_range(1.0..1024.0)).collect(),
        "tails" => {
            // As many as there are lanes and a few more; or each half as long as the one before, many times over; or
            // short ones and a few that come last and are as long as all before them on a lane.
            let length = length(random);
            match random.random_range(0..3) {
                0 => repeat_n(length, lanes + random.random_range(1..=lanes)).collect(),
                1 => (0..lanes * 4).map(|i| length * 8.0 / f64::from(1 << (i % 12))).collect(),
                _ => {
                    let long = repeat_n(length * 4.0, random.random_range(1..=lanes));
                    repeat_n(length / 16.0, lanes * 64).chain(long).collect()
                }
            }
        }
        _ => unreachable!("there is no such kind"),
    };
    lengths.into_iter().map(|length| (length as u64).clamp(1, 1 << 30).next_multiple_of(BLOCK)).collect()
}

/// The ratios of 1,000 seeded cases, by plan and kind.
#[test]
fn the_makespan_is_close_to_the_bound() {
    // A slice is no longer than this, even of the cheapest.
    let bytes = vec![0; 4 << 20];
    let mut ratios = Vec::new();
    let mut known = BTreeMap::new();
    for seed in 0..1000 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (name, kernels) = PLANS[seed as usize % PLANS.len()];
        let costs = costs(kernels);
        let cores = *[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64].choose(&mut random).expect("there are some");
        let kind = KINDS[(seed as usize / PLANS.len()) % KINDS.len()];
        let mut lengths = lengths(kind, cores * costs.width(), &mut random);
        let makespan = makespan(&costs, cores, &lengths, &bytes);
        lengths.sort_unstable_by_key(|length| Reverse(*length));
        let rates = known.entry((name, cores)).or_insert_with(|| rates(&costs, cores, cores * costs.width()));
        let ratio = makespan / bound(&costs, cores, &lengths, rates);
        ratios.push((ratio, seed, name, kind, cores, lengths.len(), makespan));
    }
    ratios.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    for kind in KINDS {
        let own: Vec<f64> = ratios.iter().filter(|ratio| ratio.3 == kind).map(|ratio| ratio.0).collect();
        println!("{kind}: median {:.3}, worst {:.3} of {}", own[own.len() / 2], own[own.len() - 1], own.len());
    }
    for (ratio, seed, name, kind, cores, messages, seconds) in ratios.iter().rev().take(25) {
        println!("{ratio:.3}: seed {seed}, {name}, {kind}, {messages} messages on {cores} cores, {seconds:.6} s");
    }
    let (median, worst) = (ratios[ratios.len() / 2].0, ratios[ratios.len() - 1].0);
    println!("all: median {median:.3}, worst {worst:.3}");
    assert!(ratios[0].0 >= 0.999, "the bound is none: {:?}", ratios[0]);
    assert!(median <= 1.05 && worst <= 1.25, "median {median:.3}, worst {worst:.3}");
}

#[test]
#[ignore]
fn debug_one() {
    let bytes = vec![0; 4 << 20];
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (_, kernels) = PLANS[seed as usize % PLANS.len()];
    let costs = costs(kernels);
    let cores = *[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64].choose(&mut random).expect("there are some");
    let kind = KINDS[(seed as usize / PLANS.len()) % KINDS.len()];
    let mut l = lengths(kind, cores * costs.width(), &mut random);
    let m = makespan(&costs, cores, &l, &bytes);
    l.sort_unstable_by_key(|length| Reverse(*length));
    println!("{kind} {cores} cores, width {}, {} jobs, longest {:?}, sum {}", costs.width(), l.len(), &l[..l.len().min(10)], l.iter().sum::<u64>());
    println!("makespan {m}, longest alone {}", l[0] as f64 * costs.seconds(1));
    let rates = rates(&costs, cores, cores * costs.width());
    println!("bound {}", bound(&costs, cores, &l, &rates));
}
