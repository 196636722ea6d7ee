//! Admission: memory and slots are granted in the order in which they were asked for.
//!
//! Who finds no room waits in line with a ticket. Room that becomes free is granted to the first in line, as far as it
//! suffices, and nobody overtakes, so that a large request is not starved by small ones.

use super::slots::Id;
use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

/// What a caller asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Request {
    /// Memory that is handed over.
    pub(super) bytes: usize,
    /// Whether a slot is wanted too.
    pub(super) slot: bool,
}

/// A place in line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ticket(u64);

/// What was granted: a slot, if one was asked for.
pub(super) type Grant = Option<Id>;

/// The line, and the memory that is not handed over. `J` is a job that waits in line and begins when it is let in.
#[derive(Debug)]
pub(super) struct Gate<J> {
    bound: usize,
    held: usize,
    line: VecDeque<Ticket>,
    /// By ticket: who waits in line.
    waiting: BTreeMap<Ticket, Waiting<J>>,
    /// By ticket: what was granted and is not yet fetched, and the bytes for which no job answers.
    granted: BTreeMap<Ticket, (usize, Grant)>,
    next: u64,
}

#[derive(Debug)]
struct Waiting<J> {
    request: Request,
    waker: Option<Waker>,
    job: Option<J>,
}

/// Somebody who is let in.
#[derive(Debug)]
pub(super) struct Admitted<J> {
    pub(super) grant: Grant,
    pub(super) waker: Option<Waker>,
    pub(super) job: Option<J>,
}

impl<J> Gate<J> {
    pub(super) fn new(bound: usize) -> Self {
        Gate { bound, held: 0, line: VecDeque::new(), waiting: BTreeMap::new(), granted: BTreeMap::new(), next: 0 }
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

    /// Grants the request at once, if nobody waits and there is room. `slot` takes a slot, if there is one.
    pub(super) fn try_enter(&mut self, request: Request, slot: impl FnOnce() -> Option<Id>) -> Option<Grant> {
        if self.waiting.is_empty() { self.grant(request, slot) } else { None }
    }

    fn grant(&mut self, request: Request, slot: impl FnOnce() -> Option<Id>) -> Option<Grant> {
        let weight = self.weight(request.bytes);
        if weight > self.bound - self.held {
            return None;
        }
        let grant = if request.slot { Some(slot()?) } else { None };
        self.held += weight;
        Some(grant)
    }

    /// Joins the line, perhaps with a job.
    pub(super) fn wait(&mut self, request: Request, job: Option<J>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.line.push_back(ticket);
        self.waiting.insert(ticket, Waiting { request, waker: None, job });
        ticket
    }

    /// Fetches what was granted; if nothing was yet, `waker` is woken when it is, and exchanged for the one before.
    pub(super) fn poll(&mut self, ticket: Ticket, waker: &mut Option<Waker>) -> Option<Grant> {
        if let Some((_, grant)) = self.granted.remove(&ticket) {
            return Some(grant);
        }
        if let Some(waiting) = self.waiting.get_mut(&ticket) {
            std::mem::swap(&mut waiting.waker, waker);
        }
        None
    }

    /// Leaves the line, with the waker and the job that waited there. What was granted and not fetched is given back: the slot is
    /// returned, to be freed with whatever is in it, and a job in it answers for its bytes itself.
    pub(super) fn cancel(&mut self, ticket: Ticket) -> (Grant, Option<Waker>, Option<J>) {
        if let Some(waiting) = self.waiting.remove(&ticket) {
            return (None, waiting.waker, waiting.job);
        }
        let Some((bytes, grant)) = self.granted.remove(&ticket) else { return (None, None, None) };
        self.release(bytes);
        (grant, None, None)
    }

    /// Bytes that are no longer held.
    pub(super) fn release(&mut self, bytes: usize) {
        self.held -= self.weight(bytes);
    }

    /// Lets in the first in line, if there is one and there is room.
    pub(super) fn admit(&mut self, slot: impl FnOnce() -> Option<Id>) -> Option<Admitted<J>> {
        loop {
            let ticket = *self.line.front()?;
            let Some(request) = self.waiting.get(&ticket).map(|waiting| waiting.request) else {
                // It has left.
                self.line.pop_front();
                continue;
            };
            let grant = self.grant(request, slot)?;
            self.line.pop_front();
            let Waiting { waker, job, .. } = self.waiting.remove(&ticket)?;
            let bytes = if job.is_some() { 0 } else { request.bytes };
            self.granted.insert(ticket, (bytes, grant));
            return Some(Admitted { grant, waker, job });
        }
    }

    /// Sends everybody in line away: their wakers and jobs. What was granted stays so.
    pub(super) fn close(&mut self) -> impl Iterator<Item = (Option<Waker>, Option<J>)> {
        self.line.clear();
        std::mem::take(&mut self.waiting).into_values().map(|waiting| (waiting.waker, waiting.job))
    }
}

#[cfg(test)]
mod tests {
    use super::{Gate, Grant, Request, Ticket};
    use crate::engine::slots::Slots;
    use std::task::Waker;
    use std::time::Instant;

