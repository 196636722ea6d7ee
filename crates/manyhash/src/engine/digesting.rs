//! The futures of digests.

use super::JobError;
use super::algorithms::Algorithms;
use super::block_on::block_on;
use super::inner::{After, Inner};
use super::pool::{Held, Order};
use super::reentry;
use super::shared::SharedEngine;
use super::slots::Id;
use super::stretch::{self, Others};
use super::sync::{Arc, thread};
use super::turn::{Caller, Look};
use super::unlocked::{LONG, SMALL, Unlocked};
use super::work::{Chunk, Content, JobResult};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

/// A job on its way: held by its caller until he looks, or in its slot, where it may wait in line for memory. Dropped,
/// it leaves.
pub(super) struct Submission {
    shared: Arc<SharedEngine>,
    place: Place,
    /// While others of this thread go first.
    yielded: Option<Others>,
}

enum Place {
    /// A message that is not submitted yet.
    Held(Option<Message>),
    Slot(Id),
    /// It had no slot, or has it no more.
    Done(JobResult),
}

/// A message of a caller who has not looked at it yet: he had better hash it himself, or is about to look.
struct Message {
    order: Arc<Order>,
    chunk: Chunk,
    /// If it may be submitted.
    held: Option<Held>,
}

impl Message {
    /// Whether its caller had better hash it, as far as can be told without the lock. If the engine is gone, there is
    /// nobody else.
    fn is_own(&self, caller: Caller, unlocked: &Unlocked) -> bool {
        let seconds = self.chunk.len() as f64 * self.order.most.seconds;
        let had_better = match caller {
            Caller::Thread => self.chunk.len() <= self.order.most.tiny_for_thread || self.order.hint.is_quiet(),
            Caller::Task => seconds <= SMALL && stretch::fits(seconds) && self.order.hint.is_quiet(),
        };
        self.held.is_none() || unlocked.is_closed() || had_better
    }

    fn hash(self, unlocked: &Unlocked) -> JobResult {
        let Message { order, chunk, held } = self;
        let bytes = chunk.len();
        let _hashing = held.map(|_| order.hint.hashing());
        unlocked.add(&order.algorithms, bytes);
        stretch::add(bytes as f64 * order.most.seconds);
        chunk.digests(&order.algorithms)
    }
}

impl Submission {
    /// Takes a message in, which is submitted now, or when its caller looks at it.
    pub(super) fn of_message(shared: Arc<SharedEngine>, order: Arc<Order>, chunk: Chunk) -> Self {
        let (is_tiny, seconds) = (chunk.len() <= order.most.tiny, chunk.len() as f64 * order.most.seconds);
        let held = if is_tiny || seconds > LONG { None } else { order.hint.hold(shared.threads) };
        if is_tiny || held.is_some() {
            let place = Place::Held(Some(Message { order, chunk, held }));
            return Submission { shared, place, yielded: None };
        }
        if let Err(error) = shared.check_process() {
            let _ = chunk.discard();
            return Self::done(shared, Err(error));
        }
        Self::new(shared, order.pool, Content::message(&order.algorithms, chunk))
    }

    /// Brings a job in, or into the line.
    pub(super) fn new(shared: Arc<SharedEngine>, pool: usize, content: Content) -> Self {
        let place = match shared.with(|inner, now, after| inner.submit(pool, content, now, after)) {
            Ok(id) => Place::Slot(id),
            Err(error) => Place::Done(Err(error)),
        };
        Submission { shared, place, yielded: None }
    }

