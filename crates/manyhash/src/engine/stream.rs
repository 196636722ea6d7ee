//! Messages that come in chunks.

use super::JobError;
use super::algorithms::Algorithms;
use super::block_on::block_on;
use super::digesting::{Digesting, Submission};
use super::gate::{Request, Ticket};
use super::inner::{After, Inner, Taken};
use super::shared::Shared;
use super::slots::Id;
use super::sync::Arc;
use super::unlocked::{Most, Unlocked};
use super::work::{self, Chunk, Content};
use crate::Algorithm;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// A message that comes in chunks, hashed as they come. Chunks of 16 KiB and more are best: each costs a trip to the
/// engine.
///
/// [`write`](Self::write) takes a chunk without copying it, and waits when the engine's memory is used up or when
/// hashing is more than 256 KiB behind. Dropped, the message is given up.
pub struct Stream<A> {
    shared: Arc<Shared>,
    place: Place,
    algorithms: A,
}

/// Where a message is hashed.
enum Place {
    /// By its callers at once, as long as it is short, or there is nobody else.
    Short(Short),
    /// By the engine.
    Slot(Id),
    /// Nowhere, not any more.
    Over(JobError),
}

/// A message for which the engine is not needed yet. It counts as a caller without a slot.
struct Short {
    /// Once it is no longer tiny: its pool, and the most callers who hash themselves.
    pool: Option<(usize, usize)>,
    hashes: Vec<crate::Stream>,
    hashed: usize,
    most: Most,
}

impl Short {
    /// Whether its caller hashes so many bytes more himself.
    ///
    /// # Errors
    /// In a process that was forked after the engine was made, unless the engine is not asked.
    fn is_own(&mut self, bytes: usize, shared: &Shared, algorithms: &[Algorithm]) -> Result<bool, JobError> {
        if self.hashed.saturating_add(bytes) <= self.most.tiny {
            return Ok(true);
        }
        shared.check_process()?;
        let (_, alone) = *self.pool.get_or_insert_with(|| shared.pool(algorithms));
        Ok(bytes <= self.most.small && shared.unlocked.callers() <= alone)
    }

    fn hash(&mut self, chunk: Option<Chunk>, unlocked: &Unlocked) -> Result<(), JobError> {
        let Some(chunk) = chunk else { return Ok(()) };
        let bytes = chunk.len();
        chunk.hash(&mut self.hashes)?;
        self.hashed = self.hashed.saturating_add(bytes);
        unlocked.add_bytes(self.hashes.iter().map(crate::Stream::algorithm), bytes);
        if unlocked.is_closed() { Err(JobError::Closed) } else { Ok(()) }
    }
}

impl<A: Algorithms> Stream<A> {
    pub(super) fn new(shared: Arc<Shared>, algorithms: A) -> Self {
        let place = match shared.check_process() {
            Ok(()) => {
                shared.unlocked.add_caller();
                let most = Most::of_one(algorithms.list());
                let hashes = algorithms.list().iter().map(|algorithm| crate::Stream::new(*algorithm)).collect();
                Place::Short(Short { pool: None, hashes, hashed: 0, most })
            }
            Err(error) => Place::Over(error),
        };
        Stream { shared, place, algorithms }
    }

    /// The message goes on with these bytes.
    ///
    /// The future is done when the chunk is accepted, which may be before it is hashed. Dropped earlier, nothing was
    /// written; the message can go on. The first few KiB are hashed by the thread that polls, and so is a chunk of up to
    /// some hundred KiB while there are few callers, one to three for each core; a task that has many chunks at hand and
    /// others beside it on its thread lets them go first now and then (`yield_now`), or they never come to share lanes.
    pub fn write<B: AsRef<[u8]> + Send + 'static>(&mut self, bytes: B) -> Write<'_, A> {
        let chunk = match work::length(&bytes) {
            Ok(length) => Some(Chunk::of_length(bytes, length)),
            Err(error) => {
                work::discard(bytes);
                self.end(error);
                None
            }
        };
        Write { stream: self, chunk, ticket: None }
    }

    /// The message ends here.
    pub fn finish(mut self) -> Digesting<A> {
        let shared = self.shared.clone();
        let submission = match std::mem::replace(&mut self.place, Place::Over(JobError::Closed)) {
            Place::Short(short) => {
                shared.unlocked.remove_caller();
                shared.unlocked.add_job();
                let digests = || short.hashes.into_iter().map(crate::Stream::finalize).collect();
                let closed = shared.unlocked.is_closed();
                Submission::done(shared, if closed { Err(JobError::Closed) } else { Ok(digests()) })
            }
            Place::Slot(id) => match shared.check_process() {
                Ok(()) => {
                    shared.with(|inner, now, after| {
                        inner.write(id, None, true, now, after);
                        after.call = inner.is_to_be_called_for(id);
                    });
                    Submission::of_slot(shared, id)
                }
                Err(error) => Submission::done(shared, Err(error)),
            },
            Place::Over(error) => Submission::done(shared, Err(error)),
        };
        Digesting::new(submission)
    }
}

impl<A> Stream<A> {
    /// It comes to nothing, unless it has already.
    fn end(&mut self, error: JobError) {
        match std::mem::replace(&mut self.place, Place::Over(error)) {
            Place::Short(_) => self.shared.unlocked.remove_caller(),
            Place::Slot(id) if self.shared.check_process().is_ok() => {
                self.shared.with(|inner, now, after| inner.free(id, now, after));
            }
            Place::Slot(_) | Place::Over(_) => {}
        }
    }
}

