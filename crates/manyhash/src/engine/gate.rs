//! Admission: memory is granted in the order in which it was asked for.
//!
//! Who finds no room waits in line with a ticket. Room that becomes free is granted to the first in line, as far as it
//! suffices, and nobody overtakes, so that a large request is not starved by small ones. A grant that nobody fetches
//! holds up nobody for long: after [`PATIENCE`] it goes to the next in line, and its owner, should he come after all,
//! is first again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::Waker;
use std::time::{Duration, Instant};

/// How long room is kept, while others wait in line, for somebody who does not come for it.
pub(super) const PATIENCE: Duration = Duration::from_millis(10);

/// A place in line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ticket(u64);

/// The line, and the memory that is not handed over. `J` is a job that waits in line: it is let in whether or not
/// anybody looks.
#[derive(Debug)]
pub(super) struct Gate<J> {
    bound: usize,
    held: usize,
    line: VecDeque<Ticket>,
    /// By ticket: who waits in line.
    waiting: BTreeMap<Ticket, Waiting<J>>,
    /// By ticket: bytes that were granted, since when, and are not yet fetched.
    granted: BTreeMap<Ticket, (usize, Instant)>,
    /// Those whose grants went to others because they did not come.
    passed: BTreeSet<Ticket>,
    next: u64,
}

#[derive(Debug)]
struct Waiting<J> {
    bytes: usize,
    waker: Option<Waker>,
    job: Option<J>,
}

/// Somebody who is let in.
#[derive(Debug)]
pub(super) enum Admitted<J> {
    Job(J),
    /// Who is to come for what was granted.
    Caller(Option<Waker>),
}

impl<J> Gate<J> {
    pub(super) fn new(bound: usize) -> Self {
        let (line, waiting, granted, passed) = (VecDeque::new(), BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Gate { bound, held: 0, line, waiting, granted, passed, next: 0 }
    }

    pub(super) fn bound(&self) -> usize {
        self.bound
    }

    /// Bytes handed over and not yet hashed, or granted for that.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Whether anybody is in line.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What so many bytes count for: one message larger than the bound is let in when nothing else is.
    fn weight(&self, bytes: usize) -> usize {
        bytes.min(self.bound)
    }

    /// Grants the bytes at once, if nobody waits and there is room.
    pub(super) fn try_enter(&mut self, bytes: usize) -> bool {
        self.waiting.is_empty() && self.grant(bytes)
    }

    /// Whether the bytes would be granted at once, those aside who do not come for theirs.
    pub(super) fn has_room(&mut self, bytes: usize, now: Instant) -> bool {
        self.waiting.is_empty() && (self.fits(bytes) || (self.pass(now) && self.fits(bytes)))
    }

    fn fits(&self, bytes: usize) -> bool {
        self.weight(bytes) <= self.bound - self.held
    }

    fn grant(&mut self, bytes: usize) -> bool {
        let fits = self.fits(bytes);
        self.held += if fits { self.weight(bytes) } else { 0 };
        fits
    }

    /// Joins the line, perhaps with a job.
    pub(super) fn wait(&mut self, bytes: usize, job: Option<J>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.line.push_back(ticket);
        self.waiting.insert(ticket, Waiting { bytes, waker: None, job });
        ticket
    }

    /// Fetches so many bytes that were granted; if nothing was yet, `waker` is woken when it is, and exchanged for the
    /// one before.
    pub(super) fn poll(&mut self, ticket: Ticket, bytes: usize, waker: &mut Option<Waker>) -> bool {
        if self.granted.remove(&ticket).is_some() {
            return true;
        }
        if self.passed.remove(&ticket) {
            if self.grant(bytes) {
                return true;
            }
            self.line.push_front(ticket);
            self.waiting.insert(ticket, Waiting { bytes, waker: None, job: None });
        }
        if let Some(waiting) = self.waiting.get_mut(&ticket) {
            std::mem::swap(&mut waiting.waker, waker);
        }
        false
    }

    /// Leaves the line, with the waker that waited there. What was granted and not fetched is given back.
    pub(super) fn cancel(&mut self, ticket: Ticket) -> Option<Waker> {
        self.passed.remove(&ticket);
        if let Some((bytes, _)) = self.granted.remove(&ticket) {
            self.release(bytes);
        }
        self.waiting.remove(&ticket).and_then(|waiting| waiting.waker)
    }

    /// Bytes that are no longer held.
    pub(super) fn release(&mut self, bytes: usize) {
        self.held -= self.weight(bytes);
    }

    /// Lets in the first in line, if there is one and there is room.
    pub(super) fn admit(&mut self, now: Instant) -> Option<Admitted<J>> {
        loop {
            let ticket = *self.line.front()?;
            let Some(bytes) = self.waiting.get(&ticket).map(|waiting| waiting.bytes) else {
                // It has left.
                self.line.pop_front();
                continue;
            };
            if !self.grant(bytes) {
                if self.pass(now) {
                    continue;
                }
                return None;
            }
            self.line.pop_front();
            let Waiting { waker, job, .. } = self.waiting.remove(&ticket)?;
            return Some(match job {
                Some(job) => Admitted::Job(job),
                None => {
                    self.granted.insert(ticket, (bytes, now));
                    Admitted::Caller(waker)
                }
            });
        }
    }

    /// Takes back what was granted to those who have not come for it for a long time: whether anything was.
    fn pass(&mut self, now: Instant) -> bool {
        let is_late = |since: &Instant| now.saturating_duration_since(*since) >= PATIENCE;
        let late: Vec<(Ticket, usize)> = self
            .granted
            .iter()
            .filter(|(_, (_, since))| is_late(since))
            .map(|(ticket, (bytes, _))| (*ticket, *bytes))
            .collect();
        for (ticket, bytes) in &late {
            self.granted.remove(ticket);
            self.passed.insert(*ticket);
            self.release(*bytes);
        }
        !late.is_empty()
    }

    /// Sends everybody in line away: their wakers and jobs. What was granted stays so.
    pub(super) fn close(&mut self) -> impl Iterator<Item = (Option<Waker>, Option<J>)> {
        self.line.clear();
        std::mem::take(&mut self.waiting).into_values().map(|waiting| (waiting.waker, waiting.job))
    }
}

#[cfg(test)]
mod tests {
    use super::{Admitted, Gate, PATIENCE, Ticket};
    use std::task::Waker;
    use std::time::{Duration, Instant};