    /// Brings a job in, if there is room.
    ///
    /// # Errors
    /// If there is none, the bytes; `content` was not made of them.
    pub(super) fn try_new<B>(
        shared: Arc<SharedEngine>,
        pool: usize,
        buffer: B,
        content: impl FnOnce(B) -> Content,
        bytes: usize,
    ) -> Result<Self, B> {
        let submitted = shared.with(|inner, now, after| {
            if inner.gate.has_room(bytes, now) {
                return Ok(inner.submit(pool, content(buffer), now, after));
            }
            (inner.is_pressed, after.call) = (true, true);
            Err(buffer)
        });
        let place = match submitted? {
            Ok(id) => Place::Slot(id),
            Err(error) => Place::Done(Err(error)),
        };
        Ok(Submission { place, shared, yielded: None })
    }

    /// What has no need of a slot.
    pub(super) fn done(shared: Arc<SharedEngine>, outcome: JobResult) -> Self {
        Submission { shared, place: Place::Done(outcome), yielded: None }
    }

    /// The end of a message whose stream is in a slot.
    pub(super) fn of_slot(shared: Arc<SharedEngine>, id: Id) -> Self {
        Submission { shared, place: Place::Slot(id), yielded: None }
    }

    pub(super) fn poll(&mut self, caller: Caller, context: &mut Context) -> Poll<JobResult> {
        let mut is_back = false;
        if let Some(others) = &mut self.yielded {
            if others.go_on(context) {
                return Poll::Pending;
            }
            self.yielded = None;
            is_back = true;
        }
        let outcome = match &mut self.place {
            Place::Done(_) | Place::Held(Some(Message { held: None, .. }))
                if caller == Caller::Task && !stretch::fits(0.0) =>
            {
                return self.let_others_go_first(context);
            }
            Place::Done(outcome) => std::mem::replace(outcome, Err(JobError::Closed)),
            Place::Held(message) => match message.take_if(|message| message.is_own(caller, &self.shared.unlocked)) {
                Some(message) => message.hash(&self.shared.unlocked),
                None => ready!(self.poll_in_engine(caller, is_back, context)),
            },
            Place::Slot(_) => ready!(self.poll_in_engine(caller, is_back, context)),
        };
        self.place = Place::Done(Err(JobError::Closed));
        Poll::Ready(outcome)
    }

    fn let_others_go_first(&mut self, context: &mut Context) -> Poll<JobResult> {
        self.yielded = Some(Others::go_first());
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_in_engine(&mut self, caller: Caller, mut is_back: bool, context: &mut Context) -> Poll<JobResult> {
        let shared = self.shared.clone();
        if let Err(error) = shared.check_process() {
            self.place.discard();
            return Poll::Ready(Err(error));
        }
        // Cloned, and what it is exchanged for dropped, without the lock and while no jobs are in hand: that is code of the
        // caller.
        let mut waker = Some(context.waker().clone());
        let mut taken = None;
        loop {
            let place = &mut self.place;
            let look = |inner: &mut Inner, now: Instant, after: &mut After| match place.submitted(inner, now, after) {
                Ok(Some(id)) => inner.look(id, caller, is_back, &mut waker, now, after),
                Ok(None) => Look::Refused,
                Err(error) => Look::Outcome(Poll::Ready(Err(error))),
            };
            let look = match taken.take() {
                Some(taken) => shared.hash(taken, look),
                None => shared.with(look),
            };
            is_back = matches!(look, Look::Yield);
            match look {
                Look::Outcome(Poll::Pending) if reentry::is_in_buffer() => return Poll::Ready(Err(self.give_up())),
                Look::Outcome(outcome) => return outcome,
                Look::Refused => return Poll::Ready(self.place.hash(&shared.unlocked)),
                Look::Yield if caller == Caller::Task => return self.let_others_go_first(context),
                Look::Yield => {
                    waker = Some(context.waker().clone());
                    thread::yield_now();
                }
                Look::Hash(jobs) => taken = Some(jobs),
            }
        }
    }

    /// Gives up the job: waiting for it here would never end.
    fn give_up(&self) -> JobError {
        if let Place::Slot(id) = self.place {
            self.shared.with(|inner, now, after| inner.free(id, now, after));
        }
        JobError::Reentrant
    }
}

impl Place {
    /// Ends the life of a message that is not submitted.
    fn discard(&mut self) {
        if let Place::Held(message) = self
            && let Some(message) = message.take()
        {
            let _ = message.chunk.discard();
        }
    }

