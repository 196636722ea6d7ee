//! Strings of 16 lower-case letters, and what their digests should be.

use super::subject::Sink;
use crate::error::Error;
use crate::subject::{Call, Job, Threads};
use crate::verify::{self, Origin};
use manyhash::Algorithm;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// A string of 16 letters.
pub(crate) type Text = [u8; 16];

/// Strings for which the witnesses are asked at a time.
const PIECE: usize = 4096;

/// So many strings, the same in every run.
pub(crate) fn random(count: usize) -> Vec<Text> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    (0..count).map(|_| std::array::from_fn(|_| random.random_range(b'a'..=b'z'))).collect()
}

/// The digests of all strings, one after another.
pub(crate) struct Expected {
    algorithm: Algorithm,
    digests: Vec<u8>,
}

impl Expected {
    /// Asks the witnesses.
    pub(crate) fn new(algorithm: Algorithm, strings: &[Text]) -> Result<Self, Error> {
        let threads = Threads::new(1)?;
        let digests = strings.par_chunks(PIECE).map(|piece| {
            let messages: Vec<&[u8]> = piece.iter().map(|text| &text[..]).collect();
            let job = Job { algorithm, messages: &messages, call: Call::Many, threads: threads.clone() };
            Ok(verify::expected("threads", &job)?.digests().concat())
        });
        let digests = digests.collect::<Result<Vec<_>, Error>>()?.concat();
        Ok(Expected { algorithm, digests })
    }

    /// A sink that compares a subject's digests with these, from the one at `start` on.
    pub(crate) fn check(&self, subject: &'static str, start: usize) -> Check<'_> {
        Check { expected: self, subject, next: start }
    }
}

/// Compares digests.
pub(crate) struct Check<'a> {
    expected: &'a Expected,
    subject: &'static str,
    next: usize,
}

impl Sink for Check<'_> {
    fn take<D: AsRef<[u8]>>(&mut self, digests: &[D]) -> Result<(), Error> {
        let algorithm = self.expected.algorithm;
        let length = algorithm.digest_bytes();
        for digest in digests {
            let message = self.next;
            let expected = &self.expected.digests[message * length..][..length];
            let origin =
                Origin { subject: self.subject, algorithm, load: "threads", message, length: size_of::<Text>() };
            origin.same(digest.as_ref(), expected)?;
            self.next += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::random;

    #[test]
    fn strings_are_lower_case_letters_and_reproducible() {
        let strings = random(1000);
        assert!(strings.iter().flatten().all(u8::is_ascii_lowercase));
        assert_eq!(strings[..10], random(10));
        assert_ne!(strings[0], strings[1]);
    }
}
