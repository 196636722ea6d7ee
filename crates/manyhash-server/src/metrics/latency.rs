//! How long things take: counts by powers of two, four steps each, so that a quantile is known to 19 %.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Steps in a factor of two.
const STEPS: u64 = 4;

/// The first step ends at 16 us, the last holds all above 137 s.
const BUCKETS: usize = 94;

/// Microseconds that belong to the first step.
const FIRST: u64 = 16;

/// Counts of times.
pub(crate) struct Latency {
    counts: [AtomicU64; BUCKETS],
    microseconds: AtomicU64,
}

impl Default for Latency {
    fn default() -> Self {
        Latency { counts: std::array::from_fn(|_| AtomicU64::new(0)), microseconds: AtomicU64::new(0) }
    }
}

impl Latency {
    pub(crate) fn add(&self, time: Duration) {
        let microseconds = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.counts[step(microseconds)].fetch_add(1, Relaxed);
        self.microseconds.fetch_add(microseconds, Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Relaxed)).sum()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            counts: self.counts.iter().map(|count| count.load(Relaxed)).collect(),
            seconds: self.microseconds.load(Relaxed) as f64 / 1e6,
        }
    }
}

/// The step that a time belongs to.
fn step(microseconds: u64) -> usize {
    if microseconds < FIRST {
        return 0;
    }
    let octave = microseconds.ilog2() as u64;
    // The two bits below the highest.
    let quarter = microseconds >> (octave - 2) & (STEPS - 1);
    let step = (octave - FIRST.ilog2() as u64) * STEPS + quarter + 1;
    usize::try_from(step).map_or(BUCKETS - 1, |step| step.min(BUCKETS - 1))
}

/// The seconds below which a step's times are.
fn bound(step: usize) -> f64 {
    if step + 1 == BUCKETS {
        return f64::INFINITY;
    }
    let (octave, quarter) = (step as u64 / STEPS, step as u64 % STEPS);
    (FIRST << octave) as f64 * (1.0 + quarter as f64 / STEPS as f64) / 1e6
}

/// Counts of times at one moment.
#[derive(Clone, Default, Debug)]
pub(crate) struct Snapshot {
    counts: Vec<u64>,
    pub(crate) seconds: f64,
}

impl Snapshot {
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(crate) fn add(&mut self, other: &Snapshot) {
        self.counts.resize(BUCKETS, 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
        self.seconds += other.seconds;
    }

    /// What was added since an earlier moment.
    pub(crate) fn since(&self, earlier: &Snapshot) -> Snapshot {
        let before = earlier.counts.iter().chain(std::iter::repeat(&0));
        let counts = self.counts.iter().zip(before).map(|(now, before)| now.saturating_sub(*before)).collect();
        Snapshot { counts, seconds: self.seconds - earlier.seconds }
    }

    /// The bound, in seconds, that a share of the times is below, or `None` if there are no times.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let rank = (self.count() as f64 * share).ceil().max(1.0) as u64;
        let mut below = 0;
        for (step, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return Some(bound(step));
            }
        }
        None
    }

    /// For each whole factor of two, the seconds that end it and how many times are below.
    pub(crate) fn octaves(&self) -> Vec<(f64, u64)> {
        let steps = STEPS as usize;
        let mut octaves: Vec<(f64, u64)> = Vec::new();
        for (at, count) in self.counts.iter().enumerate() {
            // Steps 1 to 4 make up the factor of two after the first step.
            let last = if at == 0 { 0 } else { (at - 1) / steps * steps + steps };
            let bound = bound(last.min(BUCKETS - 1));
            match octaves.last_mut() {
                Some((end, sum)) if *end == bound => *sum += count,
                _ => octaves.push((bound, *count)),
            }
        }
        octaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_below_its_bound_and_not_below_the_one_before() {
        for microseconds in (0..200_000).chain((1..64).map(|bits| (1 << bits) - 1)).chain([u64::MAX]) {
            let step = step(microseconds);
            let seconds = microseconds as f64 / 1e6;
            assert!(seconds < bound(step), "{microseconds} {step}");
            assert!(step == 0 || seconds >= bound(step - 1) * (1.0 - 1e-12), "{microseconds} {step}");
        }
    }

    #[test]
    fn quantiles_and_octaves_count_all() {
        let latency = Latency::default();
        for milliseconds in 1..=100 {
            latency.add(Duration::from_millis(milliseconds));
        }
        let snapshot = latency.snapshot();
        assert_eq!(snapshot.count(), 100);
        assert_eq!(snapshot.octaves().iter().map(|(_, count)| count).sum::<u64>(), 100);
        let median = snapshot.quantile(0.5).unwrap();
        assert!((0.050..0.062).contains(&median), "{median}");
        assert!(snapshot.octaves().windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(Snapshot::default().quantile(0.5), None);
        assert_eq!(snapshot.since(&snapshot).count(), 0);
    }
}
