//! One core's share of a batch: messages from the queue through its lanes to their places.

use super::pool::Threads;
use super::tasks::{Place, Queue, Reader};
use crate::lanes::{self, Advance, Finals, Job, Planned, Source};
use crate::running::{self, Prefix, whole_blocks};
use crate::short::{self, Done, GROUP, Shorts, TooLong};
use manyhash_core::family::MAX_DIGEST_BYTES;
use manyhash_core::{Family, State};

/// Fewer bytes than this are hashed one message after another: setting lanes up costs about as much.
const WORTH_LANES: usize = 4 << 10;

/// So many messages are found without an allocation.
const FEW: usize = 16;

/// Calls `hash` with the bytes of messages. Each message is asked for them once, since it may answer differently each time.
pub(crate) fn with_slices<M: AsRef<[u8]>, R>(messages: &[M], hash: impl FnOnce(&[&[u8]]) -> R) -> R {
    let mut few: [&[u8]; FEW] = [&[]; FEW];
    let many: Vec<&[u8]>;
    let slices = if messages.len() <= FEW {
        messages.iter().zip(&mut few).for_each(|(message, slice)| *slice = message.as_ref());
        &few[..messages.len()]
    } else {
        many = messages.iter().map(AsRef::as_ref).collect();
        &many
    };
    hash(slices)
}

/// Writes the digest of each message, made of its bytes by `digest`, to the same place in `output`. The slices are equally
/// long.
pub(crate) fn fill<F: Planned, O: Send>(
    threads: Threads,
    prefix: Prefix<F>,
    messages: &[&[u8]],
    output: &mut [O],
    digest: impl Fn(&[u8; MAX_DIGEST_BYTES]) -> O + Sync,
) {
    let bytes = total(messages);
    let cores = threads.cores(messages.len(), bytes);
    if cores.count() == 1 {
        return fill_here(F::plan, prefix, messages, output, digest);
    }
    let plan = F::plan();
    // Half-full lanes on two cores end sooner than full lanes on one.
    let width = messages.len().div_ceil(cores.count()).min(plan.width());
    let queue = Queue::new(messages, output, bytes, cores.count(), width);
    cores.run(|| Core::new(plan, prefix, &queue, &digest).run(width));
}

/// As [`fill`], on the caller's thread alone, in the lanes that `lanes` gives if they are worth having.
pub(crate) fn fill_here<F: Planned, O, A: Advance<F>>(
    lanes: impl FnOnce() -> A,
    prefix: Prefix<F>,
    messages: &[&[u8]],
    output: &mut [O],
    digest: impl Fn(&[u8; MAX_DIGEST_BYTES]) -> O,
) {
    let bytes = total(messages);
    if messages.len() <= 1 || bytes.saturating_add(messages.len().saturating_mul(F::BLOCK_BYTES)) < WORTH_LANES {
        for (message, output) in messages.iter().zip(output) {
            *output = digest(&running::digest::<F>(&prefix.state, prefix.bytes, message));
        }
        return;
    }
    let lanes = lanes();
    let width = messages.len().min(lanes.width());
    let queue = Queue::new(messages, output, bytes, 1, width);
    Core::new(&lanes, prefix, &queue, &digest).run(width);
}

pub(super) fn total(messages: &[&[u8]]) -> usize {
    messages.iter().fold(0_usize, |sum, message| sum.saturating_add(message.len()))
}

/// A core on its way through the queue.
struct Core<'q, 'a, F: Family, O, A, D> {
    plan: &'q A,
    prefix: Prefix<F>,
    digest: &'q D,
    reader: Reader<'q, 'a, O>,
    shorts: Shorts<'a, F, Place>,
    finals: Finals<F, Tag<'a>>,
}

/// A message in the lanes, and where its digest goes.
#[derive(Clone, Copy)]
struct Tag<'a> {
    message: &'a [u8],
    place: Place,
}

impl<'q, 'a, F: Planned, O, A: Advance<F>, D: Fn(&[u8; MAX_DIGEST_BYTES]) -> O> Core<'q, 'a, F, O, A, D> {
    fn new(plan: &'q A, prefix: Prefix<F>, queue: &'q Queue<'a, O>, digest: &'q D) -> Self {
        let reader = Reader::new(queue, short::most::<F>());
        Core { plan, prefix, digest, reader, shorts: Shorts::new(prefix), finals: Finals::new() }
    }

    /// Hashes messages, at most `width` side by side, until the queue is empty.
    fn run(mut self, width: usize) {
        lanes::run(self.plan, width, &mut self);
        let Core { plan, digest, mut reader, mut shorts, mut finals, .. } = self;
        finals.flush(plan, &mut |tag, bytes| reader.write(tag.place, digest(bytes)));
        shorts.flush(&mut Written { reader: &mut reader, digest, count: |lanes, rows| plan.count(lanes, rows) });
    }
}

impl<'a, F: Planned, O, A: Advance<F>, D: Fn(&[u8; MAX_DIGEST_BYTES]) -> O> Source<'a, F> for Core<'_, 'a, F, O, A, D> {
    type Tag = Tag<'a>;

    #[inline]
    fn next(&mut self) -> Option<Job<'a, F, Tag<'a>>> {
        let Core { plan, prefix, digest, reader, shorts, .. } = self;
        let count = |lanes, rows| plan.count(lanes, rows);
        loop {
            let (message, place) = reader.next(|messages: &[&[u8]; GROUP], output: &mut [O]| {
                let rows = shorts.whole_group(messages, |i, bytes| output[i] = digest(bytes));
                rows.inspect(|(lanes, rows)| count(*lanes, *rows)).is_some()
            })?;
            let mut written = Written { reader: &mut *reader, digest: *digest, count };
            if shorts.push(message, place, &mut written) == Err(TooLong) {
                let tag = Tag { message, place };
                return Some(Job { state: prefix.state, blocks: whole_blocks::<F>(message), tag });
            }
        }
    }

    #[inline]
    fn done(&mut self, tag: Tag<'a>, state: &State<F>) {
        let Core { plan, prefix, digest, reader, finals, .. } = self;
        let rest = &tag.message[whole_blocks::<F>(tag.message).len()..];
        let length = prefix.bytes as u128 + tag.message.len() as u128;
        finals.push(*plan, state, rest, length, tag, &mut |tag: Tag, bytes| reader.write(tag.place, digest(bytes)));
    }
}

/// Digests of short messages on their way to their places.
struct Written<'r, 'q, 'a, O, D, C> {
    reader: &'r mut Reader<'q, 'a, O>,
    digest: &'r D,
    count: C,
}

impl<O, D: Fn(&[u8; MAX_DIGEST_BYTES]) -> O, C: Fn(usize, usize)> Done<Place> for Written<'_, '_, '_, O, D, C> {
    #[inline]
    fn digest(&mut self, place: Place, digest: &[u8; MAX_DIGEST_BYTES]) {
        self.reader.write(place, (self.digest)(digest));
    }

    fn rows(&mut self, lanes: usize, rows: usize) {
        (self.count)(lanes, rows);
    }
}
