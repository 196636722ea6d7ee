//! Messages that arrive in chunks.

use super::JobError;
use super::algorithms::Algorithms;
use super::block_on::block_on;
use super::digesting::{Digesting, Submission};
use super::gate::Ticket;
use super::inner::{After, Inner, Taken};
use super::pool::{Order, Writing};
use super::reentry;
use super::shared::SharedEngine;
use super::slots::Id;
use super::stretch::{self, Others};
use super::sync::Arc;
use super::turn::{Caller, Turn, Writer, Yielded};
use super::unlocked::Unlocked;
use super::work::{self, Chunk, Content};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Hashes a message that arrives in chunks. Chunks of 16 KiB and more are best: each costs a trip to the engine.
///
/// [`write`](Self::write) takes a chunk without copying it, and waits while the engine's memory is used up or hashing
/// is more than 256 KiB behind. Dropping the stream abandons the message.
pub struct HashStream<A> {
    shared: Arc<SharedEngine>,
    place: Place,
    /// Once it is no longer tiny.
    writing: Option<Writing>,
    algorithms: PhantomData<fn() -> A>,
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

/// A message for which the engine is not needed yet.
struct Short {
    order: Arc<Order>,
    hashes: Vec<crate::Hasher>,
    hashed: usize,
}

impl Short {
    fn is_tiny(&self, bytes: usize) -> bool {
        self.hashed.saturating_add(bytes) <= self.order.most.tiny
    }

    /// Whether its caller hashes so many bytes more himself, as far as can be told without the lock.
    fn is_own(&self, bytes: usize, beside: usize, caller: Caller) -> bool {
        let may_go_on = caller == Caller::Thread || stretch::fits(bytes as f64 * self.order.most.seconds);
        let is_alone = || self.order.hint.is_quiet() && !self.order.hint.is_exceeded_by(beside);
        may_go_on && (self.is_tiny(bytes) || (bytes <= self.order.most.small && is_alone()))
    }

    fn hash(&mut self, chunk: Option<Chunk>, unlocked: &Unlocked) -> Result<(), JobError> {
        let Some(chunk) = chunk else { return Ok(()) };
        let bytes = chunk.len();
        let _hashing = (!self.is_tiny(bytes)).then(|| self.order.hint.hashing());
        chunk.hash(&mut self.hashes)?;
        self.hashed = self.hashed.saturating_add(bytes);
        stretch::add(bytes as f64 * self.order.most.seconds);
        unlocked.add_bytes(self.hashes.iter().map(crate::Hasher::algorithm), bytes);
        if unlocked.is_closed() { Err(JobError::Closed) } else { Ok(()) }
    }
}

impl<A: Algorithms> HashStream<A> {
    pub(super) fn new(shared: Arc<SharedEngine>, algorithms: A) -> Self {
        let place = match shared.order(algorithms.list()) {
            Ok(order) => {
                let hashes = algorithms.list().iter().map(|algorithm| crate::Hasher::new(*algorithm)).collect();
                Place::Short(Short { order, hashes, hashed: 0 })
            }
            Err(error) => Place::Over(error),
        };
        HashStream { shared, place, writing: None, algorithms: PhantomData }
    }

    /// Appends a chunk to the message.
    ///
    /// The future completes when the chunk is accepted, which may be before it is hashed. If it is dropped earlier,
    /// nothing was written, and the message can be continued. The thread that polls hashes the first few KiB of a
    /// message and, while there are few callers, chunks of up to some hundred KiB.
    pub fn write<B: AsRef<[u8]> + Send + 'static>(&mut self, bytes: B) -> Write<'_, A> {
        let chunk = match work::length(&bytes) {
            Ok(length) => Some(Chunk::of_length(bytes, length)),
            Err(error) => {
                work::discard(bytes);
                self.end(error);
                None
            }
        };
        let length = chunk.as_ref().map_or(0, Chunk::len);
        if let (Place::Short(short), None) = (&self.place, &self.writing)
            && !short.is_tiny(length)
        {
            self.writing = Some(Writing::new(short.order.hint.clone()));
        }
        let beside = self.writing.as_mut().map_or(1, Writing::beside);
        Write { stream: self, chunk, beside, ticket: None, yielded: None, blocked: false }
    }

