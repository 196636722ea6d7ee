//! Who hashes what is there: the caller that looks, another one, or a thread of the engine.
//!
//! Callers that hash by themselves, one message after another, never have lanes to share; threads that are called for
//! each message cost more than it. So where there are many callers, they do it in turns. One leads: he lets the others go
//! first, be they tasks of his runtime or threads, and when he is back he hashes in lanes what all of them have brought.
//! Whoever completes a full group of lanes hashes it at once. Nobody waits for a clock: the run queue itself says when
//! all have been there.

use super::inner::{After, Inner, Taken};
use super::schedule::Pace;
use super::slots::{Id, SlotState};
use super::stretch;
use super::unlocked::{LONG, SMALL, SWITCH, SWITCH_OF_THREAD};
use super::work::JobResult;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// How long what nobody hurries for is left to the callers: whoever leads may not be looked at again, and somebody may
/// wait for the buffers of streams that nobody waits for.
pub(super) const LINGER: Duration = Duration::from_millis(1);

/// Who looks, by what he can do meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Caller {
    /// A task, which shares its thread with others.
    Task,
    /// A thread that does nothing else.
    Thread,
}

impl Caller {
    /// Seconds that it takes him to wait for another who hashes, about.
    fn switch(self) -> f64 {
        match self {
            Caller::Task => SWITCH,
            Caller::Thread => SWITCH_OF_THREAD,
        }
    }
}

/// Who writes to a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    pub(super) caller: Caller,
    /// Whether others went first.
    pub(super) came_back: bool,
    /// Streams that are written in turns, this one included.
    pub(super) beside: usize,
}

/// What a caller is to do about what is to be hashed.
pub(super) enum Turn {
    /// Hash these, and look again.
    Hash(Taken),
    /// Let others go first, and look again.
    Yield,
    /// Wait to be woken.
    Wait,
}

/// What a look at a job has come to.
pub(super) enum Look {
    Outcome(Poll<JobResult>),
    /// The engine is closed and takes nothing more.
    Refused,
    Hash(Taken),
    Yield,
}

/// A writer who lets others go first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Yielded {
    /// His chunk is not accepted yet.
    Writer { pool: usize, number: u64 },
    /// His stream has no room, and what it has is a job as any other.
    Blocked,
}

/// Who has let others go first, and hashes what they have brought when he is back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    pub(super) who: Who,
    since: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    Job(Id),
    /// The writer of a chunk that is not accepted yet.
    Writer(u64),
}

impl Inner {
    /// A caller looks at his job, perhaps after others went first.
    pub(super) fn look(
        &mut self,
        id: Id,
        caller: Caller,
        is_back: bool,
        waker: &mut Option<Waker>,
        now: Instant,
        after: &mut After,
    ) -> Look {
        after.call = true;
        let came_back = self.end_lead(Who::Job(id)) || is_back;
        let is_ready = self.slots.state(id) == Some(SlotState::Ready);
        let turn = if is_ready { self.turn(id, caller, came_back, now) } else { Turn::Wait };
        match turn {
            Turn::Hash(taken) => Look::Hash(taken),
            Turn::Wait => {
                let outcome = self.poll(id, waker, now, after);
                self.wait(id);
                Look::Outcome(outcome)
            }
            Turn::Yield => {
                if let Some(job) = self.slots.get(id) {
                    job.swap_waker(waker);
                }
                Look::Yield
            }
        }
    }

    /// What the writer of a stream that has no room for his chunk is to do: much is to be hashed before it has.
    pub(super) fn turn_of_blocked(
        &mut self,
        id: Id,
        caller: Caller,
        is_back: bool,
        waker: &mut Option<Waker>,
        now: Instant,
    ) -> Turn {
        let came_back = self.end_lead(Who::Job(id)) || is_back;
        let is_ready = self.slots.state(id) == Some(SlotState::Ready);
        let turn = if is_ready { self.turn(id, caller, came_back, now) } else { Turn::Wait };
        if !matches!(turn, Turn::Hash(_))
            && let Some(job) = self.slots.get(id)
        {
            job.swap_waker(waker);
        }
        if matches!(turn, Turn::Wait) {
            self.wait(id);
        }
        turn
    }

    /// The writer of a stream that has no room does not wait for it any more.
    pub(super) fn forget_blocked(&mut self, id: Id, after: &mut After) {
        self.end_lead(Who::Job(id));
        after.wakers.extend(self.unwait(id));
    }

