//! Rounds: every round runs every subject once, so that what disturbs the machine for a while disturbs them alike.

use crate::error::Error;
use crate::load::{Load, Point};
use crate::report::LoadFigure;
use crate::subject::{Job, Subject, Task};
use crate::verify::{self, Expected};
use std::time::{Duration, Instant};

/// One subject at one point.
pub(crate) struct Entry<'a> {
    load: Load,
    job: Job<'a>,
    subject: &'static dyn Subject,
    task: Box<dyn Task + 'a>,
    verified: Option<bool>,
    sample: Duration,
    passes: usize,
    /// Of a pass, one for each round.
    seconds: Vec<f64>,
}

impl<'a> Entry<'a> {
    /// Hashes everything once, and checks the digests. Nothing is timed yet.
    pub(crate) fn verified(
        point: &Point,
        job: &Job<'a>,
        subject: &'static dyn Subject,
        expected: &Expected,
    ) -> Result<Self, Error> {
        let mut task = subject.task(job)?;
        task.run(1);
        let verified = verify::check(point.load.name(), job, subject, expected, &task.digests())?;
        Ok(Entry {
            load: point.load,
            job: job.clone(),
            subject,
            task,
            verified,
            sample: point.sample,
            passes: 1,
            seconds: vec![],
        })
    }

    /// Finds how many passes a sample takes, which also warms up whatever is still cold. Where one pass is a sample,
    /// the one that was verified was the warm-up.
    fn calibrate(&mut self) {
        while !self.sample.is_zero() {
            let elapsed = self.time();
            if elapsed >= self.sample {
                break;
            }
            // At most a hundredfold at a time, since a short time says little of a long one; at least one more.
            let factor = (1.1 * self.sample.as_secs_f64() / elapsed.as_secs_f64().max(1e-9)).min(100.0);
            self.passes = (self.passes as f64 * factor) as usize + 1;
        }
    }

    fn time(&mut self) -> Duration {
        let start = Instant::now();
        self.task.run(self.passes);
        start.elapsed()
    }

    fn figure(self, backend: &'static str) -> LoadFigure {
        let messages = self.job.messages.len();
        let bytes: usize = self.job.messages.iter().map(|message| message.len()).sum();
        let rounds = self.seconds.len();
        let seconds = median(self.seconds);
        LoadFigure {
            load: self.load.name(),
            algorithm: self.job.algorithm.name(),
            length: bytes / messages,
            messages,
            threads: self.job.threads.count,
            backend,
            subject: self.subject.name(),
            median_bytes_per_s: bytes as f64 / seconds,
            median_messages_per_s: messages as f64 / seconds,
            rounds,
            verified: self.verified,
        }
    }
}

/// Measures entries in the same rounds.
pub(crate) fn measure(mut entries: Vec<Entry>, rounds: usize, backend: &'static str) -> Vec<LoadFigure> {
    entries.iter_mut().for_each(Entry::calibrate);
    for round in 0..rounds {
        for at in turns(round, entries.len()) {
            let entry = &mut entries[at];
            let seconds = entry.time().as_secs_f64() / entry.passes as f64;
            entry.seconds.push(seconds);
        }
    }
    entries.into_iter().map(|entry| entry.figure(backend)).collect()
}

/// The order of a round: each begins with another subject, so that none is always the first.
pub(crate) fn turns(round: usize, subjects: usize) -> impl Iterator<Item = usize> {
    (0..subjects).map(move |i| (round + i) % subjects)
}

/// The middle value, or the mean of the two in the middle.
///
/// # Panics
/// If there is none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![7.0]), 7.0);
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 100.0, 2.0]), 3.0);
    }
}
