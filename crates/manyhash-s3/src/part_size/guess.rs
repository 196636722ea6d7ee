//! Many sizes in one read.

use super::candidates;
use crate::etag::{ETag, ETagKind};
use manyhash::{Algorithm, Hasher, update_many};
use std::fmt;

/// Bytes that all candidates take in before any takes in more. They stay in a core's cache meanwhile.
const STRETCH: usize = 128 << 10;

/// The search for the size of parts that gives an object's ETag, a round of it: some candidates in one read.
///
/// A round holds two MD5 states a candidate, some kilobytes for all, whatever the object's size. Where it finds
/// nothing and there are more candidates, [`finish`](Self::finish) returns the next round, for which the object is read
/// again from its beginning.
///
/// ```
/// use manyhash_s3::etag::ETag;
/// use manyhash_s3::part_size::{Guess, Guessed};
///
/// # let object = vec![7; 9 << 20];
/// # let md5 = |bytes: &[u8]| manyhash::digest(manyhash::Algorithm::Md5, bytes);
/// # let md5s: Vec<u8> = object.chunks(8 << 20).flat_map(|part| md5(part).as_bytes().to_vec()).collect();
/// # let etag = ETag::new(format!("{}-2", md5(&md5s)));
/// let mut guess = Guess::new(&etag, object.len() as u64).expect("the ETag of an object in parts");
/// let size = loop {
///     for chunk in object.chunks(1 << 20) {
///         guess.update(chunk);
///     }
///     match guess.finish() {
///         Guessed::PartBytes(size) => break Some(size),
///         Guessed::Again(next) if next.tried() < 1000 => guess = next,
///         Guessed::Again(_) | Guessed::Unknown => break None,
///     }
/// };
/// assert_eq!(size, Some(8 << 20));
/// ```
pub struct Guess {
    md5: [u8; 16],
    parts: u32,
    size: u64,
    /// How many bytes were read.
    read: u64,
    /// How many candidates came before this round.
    tried: usize,
    candidates: Vec<Candidate>,
}

/// What a round found.
#[derive(Debug)]
pub enum Guessed {
    /// Parts of so many bytes give the ETag.
    PartBytes(u64),
    /// None of these candidates does. There are more, for which the object is to be read again.
    Again(Guess),
    /// No candidate does: the object is another one, was encrypted, or was cut elsewhere. Or what was read has not the
    /// size that was given, so that nothing can be told.
    Unknown,
}

impl Guess {
    /// Candidates in one round. 32 MD5 lanes cost little more than one or two.
    pub const CANDIDATES: usize = 32;

    /// Begins a search for the parts of an object of `size` bytes. `None` unless the ETag is that of an object in
    /// parts, and the size one that can be in so many.
    pub fn new(etag: &ETag, size: u64) -> Option<Guess> {
        let ETagKind::Multipart { md5, parts } = etag.kind() else { return None };
        Guess::round(md5, parts.get(), size, 0)
    }

    /// Returns the number of candidates that were tried in the rounds before this.
    pub fn tried(&self) -> usize {
        self.tried
    }

    /// Takes in the next bytes of the object.
    pub fn update(&mut self, bytes: &[u8]) {
        self.read = self.read.saturating_add(bytes.len() as u64);
        for stretch in bytes.chunks(STRETCH) {
            // What each has yet to take in. Those that reach the end of a part go on with the next.
            let mut behind: Vec<(&mut Candidate, &[u8])> =
                self.candidates.iter_mut().map(|candidate| (candidate, stretch)).collect();
            while !behind.is_empty() {
                update_many(behind.iter_mut().map(|(candidate, rest)| {
                    let (chunk, after) = rest.split_at(candidate.room(rest.len()));
                    *rest = after;
                    candidate.left -= chunk.len() as u64;
                    (&mut candidate.part, chunk)
                }));
                behind.retain_mut(|(candidate, rest)| {
                    if candidate.left == 0 {
                        candidate.end_part();
                    }
                    !rest.is_empty()
                });
            }
        }
    }

    /// Ends the object.
    pub fn finish(self) -> Guessed {
        if self.read != self.size {
            return Guessed::Unknown;
        }
        let tried = self.tried + self.candidates.len();
        for candidate in self.candidates {
            let part_bytes = candidate.part_bytes;
            if candidate.finish(self.size) == self.md5 {
                return Guessed::PartBytes(part_bytes);
            }
        }
        Guess::round(self.md5, self.parts, self.size, tried).map_or(Guessed::Unknown, Guessed::Again)
    }

    /// The round after so many candidates, if there are more.
    pub(super) fn round(md5: [u8; 16], parts: u32, size: u64, tried: usize) -> Option<Guess> {
        let candidates: Vec<Candidate> =
            candidates(size, parts).skip(tried).take(Self::CANDIDATES).map(Candidate::new).collect();
        (!candidates.is_empty()).then_some(Guess { md5, parts, size, read: 0, tried, candidates })
    }
}

impl fmt::Debug for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<u64> = self.candidates.iter().map(|candidate| candidate.part_bytes).collect();
        f.debug_struct("Guess").field("tried", &self.tried).field("part_bytes", &sizes).finish_non_exhaustive()
    }
}

/// An object cut into parts of one size.
struct Candidate {
    part_bytes: u64,
    /// Bytes that the part lacks.
    left: u64,
    part: Hasher,
    /// Of the parts before.
    whole: Hasher,
}

impl Candidate {
    fn new(part_bytes: u64) -> Self {
        let hasher = Hasher::new(Algorithm::Md5);
        Candidate { part_bytes, left: part_bytes, part: hasher.clone(), whole: hasher }
    }

    /// How much of so many bytes the part has room for.
    fn room(&self, bytes: usize) -> usize {
        usize::try_from(self.left).map_or(bytes, |left| left.min(bytes))
    }

    fn end_part(&mut self) {
        let part = std::mem::replace(&mut self.part, Hasher::new(Algorithm::Md5));
        self.whole.update(part.finalize().as_bytes());
        self.left = self.part_bytes;
    }

    fn finish(mut self, size: u64) -> [u8; 16] {
        // An object of no bytes has a part of none.
        if self.left != self.part_bytes || size == 0 {
            self.end_part();
        }
        self.whole.finalize().as_bytes().try_into().unwrap_or_default()
    }
}
