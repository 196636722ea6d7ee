//! Messages that come in chunks.

use super::JobError;
use super::algorithms::Algorithms;
use super::block_on::block_on;
use super::digesting::{Digesting, Submission};
use super::gate::{Request, Ticket};
use super::inner::{After, Inner};
use super::shared::Shared;
use super::slots::Id;
use super::sync::Arc;
use super::work::{self, Chunk, Content};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// A message that comes in chunks, hashed as they come.
///
/// [`write`](Self::write) takes a chunk without copying it, and waits when the engine's memory is used up or when
/// hashing is more than 256 KiB behind. Dropped, the message is given up.
pub struct Stream<A> {
    shared: Arc<Shared>,
    algorithms: A,
    pool: usize,
    /// From the first chunk on.
    slot: Option<Id>,
    /// Whether it counts as a stream without a slot.
    unbegun: bool,
    failed: Option<JobError>,
}

impl<A: Algorithms> Stream<A> {
    pub(super) fn new(shared: Arc<Shared>, algorithms: A) -> Self {
        let mut stream = Stream { shared, algorithms, pool: 0, slot: None, unbegun: false, failed: None };
        match stream.shared.pool(stream.algorithms.list()) {
            Ok(pool) => {
                (stream.pool, stream.unbegun) = (pool, true);
                stream.shared.with(|inner, _, _| inner.unbegun += 1);
            }
            Err(error) => stream.failed = Some(error),
        }
        stream
    }

    /// The message goes on with these bytes.
    ///
    /// The future is done when the chunk is accepted, which is before it is hashed. Dropped earlier, nothing was
    /// written; the message can go on. While there are no more callers than cores, the caller's thread hashes a chunk
    /// of up to some hundred KiB itself; a task that has many chunks at hand and others beside it on its thread lets
    /// them go first now and then (`yield_now`), or they never come to share lanes.
    pub fn write<B: AsRef<[u8]> + Send + 'static>(&mut self, bytes: B) -> Write<'_, A> {
        let chunk = match self.failed {
            Some(_) => {
                work::discard(bytes);
                None
            }
            None => Chunk::new(bytes).map_err(|error| self.failed = Some(error)).ok(),
        };
        Write { stream: self, chunk, ticket: None }
    }

    /// The message ends here.
    pub fn finish(mut self) -> Digesting<A> {
        let shared = self.shared.clone();
        let failed = self.failed.or(shared.check_process().err());
        let submission = match (failed, self.slot.take()) {
            (Some(error), slot) => {
                self.slot = slot;
                Submission::failed(shared, error)
            }
            (None, Some(id)) => {
                shared.with(|inner, now, after| inner.write(id, None, true, now, after));
                Submission::of_slot(shared, id)
            }
            (None, None) => {
                let content = Content::message(self.algorithms.list(), None, true);
                Submission::new(shared, self.pool, content, 0)
            }
        };
        Digesting::new(submission)
    }
}

impl<A> fmt::Debug for Stream<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl<A> Drop for Stream<A> {
    fn drop(&mut self) {
        if (self.slot.is_some() || self.unbegun) && self.shared.check_process().is_ok() {
            self.shared.with(|inner, now, after| {
                inner.unbegun -= usize::from(self.unbegun);
                if let Some(id) = self.slot {
                    inner.free(id, now, after);
                }
            });
        }
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
    Written(Id),
    Waits(Option<Ticket>),
    Failed(JobError),
}

impl<A: Algorithms> Future for Write<'_, A> {
    type Output = Result<(), JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        let Write { stream, chunk, ticket } = &mut *self;
        if let Err(error) = stream.shared.check_process() {
            return Poll::Ready(Err(error));
        }
        if let Some(error) = stream.failed {
            return Poll::Ready(Err(error));
        }
        if chunk.as_ref().is_none_or(|chunk| chunk.len() == 0) {
            return Poll::Ready(Ok(()));
        }
        let (slot, pool, list) = (stream.slot, stream.pool, stream.algorithms.list());
        // Cloned, and what it is exchanged for dropped, without the lock: that is code of the caller.
        let mut waker = Some(context.waker().clone());
        let attempt = stream.shared.with(|inner, now, after| {
            let granted = match admitted(inner, slot, chunk, ticket.take(), &mut waker, now, after) {
                Ok(granted) => granted,
                Err(attempt) => return attempt,
            };
            let Some(id) = slot.or(granted) else { return Attempt::Failed(JobError::Closed) };
            if slot.is_none() {
                inner.unbegun -= 1;
                inner.begin(id, pool, Content::message(list, None, false), now);
            }
            inner.write(id, chunk.take(), false, now, after);
            Attempt::Written(id)
        });
        match attempt {
            Attempt::Written(id) => {
                (stream.slot, stream.unbegun) = (Some(id), false);
                stream.shared.see_to(id);
                Poll::Ready(Ok(()))
            }
            Attempt::Waits(waits) => {
                *ticket = waits;
                Poll::Pending
            }
            Attempt::Failed(error) => {
                stream.failed = Some(error);
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
    if inner.closed {
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
