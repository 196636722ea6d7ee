//! What is timed: messages that are hashed again and again in one way, and the digests that they should have.

use crate::threads::on_all_cores;
use manyhash::{Algorithm, Batch, Digest};
use manyhash_core::reference;
use rayon::prelude::*;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Messages, and how they are hashed.
pub(super) struct Load<'a> {
    algorithm: Algorithm,
    way: Way,
    messages: Vec<&'a [u8]>,
    expected: Vec<Digest>,
    digests: Vec<Digest>,
    /// How often a sample hashes them all.
    passes: u64,
    /// Seconds that a pass took, one for each sample.
    samples: Vec<f64>,
}

/// How messages are hashed.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// One after another, each alone.
    Alone,
    /// Together, on so many threads; 0 is one a core.
    Together(usize),
}

/// A digest that differs from that of the reference implementation.
#[derive(Debug, thiserror::Error)]
#[error(
    "{algorithm}: wrong digest of message {message} of {messages}, {length} bytes: {wrong} should be {expected}; \
     please report it"
)]
pub(super) struct WrongDigest {
    algorithm: Algorithm,
    /// Counted from 1.
    message: usize,
    messages: usize,
    length: usize,
    wrong: String,
    expected: String,
}

impl<'a> Load<'a> {
    /// Hashes everything once, and checks the digests. Nothing is timed yet.
    pub(super) fn checked(algorithm: Algorithm, way: Way, messages: Vec<&'a [u8]>) -> Result<Self, WrongDigest> {
        let expected = expected(algorithm, &messages);
        let digests = vec![Digest::default(); messages.len()];
        let mut load = Load { algorithm, way, messages, expected, digests, passes: 1, samples: Vec::new() };
        load.run();
        load.check()?;
        Ok(load)
    }

    /// Compares the digests of the last pass with the expected ones. They are gone then, so that each check is one of
    /// digests that were computed since the one before.
    pub(super) fn check(&mut self) -> Result<(), WrongDigest> {
        let pairs = self.digests.iter_mut().map(std::mem::take).zip(&self.expected);
        match pairs.enumerate().find(|(_, (digest, expected))| digest != *expected) {
            None => Ok(()),
            Some((i, (wrong, expected))) => Err(WrongDigest {
                algorithm: self.algorithm,
                message: i + 1,
                messages: self.messages.len(),
                length: self.messages[i].len(),
                wrong: wrong.to_hex(),
                expected: expected.to_hex(),
            }),
        }
    }

    /// Finds how many passes take about as long as a sample should, which also warms up whatever is still cold. It
    /// takes two such times at the most, unless one pass is longer.
    pub(super) fn calibrate(&mut self, sample: Duration) {
        let mut elapsed = self.run();
        while elapsed < sample / 2 {
            self.passes = self.passes.saturating_mul(2);
            elapsed = self.run();
        }
        let factor = sample.as_secs_f64() / elapsed.as_secs_f64();
        self.passes = ((self.passes as f64 * factor) as u64).max(1);
    }

    /// Takes a sample.
    pub(super) fn sample(&mut self) {
        let elapsed = self.run();
        self.samples.push(elapsed.as_secs_f64() / self.passes as f64);
    }

    fn run(&mut self) -> Duration {
        let start = Instant::now();
        for _ in 0..self.passes {
            match self.way {
                Way::Alone => {
                    for (message, digest) in self.messages.iter().zip(&mut self.digests) {
                        *digest = manyhash::digest(self.algorithm, black_box(*message));
                    }
                }
                Way::Together(threads) => {
                    let batch = Batch::new(self.algorithm).threads(NonZeroUsize::new(threads));
                    batch
                        .digest_many_into(black_box(&self.messages), &mut self.digests)
                        .expect("there is a digest for each message");
                }
            }
        }
        start.elapsed()
    }

    pub(super) fn messages(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn bytes_per_s(&self) -> f64 {
        let bytes: usize = self.messages.iter().map(|message| message.len()).sum();
        bytes as f64 / median(&self.samples)
    }

    pub(super) fn messages_per_s(&self) -> f64 {
        self.messages.len() as f64 / median(&self.samples)
    }
}

/// The digests by the reference implementation. It is slow, so that every core takes a share of the messages.
fn expected(algorithm: Algorithm, messages: &[&[u8]]) -> Vec<Digest> {
    let digest = |message: &&[u8]| {
        let bytes = reference::digest(algorithm, message);
        Digest::from_bytes(&bytes[..algorithm.digest_bytes()]).expect("no digest is longer")
    };
    on_all_cores(|| messages.par_iter().map(digest).collect())
}

/// The middle value; of an even number, the upper one of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::{Load, Way, median};
    use manyhash::Algorithm;

    const MESSAGES: [&[u8]; 3] = [b"", b"abc", &[7; 5000]];

    #[test]
    fn a_wrong_digest_is_found() {
        for way in [Way::Alone, Way::Together(1), Way::Together(0)] {
            let mut load = Load::checked(Algorithm::Md5, way, MESSAGES.to_vec()).expect("it is right");
            load.sample();
            load.check().expect("it is right");
            load.expected[1] = load.expected[2];
            load.sample();
            let wrong = load.check().expect_err("it is wrong");
            let expected = load.expected[2];
            assert_eq!(
                wrong.to_string(),
                format!(
                    "md5: wrong digest of message 2 of 3, 3 bytes: 900150983cd24fb0d6963f7d28e17f72 should be \
                     {expected}; please report it"
                )
            );
        }
    }

    #[test]
    fn old_digests_are_not_checked_again() {
        let mut load = Load::checked(Algorithm::Sha1, Way::Alone, MESSAGES.to_vec()).expect("it is right");
        assert!(load.check().is_err());
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
    }
}
