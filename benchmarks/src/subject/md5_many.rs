//! `md5-many`: MD5 in SIMD lanes, and a call for one message.

use super::{Call, Grain, Hasher, Job, Split, Subject, Task};
use crate::error::Error;
use manyhash::Algorithm;

pub(crate) struct Md5Many;

impl Subject for Md5Many {
    fn name(&self) -> &'static str {
        "md5-many"
    }

    fn supports(&self, algorithm: Algorithm) -> bool {
        algorithm == Algorithm::Md5
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        match job.call {
            Call::One => Split::task(job, Grain::Fine, || Ok(One)),
            Call::Many => Split::task(job, Grain::Coarse, || Ok(Many(md5_many::Md5Many::new()))),
        }
    }
}

struct One;

impl Hasher for One {
    type Digest = [u8; 16];

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [[u8; 16]]) {
        for (message, digest) in messages.iter().zip(digests) {
            *digest = md5_many::md5(message);
        }
    }
}

struct Many(md5_many::Md5Many);

impl Hasher for Many {
    type Digest = [u8; 16];

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [[u8; 16]]) {
        self.0.hash_many(messages, digests);
    }
}
