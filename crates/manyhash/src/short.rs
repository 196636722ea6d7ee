//! Whole short messages, grouped by the number of their blocks.
//!
//! A message of a few blocks would leave the refilling lanes as soon as it has come. Here as many messages of one number
//! of blocks as fill the lanes are hashed together, from padding to digest, and never stop for each other.

use crate::lanes::Planned;
use crate::running::{self, Prefix};
use manyhash_core::family::MAX_DIGEST_BYTES;
use manyhash_core::kernel::MAX_LANES;
use manyhash_core::{Backend, Family, ShortKernel};
use std::time::{Duration, Instant};

/// Maximum number of blocks in a short message. Longer ones do as well in the refilling lanes, where nothing is copied.
const MAX_BLOCKS: usize = 8;

/// Maximum number of messages that wait for each other: some times the lanes of any kernel, so that a call is worth it.
pub(crate) const GROUP: usize = 2 * MAX_LANES;

/// The kernel for short messages that costs least for each of them, and how many are worth a call of it.
#[derive(Debug)]
pub(crate) struct ShortPlan<F: Family> {
    kernel: ShortKernel<F>,
    worth: usize,
}

/// How long the kernels are measured: as in [`Plan`](crate::lanes::Plan), power for wide registers takes its time to come.
const TIME: Duration = Duration::from_millis(1);

/// Minimum number of timings of each kernel.
const ROUNDS: usize = 3;

impl<F: Family> ShortPlan<F> {
    pub(crate) fn kernel(&self) -> &ShortKernel<F> {
        &self.kernel
    }

    /// Messages that a call of the kernel is worth.
    pub(crate) fn worth(&self) -> usize {
        self.worth
    }
}

impl<F: Planned> ShortPlan<F> {
    pub(crate) fn measure(backend: Backend) -> Self {
        let data = [0x55; 16];
        let messages = [&data[..]; GROUP];
        let start = F::zero();
        let mut digests = [[0; MAX_DIGEST_BYTES]; GROUP];
        let mut costs: Vec<_> = F::kernels(backend).short().map(|kernel| (kernel, Duration::MAX)).collect();
        let mut alone = Duration::MAX;
        let begin = Instant::now();
        let mut rounds = 0;
        while rounds < ROUNDS || begin.elapsed() < TIME {
            for (kernel, least) in &mut costs {
                let time = Instant::now();
                let hashed = kernel.hash(&start, 0, &messages, MAX_DIGEST_BYTES, digests.as_flattened_mut());
                assert!(hashed.is_ok(), "equal messages");
                *least = time.elapsed().min(*least);
            }
            let time = Instant::now();
            for (message, digest) in messages.iter().zip(&mut digests) {
                *digest = *running::digest::<F>(&start, 0, std::hint::black_box(message));
            }
            alone = time.elapsed().min(alone);
            rounds += 1;
        }
        let Some((kernel, cost)) = costs.into_iter().min_by_key(|(_, cost)| *cost) else {
            unreachable!("every backend has a kernel for short messages of every family")
        };
        let group = cost.as_secs_f64() * kernel.lanes() as f64;
        let worth = (group / alone.as_secs_f64().max(f64::MIN_POSITIVE)).ceil() as usize;
        ShortPlan { kernel, worth }
    }
}

/// Short messages that wait for others of as many blocks. `Tag` says where a message's digest goes.
pub(crate) struct Shorts<'m, F: Family, Tag> {
    prefix: Prefix<F>,
    /// By the number of blocks less one.
    groups: [Group<'m, Tag>; MAX_BLOCKS],
    /// Room for a group's, from the first on.
    digests: Vec<[u8; MAX_DIGEST_BYTES]>,
}

struct Group<'m, Tag> {
    messages: Vec<&'m [u8]>,
    tags: Vec<Tag>,
}

impl<'m, F: Planned, Tag: Copy> Shorts<'m, F, Tag> {
    pub(crate) fn new(prefix: Prefix<F>) -> Self {
        let groups = std::array::from_fn(|_| Group { messages: Vec::new(), tags: Vec::new() });
        Shorts { prefix, groups, digests: Vec::new() }
    }

