//! manyhash itself.

use super::{Call, Grain, Hasher, Job, MANYHASH, Split, Subject, Task, Threads};
use crate::error::Error;
use manyhash::{Algorithm, Batch, Digest};
use std::num::NonZeroUsize;

pub(crate) struct Manyhash;

impl Subject for Manyhash {
    fn name(&self) -> &'static str {
        MANYHASH
    }

    fn supports(&self, _: Algorithm) -> bool {
        true
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        let algorithm = job.algorithm;
        match job.call {
            Call::One => Split::task(job, Grain::Fine, || Ok(One(algorithm))),
            // A batch has threads of its own, so the messages stay in one part.
            Call::Many => {
                let whole = Job { threads: Threads::new(1)?, ..job.clone() };
                Split::task(&whole, Grain::Coarse, || {
                    Ok(Many(Batch::new(algorithm).threads(NonZeroUsize::new(job.threads.count))))
                })
            }
        }
    }
}

struct One(Algorithm);

impl Hasher for One {
    type Digest = Digest;

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [Digest]) {
        for (message, digest) in messages.iter().zip(digests) {
            *digest = manyhash::digest(self.0, message);
        }
    }
}

struct Many(Batch);

impl Hasher for Many {
    type Digest = Digest;

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [Digest]) {
        self.0.digest_many_into(messages, digests).expect("there are as many digests as messages");
    }
}