    /// Ends the message and returns its digest as a future.
    pub fn finish(mut self) -> Digesting<A> {
        let shared = &self.shared;
        match std::mem::replace(&mut self.place, Place::Over(JobError::Closed)) {
            Place::Short(_) if shared.unlocked.is_closed() => Digesting::at_once(Err(JobError::Closed)),
            Place::Short(short) => {
                shared.unlocked.add_job();
                Digesting::at_once(Ok(A::digests(short.hashes.into_iter().map(crate::Hasher::finalize).collect())))
            }
            Place::Slot(id) => match shared.check_process() {
                Ok(()) => {
                    shared.with(|inner, now, after| {
                        inner.write(id, None, true, now, after);
                        after.call = inner.is_to_be_called_for(id);
                    });
                    Digesting::new(Submission::of_slot(shared.clone(), id))
                }
                Err(error) => Digesting::at_once(Err(error)),
            },
            Place::Over(error) => Digesting::at_once(Err(error)),
        }
    }
}

impl<A> HashStream<A> {
    /// It comes to nothing, unless it has already.
    fn end(&mut self, error: JobError) {
        match std::mem::replace(&mut self.place, Place::Over(error)) {
            Place::Slot(id) if self.shared.check_process().is_ok() => {
                self.shared.with(|inner, now, after| inner.free(id, now, after));
            }
            Place::Short(_) | Place::Slot(_) | Place::Over(_) => {}
        }
    }
}

impl<A> fmt::Debug for HashStream<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashStream").finish_non_exhaustive()
    }
}

impl<A> Drop for HashStream<A> {
    fn drop(&mut self) {
        self.end(JobError::Closed);
    }
}

/// A future that completes when a stream has accepted a chunk. [`wait`](Self::wait) blocks instead.
#[must_use = "nothing is written when this is dropped before it is done"]
pub struct Write<'a, A> {
    stream: &'a mut HashStream<A>,
    /// Until it is accepted.
    chunk: Option<Chunk>,
    /// Streams that are written in turns.
    beside: usize,
    /// While it is in line.
    ticket: Option<Ticket>,
    /// While others of this thread go first.
    yielded: Option<(Yielded, Others)>,
    /// Whether it waits for room in its stream.
    blocked: bool,
}

