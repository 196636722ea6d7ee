//! Messages cut into parts, each with a hasher of its own, on one thread or several.

use super::{Hasher, Job, Task};
use crate::error::Error;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::Arc;

/// How finely messages are cut for several threads.
#[derive(Clone, Copy)]
pub(crate) enum Grain {
    /// For subjects that hash one message at a time: several parts a thread, so that an idle thread finds one to take.
    Fine,
    /// For subjects that hash many messages at once: one part a thread, so that their lanes stay full.
    Coarse,
}

/// Parts a thread of [`Grain::Fine`].
const FINE: usize = 8;

/// A task of contiguous parts of about equal bytes.
pub(crate) struct Split<'a, H: Hasher> {
    parts: Vec<Part<'a, H>>,
    pool: Option<Arc<ThreadPool>>,
}

struct Part<'a, H: Hasher> {
    hasher: H,
    messages: &'a [&'a [u8]],
    digests: Vec<H::Digest>,
}

impl<'a, H: Hasher + 'a> Split<'a, H> {
    /// A task whose parts each have a hasher from `hasher`.
    pub(crate) fn task(
        job: &Job<'a>,
        grain: Grain,
        mut hasher: impl FnMut() -> Result<H, Error>,
    ) -> Result<Box<dyn Task + 'a>, Error> {
        let parts = match (job.threads.count, grain) {
            (1, _) => 1,
            (threads, Grain::Coarse) => threads,
            (threads, Grain::Fine) => FINE * threads,
        };
        let parts = cut(job.messages, parts)
            .into_iter()
            .map(|messages| {
                Ok(Part { hasher: hasher()?, messages, digests: vec![H::Digest::default(); messages.len()] })
            })
            .collect::<Result<_, Error>>()?;
        Ok(Box::new(Split { parts, pool: job.threads.pool.clone() }))
    }
}

impl<H: Hasher> Part<'_, H> {
    fn hash(&mut self) {
        // Opaque in and out: otherwise passes over the same messages could be merged, or left out.
        self.hasher.hash(black_box(self.messages), &mut self.digests);
        black_box(&mut self.digests);
    }
}

impl<H: Hasher> Task for Split<'_, H> {
    fn run(&mut self, passes: usize) {
        let parts = &mut self.parts;
        match (&self.pool, &mut parts[..]) {
            (Some(pool), parts @ [_, _, ..]) => pool.install(|| {
                for _ in 0..passes {
                    parts.par_iter_mut().with_max_len(1).for_each(Part::hash);
                }
            }),
            (_, parts) => {
                for _ in 0..passes {
                    parts.iter_mut().for_each(Part::hash);
                }
            }
        }
    }

    fn digests(&self) -> Vec<&[u8]> {
        self.parts.iter().flat_map(|part| &part.digests).map(AsRef::as_ref).collect()
    }
}

/// Cuts messages into at most `parts` contiguous parts of about equal bytes, none of them empty.
fn cut<'a>(messages: &'a [&'a [u8]], parts: usize) -> Vec<&'a [&'a [u8]]> {
    // A message counts as a byte more than it has, so that empty ones are spread too.
    let total: usize = messages.iter().map(|message| message.len() + 1).sum();
    let mut cuts = Vec::new();
    let (mut start, mut bytes, mut previous) = (0, 0, 0);
    for (i, message) in messages.iter().enumerate() {
        // A message belongs to the part that its middle lies in.
        let part = (bytes + message.len() / 2) * parts / total;
        if i > start && part != previous {
            cuts.push(&messages[start..i]);
            start = i;
        }
        previous = part;
        bytes += message.len() + 1;
    }
    cuts.push(&messages[start..]);
    cuts
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn parts_are_contiguous_and_about_equal() {
        let buffer = vec![0; 1000];
        let messages: Vec<&[u8]> = (0..100).map(|i| &buffer[..10 * (1 + i % 7)]).collect();
        let total: usize = messages.iter().map(|message| message.len()).sum();
        for parts in 1..10 {
            let cuts = cut(&messages, parts);
            assert_eq!(cuts.len(), parts);
            assert_eq!(cuts.iter().map(|part| part.len()).sum::<usize>(), messages.len());
            for part in cuts {
                let bytes: usize = part.iter().map(|message| message.len()).sum();
                assert!(bytes.abs_diff(total / parts) <= 70, "{bytes} of {total} in {parts}");
            }
        }
    }

    #[test]
    fn a_giant_message_is_a_part_of_its_own() {
        let buffer = vec![0; 1000];
        let messages: [&[u8]; 4] = [&buffer[..1], &buffer, &buffer[..1], &buffer[..1]];
        assert_eq!(cut(&messages, 4), [&messages[..1], &messages[1..2], &messages[2..]]);
        assert_eq!(cut(&messages[..1], 4).len(), 1);
    }

    #[test]
    fn empty_messages_are_spread_too() {
        let messages: [&[u8]; 4] = [&[]; 4];
        assert_eq!(cut(&messages, 1).len(), 1);
        assert_eq!(cut(&messages, 2), [&messages[..2], &messages[2..]]);
    }
}
