//! What the producers' messages say, and the digests that they should have.
//!
//! A message is some noise again and again, begun at one of `CONTENTS` places, so that a chunk is filled by copying and
//! few messages have to be hashed to know the digests of all. The noise has an odd length and the number of places is
//! prime: chunks in the wrong order, and lanes that were swapped, give another digest.

use super::load::Load;
use crate::noise::noise;
use crate::threads::on_all_cores;
use manyhash::{Digest, Hasher};
use rayon::prelude::*;

/// Bytes of noise, a prime: few enough to stay in a core's cache, so that a copy costs little more than writing it.
const NOISE: usize = 262_147;

/// Different messages.
const CONTENTS: usize = 5;

/// Bytes hashed at once where the expected digests are made.
const PIECE: u64 = 65536;

/// The prepared noise.
pub(super) struct Content {
    noise: Vec<u8>,
}

impl Content {
    pub(super) fn new() -> Self {
        Content { noise: noise(NOISE) }
    }

    /// Copies the bytes of a producer's message from `position` on.
    pub(super) fn fill(&self, producer: usize, position: u64, mut target: &mut [u8]) {
        let start = (producer % CONTENTS * (NOISE / CONTENTS)) as u64;
        let mut at = ((start + position) % NOISE as u64) as usize;
        while !target.is_empty() {
            let (head, rest) = target.split_at_mut(target.len().min(NOISE - at));
            head.copy_from_slice(&self.noise[at..at + head.len()]);
            (target, at) = (rest, 0);
        }
    }

    /// The digest of each producer's message, by the code for one message alone, which shares no lanes with anybody.
    pub(super) fn digests(&self, load: &Load) -> Vec<Digest> {
        let contents = 0..CONTENTS.min(load.producers);
        let digests: Vec<_> =
            on_all_cores(|| contents.into_par_iter().map(|content| self.digests_of(load, content)).collect());
        let shorter = load.share(load.producers - 1);
        (0..load.producers).map(|i| digests[i % CONTENTS][(load.share(i) - shorter) as usize]).collect()
    }

    /// The digests of the shorter messages with a content, and of those that have a byte more.
    fn digests_of(&self, load: &Load, content: usize) -> [Digest; 2] {
        let length = load.share(load.producers - 1);
        let mut hasher = Hasher::new(load.algorithm);
        let mut piece = vec![0; PIECE as usize];
        for position in (0..length).step_by(PIECE as usize) {
            let piece = &mut piece[..PIECE.min(length - position) as usize];
            self.fill(content, position, piece);
            hasher.update(piece);
        }
        let shorter = hasher.clone().finalize();
        self.fill(content, length, &mut piece[..1]);
        hasher.update(&piece[..1]);
        [shorter, hasher.finalize()]
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, NOISE};
    use crate::simulate::load::tests::load;
    use manyhash_core::reference;

    #[test]
    fn digests_are_those_of_the_messages() {
        let load = load("--hash md5 --producers 8 --total-size 2500003 --chunk-size 1000").expect("a load");
        let content = Content::new();
        let digests = content.digests(&load);
        assert_eq!(digests.len(), 8);
        for (producer, digest) in digests.iter().enumerate() {
            let mut message = vec![0; load.share(producer) as usize];
            assert!(message.len() > NOISE);
            for (i, chunk) in message.chunks_mut(1000).enumerate() {
                content.fill(producer, i as u64 * 1000, chunk);
            }
            let expected = reference::digest(load.algorithm, &message);
            assert_eq!(digest.as_bytes(), &expected[..16], "{producer}");
        }
        assert_ne!(digests[0], digests[1]);
    }
}
