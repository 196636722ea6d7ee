//! The futures of digests.

use super::JobError;
use super::algorithms::Algorithms;
use super::block_on::block_on;
use super::gate::{Request, Ticket};
use super::inner::Taken;
use super::shared::Shared;
use super::slots::Id;
use super::sync::Arc;
use super::work::{Content, Outcome};
use crate::Digest;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A job on its way: in line for a slot and memory, then in its slot. Dropped, it leaves either.
pub(super) struct Submission {
    shared: Arc<Shared>,
    place: Place,
}

enum Place {
    /// In line; the job begins there as soon as it is let in.
    Line(Ticket),
    Slot(Id),
    /// It had no slot, or has it no more.
    Done(Outcome),
}

impl Submission {
    /// Brings a job in, or into the line.
    pub(super) fn new(shared: Arc<Shared>, pool: usize, content: Content, bytes: usize) -> Self {
        let request = Request { bytes, slot: true };
        let place = shared.with(|inner, now, after| {
            if inner.is_closed() {
                after.contents.push(content);
                return Place::Done(Err(JobError::Closed));
            }
            match inner.enter(request, now) {
                Some(Some(id)) => {
                    inner.begin(id, pool, content, now);
                    after.call = inner.is_to_be_called_for(id);
                    Place::Slot(id)
                }
                _ => {
                    after.call = true;
                    Place::Line(inner.gate.wait(request, Some((pool, content))))
                }
            }
        });
        Submission { shared, place }
    }

    /// Brings a job in, if there is room.
    ///
    /// # Errors
    /// If there is none, the bytes; `content` was not made of them.
    pub(super) fn try_new<B>(
        shared: Arc<Shared>,
        pool: usize,
        buffer: B,
        content: impl FnOnce(B) -> Content,
        bytes: usize,
    ) -> Result<Self, B> {
        let place = shared.with(|inner, now, after| {
            let request = Request { bytes, slot: true };
            let entered = if inner.is_closed() { None } else { inner.enter(request, now).flatten() };
            let Some(id) = entered else {
                (inner.is_pressed, after.call) = (true, true);
                return Err(buffer);
            };
            inner.begin(id, pool, content(buffer), now);
            after.call = inner.is_to_be_called_for(id);
            Ok(Place::Slot(id))
        });
        Ok(Submission { place: place?, shared })
    }

    /// What has no need of a slot.
    pub(super) fn done(shared: Arc<Shared>, outcome: Outcome) -> Self {
        Submission { shared, place: Place::Done(outcome) }
    }

    /// The end of a message whose stream is in a slot.
    pub(super) fn of_slot(shared: Arc<Shared>, id: Id) -> Self {
        Submission { shared, place: Place::Slot(id) }
    }

    fn poll(&mut self, context: &mut Context) -> Poll<Outcome> {
        let outcome = match &mut self.place {
            Place::Done(outcome) => std::mem::replace(outcome, Err(JobError::Closed)),
            Place::Line(_) | Place::Slot(_) => match self.shared.check_process() {
                Ok(()) => ready!(self.poll_in_engine(context)),
                Err(error) => Err(error),
            },
        };
        Poll::Ready(outcome)
    }

    fn poll_in_engine(&mut self, context: &mut Context) -> Poll<Outcome> {
        // Cloned, and what it is exchanged for dropped, without the lock: that is code of the caller.
        let mut waker = Some(context.waker().clone());
        let place = &mut self.place;
        let looked = self.shared.with(|inner, now, after| {
            if let Place::Line(ticket) = *place {
                match inner.gate.poll(ticket, &mut waker) {
                    Some(Some(id)) => *place = Place::Slot(id),
                    None if !inner.is_closed() => return Look::Outcome(Poll::Pending),
                    _ => return Look::Outcome(Poll::Ready(Err(JobError::Closed))),
                }
            }
            let Place::Slot(id) = *place else { return Look::Outcome(Poll::Ready(Err(JobError::Closed))) };
            after.call = true;
            match inner.take_own(id, now) {
                Some(taken) => Look::Own(id, taken),
                None => Look::Outcome(inner.poll(id, &mut waker, now, after)),
            }
        });
        let outcome = match looked {
            Look::Outcome(outcome) => outcome,
            Look::Own(id, taken) => self.shared.hash(taken, |inner, now, after| inner.poll(id, &mut waker, now, after)),
        };
        if outcome.is_ready() {
            self.place = Place::Done(Err(JobError::Closed));
        }
        outcome
    }
}

