//! XXH3, for orientation: a checksum without cryptography.

use super::{Grain, Hasher, Job, Kind, Split, Subject, Task};
use crate::error::Error;
use manyhash::Algorithm;
use xxhash_rust::{const_xxh3, xxh3};

pub(crate) struct Xxh3;

impl Subject for Xxh3 {
    fn name(&self) -> &'static str {
        "xxh3"
    }

    fn kind(&self) -> Kind {
        // The crate's other implementation, without SIMD, for constants.
        Kind::Orientation(|message| const_xxh3::xxh3_64(message).to_ne_bytes().to_vec())
    }

    fn supports(&self, _: Algorithm) -> bool {
        true
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        Split::task(job, Grain::Fine, || Ok(OneShot))
    }
}

struct OneShot;

impl Hasher for OneShot {
    type Digest = [u8; 8];

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [[u8; 8]]) {
        for (message, digest) in messages.iter().zip(digests) {
            *digest = xxh3::xxh3_64(message).to_ne_bytes();
        }
    }
}
