//! What the engine knows, all of it under one lock: slots, schedule, admission and figures.
//!
//! Every operation is short and runs no code of callers: what is to be woken or dropped is left in an [`After`], for
//! when the lock is free again. Who hashes what is there is decided in [`turn`](super::turn).

use super::JobError;
use super::announced::Announced;
use super::costs::Costs;
use super::gate::{Admitted, Gate, Ticket};
use super::links::{Links, List};
use super::pool::{Order, Pool};
use super::reentry;
use super::schedule::Schedule;
use super::slots::{Id, SlotState, Slots};
use super::stats::Figures;
use super::sync::Arc;
use super::turn::Lead;
use super::unlocked::{Most, SMALL, Unlocked};
use super::work::{Chunk, Content, JobResult, Work};
use crate::hasher::FamilyRows;
use crate::{Algorithm, Hasher};
use std::collections::VecDeque;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Bytes of a stream that may wait to be hashed before its writer has to wait: enough that writer and engine seldom
/// wait for each other, and little against what a stream of a slow caller may hold. The model checker's messages are
/// short.
pub(super) const AHEAD: usize = if cfg!(manyhash_shuttle) { 8 << 10 } else { 256 << 10 };

/// Slots of an engine: messages and streams that callers have not come to the end of. Some hundred bytes each, and only of
/// those that were ever in use.
pub(super) const SLOTS: usize = 1 << 24;

/// A job or stream in its slot.
#[derive(Default)]
pub(super) struct Job {
    pub(super) pool: usize,
    /// What is to be hashed; not here while a thread hashes it.
    pub(super) content: Option<Content>,
    /// Chunks that came while a thread hashes.
    incoming: VecDeque<Chunk>,
    /// Whether the message ends with what is there.
    pub(super) ended: bool,
    /// Bytes handed over and not hashed.
    pub(super) backlog: usize,
    /// While the whole of it waits in line for memory.
    ticket: Option<Ticket>,
    outcome: Option<JobResult>,
    waker: Option<Waker>,
    /// Whether a thread of the engine is to see to it.
    urgent: bool,
    /// Whether its caller waits for one of the callers to hash it.
    waits: bool,
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
        let guard = |code: &mut dyn FnMut()| {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reentry::of_waker(code)));
        };
        for waker in self.wake {
            let mut waker = Some(waker);
            guard(&mut || waker.take().into_iter().for_each(Waker::wake));
        }
        for waker in self.wakers {
            let mut waker = Some(waker);
            guard(&mut || drop(waker.take()));
        }
        for chunk in self.garbage {
            let _ = chunk.discard();
        }
        for content in self.contents {
            let mut content = Some(content);
            guard(&mut || drop(content.take()));
        }
    }
}

/// Jobs in a thread's hands.
pub(super) struct Taken {
    /// The group of the schedule; none if a caller does his own.
    pub(super) group: Option<usize>,
    pub(super) works: Vec<Work>,
    pub(super) begun: Instant,
    /// Whether a thread of the engine has them, not one of the callers.
    pub(super) by_engine: bool,
}