/// What a look at a job has come to.
enum Look {
    Outcome(Poll<Outcome>),
    /// It is to be hashed by this thread.
    Own(Id, Taken),
}

impl Drop for Submission {
    fn drop(&mut self) {
        if matches!(self.place, Place::Done(_)) || self.shared.check_process().is_err() {
            return;
        }
        self.shared.with(|inner, now, after| match self.place {
            Place::Slot(id) => inner.free(id, now, after),
            Place::Line(ticket) => inner.leave(ticket, now, after),
            Place::Done(_) => {}
        });
    }
}

/// The digests of one message to come: a future, or waited for with [`wait`](Self::wait).
///
/// The message was submitted when this was made; one that found no room is in line for it. Dropped, the message is
/// given up.
#[must_use = "a message is given up when this is dropped"]
pub struct Digesting<A> {
    submission: Submission,
    algorithms: PhantomData<fn() -> A>,
}

impl<A: Algorithms> Digesting<A> {
    pub(super) fn new(submission: Submission) -> Self {
        Digesting { submission, algorithms: PhantomData }
    }

    /// Waits for it on this thread, which may do some of the work.
    ///
    /// # Errors
    /// If it could not be hashed.
    pub fn wait(self) -> Result<A::Digests, JobError> {
        block_on(self)
    }
}

impl<A> fmt::Debug for Digesting<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Digesting").finish_non_exhaustive()
    }
}

impl<A: Algorithms> Future for Digesting<A> {
    type Output = Result<A::Digests, JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        self.submission.poll(context).map_ok(A::digests)
    }
}

/// The digests of many messages to come, in their order: a future, or waited for with [`wait`](Self::wait).
///
/// Dropped, the messages are given up.
#[must_use = "the messages are given up when this is dropped"]
pub struct DigestingMany {
    /// In order; those before `next` are done.
    parts: Vec<Part>,
    next: usize,
    messages: usize,
    digests: Vec<Digest>,
}

/// Messages that are one job.
pub(super) struct Part {
    pub(super) submission: Submission,
    /// Which of all messages they are.
    pub(super) numbers: Vec<usize>,
}

impl DigestingMany {
    pub(super) fn new(parts: Vec<Part>, messages: usize) -> Self {
        DigestingMany { parts, next: 0, messages, digests: Vec::new() }
    }

    /// Waits for them on this thread, which may do some of the work.
    ///
    /// # Errors
    /// If one of the messages could not be hashed.
    pub fn wait(self) -> Result<Vec<Digest>, JobError> {
        block_on(self)
    }
}

impl fmt::Debug for DigestingMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DigestingMany").field("messages", &self.messages).finish_non_exhaustive()
    }
}

impl Future for DigestingMany {
    type Output = Result<Vec<Digest>, JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        let DigestingMany { parts, next, messages, digests } = &mut *self;
        if let [Part { submission, .. }] = &mut parts[..] {
            // All messages, in their order.
            return submission.poll(context);
        }
        while let Some(Part { submission, numbers }) = parts.get_mut(*next) {
            let Poll::Ready(outcome) = submission.poll(context) else { return Poll::Pending };
            digests.resize(*messages, Digest::default());
            match outcome {
                Ok(part) => numbers.iter().zip(part).for_each(|(number, digest)| digests[*number] = digest),
                Err(error) => return Poll::Ready(Err(error)),
            }
            *next += 1;
        }
        Poll::Ready(Ok(std::mem::take(digests)))
    }
}
