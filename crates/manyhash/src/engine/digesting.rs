//! The futures of digests.

use super::JobError;
use super::algorithms::Algorithms;
use super::block_on::block_on;
use super::gate::{Request, Ticket};
use super::shared::Shared;
use super::slots::Id;
use super::sync::Arc;
use super::work::Content;
use crate::Digest;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A job on its way: in line for a slot and memory, then in its slot. Dropped, it leaves either.
pub(super) struct Submission {
    shared: Arc<Shared>,
    place: Place,
}

enum Place {
    /// In line; the job begins there as soon as it is let in.
    Line(Ticket),
    Slot(Id),
    /// It has failed before it had a slot.
    Failed(JobError),
    Over,
}

impl Submission {
    /// Brings a job in, or into the line.
    pub(super) fn new(shared: Arc<Shared>, pool: usize, content: Content, bytes: usize) -> Self {
        let request = Request { bytes, slot: true };
        let place = shared.with(|inner, now, after| {
            if inner.closed {
                return Place::Failed(JobError::Closed);
            }
            match inner.enter(request, now) {
                Some(Some(id)) => {
                    inner.begin(id, pool, content, now);
                    Place::Slot(id)
                }
                _ => {
                    after.call = true;
                    Place::Line(inner.gate.wait(request, Some((pool, content))))
                }
            }
        });
        Self::announced(shared, place)
    }

    /// Brings a job in, if there is room; otherwise there is nothing, and `content` was not asked for.
    pub(super) fn try_new(
        shared: Arc<Shared>,
        pool: usize,
        content: impl FnOnce() -> Content,
        bytes: usize,
    ) -> Option<Self> {
        let place = shared.with(|inner, now, after| {
            if inner.closed {
                return Some(Place::Failed(JobError::Closed));
            }
            let entered = inner.enter(Request { bytes, slot: true }, now).flatten();
            if entered.is_none() {
                (inner.is_pressed, after.call) = (true, true);
            }
            let id = entered?;
            inner.begin(id, pool, content(), now);
            Some(Place::Slot(id))
        });
        Some(Self::announced(shared, place?))
    }

    fn announced(shared: Arc<Shared>, place: Place) -> Self {
        if let Place::Slot(id) = place {
            shared.announce(id);
        }
        Submission { shared, place }
    }

    pub(super) fn failed(shared: Arc<Shared>, error: JobError) -> Self {
        Submission { shared, place: Place::Failed(error) }
    }

    /// The end of a message whose stream is in a slot.
    pub(super) fn of_slot(shared: Arc<Shared>, id: Id) -> Self {
        Self::announced(shared, Place::Slot(id))
    }

    fn poll(&mut self, context: &mut Context) -> Poll<Result<Vec<Digest>, JobError>> {
        if let Err(error) = self.shared.check_process() {
            return Poll::Ready(Err(error));
        }
        // Cloned, and what it is exchanged for dropped, without the lock: that is code of the caller.
        let mut waker = Some(context.waker().clone());
        if let Place::Line(ticket) = self.place {
            self.place = self.shared.with(|inner, _, _| match inner.gate.poll(ticket, &mut waker) {
                Some(Some(id)) => Place::Slot(id),
                None if !inner.closed => Place::Line(ticket),
                _ => Place::Failed(JobError::Closed),
            });
        }
        let outcome = match self.place {
            Place::Line(_) => return Poll::Pending,
            Place::Slot(id) => {
                self.shared.see_to(id);
                self.shared.with(|inner, now, after| inner.poll(id, &mut waker, now, after))
            }
            Place::Failed(error) => Poll::Ready(Err(error)),
            Place::Over => Poll::Ready(Err(JobError::Closed)),
        };
        if outcome.is_ready() {
            self.place = Place::Over;
        }
        outcome
    }
}

impl Drop for Submission {
    fn drop(&mut self) {
        if self.shared.check_process().is_err() {
            return;
        }
        match self.place {
            Place::Slot(id) => self.shared.with(|inner, now, after| inner.free(id, now, after)),
            Place::Line(ticket) => self.shared.with(|inner, now, after| inner.leave(ticket, now, after)),
            Place::Failed(_) | Place::Over => {}
        }
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
        DigestingMany { parts, next: 0, digests: vec![Digest::default(); messages] }
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
        f.debug_struct("DigestingMany").field("messages", &self.digests.len()).finish_non_exhaustive()
    }
}

impl Future for DigestingMany {
    type Output = Result<Vec<Digest>, JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        let DigestingMany { parts, next, digests } = &mut *self;
        while let Some(Part { submission, numbers }) = parts.get_mut(*next) {
            let Poll::Ready(outcome) = submission.poll(context) else { return Poll::Pending };
            match outcome {
                Ok(part) => numbers.iter().zip(part).for_each(|(number, digest)| digests[*number] = digest),
                Err(error) => return Poll::Ready(Err(error)),
            }
            *next += 1;
        }
        Poll::Ready(Ok(std::mem::take(digests)))
    }
}