    /// Takes a message, and gives digests to `done` if a group is full with it.
    ///
    /// # Errors
    /// If it is too long; nothing is done with it.
    #[inline]
    pub(crate) fn push(&mut self, message: &'m [u8], tag: Tag, done: &mut impl Done<Tag>) -> Result<(), TooLong> {
        if message.len() > most::<F>() {
            return Err(TooLong);
        }
        let blocks = F::final_blocks(message.len());
        let group = &mut self.groups[blocks - 1];
        group.messages.push(message);
        group.tags.push(tag);
        if group.messages.len() == GROUP {
            self.flush_group(blocks, done);
        }
        Ok(())
    }

    /// Writes the digests of a group of messages at once, to rows of `width` bytes, if all of them are short and padded to
    /// as many blocks, and says whether they are: the usual case of columns, in which no message has to wait.
    #[inline]
    pub(crate) fn group(&self, messages: &[&[u8]; GROUP], width: usize, digests: &mut [u8]) -> bool {
        let Prefix { state, bytes } = &self.prefix;
        messages[0].len() <= most::<F>() && F::short_plan().kernel.hash(state, *bytes, messages, width, digests).is_ok()
    }

    /// As [`group`](Self::group), but gives each digest to `done`, by the number of its message in the group. Returns the
    /// lanes in use and the rows of blocks that were hashed in them; none if the messages are not alike.
    pub(crate) fn whole_group(
        &mut self,
        messages: &[&[u8]; GROUP],
        mut done: impl FnMut(usize, &[u8; MAX_DIGEST_BYTES]),
    ) -> Option<(usize, usize)> {
        let mut digests = std::mem::take(&mut self.digests);
        digests.resize(GROUP, [0; MAX_DIGEST_BYTES]);
        let hashed = self.group(messages, MAX_DIGEST_BYTES, digests.as_flattened_mut());
        if hashed {
            digests.iter().enumerate().for_each(|(i, digest)| done(i, digest));
        }
        self.digests = digests;
        hashed.then(|| {
            let lanes = F::short_plan().kernel.lanes();
            (lanes, GROUP.div_ceil(lanes) * F::final_blocks(messages[0].len()))
        })
    }

    /// Gives the digests of all that wait to `done`.
    pub(crate) fn flush(&mut self, done: &mut impl Done<Tag>) {
        (1..=MAX_BLOCKS).for_each(|blocks| self.flush_group(blocks, done));
    }

    fn flush_group(&mut self, blocks: usize, done: &mut impl Done<Tag>) {
        let Shorts { prefix, groups, digests } = self;
        let Group { messages, tags } = &mut groups[blocks - 1];
        if messages.is_empty() {
            // Nor is anything measured for what never comes.
            return;
        }
        let plan = F::short_plan();
        digests.resize(GROUP, [0; MAX_DIGEST_BYTES]);
        let digests = &mut digests[..messages.len()];
        let lanes = plan.kernel.lanes();
        let rest = messages.len() % lanes;
        let together = if rest >= plan.worth { messages.len() } else { messages.len() - rest };
        let rows = digests[..together].as_flattened_mut();
        let hashed = plan.kernel.hash(&prefix.state, prefix.bytes, &messages[..together], MAX_DIGEST_BYTES, rows);
        assert!(hashed.is_ok(), "a group is of one number of blocks");
        for (message, digest) in messages.iter().zip(&mut *digests).skip(together) {
            *digest = *running::digest::<F>(&prefix.state, prefix.bytes, message);
        }
        done.rows(lanes, messages.len() / lanes * blocks);
        done.rows(if together == messages.len() { rest } else { 1 }, if rest == 0 { 0 } else { blocks });
        tags.iter().zip(digests).for_each(|(tag, digest)| done.digest(*tag, digest));
        messages.clear();
        tags.clear();
    }
}

/// What is done with digests.
pub(crate) trait Done<Tag> {
    fn digest(&mut self, tag: Tag, digest: &[u8; MAX_DIGEST_BYTES]);

    /// So many rows of blocks, with so many lanes in use, were hashed for them.
    fn rows(&mut self, _lanes: usize, _rows: usize) {}
}

impl<Tag, D: FnMut(Tag, &[u8; MAX_DIGEST_BYTES])> Done<Tag> for D {
    #[inline]
    fn digest(&mut self, tag: Tag, digest: &[u8; MAX_DIGEST_BYTES]) {
        self(tag, digest);
    }
}

/// Maximum number of bytes in a short message.
pub(crate) fn most<F: Family>() -> usize {
    MAX_BLOCKS * F::BLOCK_BYTES - F::PADDING_BYTES
}

/// The message has more blocks than a short one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLong;
