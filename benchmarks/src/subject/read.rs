//! The ceiling: the same bytes read and summed.

use super::{Grain, Hasher, Job, Kind, Split, Subject, Task};
use crate::error::Error;
use manyhash::Algorithm;

pub(crate) struct Read;

impl Subject for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn kind(&self) -> Kind {
        Kind::Ceiling
    }

    fn supports(&self, _: Algorithm) -> bool {
        true
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        Split::task(job, Grain::Fine, || Ok(Sum))
    }
}

struct Sum;

impl Hasher for Sum {
    type Digest = [u8; 8];

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [[u8; 8]]) {
        for (message, digest) in messages.iter().zip(digests) {
            *digest = sum(message).to_ne_bytes();
        }
    }
}

/// The sum of a message's words. Its accumulators are independent, so that memory is what limits it, not the chain of
/// additions.
fn sum(message: &[u8]) -> u64 {
    const ACCUMULATORS: usize = 32;
    let (words, rest) = message.as_chunks::<8>();
    let (rows, last) = words.as_chunks::<ACCUMULATORS>();
    let mut sums = [0_u64; ACCUMULATORS];
    for row in rows {
        for (sum, word) in sums.iter_mut().zip(row) {
            *sum = sum.wrapping_add(u64::from_ne_bytes(*word));
        }
    }
    let words = last.iter().map(|word| u64::from_ne_bytes(*word));
    let bytes = rest.iter().map(|byte| u64::from(*byte));
    sums.into_iter().chain(words).chain(bytes).fold(0, u64::wrapping_add)
}