    const fn bytes(bytes: usize) -> Request {
        Request { bytes, slot: false }
    }

    fn poll<J>(gate: &mut Gate<J>, ticket: Ticket) -> Option<Grant> {
        gate.poll(ticket, &mut Some(Waker::noop().clone()))
    }

    /// Lets in all that there is room for, and says how many that were.
    fn admit(gate: &mut Gate<()>) -> usize {
        std::iter::from_fn(|| gate.admit(|| None)).count()
    }

    #[test]
    fn nobody_overtakes() {
        let mut gate = Gate::new(100);
        assert_eq!(gate.try_enter(bytes(60), || None), Some(None));
        assert_eq!(gate.try_enter(bytes(50), || None), None);
        let large = gate.wait(bytes(90), None);
        let small = gate.wait(bytes(1), None);
        assert_eq!(gate.try_enter(bytes(1), || None), None);
        assert_eq!(admit(&mut gate), 0);
        assert_eq!((poll(&mut gate, large), poll(&mut gate, small)), (None, None));
        gate.release(60);
        assert_eq!((admit(&mut gate), gate.held()), (2, 91));
        assert_eq!((poll(&mut gate, large), poll(&mut gate, small)), (Some(None), Some(None)));
    }

    #[test]
    fn who_leaves_gives_back_what_was_granted() {
        let mut gate = Gate::new(100);
        assert_eq!(gate.try_enter(bytes(100), || None), Some(None));
        let tickets = [(); 3].map(|()| gate.wait(bytes(100), None));
        gate.cancel(tickets[0]);
        gate.release(100);
        assert_eq!((admit(&mut gate), gate.held()), (1, 100));
        gate.cancel(tickets[1]);
        assert_eq!(gate.held(), 0);
        assert_eq!((admit(&mut gate), poll(&mut gate, tickets[2])), (1, Some(None)));
    }

    #[test]
    fn a_job_that_was_let_in_answers_for_its_bytes() {
        let mut slots = Slots::new(2);
        let mut gate = Gate::new(100);
        let request = Request { bytes: 50, slot: true };
        let (job, stream) = (gate.wait(request, Some("job")), gate.wait(request, None));
        while gate.admit(|| slots.take((), Instant::now())).is_some() {}
        assert_eq!(gate.held(), 100);
        assert!(matches!(gate.cancel(stream), (Some(_), None, None)));
        assert_eq!(gate.held(), 50);
        assert!(matches!(gate.cancel(job), (Some(_), None, None)));
        assert_eq!(gate.held(), 50);
    }

    #[test]
    fn what_is_larger_than_the_bound_comes_in_alone() {
        let mut gate = Gate::<()>::new(100);
        assert_eq!(gate.try_enter(bytes(1), || None), Some(None));
        assert_eq!(gate.try_enter(bytes(1000), || None), None);
        gate.release(1);
        assert_eq!(gate.try_enter(bytes(1000), || None), Some(None));
        assert_eq!((gate.held(), gate.try_enter(bytes(1), || None)), (100, None));
        gate.release(1000);
        assert_eq!(gate.held(), 0);
    }

    #[test]
    fn a_request_for_a_slot_waits_for_one() {
        let mut gate = Gate::<()>::new(100);
        let request = Request { bytes: 10, slot: true };
        assert_eq!(gate.try_enter(request, || None), None);
        assert_eq!(gate.held(), 0);
    }

    #[test]
    fn closing_sends_everybody_away() {
        let mut gate = Gate::new(1);
        let ticket = gate.wait(bytes(5), Some("job"));
        assert_eq!(poll(&mut gate, ticket), None);
        let away: Vec<_> = gate.close().collect();
        assert!(matches!(away[..], [(Some(_), Some("job"))]));
        assert!(gate.admit(|| None).is_none());
    }
}