    /// What the caller of a job that is to be hashed is to do.
    fn turn(&mut self, id: Id, caller: Caller, came_back: bool, now: Instant) -> Turn {
        let seconds = self.seconds(id);
        let Some(job) = self.slots.get(id) else { return Turn::Wait };
        let (pool, wide) = (job.pool, job.is_wide());
        if wide {
            // It fills lanes by itself.
            return self.turn_alone(id, seconds, caller, came_back, now);
        }
        let callers = self.callers(pool, now);
        if came_back {
            self.pools[pool].see(callers);
        }
        let is_alone = self.pools[pool].is_alone(callers, came_back);
        if is_alone || self.is_not_worth_it(pool, seconds, caller) {
            return self.turn_alone(id, seconds, caller, came_back, now);
        }
        if seconds > SMALL && caller == Caller::Thread {
            // Nothing is lost by handing it over.
            self.hurry(id);
            return Turn::Wait;
        }
        if (came_back || self.schedule.fills_lanes(pool)) && (caller == Caller::Thread || stretch::fits(SMALL)) {
            return self.turn_in_lanes(pool, now);
        }
        self.join(Who::Job(id), now)
    }

    /// The same where lanes would gain little.
    fn turn_alone(&mut self, id: Id, seconds: f64, caller: Caller, came_back: bool, now: Instant) -> Turn {
        let bytes = match caller {
            Caller::Task if seconds > SMALL => {
                self.hurry(id);
                return Turn::Wait;
            }
            Caller::Task if came_back || stretch::fits(seconds) => usize::MAX,
            Caller::Task => {
                // How many do the same is seen by whoever is back first.
                self.join(Who::Job(id), now);
                return Turn::Yield;
            }
            // In slices, since there may be others for the next.
            Caller::Thread => self.schedule.slice_alone(id.index()),
        };
        self.take_own(id, bytes, now).map_or(Turn::Wait, Turn::Hash)
    }

    /// Whether waiting for others to hash it costs more than full lanes would save of so many seconds.
    fn is_not_worth_it(&self, pool: usize, seconds: f64, caller: Caller) -> bool {
        seconds * self.schedule.costs(pool).gain() <= caller.switch()
    }

    /// Jobs that share lanes, unless they had better share those of others that are in hand.
    pub(super) fn turn_in_lanes(&mut self, pool: usize, now: Instant) -> Turn {
        match self.schedule.take_of(pool, Pace::Caller) {
            Some(bundle) => Turn::Hash(self.start_all(bundle, false, now)),
            None => {
                self.is_held = true;
                Turn::Wait
            }
        }
    }

    /// Leads, or waits for who does.
    fn join(&mut self, who: Who, now: Instant) -> Turn {
        if self.lead.is_some_and(|lead| !lead.is_late(now)) {
            return if matches!(who, Who::Job(_)) { Turn::Wait } else { Turn::Yield };
        }
        self.lead = Some(Lead { who, since: now });
        Turn::Yield
    }

    /// Callers at once, with those who will soon come.
    fn callers(&mut self, pool: usize, now: Instant) -> usize {
        // One of the requests is this one.
        self.pools[pool].callers() + self.announced.count(now).saturating_sub(1)
    }

    /// Whether there are more callers, now or a moment ago, than had better hash by themselves.
    pub(super) fn is_crowded(&mut self, pool: usize, now: Instant) -> bool {
        let callers = self.callers(pool, now);
        !self.pools[pool].is_alone(callers, false)
    }

    /// Whether the writer of a chunk of so many seconds, who has nothing to be hashed so far, had better hash it himself;
    /// nothing if he is to let others go first, before that can be told.
    pub(super) fn is_writer_alone(
        &mut self,
        pool: usize,
        seconds: f64,
        Writer { caller, came_back, beside }: Writer,
        now: Instant,
    ) -> Option<bool> {
        let callers = self.callers(pool, now) + 1;
        if came_back {
            self.pools[pool].see(callers);
        }
        let is_alone = self.pools[pool].is_alone(callers.max(beside), came_back);
        if seconds > SMALL || !(is_alone || self.is_not_worth_it(pool, seconds, caller)) {
            return Some(false);
        }
        (caller == Caller::Thread || came_back || stretch::fits(seconds)).then_some(true)
    }

    /// What the writer of a chunk that was accepted had better hash: his own, or, if that completes a group of lanes, what
    /// is in it.
    pub(super) fn turn_of_writer(
        &mut self,
        id: Id,
        Writer { caller, came_back, beside }: Writer,
        now: Instant,
    ) -> Option<Taken> {
        if self.slots.state(id) != Some(SlotState::Ready) {
            return None;
        }
        let seconds = self.seconds(id);
        let pool = self.slots.get(id)?.pool;
        let may_hash = |seconds: f64| caller == Caller::Thread || stretch::fits(seconds);
        let callers = self.callers(pool, now).max(beside);
        if self.pools[pool].is_alone(callers, came_back) {
            return if seconds <= SMALL && may_hash(seconds) { self.take_own(id, usize::MAX, now) } else { None };
        }
        if !self.schedule.fills_lanes(pool) || !may_hash(SMALL) {
            return None;
        }
        match self.turn_in_lanes(pool, now) {
            Turn::Hash(taken) => Some(taken),
            Turn::Yield | Turn::Wait => None,
        }
    }

