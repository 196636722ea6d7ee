//! What the engine knows, all of it under one lock: slots, schedule, admission and figures.
//!
//! Every operation is short and runs no code of callers: what is to be woken or dropped is left in an [`After`], for
//! when the lock is free again.

use super::JobError;
use super::costs::Costs;
use super::gate::{Admitted, Gate, Grant, Request, Ticket};
use super::schedule::Schedule;
use super::slots::{Id, Slots, State};
use super::stats::Figures;
use super::sync::Arc;
use super::unlocked::{SMALL, TINY, Unlocked};
use super::work::{Chunk, Content, Outcome, Work};
use crate::stream::FamilyRows;
use crate::{Algorithm, Stream};
use std::collections::VecDeque;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Bytes of a stream that may wait to be hashed before its writer has to wait: enough that writer and engine seldom
/// wait for each other, and little against what a stream of a slow caller may hold. The model checker's messages are
/// short.
pub(super) const AHEAD: usize = if cfg!(manyhash_shuttle) { 8 << 10 } else { 256 << 10 };

/// Slots of an engine: callers at once. A hundred bytes each, and only of those that were ever in use.
pub(super) const SLOTS: usize = 1 << 16;

/// A job or stream in its slot.
#[derive(Default)]
pub(super) struct Job {
    pool: usize,
    /// What is to be hashed; not here while a thread hashes it.
    content: Option<Content>,
    /// Chunks that came while a thread hashes.
    incoming: VecDeque<Chunk>,
    /// Whether the message ends with what is there.
    ended: bool,
    /// Bytes handed over and not hashed.
    backlog: usize,
    outcome: Option<Outcome>,
    waker: Option<Waker>,
    /// Whether somebody waits for it, or soon will.
    urgent: bool,
}

/// What is left to do without the lock.
#[derive(Default)]
pub(super) struct After {
    pub(super) wake: Vec<Waker>,
    /// Of those who do not wait any more.
    pub(super) wakers: Vec<Waker>,
    pub(super) garbage: Vec<Chunk>,
    pub(super) contents: Vec<Content>,
    /// Whether a thread may be wanted: jobs came, or somebody waits for the memory of those that nobody asks about.
    pub(super) call: bool,
}

impl After {
    /// Wakes and drops. Both are code of callers, whose panics are nobody's business here.
    pub(super) fn settle(self) {
        for waker in self.wake {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| waker.wake()));
        }
        for waker in self.wakers {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(waker)));
        }
        for chunk in self.garbage {
            let _ = chunk.discard();
        }
        for content in self.contents {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(content)));
        }
    }
}

/// Jobs in a thread's hands.
pub(super) struct Taken {
    /// The group of the schedule; none if a caller does his own.
    group: Option<usize>,
    pub(super) works: Vec<Work>,
    pub(super) begun: Instant,
}

/// A set of algorithms.
struct Pool {
    /// In their own order.
    algorithms: Vec<Algorithm>,
    /// The most callers who had better hash themselves.
    alone: usize,
}

pub(super) struct Inner {
    pub(super) slots: Slots<Job>,
    pub(super) gate: Gate<(usize, Content)>,
    pub(super) schedule: Schedule,
    /// By the schedule's number.
    pools: Vec<Pool>,
    /// The orders in which callers have named algorithms, with their pools.
    orders: Vec<(Vec<Algorithm>, usize)>,
    figures: Figures,
    /// Threads that sleep, and those of them that were called.
    pub(super) sleeping: usize,
    pub(super) called: usize,
    /// Whether one of those that sleep does so only for a while.
    pub(super) lingering: bool,
    unlocked: Arc<Unlocked>,
    /// Jobs that wait to be hashed and are urgent.
    urgent: usize,
    /// Whether somebody found no room since jobs were last put back.
    pub(super) is_pressed: bool,
}

impl Inner {
    pub(super) fn new(threads: usize, memory: usize, unlocked: Arc<Unlocked>) -> Self {
        Inner {
            slots: Slots::new(SLOTS),
            gate: Gate::new(memory),
            schedule: Schedule::new(threads),
            pools: Vec::new(),
            orders: Vec::new(),
            figures: Figures::default(),
            sleeping: 0,
            called: 0,
            lingering: false,
            unlocked,
            urgent: 0,
            is_pressed: false,
        }
    }

