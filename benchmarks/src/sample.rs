//! What many callers at once took: the time, the CPU time of the process, and how long each digest was in coming.

use crate::cpu;
use std::time::{Duration, Instant};

/// What was hashed for all callers in one go.
pub(crate) struct Sample {
    /// From the first request to the last digest.
    pub(crate) time: Duration,
    /// Of this whole process.
    pub(crate) cpu: Duration,
    /// From request to digest, for each one.
    pub(crate) latencies: Vec<Duration>,
}

/// When a sample began.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    pub(crate) time: Instant,
    cpu: Duration,
}

impl Begun {
    pub(crate) fn now() -> Self {
        Begun { cpu: cpu::time(), time: Instant::now() }
    }

    /// The sample that ends now.
    pub(crate) fn ended(self, latencies: Vec<Duration>) -> Sample {
        Sample { time: self.time.elapsed(), cpu: cpu::time() - self.cpu, latencies }
    }
}

/// Times in order, for percentiles.
pub(crate) struct Sorted(Vec<Duration>);

impl Sorted {
    /// Those of all samples together.
    pub(crate) fn of(samples: &[Sample]) -> Self {
        Self::new(samples.iter().flat_map(|sample| &sample.latencies).copied().collect())
    }

    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Sorted(times)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The least that at least this share does not exceed, in microseconds.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn percentile_us(&self, share: f64) -> f64 {
        let rank = (share * self.count() as f64).ceil() as usize;
        self.0[rank.clamp(1, self.count()) - 1].as_secs_f64() * 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::Sorted;
    use std::time::Duration;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let up_to = |last| Sorted::new((1..=last).rev().map(Duration::from_millis).collect());
        assert_eq!(up_to(1000).percentile_us(0.5), 500e3);
        assert_eq!(up_to(1000).percentile_us(0.99), 990e3);
        assert_eq!(up_to(1000).percentile_us(0.999), 999e3);
        assert_eq!(up_to(3).percentile_us(0.5), 2e3);
        assert_eq!(up_to(1).percentile_us(0.99), 1e3);
        assert_eq!(up_to(1000).percentile_us(1.0), 1000e3);
    }
}