    fn poll<J>(gate: &mut Gate<J>, ticket: Ticket, bytes: usize) -> bool {
        gate.poll(ticket, bytes, &mut Some(Waker::noop().clone()))
    }

    /// Lets in all that there is room for, and says how many that were.
    fn admit(gate: &mut Gate<()>, now: Instant) -> usize {
        std::iter::from_fn(|| gate.admit(now)).count()
    }

    #[test]
    fn nobody_overtakes() {
        let (mut gate, now) = (Gate::new(100), Instant::now());
        assert!(gate.try_enter(60));
        assert!(!gate.try_enter(50));
        let large = gate.wait(90, None);
        let small = gate.wait(1, None);
        assert!(!gate.try_enter(1));
        assert_eq!(admit(&mut gate, now), 0);
        assert!(!poll(&mut gate, large, 90) && !poll(&mut gate, small, 1));
        gate.release(60);
        assert_eq!((admit(&mut gate, now), gate.held()), (2, 91));
        assert!(poll(&mut gate, large, 90) && poll(&mut gate, small, 1));
    }

    #[test]
    fn who_leaves_gives_back_what_was_granted() {
        let (mut gate, now) = (Gate::new(100), Instant::now());
        assert!(gate.try_enter(100));
        let tickets = [(); 3].map(|()| gate.wait(100, None));
        gate.cancel(tickets[0]);
        gate.release(100);
        assert_eq!((admit(&mut gate, now), gate.held()), (1, 100));
        gate.cancel(tickets[1]);
        assert_eq!(gate.held(), 0);
        assert_eq!((admit(&mut gate, now), poll(&mut gate, tickets[2], 100)), (1, true));
    }

    #[test]
    fn the_line_moves_past_who_does_not_come() {
        let (mut gate, start) = (Gate::new(100), Instant::now());
        assert!(gate.try_enter(100));
        let absent = gate.wait(80, None);
        let next = gate.wait(50, None);
        gate.release(100);
        assert_eq!((admit(&mut gate, start), gate.held()), (1, 80));
        let late = start + PATIENCE;
        assert_eq!(admit(&mut gate, late - Duration::from_millis(1)), 0);
        assert_eq!((admit(&mut gate, late), gate.held()), (1, 50));
        // He comes after all, and is before those who came later.
        let last = gate.wait(40, None);
        assert!(!poll(&mut gate, absent, 80));
        assert_eq!((admit(&mut gate, late), gate.held()), (0, 50));
        assert!(poll(&mut gate, next, 50));
        gate.release(50);
        assert_eq!((admit(&mut gate, late), gate.held()), (1, 80));
        assert!(poll(&mut gate, absent, 80) && !poll(&mut gate, last, 40));
        gate.release(80);
        assert_eq!((admit(&mut gate, late), poll(&mut gate, last, 40)), (1, true));
    }

    #[test]
    fn who_was_passed_finds_room_or_leaves() {
        let (mut gate, start) = (Gate::new(100), Instant::now());
        assert!(gate.try_enter(100));
        let absent = [(); 2].map(|()| gate.wait(60, None));
        let next = gate.wait(100, None);
        gate.release(100);
        assert_eq!(admit(&mut gate, start), 1);
        assert_eq!(admit(&mut gate, start + PATIENCE), 1);
        assert_eq!(admit(&mut gate, start + 2 * PATIENCE), 1);
        assert!(poll(&mut gate, next, 100));
        gate.release(100);
        assert!(poll(&mut gate, absent[0], 60));
        gate.cancel(absent[1]);
        assert_eq!((gate.held(), gate.is_waited_for()), (60, false));
    }

    #[test]
    fn a_job_answers_for_its_bytes() {
        let mut gate = Gate::new(100);
        assert!(gate.try_enter(100));
        gate.wait(50, Some("job"));
        gate.release(100);
        assert!(matches!(gate.admit(Instant::now()), Some(Admitted::Job("job"))));
        assert_eq!(gate.held(), 50);
    }

    #[test]
    fn what_is_larger_than_the_bound_comes_in_alone() {
        let mut gate = Gate::<()>::new(100);
        assert!(gate.try_enter(1) && !gate.try_enter(1000));
        gate.release(1);
        assert!(gate.try_enter(1000));
        assert_eq!((gate.held(), gate.try_enter(1)), (100, false));
        gate.release(1000);
        assert_eq!(gate.held(), 0);
    }

    #[test]
    fn closing_sends_everybody_away() {
        let mut gate = Gate::new(1);
        let ticket = gate.wait(5, Some("job"));
        assert!(!poll(&mut gate, ticket, 5));
        let away: Vec<_> = gate.close().collect();
        assert!(matches!(away[..], [(Some(_), Some("job"))]));
        assert!(gate.admit(Instant::now()).is_none());
    }
}