    /// The pool of these algorithms, in this order, if there is one by now.
    pub(super) fn pool(&self, algorithms: &[Algorithm]) -> Option<usize> {
        self.orders.iter().find(|(order, _)| order == algorithms).map(|(_, pool)| *pool)
    }

    /// The pool of these algorithms, which is made if there is none.
    pub(super) fn make_pool(&mut self, algorithms: &[Algorithm], costs: Costs) -> usize {
        if let Some(pool) = self.pool(algorithms) {
            return pool;
        }
        let mut sorted = algorithms.to_vec();
        sorted.sort_unstable();
        let pool = self.pools.iter().position(|pool| pool.algorithms == sorted).unwrap_or_else(|| {
            self.pools.push(Pool { algorithms: sorted, alone: costs.callers_alone(self.schedule.cores()) });
            self.schedule.add_pool(costs)
        });
        self.orders.push((algorithms.to_vec(), pool));
        pool
    }

    /// A caller has hashed a batch at once.
    pub(super) fn add_batch(&mut self, algorithm: Algorithm, bytes: usize, rows: &FamilyRows, time: Duration) {
        self.figures.jobs += 1;
        self.figures.add_time(time, false);
        self.figures.add_bytes(&[algorithm], bytes);
        self.figures.rows.add_all(rows);
    }

    /// The figures, with those of what callers hashed at once.
    pub(super) fn figures(&self) -> Figures {
        let mut figures = self.figures.clone();
        figures.add_unlocked(&self.unlocked);
        figures
    }

    /// Asks for memory and perhaps a slot; without room there is nothing.
    pub(super) fn enter(&mut self, request: Request, now: Instant) -> Option<Grant> {
        let (slots, unlocked) = (&mut self.slots, &self.unlocked);
        self.gate.try_enter(request, || {
            let id = slots.take(Job::default(), now)?;
            unlocked.add_caller();
            Some(id)
        })
    }

    /// Lets in those in line for whom there is room. Their jobs begin at once, whether or not anybody looks.
    pub(super) fn admit(&mut self, now: Instant, after: &mut After) {
        loop {
            let (slots, unlocked) = (&mut self.slots, &self.unlocked);
            let admitted = self.gate.admit(|| {
                let id = slots.take(Job::default(), now)?;
                unlocked.add_caller();
                Some(id)
            });
            let Some(Admitted { grant, waker, job }) = admitted else { return };
            match (grant, job) {
                (Some(id), Some((pool, content))) => {
                    self.begin(id, pool, content, now);
                    if let Some(job) = self.slots.get(id) {
                        job.waker = waker;
                    }
                    after.call = true;
                }
                _ => after.wake.extend(waker),
            }
        }
    }

    /// A slot that was granted becomes a job or a stream.
    pub(super) fn begin(&mut self, id: Id, pool: usize, content: Content, now: Instant) {
        let bytes = content.left();
        let waits = bytes > 0 || content.has_ended();
        let wide = matches!(content, Content::Batch(_));
        if let Some(job) = self.slots.get(id) {
            let ended = content.has_ended();
            *job = Job { pool, ended, content: Some(content), backlog: bytes, urgent: ended, ..Job::default() };
        }
        if waits && self.slots.change(id, State::Filling, State::Ready, now).is_ok() {
            self.urgent += 1;
            if wide {
                self.schedule.add_wide(pool, id.index(), bytes as u64);
            } else {
                self.schedule.add(pool, id.index(), bytes as u64, bytes as u64);
            }
        }
    }

    /// Whether a stream has no room for so many bytes more, until the waker is woken, which is exchanged for the one
    /// before. Its writer waits then, so that what it has is to be hashed.
    pub(super) fn is_ahead(&mut self, id: Id, bytes: usize, waker: &mut Option<Waker>, after: &mut After) -> bool {
        let Some(job) = self.slots.get(id) else { return false };
        let ahead = job.backlog > 0 && job.backlog + bytes > AHEAD && job.outcome.is_none();
        if ahead {
            std::mem::swap(&mut job.waker, waker);
            self.hurry(id);
            after.call = true;
        }
        ahead
    }