pub(super) struct Inner {
    pub(super) slots: Slots<Job>,
    pub(super) gate: Gate<Id>,
    pub(super) schedule: Schedule,
    /// By the schedule's number.
    pub(super) pools: Vec<Pool>,
    orders: Vec<Arc<Order>>,
    pub(super) figures: Figures,
    /// Threads that sleep, and those of them that were called.
    pub(super) sleeping: usize,
    pub(super) called: usize,
    /// Whether one of those that sleep does so only for a while, and is to do so again.
    pub(super) watching: bool,
    pub(super) watch_on: bool,
    pub(super) unlocked: Arc<Unlocked>,
    /// Jobs that wait to be hashed and are urgent.
    pub(super) urgent: usize,
    /// Of the others, those of streams that have not ended.
    pub(super) left: usize,
    /// Jobs whose callers wait for one of the callers to hash them.
    pub(super) waiting: List,
    pub(super) links: Links,
    pub(super) lead: Option<Lead>,
    /// Writers who were to come back, so far.
    pub(super) writers: u64,
    /// Whether jobs wait for those that threads have in hand, to share lanes with them.
    pub(super) is_held: bool,
    pub(super) announced: Announced,
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
            watching: false,
            watch_on: false,
            unlocked,
            urgent: 0,
            left: 0,
            waiting: List::EMPTY,
            links: Links::default(),
            lead: None,
            writers: 0,
            is_held: false,
            announced: Announced::default(),
            is_pressed: false,
        }
    }

    /// These algorithms in this order, if they were asked for before.
    pub(super) fn order(&self, algorithms: &[Algorithm]) -> Option<Arc<Order>> {
        self.orders.iter().find(|order| order.algorithms == algorithms).cloned()
    }

    /// These algorithms in this order, and their pool, which are made if there are none.
    pub(super) fn make_order(&mut self, algorithms: &[Algorithm], costs: Costs) -> Arc<Order> {
        if let Some(order) = self.order(algorithms) {
            return order;
        }
        let mut sorted = algorithms.to_vec();
        sorted.sort_unstable();
        let pool = self.pools.iter().position(|pool| pool.algorithms == sorted).unwrap_or_else(|| {
            self.pools.push(Pool::new(sorted, costs.callers_alone(self.schedule.cores())));
            self.schedule.add_pool(costs)
        });
        let (hint, most) = (self.pools[pool].hint(), Most::of_one(algorithms));
        let order = Arc::new(Order { algorithms: algorithms.to_vec(), pool, hint, most });
        self.orders.push(order.clone());
        order
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

    /// Seconds that a job takes by itself: in one lane, or what fills all lanes in all of them.
    pub(super) fn seconds(&mut self, id: Id) -> f64 {
        let Some(job) = self.slots.get(id) else { return 0.0 };
        let (pool, bytes) = (job.pool, job.backlog as f64);
        let wide = job.is_wide();
        let costs = self.schedule.costs(pool);
        let lanes = if wide { costs.width() } else { 1 };
        bytes * costs.seconds(lanes) / lanes as f64
    }

    /// A job gets a slot, and begins if there is memory for it; if not, it waits in line.
    ///
    /// # Errors
    /// If there are too many, or the engine is closed.
    pub(super) fn submit(
        &mut self,
        pool: usize,
        content: Content,
        now: Instant,
        after: &mut After,
    ) -> Result<Id, JobError> {
        let id = if self.is_closed() { None } else { self.slots.take(Job::default(), now) };
        let Some(id) = id else {
            after.contents.push(content);
            return Err(if self.is_closed() { JobError::Closed } else { JobError::TooMany });
        };
        let bytes = content.left();
        let has_entered = self.gate.try_enter(bytes);
        let ticket = if has_entered { None } else { Some(self.gate.wait(bytes, Some(id))) };
        self.place(id, Job { pool, ended: true, content: Some(content), backlog: bytes, ticket, ..Job::default() });
        if has_entered {
            self.begin(id, now);
            after.call = self.is_to_be_called_for(id);
        } else {
            after.call = true;
        }
        Ok(id)
    }

    /// A stream gets a slot.
    pub(super) fn open(&mut self, pool: usize, content: Content, now: Instant) -> Option<Id> {
        let id = self.slots.take(Job::default(), now)?;
        self.place(id, Job { pool, content: Some(content), ..Job::default() });
        Some(id)
    }

    fn place(&mut self, id: Id, new: Job) {
        if let Some(job) = self.slots.get(id) {
            *job = new;
        }
    }

    /// Lets in those in line for whom there is room. Their jobs begin at once, whether or not anybody looks.
    pub(super) fn admit(&mut self, now: Instant, after: &mut After) {
        while let Some(admitted) = self.gate.admit(now) {
            match admitted {
                Admitted::Job(id) => {
                    if let Some(job) = self.slots.get(id) {
                        job.ticket = None;
                    }
                    self.begin(id, now);
                    self.wait(id);
                    after.call = true;
                }
                Admitted::Caller(waker) => after.wake.extend(waker),
            }
        }
    }

    /// A job that was let in is to be hashed.
    fn begin(&mut self, id: Id, now: Instant) {
        let seconds = self.seconds(id);
        let Some(job) = self.slots.get(id) else { return };
        let (wide, bytes) = (job.is_wide(), job.backlog as u64);
        job.urgent = seconds > SMALL;
        self.ready(id, SlotState::Filling, now, |schedule, pool| {
            if wide {
                schedule.add_wide(pool, id.index(), bytes);
            } else {
                schedule.add(pool, id.index(), bytes, bytes);
            }
        });
    }

    /// A job that was in this state waits to be hashed, and is added to the schedule.
    fn ready(&mut self, id: Id, from: SlotState, now: Instant, add: impl FnOnce(&mut Schedule, usize)) {
        if self.slots.change(id, from, SlotState::Ready, now).is_err() {
            return;
        }
        let Some(job) = self.slots.get(id) else { return };
        let pool = job.pool;
        *(if job.urgent { &mut self.urgent } else { &mut self.left }) += usize::from(job.urgent || !job.ended);
        if from == SlotState::Filling {
            self.pools[pool].enter();
        }
        add(&mut self.schedule, pool);
    }

    /// A job that waited to be hashed does not any more.
    fn unready(&mut self, id: Id) {
        let Some(job) = self.slots.get(id) else { return };
        *(if job.urgent { &mut self.urgent } else { &mut self.left }) -= usize::from(job.urgent || !job.ended);
        job.urgent = false;
        if std::mem::take(&mut job.waits) {
            self.waiting.remove(&mut self.links, id.index());
        }
    }

    /// Changes what is said of a job that may wait to be hashed.
    fn say(&mut self, id: Id, change: impl FnOnce(&mut Job)) {
        let is_ready = self.slots.state(id) == Some(SlotState::Ready);
        let Some(job) = self.slots.get(id) else { return };
        let counts = |job: &Job| (usize::from(job.urgent), usize::from(!job.urgent && !job.ended));
        let before = counts(job);
        change(job);
        let now = counts(job);
        if is_ready {
            self.urgent = self.urgent + now.0 - before.0;
            self.left = self.left + now.1 - before.1;
        }
    }

    /// A thread of the engine is to see to a job.
    pub(super) fn hurry(&mut self, id: Id) {
        self.say(id, |job| job.urgent = true);
    }

    /// If the caller of a message that is to be hashed waits, for its digest or for room, he waits for one of the callers.
    pub(super) fn wait(&mut self, id: Id) {
        let is_ready = self.slots.state(id) == Some(SlotState::Ready);
        let Some(job) = self.slots.get(id) else { return };
        let is_left = is_ready && !job.urgent && job.waker.is_some();
        if is_left && !std::mem::replace(&mut job.waits, true) {
            self.waiting.push_back(&mut self.links, id.index());
        }
    }

    /// The caller of a job does not wait any more. Returns his waker.
    pub(super) fn unwait(&mut self, id: Id) -> Option<Waker> {
        let job = self.slots.get(id)?;
        if std::mem::take(&mut job.waits) {
            self.waiting.remove(&mut self.links, id.index());
        }
        job.waker.take()
    }

    /// Whether a stream has no room for so many bytes more before some of what it has is hashed.
    pub(super) fn is_ahead(&mut self, id: Id, bytes: usize) -> bool {
        let job = self.slots.get(id);
        job.is_some_and(|job| job.backlog > 0 && job.backlog + bytes > AHEAD && job.outcome.is_none())
    }

    /// Why a stream has come to nothing, if it has.
    pub(super) fn failure(&mut self, id: Id) -> Option<JobError> {
        self.slots.get(id)?.outcome.as_ref()?.as_ref().err().copied()
    }

    /// A stream goes on with a chunk, which was admitted, and may end with it.
    pub(super) fn write(&mut self, id: Id, chunk: Option<Chunk>, end: bool, now: Instant, after: &mut After) {
        let state = self.slots.state(id);
        let bytes = chunk.as_ref().map_or(0, Chunk::len);
        let Some(job) = self.slots.get(id) else { return };
        let whole = job.backlog + bytes;
        match state {
            Some(SlotState::Done) => {
                // It has failed; the outcome says so.
                self.gate.release(bytes);
                after.garbage.extend(chunk);
                self.admit(now, after);
                return;
            }
            Some(SlotState::Hashing) => job.incoming.extend(chunk),
            _ => {
                if let Some(Content::Message { chunks, ended, .. }) = &mut job.content {
                    chunks.extend(chunk);
                    *ended |= end;
                }
            }
        }
        self.say(id, |job| (job.backlog, job.ended) = (whole, job.ended | end));
        let is_long = self.seconds(id) > SMALL && !self.is_patient(id, now);
        self.say(id, |job| job.urgent |= is_long && (job.ended || whole > AHEAD / 2));
        match state {
            Some(SlotState::Ready) => self.schedule.grow(id.index(), bytes as u64),
            Some(SlotState::Filling) => self.ready(id, SlotState::Filling, now, |schedule, pool| {
                schedule.add(pool, id.index(), bytes as u64, bytes as u64);
            }),
            _ => {}
        }
    }

    /// Whether a stream's backlog may wait for others to share lanes with. In a crowd they come by themselves, and a thread
    /// that were called for each would find few. What is a great deal at once is begun.
    fn is_patient(&mut self, id: Id, now: Instant) -> bool {
        let Some(job) = self.slots.get(id) else { return false };
        let (pool, backlog) = (job.pool, job.backlog);
        backlog <= 2 * AHEAD && self.is_crowded(pool, now)
    }

    /// What became of a job; if nothing yet, the waker is woken when it has, and exchanged for the one before.
    pub(super) fn poll(
        &mut self,
        id: Id,
        waker: &mut Option<Waker>,
        now: Instant,
        after: &mut After,
    ) -> Poll<JobResult> {
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
        if state == SlotState::Ready {
            self.unready(id);
            self.schedule.remove(id.index());
        }
        let Ok(job) = self.slots.free(id, state, now) else { return };
        if matches!(state, SlotState::Ready | SlotState::Hashing) {
            self.pools[job.pool].leave();
        }
        self.forget_lead(id);
        after.wakers.extend(job.waker);
        for chunk in job.incoming {
            self.gate.release(chunk.len());
            after.garbage.push(chunk);
        }
        match (job.ticket, job.content) {
            (Some(ticket), content) => {
                after.wakers.extend(self.gate.cancel(ticket));
                after.contents.extend(content);
            }
            (None, Some(content)) => self.discard(content, after),
            (None, None) => {}
        }
        self.admit(now, after);
    }

    /// Ends the life of what is left of a job of which so many bytes are released already.
    fn discard_rest(&mut self, content: Content, released: usize, after: &mut After) {
        match content {
            Content::ShortMessages(_) if released > 0 => after.contents.push(content),
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
            Content::ShortMessages(ref messages) => {
                self.gate.release(messages.weight());
                after.contents.push(content);
            }
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.unlocked.is_closed()
    }

    /// A job that waits goes into a thread's hands, to be advanced by so many bytes at most.
    pub(super) fn start(&mut self, id: Id, budget: usize, now: Instant) -> Option<Work> {
        let waited = self.slots.since(id, now)?;
        self.slots.change(id, SlotState::Ready, SlotState::Hashing, now).ok()?;
        self.figures.queue_wait.add(waited);
        self.unready(id);
        let content = self.slots.get(id)?.content.take()?;
        Some(Work::new(id, content, budget))
    }

    /// Jobs come back from a thread.
    pub(super) fn put_back(&mut self, taken: Taken, rows: &FamilyRows, now: Instant, after: &mut After) {
        let Taken { group, works, begun, by_engine } = taken;
        (self.is_pressed, self.is_held) = (false, false);
        // A thread of the engine looks for more by itself.
        after.call |= !by_engine;
        self.figures.rows.add_all(rows);
        self.figures.add_time(now.saturating_duration_since(begun), by_engine);
        if let Some(group) = group {
            self.schedule.end(group);
        }
        for work in works {
            self.put_back_one(work, group.is_some(), by_engine, now, after);
        }
        self.admit(now, after);
    }

    fn put_back_one(&mut self, work: Work, was_grouped: bool, by_engine: bool, now: Instant, after: &mut After) {
        let Work { id, mut content, hashed, released, outcome, .. } = work;
        self.gate.release(released);
        let visit = self.slots.since(id, now);
        let Some(job) = self.slots.get(id) else {
            // Its caller has left meanwhile.
            self.discard_rest(content, released, after);
            return;
        };
        self.figures.service.add(visit.unwrap_or(Duration::ZERO));
        let bytes = if let Content::ShortMessages(messages) = &content { messages.bytes() } else { hashed };
        let pool = job.pool;
        self.figures.add_bytes(&self.pools[pool].algorithms, bytes);
        job.backlog = job.backlog.saturating_sub(hashed);
        if let Some(outcome) = outcome {
            self.figures.jobs += 1;
            after.wake.extend(job.waker.take());
            job.outcome = Some(outcome);
            let incoming = std::mem::take(&mut job.incoming);
            let _ = self.slots.change(id, SlotState::Hashing, SlotState::Done, now);
            self.pools[pool].leave();
            self.forget_lead(id);
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
        let (left, piece) = (content.left() as u64, content.piece() as u64);
        let is_over = left == 0 && !job.ended;
        job.content = Some(content);
        if is_over {
            let _ = self.slots.change(id, SlotState::Hashing, SlotState::Filling, now);
            self.pools[pool].leave();
            return;
        }
        let is_long = self.seconds(id) > SMALL && !self.is_patient(id, now);
        // What the engine's threads have begun they finish.
        self.say(id, |job| {
            job.urgent = if job.ended { by_engine || is_long } else { is_long && job.backlog > AHEAD / 2 }
        });
        self.ready(id, SlotState::Hashing, now, |schedule, pool| {
            if was_grouped {
                schedule.give_back(id.index(), left, piece);
            } else {
                schedule.add(pool, id.index(), left, piece);
            }
        });
        self.wait(id);
    }

    /// Nobody waits in line with this ticket any more.
    pub(super) fn leave(&mut self, ticket: Ticket, now: Instant, after: &mut After) {
        after.wakers.extend(self.gate.cancel(ticket));
        self.admit(now, after);
    }

    /// No more jobs come; those that were let in are finished.
    pub(super) fn close(&mut self, now: Instant, after: &mut After) {
        self.unlocked.close();
        let away: Vec<_> = self.gate.close().collect();
        for (waker, job) in away {
            after.wake.extend(waker);
            let Some(id) = job else { continue };
            let _ = self.slots.change(id, SlotState::Filling, SlotState::Done, now);
            if let Some(job) = self.slots.get(id) {
                job.ticket = None;
                job.outcome = Some(Err(JobError::Closed));
                after.wake.extend(job.waker.take());
                after.contents.extend(job.content.take());
            }
        }
    }
}

impl Job {
    /// Whether it fills all lanes by itself.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.content, Some(Content::ShortMessages(_)))
    }

    /// Exchanges the waker of its caller.
    pub(super) fn swap_waker(&mut self, waker: &mut Option<Waker>) {
        std::mem::swap(&mut self.waker, waker);
    }

    /// Takes the waker of its caller.
    pub(super) fn take_waker(&mut self) -> Option<Waker> {
        self.waits = false;
        self.waker.take()
    }
}

impl Content {
    /// A whole message.
    pub(super) fn message(algorithms: &[Algorithm], chunk: Chunk) -> Self {
        let hashers = algorithms.iter().map(|algorithm| Hasher::new(*algorithm)).collect();
        Content::Message { hashers, chunks: VecDeque::from([chunk]), ended: true }
    }

    /// A message that goes on.
    pub(super) fn begun(hashers: Vec<Hasher>) -> Self {
        Content::Message { hashers, chunks: VecDeque::new(), ended: false }
    }

    /// Bytes that are not hashed yet.
    fn left(&self) -> usize {
        match self {
            Content::Message { chunks, .. } => chunks.iter().map(Chunk::left).sum(),
            Content::ShortMessages(messages) => messages.weight(),
        }
    }

    /// The next of them that stand side by side.
    fn piece(&self) -> usize {
        match self {
            Content::Message { chunks, .. } => chunks.front().map_or(0, Chunk::left),
            Content::ShortMessages(messages) => messages.weight(),
        }
    }
}