impl<A: Algorithms> Write<'_, A> {
    /// Blocks until the chunk is accepted. This thread may do some of the hashing.
    ///
    /// # Errors
    /// Returns an error if the stream has failed, or if the engine was dropped.
    pub fn wait(mut self) -> Result<(), JobError> {
        block_on(|context| self.poll_as(Caller::Thread, context))
    }

    fn poll_as(&mut self, caller: Caller, context: &mut Context) -> Poll<Result<(), JobError>> {
        let Write { stream, chunk, beside, ticket, yielded, blocked } = self;
        let beside = *beside;
        let length = chunk.as_ref().map_or(0, Chunk::len);
        if let Some((_, others)) = yielded
            && others.go_on(context)
        {
            return Poll::Pending;
        }
        let mut returned = yielded.map(|(yielded, _)| yielded);
        // Cloned, and what it is exchanged for dropped, without the lock and while no jobs are in hand: that is code of the
        // caller.
        let mut waker = None;
        let is_own = match &mut stream.place {
            Place::Over(error) => Err(*error),
            Place::Short(_) | Place::Slot(_) if length == 0 => return Poll::Ready(Ok(())),
            Place::Short(short) if ticket.is_none() && returned.is_none() && short.is_own(length, beside, caller) => {
                Ok(true)
            }
            Place::Short(short) => match stream.shared.check_process() {
                // There are no others in this process for whom the lock could be asked.
                Err(JobError::Forked) if short.is_tiny(length) => Ok(true),
                checked => checked.map(|()| false),
            },
            Place::Slot(_) => stream.shared.check_process().map(|()| false),
        };
        if matches!(is_own, Ok(false)) {
            waker = Some(context.waker().clone());
        }
        let mut jobs = None;
        let attempt = loop {
            let attempt = match is_own {
                Err(error) => Attempt::Failed(error),
                Ok(true) => Attempt::Own,
                Ok(false) => {
                    let (shared, place) = (&stream.shared, &mut stream.place);
                    let admit = |inner: &mut Inner, now: Instant, after: &mut After| {
                        let waker = &mut waker;
                        (*yielded, *blocked) = (None, false);
                        let returned = returned.take();
                        Admission { inner, place, chunk, beside, caller, returned, waker, now, after }
                            .run(ticket.take())
                    };
                    match jobs.take() {
                        Some(jobs) => shared.hash(jobs, admit),
                        None => shared.with(admit),
                    }
                }
            };
            match attempt {
                Attempt::Hashes(taken) => jobs = Some(taken),
                attempt => break attempt,
            }
        };
        match attempt {
            Attempt::Own => {
                let Place::Short(short) = &mut stream.place else { return Poll::Ready(Err(JobError::Closed)) };
                let written = short.hash(chunk.take(), &stream.shared.unlocked);
                written.unwrap_or_else(|error| stream.end(error));
                Poll::Ready(written)
            }
            Attempt::Written(taken) => {
                if let Some(taken) = taken {
                    stream.shared.hash(taken, |_, _, _| {});
                }
                Poll::Ready(Ok(()))
            }
            // Not an end of the loop.
            Attempt::Hashes(_) => Poll::Pending,
            Attempt::Waits(waits) => {
                (*ticket, *blocked) = (waits, waits.is_none());
                if reentry::is_in_buffer() { Poll::Ready(Err(JobError::Reentrant)) } else { Poll::Pending }
            }
            Attempt::Yields(now) => {
                (*yielded, *blocked) = (Some((now, Others::go_first())), matches!(now, Yielded::Blocked));
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Attempt::Failed(error) => {
                stream.end(error);
                Poll::Ready(Err(error))
            }
        }
    }
}

impl<A> fmt::Debug for Write<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Write").finish_non_exhaustive()
    }
}

impl<A: Algorithms> Future for Write<'_, A> {
    type Output = Result<(), JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        self.poll_as(Caller::Task, context)
    }
}

impl<A> Drop for Write<'_, A> {
    fn drop(&mut self) {
        let is_known = self.ticket.is_some() || self.yielded.is_some() || self.blocked;
        if is_known && self.stream.shared.check_process().is_ok() {
            self.stream.shared.with(|inner, now, after| {
                if let Some((yielded, _)) = self.yielded {
                    inner.return_writer(yielded);
                }
                if let (Place::Slot(id), true) = (&self.stream.place, self.blocked) {
                    inner.forget_blocked(*id, after);
                }
                if let Some(ticket) = self.ticket {
                    inner.leave(ticket, now, after);
                }
            });
        }
        if let Some(chunk) = self.chunk.take() {
            // What its drop does, if it panics, is not for this thread to suffer from.
            let _ = chunk.discard();
        }
    }
}

/// What became of an attempt to write.
enum Attempt {
    /// It is to be hashed by this thread at once.
    Own,
    /// It was accepted, and some of what was is to be hashed by this thread.
    Written(Option<Taken>),
    Waits(Option<Ticket>),
    /// These are to be hashed by this thread before it is tried again.
    Hashes(Taken),
    /// Others go first.
    Yields(Yielded),
    Failed(JobError),
}

/// An attempt to have a chunk accepted, under the lock.
struct Admission<'a> {
    inner: &'a mut Inner,
    place: &'a mut Place,
    chunk: &'a mut Option<Chunk>,
    beside: usize,
    caller: Caller,
    /// If others went first.
    returned: Option<Yielded>,
    waker: &'a mut Option<Waker>,
    now: Instant,
    after: &'a mut After,
}