    /// Why a stream has come to nothing, if it has.
    pub(super) fn failure(&mut self, id: Id) -> Option<JobError> {
        self.slots.get(id)?.outcome.as_ref()?.as_ref().err().copied()
    }

    /// A stream goes on with a chunk, which was admitted, and may end with it.
    pub(super) fn write(&mut self, id: Id, chunk: Option<Chunk>, end: bool, now: Instant, after: &mut After) {
        let state = self.slots.state(id);
        let Some(job) = self.slots.get(id) else { return };
        let (pool, bytes) = (job.pool, chunk.as_ref().map_or(0, Chunk::len));
        job.backlog += bytes;
        job.ended |= end;
        let urgent = job.ended || job.backlog > AHEAD / 2;
        match state {
            Some(State::Done) => {
                // It has failed; the outcome says so.
                self.gate.release(bytes);
                after.garbage.extend(chunk);
                return;
            }
            Some(State::Hashing) => job.incoming.extend(chunk),
            _ => {
                if let Some(Content::Message { chunks, ended, .. }) = &mut job.content {
                    chunks.extend(chunk);
                    *ended |= end;
                }
            }
        }
        match state {
            Some(State::Ready) => self.schedule.grow(id.index(), bytes as u64),
            Some(State::Filling) if self.slots.change(id, State::Filling, State::Ready, now).is_ok() => {
                self.schedule.add(pool, id.index(), bytes as u64, bytes as u64);
            }
            _ => {}
        }
        if urgent {
            self.hurry(id);
        }
    }

    /// Somebody waits for a job, or soon will.
    fn hurry(&mut self, id: Id) {
        let ready = self.slots.state(id) == Some(State::Ready);
        if let Some(job) = self.slots.get(id)
            && !std::mem::replace(&mut job.urgent, true)
        {
            self.urgent += usize::from(ready);
        }
    }

    /// What became of a job; if nothing yet, the waker is woken when it has, and exchanged for the one before.
    pub(super) fn poll(&mut self, id: Id, waker: &mut Option<Waker>, now: Instant, after: &mut After) -> Poll<Outcome> {
        let Some(job) = self.slots.get(id) else { return Poll::Ready(Err(JobError::Closed)) };
        let Some(outcome) = job.outcome.take() else {
            std::mem::swap(&mut job.waker, waker);
            return Poll::Pending;
        };
        self.free(id, now, after);
        Poll::Ready(outcome)
    }

    /// Nobody wants to know of a job or stream any more.
    pub(super) fn free(&mut self, id: Id, now: Instant, after: &mut After) {
        let Some(state) = self.slots.state(id) else { return };
        let Ok(job) = self.slots.free(id, state, now) else { return };
        self.unlocked.remove_caller();
        if state == State::Ready {
            self.schedule.remove(id.index());
            self.urgent -= usize::from(job.urgent);
        }
        after.wakers.extend(job.waker);
        for chunk in job.incoming {
            self.gate.release(chunk.len());
            after.garbage.push(chunk);
        }
        if let Some(content) = job.content {
            self.discard(content, after);
        }
        self.admit(now, after);
    }

    /// Ends the life of what is left of a job of which so many bytes are released already.
    fn discard_rest(&mut self, content: Content, released: usize, after: &mut After) {
        match content {
            Content::Batch(_) if released > 0 => after.contents.push(content),
            _ => self.discard(content, after),
        }
    }

    /// Ends the life of what is left of a job.
    fn discard(&mut self, content: Content, after: &mut After) {
        match content {
            Content::Message { chunks, .. } => {
                for chunk in chunks {
                    self.gate.release(chunk.len());
                    after.garbage.push(chunk);
                }
            }
            Content::Batch(ref messages) => {
                self.gate.release(messages.weight());
                after.contents.push(content);
            }
        }
    }

    /// Whether a thread more would have something to do, is there, and is not called yet: it counts as called then.
    pub(super) fn call(&mut self) -> bool {
        let call = self.called < self.sleeping
            && if self.is_urgent() { self.schedule.has_work() } else { !self.lingering && self.schedule.is_waiting() };
        self.called += usize::from(call);
        call
    }