impl<A> fmt::Debug for Stream<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl<A> Drop for Stream<A> {
    fn drop(&mut self) {
        self.end(JobError::Closed);
    }
}

/// A chunk on its way into a stream: a future, or waited for with [`wait`](Self::wait).
#[must_use = "nothing is written when this is dropped before it is done"]
pub struct Write<'a, A> {
    stream: &'a mut Stream<A>,
    /// Until it is accepted.
    chunk: Option<Chunk>,
    /// While it is in line.
    ticket: Option<Ticket>,
}

impl<A: Algorithms> Write<'_, A> {
    /// Waits for it on this thread, which may do some of the work.
    ///
    /// # Errors
    /// If the stream has failed, or the engine is gone.
    pub fn wait(self) -> Result<(), JobError> {
        block_on(self)
    }
}

impl<A> fmt::Debug for Write<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Write").finish_non_exhaustive()
    }
}

/// What became of an attempt to write.
enum Attempt {
    /// And some of it is to be hashed by this thread.
    Written(Option<Taken>),
    Waits(Option<Ticket>),
    Failed(JobError),
}

impl<A: Algorithms> Future for Write<'_, A> {
    type Output = Result<(), JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        let Write { stream, chunk, ticket } = &mut *self;
        let length = chunk.as_ref().map_or(0, Chunk::len);
        let is_own = match &mut stream.place {
            Place::Over(error) => Err(*error),
            Place::Short(_) | Place::Slot(_) if length == 0 => return Poll::Ready(Ok(())),
            Place::Short(short) if ticket.is_none() => short.is_own(length, &stream.shared, stream.algorithms.list()),
            Place::Short(_) | Place::Slot(_) => stream.shared.check_process().map(|()| false),
        };
        match (is_own, &mut stream.place) {
            (Err(error), _) => {
                stream.end(error);
                return Poll::Ready(Err(error));
            }
            (Ok(true), Place::Short(short)) => {
                let written = short.hash(chunk.take(), &stream.shared.unlocked);
                written.unwrap_or_else(|error| stream.end(error));
                return Poll::Ready(written);
            }
            _ => {}
        }
        // Cloned, and what it is exchanged for dropped, without the lock: that is code of the caller.
        let mut waker = Some(context.waker().clone());
        let place = &mut stream.place;
        let attempt = stream.shared.with(|inner, now, after| {
            let slot = if let Place::Slot(id) = place { Some(*id) } else { None };
            let granted = match admitted(inner, slot, chunk, ticket.take(), &mut waker, now, after) {
                Ok(granted) => granted,
                Err(attempt) => return attempt,
            };
            let id = match (&mut *place, granted) {
                (Place::Slot(id), _) => *id,
                (Place::Short(Short { pool: Some((pool, _)), hashes, .. }), Some(id)) => {
                    stream.shared.unlocked.remove_caller();
                    inner.begin(id, *pool, Content::begun(std::mem::take(hashes)), now);
                    *place = Place::Slot(id);
                    id
                }
                _ => return Attempt::Failed(JobError::Closed),
            };
            inner.write(id, chunk.take(), false, now, after);
            after.call = true;
            Attempt::Written(inner.take_own(id, now))
        });
        match attempt {
            Attempt::Written(own) => {
                if let Some(taken) = own {
                    stream.shared.hash(taken, |_, _, _| {});
                }
                Poll::Ready(Ok(()))
            }
            Attempt::Waits(waits) => {
                *ticket = waits;
                Poll::Pending
            }
            Attempt::Failed(error) => {
                stream.end(error);
                Poll::Ready(Err(error))
            }
        }
    }
}

/// Asks for room for a chunk: first in the stream, then in the engine.
fn admitted(
    inner: &mut Inner,
    slot: Option<Id>,
    chunk: &Option<Chunk>,
    ticket: Option<Ticket>,
    waker: &mut Option<Waker>,
    now: Instant,
    after: &mut After,
) -> Result<Option<Id>, Attempt> {
    let bytes = chunk.as_ref().map_or(0, Chunk::len);
    if inner.is_closed() {
        // What was granted before comes too late: the threads may have ended.
        if let Some(ticket) = ticket {
            inner.leave(ticket, now, after);
        }
        return Err(Attempt::Failed(JobError::Closed));
    }
    if let Some(ticket) = ticket {
        return inner.gate.poll(ticket, waker).ok_or(Attempt::Waits(Some(ticket)));
    }
    if let Some(error) = slot.and_then(|id| inner.failure(id)) {
        return Err(Attempt::Failed(error));
    }
    if slot.is_some_and(|id| inner.is_ahead(id, bytes, waker, after)) {
        return Err(Attempt::Waits(None));
    }
    let request = Request { bytes, slot: slot.is_none() };
    inner.enter(request, now).ok_or_else(|| {
        let ticket = inner.gate.wait(request, None);
        inner.gate.poll(ticket, waker);
        after.call = true;
        Attempt::Waits(Some(ticket))
    })
}

impl<A> Drop for Write<'_, A> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket
            && self.stream.shared.check_process().is_ok()
        {
            self.stream.shared.with(|inner, now, after| inner.leave(ticket, now, after));
        }
        if let Some(chunk) = self.chunk.take() {
            // What its drop does, if it panics, is not for this thread to suffer from.
            let _ = chunk.discard();
        }
    }
}
