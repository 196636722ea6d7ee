//! BLAKE3, for orientation: what an algorithm made for SIMD does with one message at a time.

use super::{Grain, Hasher, Job, Kind, Split, Subject, Task};
use crate::error::Error;
use manyhash::Algorithm;

pub(crate) struct Blake3;

impl Subject for Blake3 {
    fn name(&self) -> &'static str {
        "blake3"
    }

    fn kind(&self) -> Kind {
        Kind::Orientation(by_chunks)
    }

    fn supports(&self, _: Algorithm) -> bool {
        true
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        Split::task(job, Grain::Fine, || Ok(OneShot))
    }
}

/// The digest by pieces of less than a chunk, which the SIMD kernels for many chunks take no part in.
fn by_chunks(message: &[u8]) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    for piece in message.chunks(1000) {
        hasher.update(piece);
    }
    hasher.finalize().as_bytes().to_vec()
}

struct OneShot;

impl Hasher for OneShot {
    type Digest = [u8; blake3::OUT_LEN];

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [Self::Digest]) {
        for (message, digest) in messages.iter().zip(digests) {
            *digest = *blake3::hash(message).as_bytes();
        }
    }
}