impl Admission<'_> {
    fn writer(&self) -> Writer {
        Writer { caller: self.caller, came_back: self.returned.is_some(), beside: self.beside }
    }

    fn run(&mut self, ticket: Option<Ticket>) -> Attempt {
        self.try_to_write(ticket).unwrap_or_else(|attempt| attempt)
    }

    /// # Errors
    /// What comes instead of writing.
    fn try_to_write(&mut self, ticket: Option<Ticket>) -> Result<Attempt, Attempt> {
        let bytes = self.chunk.as_ref().map_or(0, Chunk::len);
        if let Some(yielded) = self.returned {
            self.inner.return_writer(yielded);
        }
        if self.inner.is_closed() {
            // What was granted before comes too late: the threads may have ended.
            if let Some(ticket) = ticket {
                self.inner.leave(ticket, self.now, self.after);
            }
            return Err(Attempt::Failed(JobError::Closed));
        }
        match ticket {
            Some(ticket) => {
                if !self.inner.gate.poll(ticket, bytes, self.waker) {
                    self.after.call = true;
                    return Err(Attempt::Waits(Some(ticket)));
                }
            }
            None => self.enter(bytes)?,
        }
        let id = self.slot(bytes)?;
        // Whoever was woken to lead would not come.
        self.after.wakers.extend(self.inner.unwait(id));
        self.inner.write(id, self.chunk.take(), false, self.now, self.after);
        self.after.call = true;
        Ok(Attempt::Written(self.inner.turn_of_writer(id, self.writer(), self.now)))
    }

    /// Asks for room for a chunk: first in the stream, then in the engine.
    ///
    /// # Errors
    /// If it is not to be handed over now.
    fn enter(&mut self, bytes: usize) -> Result<(), Attempt> {
        let writer = self.writer();
        match self.place {
            Place::Short(short) => {
                let seconds = bytes as f64 * short.order.most.seconds;
                if short.is_tiny(bytes) && writer.came_back {
                    return Err(Attempt::Own);
                }
                match self.inner.is_writer_alone(short.order.pool, seconds, writer, self.now) {
                    Some(true) => return Err(Attempt::Own),
                    Some(false) => {}
                    None => return Err(Attempt::Yields(self.inner.yield_writer(short.order.pool, self.now))),
                }
            }
            Place::Slot(id) => {
                if let Some(error) = self.inner.failure(*id) {
                    return Err(Attempt::Failed(error));
                }
                if self.inner.is_ahead(*id, bytes) {
                    self.after.call = true;
                    let (id, caller) = (*id, self.caller);
                    return Err(match self.inner.turn_of_blocked(id, caller, writer.came_back, self.waker, self.now) {
                        Turn::Hash(taken) => Attempt::Hashes(taken),
                        Turn::Yield => Attempt::Yields(Yielded::Blocked),
                        Turn::Wait => Attempt::Waits(None),
                    });
                }
            }
            Place::Over(error) => return Err(Attempt::Failed(*error)),
        }
        if self.inner.gate.try_enter(bytes) {
            return Ok(());
        }
        let ticket = self.inner.gate.wait(bytes, None);
        self.inner.gate.poll(ticket, bytes, self.waker);
        self.after.call = true;
        Err(Attempt::Waits(Some(ticket)))
    }

    /// The stream's slot, which it gets if it has none.
    ///
    /// # Errors
    /// If there are too many; the memory is given back.
    fn slot(&mut self, bytes: usize) -> Result<Id, Attempt> {
        let error = match self.place {
            Place::Slot(id) => return Ok(*id),
            Place::Short(Short { order, hashes, .. }) => {
                let content = Content::begun(std::mem::take(hashes));
                match self.inner.open(order.pool, content, self.now) {
                    Some(id) => {
                        *self.place = Place::Slot(id);
                        return Ok(id);
                    }
                    None => JobError::TooMany,
                }
            }
            Place::Over(error) => *error,
        };
        self.inner.gate.release(bytes);
        self.inner.admit(self.now, self.after);
        Err(Attempt::Failed(error))
    }
}
