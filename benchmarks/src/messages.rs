//! Messages: pseudo-random bytes, the same in every run.

use bytes::Bytes;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use std::ops::RangeInclusive;

/// Large allocations begin at the same place in a page, and lanes that read such buffers in step would fight over a few
/// sets of the cache. So each message begins by this much later in its page than the one before.
const STAGGER: usize = 192;
const PAGE: usize = 4096;

/// The median of mixed lengths, in bytes.
const MIXED_MEDIAN: f64 = 8192.0;
/// The standard deviation of their natural logarithms.
const MIXED_SIGMA: f64 = 1.5;
const MIXED_CLIP: RangeInclusive<usize> = 64..=16 << 20;

/// Messages, each in an allocation of its own, filled and so touched.
pub(crate) struct Messages(Vec<Message>);

struct Message {
    buffer: Vec<u8>,
    start: usize,
}

impl Messages {
    /// Messages of these lengths.
    pub(crate) fn of_lengths(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let message = |(i, length)| {
            let start = i * STAGGER % PAGE;
            let mut buffer = vec![0; start + length];
            random.fill_bytes(&mut buffer);
            Message { buffer, start }
        };
        Messages(lengths.into_iter().enumerate().map(message).collect())
    }

    /// So many messages of one length.
    pub(crate) fn equal(count: usize, length: usize) -> Self {
        Self::of_lengths(std::iter::repeat_n(length, count))
    }

    /// So many messages of lengths as files and objects have them: log-normal, clipped.
    pub(crate) fn mixed(count: usize) -> Self {
        Self::of_lengths(mixed_lengths(count))
    }

    /// The messages, in memory that can be handed over without a copy.
    pub(crate) fn shared(self) -> Vec<Bytes> {
        self.0.into_iter().map(|message| Bytes::from(message.buffer).slice(message.start..)).collect()
    }

    /// The messages themselves.
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        self.0.iter().map(|message| &message.buffer[message.start..]).collect()
    }
}

fn mixed_lengths(count: usize) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let lengths = LogNormal::new(MIXED_MEDIAN.ln(), MIXED_SIGMA).expect("the parameters are finite");
    let clip = |length: f64| (length as usize).clamp(*MIXED_CLIP.start(), *MIXED_CLIP.end());
    lengths.sample_iter(&mut random).take(count).map(clip).collect()
}

#[cfg(test)]
mod tests {
    use super::{MIXED_CLIP, Messages, mixed_lengths};

    #[test]
    fn mixed_lengths_are_reproducible_clipped_and_about_their_median() {
        let mut lengths = mixed_lengths(100_000);
        assert_eq!(lengths[..4096], mixed_lengths(4096));
        assert!(lengths.iter().all(|length| MIXED_CLIP.contains(length)));
        lengths.sort_unstable();
        assert!(lengths[50_000].abs_diff(8192) < 200, "{}", lengths[50_000]);
        // Three standard deviations either way.
        assert!(lengths[135] < 120 && lengths[99_865] > 600_000, "{} {}", lengths[135], lengths[99_865]);
    }

    #[test]
    fn messages_have_their_lengths_and_differ() {
        let messages = Messages::of_lengths([0, 100, 100]);
        let slices = messages.slices();
        assert_eq!(slices.iter().map(|message| message.len()).collect::<Vec<_>>(), [0, 100, 100]);
        assert_ne!(slices[1], slices[2]);
        assert_eq!(slices, Messages::of_lengths([0, 100, 100]).slices());
    }
}