    /// As the model checker's tests want to know.
    #[cfg(all(test, manyhash_shuttle))]
    pub(super) fn callers(&self) -> usize {
        self.unlocked.callers()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.unlocked.is_closed()
    }

    /// Whether jobs wait that nobody is in a hurry for: a thread sees to it that this is not for long.
    pub(super) fn is_leaving_jobs(&self) -> bool {
        self.schedule.is_waiting() && !self.is_urgent()
    }

    /// Whether there is reason to hash now: lanes can be filled, or somebody waits for what could be hashed or for
    /// memory that it holds. What nobody waits for is left until there is, and fills lanes then: of a stream no more
    /// than half of what it may be ahead.
    fn is_urgent(&self) -> bool {
        let waited_for = self.urgent > 0 || self.is_closed() || self.is_pressed || self.gate.is_waited_for();
        waited_for || self.schedule.fills_lanes()
    }

    /// Whether a thread is wanted for a job that its caller does not wait for yet. He may do it himself when he does,
    /// unless there are others, who should not wait for that.
    pub(super) fn is_to_be_called_for(&mut self, id: Id) -> bool {
        self.slots.count(State::Ready) > 1 || !self.is_own(id)
    }

    /// Jobs for a thread of the engine.
    /// If they are overdue, also such as nobody is in a hurry for.
    pub(super) fn take(&mut self, overdue: bool, now: Instant) -> Option<Taken> {
        if !overdue && !self.is_urgent() {
            return None;
        }
        let bundle = self.schedule.take()?;
        let works = bundle.jobs.into_iter().filter_map(|(job, bytes)| {
            let id = self.slots.id(job)?;
            self.start(id, bytes as usize, now)
        });
        Some(Taken { group: Some(bundle.group), works: works.collect(), begun: now })
    }

    /// A job of the caller's, if it waits and he had better do it himself.
    pub(super) fn take_own(&mut self, id: Id, now: Instant) -> Option<Taken> {
        if !self.is_own(id) {
            return None;
        }
        self.schedule.remove(id.index());
        let work = self.start(id, usize::MAX, now)?;
        Some(Taken { group: None, works: vec![work], begun: now })
    }

    /// Whether a job waits that the thread which waits for it had better do itself: one that is done sooner than it is
    /// handed over, or one for which the engine would not have more lanes than one.
    pub(super) fn is_own(&mut self, id: Id) -> bool {
        if self.slots.state(id) != Some(State::Ready) {
            return false;
        }
        let Some(job) = self.slots.get(id) else { return false };
        let (pool, bytes, ended) = (job.pool, job.backlog, job.ended);
        let wide = matches!(job.content, Some(Content::Batch(_)));
        let costs = self.schedule.costs(pool);
        let (lanes, alone) = if wide { (costs.width(), 1) } else { (1, self.alone(pool)) };
        let seconds = bytes as f64 * costs.seconds(lanes) / lanes as f64;
        (ended && seconds <= TINY) || (seconds <= SMALL && self.unlocked.callers() <= alone)
    }

    /// The most callers, with messages for this pool, who had better hash themselves: lanes would not gain them much.
    pub(super) fn alone(&self, pool: usize) -> usize {
        self.pools[pool].alone
    }

    fn start(&mut self, id: Id, budget: usize, now: Instant) -> Option<Work> {
        let waited = self.slots.since(id, now)?;
        self.slots.change(id, State::Ready, State::Hashing, now).ok()?;
        self.figures.queue_wait.add(waited);
        let job = self.slots.get(id)?;
        let content = job.content.take()?;
        let urgent = std::mem::replace(&mut job.urgent, false);
        self.urgent -= usize::from(urgent);
        Some(Work::new(id, content, budget))
    }

    /// Jobs come back from a thread.
    pub(super) fn put_back(&mut self, taken: Taken, rows: &FamilyRows, now: Instant, after: &mut After) {
        let Taken { group, works, begun } = taken;
        self.is_pressed = false;
        self.figures.rows.add_all(rows);
        self.figures.add_time(now.saturating_duration_since(begun), group.is_some());
        if let Some(group) = group {
            self.schedule.end(group);
        }
        for work in works {
            self.put_back_one(work, group.is_some(), now, after);
        }
        self.admit(now, after);
    }