    /// A writer lets others go first.
    pub(super) fn yield_writer(&mut self, pool: usize, now: Instant) -> Yielded {
        self.writers += 1;
        let number = self.writers;
        self.pools[pool].yields();
        self.join(Who::Writer(number), now);
        Yielded::Writer { pool, number }
    }

    /// He is back, or will not come.
    pub(super) fn return_writer(&mut self, yielded: Yielded) {
        if let Yielded::Writer { pool, number } = yielded {
            self.pools[pool].returns();
            self.end_lead(Who::Writer(number));
        }
    }

    /// Whether this one leads: not any more then.
    pub(super) fn end_lead(&mut self, who: Who) -> bool {
        let leads = self.lead.is_some_and(|lead| lead.who == who);
        if leads {
            self.lead = None;
        }
        leads
    }

    /// A job that is no longer there leads nobody.
    pub(super) fn forget_lead(&mut self, id: Id) {
        self.end_lead(Who::Job(id));
    }

    /// Sees to it that somebody leads if callers wait for that.
    pub(super) fn appoint(&mut self, now: Instant, after: &mut After) {
        if self.lead.is_some() || self.is_held {
            return;
        }
        let Some(id) = self.waiting.first().and_then(|job| self.slots.id(job)) else { return };
        self.waiting.remove(&mut self.links, id.index());
        after.wake.extend(self.slots.get(id).and_then(|job| job.take_waker()));
        self.lead = Some(Lead { who: Who::Job(id), since: now });
    }

    /// Whether a thread is wanted for a job that its caller does not wait for yet. He may do it himself when he does,
    /// unless there are others, who should not wait for that, or it takes long.
    pub(super) fn is_to_be_called_for(&mut self, id: Id) -> bool {
        self.slots.count(SlotState::Ready) > 1 || self.seconds(id) > LONG
    }

    /// Whether a thread more would have something to do, is there, and is not called yet: it counts as called then.
    pub(super) fn call(&mut self) -> bool {
        let is_to_watch = self.is_to_be_watched();
        self.watch_on |= is_to_watch;
        let is_wanted = (is_to_watch && !self.watching) || (self.is_urgent() && self.schedule.has_work());
        let call = is_wanted && self.called < self.sleeping;
        self.called += usize::from(call);
        call
    }

    /// Whether jobs wait that are left to callers, to streams' further chunks, or for lanes of those in hand, or somebody
    /// waits for what was granted to others: a thread sees to it that this is not for long. A single message's caller may
    /// do it when he likes.
    pub(super) fn is_to_be_watched(&self) -> bool {
        let is_left = self.left > 0 || self.urgent > 0 || self.waiting.first().is_some();
        is_left || self.slots.count(SlotState::Ready) > 1 || self.gate.is_waited_for() || self.is_closed()
    }

    /// Whether any message is to be hashed, or being hashed.
    pub(super) fn has_jobs(&self) -> bool {
        self.slots.count(SlotState::Ready) + self.slots.count(SlotState::Hashing) > 0
    }

    /// Whether there is reason for the engine's threads to hash now: for a job that takes long, or many of them; or
    /// somebody waits for memory that jobs hold.
    fn is_urgent(&self) -> bool {
        let waited_for = self.urgent > 0 || self.is_closed() || self.is_pressed || self.gate.is_waited_for();
        waited_for || self.schedule.is_much()
    }

    /// Jobs for a thread of the engine, if there is reason. What was left for too long is one.
    pub(super) fn take(&mut self, may_be_late: bool, now: Instant) -> Option<Taken> {
        let is_late = may_be_late
            && (cfg!(manyhash_shuttle) || self.slots.oldest(SlotState::Ready, now).is_some_and(|age| age >= LINGER));
        if !is_late && !self.is_urgent() {
            return None;
        }
        if is_late {
            self.lead = None;
        }
        let bundle = self.schedule.take()?;
        Some(self.start_all(bundle, true, now))
    }

    fn start_all(&mut self, bundle: super::schedule::Bundle, by_engine: bool, now: Instant) -> Taken {
        let works = bundle.jobs.into_iter().filter_map(|(job, bytes)| {
            let id = self.slots.id(job)?;
            self.start(id, bytes as usize, now)
        });
        Taken { group: Some(bundle.group), works: works.collect(), begun: now, by_engine }
    }

    /// A job of the caller's own, to be advanced by so many bytes at most.
    pub(super) fn take_own(&mut self, id: Id, bytes: usize, now: Instant) -> Option<Taken> {
        self.schedule.remove(id.index());
        let work = self.start(id, bytes, now)?;
        Some(Taken { group: None, works: vec![work], begun: now, by_engine: false })
    }
}

impl Lead {
    /// Whether he may not come back at all.
    fn is_late(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= LINGER
    }
}
