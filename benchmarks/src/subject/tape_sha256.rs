//! `tape-sha256`: SHA-256 in SIMD lanes, and a hasher for one message.

use super::{Call, Grain, Hasher, Job, Split, Subject, Task};
use crate::error::Error;
use manyhash::Algorithm;

pub(crate) struct TapeSha256;

impl Subject for TapeSha256 {
    fn name(&self) -> &'static str {
        "tape-sha256"
    }

    fn supports(&self, algorithm: Algorithm) -> bool {
        algorithm == Algorithm::Sha256
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        match job.call {
            Call::One => Split::task(job, Grain::Fine, || Ok(One)),
            Call::Many => Split::task(job, Grain::Coarse, || Ok(Many)),
        }
    }
}

struct One;

impl Hasher for One {
    type Digest = [u8; 32];

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [[u8; 32]]) {
        for (message, digest) in messages.iter().zip(digests) {
            let mut hasher = tape_sha256::Sha256::new();
            hasher.update(message);
            *digest = hasher.finish();
        }
    }
}

struct Many;

impl Hasher for Many {
    type Digest = [u8; 32];

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [[u8; 32]]) {
        tape_sha256::hash_many(messages, digests);
    }
}