    /// The digests of a message that is not submitted, hashed here.
    fn hash(&mut self, unlocked: &Unlocked) -> JobResult {
        match self {
            Place::Held(message) => message.take().map_or(Err(JobError::Closed), |message| message.hash(unlocked)),
            Place::Slot(_) | Place::Done(_) => Err(JobError::Closed),
        }
    }

    /// The job's slot, which it gets if its caller had it; none if the engine is closed.
    ///
    /// # Errors
    /// If the engine has too many.
    fn submitted(&mut self, inner: &mut Inner, now: Instant, after: &mut After) -> Result<Option<Id>, JobError> {
        let message = match self {
            Place::Slot(id) => return Ok(Some(*id)),
            Place::Held(_) if inner.is_closed() => return Ok(None),
            Place::Held(message) => message.take(),
            Place::Done(_) => None,
        };
        let Some(Message { order, chunk, .. }) = message else { return Ok(None) };
        let id = inner.submit(order.pool, Content::message(&order.algorithms, chunk), now, after)?;
        *self = Place::Slot(id);
        Ok(Some(id))
    }
}

impl Drop for Submission {
    fn drop(&mut self) {
        self.place.discard();
        if let Place::Slot(id) = self.place
            && self.shared.check_process().is_ok()
        {
            self.shared.with(|inner, now, after| inner.free(id, now, after));
        }
    }
}

/// A future of the digests of one message. [`wait`](Self::wait) blocks instead.
///
/// The message was submitted when the future was made. If there was no room for it, it is in line. Dropping the future
/// abandons the message.
#[must_use = "a message is given up when this is dropped"]
pub struct Digesting<A: Algorithms> {
    state: Digests<A::Digests>,
}

enum Digests<D> {
    /// Hashed in the call that handed the message over, and while others of this thread go first.
    AtOnce(Option<Result<D, JobError>>, Option<Others>),
    ToCome(Submission),
}

/// Nothing in it is pinned.
impl<A: Algorithms> Unpin for Digesting<A> {}

impl<A: Algorithms> Digesting<A> {
    pub(super) fn new(submission: Submission) -> Self {
        Digesting { state: Digests::ToCome(submission) }
    }

    pub(super) fn at_once(outcome: Result<A::Digests, JobError>) -> Self {
        Digesting { state: Digests::AtOnce(Some(outcome), None) }
    }

    /// Blocks until the message is hashed. This thread may do some of the hashing.
    ///
    /// # Errors
    /// Returns an error if the message could not be hashed.
    pub fn wait(self) -> Result<A::Digests, JobError> {
        match self.state {
            Digests::AtOnce(outcome, _) => outcome.unwrap_or(Err(JobError::Closed)),
            Digests::ToCome(mut submission) => {
                block_on(|context| submission.poll(Caller::Thread, context).map_ok(A::digests))
            }
        }
    }
}

impl<A: Algorithms> fmt::Debug for Digesting<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Digesting").finish_non_exhaustive()
    }
}

impl<A: Algorithms> Future for Digesting<A> {
    type Output = Result<A::Digests, JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        match &mut self.state {
            Digests::ToCome(submission) => submission.poll(Caller::Task, context).map_ok(A::digests),
            Digests::AtOnce(outcome, others) => {
                let goes_on = match others {
                    Some(others) => others.go_on(context),
                    None if stretch::fits(0.0) => false,
                    None => {
                        *others = Some(Others::go_first());
                        context.waker().wake_by_ref();
                        true
                    }
                };
                if goes_on { Poll::Pending } else { Poll::Ready(outcome.take().unwrap_or(Err(JobError::Closed))) }
            }
        }
    }
}