    fn put_back_one(&mut self, work: Work, was_grouped: bool, now: Instant, after: &mut After) {
        let Work { id, mut content, hashed, released, outcome, .. } = work;
        self.gate.release(released);
        let visit = self.slots.since(id, now);
        let Some(job) = self.slots.get(id) else {
            // Its caller has left meanwhile.
            self.discard_rest(content, released, after);
            return;
        };
        self.figures.service.add(visit.unwrap_or(Duration::ZERO));
        let bytes = if let Content::Batch(messages) = &content { messages.bytes() } else { hashed };
        self.figures.add_bytes(&self.pools[job.pool].algorithms, bytes);
        job.backlog = job.backlog.saturating_sub(hashed);
        if let Some(outcome) = outcome {
            self.figures.jobs += 1;
            after.wake.extend(job.waker.take());
            job.outcome = Some(outcome);
            let incoming = std::mem::take(&mut job.incoming);
            let _ = self.slots.change(id, State::Hashing, State::Done, now);
            for chunk in incoming {
                self.gate.release(chunk.len());
                after.garbage.push(chunk);
            }
            self.discard_rest(content, released, after);
            return;
        }
        if let Content::Message { chunks, ended, .. } = &mut content {
            chunks.append(&mut job.incoming);
            *ended = job.ended;
        }
        if !job.ended && job.backlog <= AHEAD / 2 {
            after.wake.extend(job.waker.take());
        }
        let (pool, left, piece) = (job.pool, content.left(), content.piece());
        let waits = left > 0 || job.ended;
        job.content = Some(content);
        job.urgent = waits && (job.urgent || job.ended || job.backlog > AHEAD / 2);
        self.urgent += usize::from(job.urgent);
        let to = if waits { State::Ready } else { State::Filling };
        let _ = self.slots.change(id, State::Hashing, to, now);
        match (waits, was_grouped) {
            (true, true) => self.schedule.give_back(id.index(), left as u64, piece as u64),
            (true, false) => self.schedule.add(pool, id.index(), left as u64, piece as u64),
            (false, _) => {}
        }
    }

    /// Nobody waits in line with this ticket any more.
    pub(super) fn leave(&mut self, ticket: Ticket, now: Instant, after: &mut After) {
        let (grant, waker, job) = self.gate.cancel(ticket);
        after.wakers.extend(waker);
        after.contents.extend(job.map(|(_, content)| content));
        if let Some(id) = grant {
            self.free(id, now, after);
        }
        self.admit(now, after);
    }

    /// No more jobs come; those that have a slot are finished.
    pub(super) fn close(&mut self, after: &mut After) {
        self.unlocked.close();
        for (waker, job) in self.gate.close() {
            after.wake.extend(waker);
            after.contents.extend(job.map(|(_, content)| content));
        }
    }
}

impl Content {
    /// A whole message.
    pub(super) fn message(algorithms: &[Algorithm], chunk: Chunk) -> Self {
        let streams = algorithms.iter().map(|algorithm| Stream::new(*algorithm)).collect();
        Content::Message { streams, chunks: VecDeque::from([chunk]), ended: true }
    }

    /// A message that goes on.
    pub(super) fn begun(streams: Vec<Stream>) -> Self {
        Content::Message { streams, chunks: VecDeque::new(), ended: false }
    }

    /// Bytes that are not hashed yet.
    fn left(&self) -> usize {
        match self {
            Content::Message { chunks, .. } => chunks.iter().map(Chunk::left).sum(),
            Content::Batch(messages) => messages.weight(),
        }
    }

    /// The next of them that stand side by side.
    fn piece(&self) -> usize {
        match self {
            Content::Message { chunks, .. } => chunks.front().map_or(0, Chunk::left),
            Content::Batch(messages) => messages.weight(),
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Content::Message { ended, .. } => *ended,
            Content::Batch(_) => true,
        }
    }
}
