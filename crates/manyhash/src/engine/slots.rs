//! The slot pool: one slot for each job or stream in hand.
//!
//! A slot is in exactly one [`SlotState`]. The slots of a state form a list in the order in which they came into it, so
//! that how many there are and how long the oldest has been there is known at any time. An [`Id`] names one use of a
//! slot: after the slot was freed it names nothing, so that whoever comes late changes nothing.

use super::links::{Links, List};
use std::time::{Duration, Instant};

/// The state of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SlotState {
    /// The slot is not in use.
    Free,
    /// The caller has handed over nothing that is left to hash, or waits in line for memory.
    Filling,
    /// There is something to hash.
    Ready,
    /// A thread is hashing.
    Hashing,
    /// The digests or an error are ready for the caller.
    Done,
}

impl SlotState {
    /// All states, in the order in which a slot passes through them.
    pub const ALL: &[SlotState] =
        &[SlotState::Free, SlotState::Filling, SlotState::Ready, SlotState::Hashing, SlotState::Done];

    /// Returns the name in lower case: a label of metrics, which stays the same in later versions.
    pub fn name(self) -> &'static str {
        match self {
            SlotState::Free => "free",
            SlotState::Filling => "filling",
            SlotState::Ready => "ready",
            SlotState::Hashing => "hashing",
            SlotState::Done => "done",
        }
    }
}

/// One use of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Id {
    index: u32,
    generation: u32,
}

impl Id {
    /// Which slot it is.
    pub(super) fn index(self) -> u32 {
        self.index
    }
}

/// The slot is not in the state that was named, or is somebody else's by now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WrongState;

/// The pool. It has as many slots as were ever in use at once, up to its capacity.
#[derive(Debug)]
pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
    capacity: usize,
    links: Links,
    /// By state. Slots that were never used are in none.
    lists: [List; SlotState::ALL.len()],
    transitions: u64,
}

#[derive(Debug)]
struct Slot<T> {
    state: SlotState,
    since: Instant,
    generation: u32,
    /// Something in every state but `Free`.
    content: Option<T>,
}

impl<T> Slots<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Slots {
            slots: Vec::new(),
            capacity,
            links: Links::default(),
            lists: [List::EMPTY; SlotState::ALL.len()],
            transitions: 0,
        }
    }

    /// How many are in a state.
    pub(super) fn count(&self, state: SlotState) -> usize {
        let unused = if state == SlotState::Free { self.capacity - self.slots.len() } else { 0 };
        self.lists[state as usize].len() + unused
    }

    /// How long the one that has been longest in a state has been there.
    pub(super) fn oldest(&self, state: SlotState, now: Instant) -> Option<Duration> {
        let first = self.lists[state as usize].first()?;
        Some(now.saturating_duration_since(self.slots[first as usize].since))
    }

    /// Changes of state so far.
    pub(super) fn transitions(&self) -> u64 {
        self.transitions
    }

    /// From `Free` to `Filling`, if there is a free one.
    pub(super) fn take(&mut self, content: T, now: Instant) -> Option<Id> {
        let index = match self.lists[SlotState::Free as usize].first() {
            Some(index) => index,
            None if self.slots.len() < self.capacity => {
                let index = self.slots.len() as u32;
                self.slots.push(Slot { state: SlotState::Free, since: now, generation: 0, content: None });
                self.lists[SlotState::Free as usize].push_back(&mut self.links, index);
                index
            }
            None => return None,
        };
        self.slots[index as usize].content = Some(content);
        self.enter(index, SlotState::Filling, now);
        Some(Id { index, generation: self.slots[index as usize].generation })
    }

    /// From one state to another, neither of them `Free`.
    ///
    /// # Errors
    /// If it is not in the first; nothing is changed then.
    pub(super) fn change(&mut self, id: Id, from: SlotState, to: SlotState, now: Instant) -> Result<(), WrongState> {
        if from == SlotState::Free || to == SlotState::Free || self.state(id) != Some(from) {
            return Err(WrongState);
        }
        self.enter(id.index, to, now);
        Ok(())
    }

    /// From a state to `Free`; `id` names nothing from now on.
    ///
    /// # Errors
    /// If it is not in that state; nothing is changed then.
    pub(super) fn free(&mut self, id: Id, from: SlotState, now: Instant) -> Result<T, WrongState> {
        if from == SlotState::Free || self.state(id) != Some(from) {
            return Err(WrongState);
        }
        let slot = &mut self.slots[id.index as usize];
        let content = slot.content.take().ok_or(WrongState)?;
        slot.generation = slot.generation.wrapping_add(1);
        self.enter(id.index, SlotState::Free, now);
        Ok(content)
    }

    fn enter(&mut self, index: u32, state: SlotState, now: Instant) {
        let slot = &mut self.slots[index as usize];
        self.lists[slot.state as usize].remove(&mut self.links, index);
        self.lists[state as usize].push_back(&mut self.links, index);
        (slot.state, slot.since) = (state, now);
        self.transitions += 1;
    }

    /// How long it has been in its state, unless it is somebody else's by now.
    pub(super) fn since(&self, id: Id, now: Instant) -> Option<Duration> {
        let slot = self.slots.get(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        Some(now.saturating_duration_since(slot.since))
    }

    /// The state, unless the slot is somebody else's by now.
    pub(super) fn state(&self, id: Id) -> Option<SlotState> {
        let slot = self.slots.get(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        Some(slot.state)
    }

    /// What is in it, unless it is somebody else's by now.
    pub(super) fn get(&mut self, id: Id) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        slot.content.as_mut()
    }

    /// The present use of a slot that is in use.
    pub(super) fn id(&self, index: u32) -> Option<Id> {
        let slot = self.slots.get(index as usize).filter(|slot| slot.state != SlotState::Free)?;
        Some(Id { index, generation: slot.generation })
    }
}

#[cfg(test)]
mod tests {
    use super::{SlotState, Slots, WrongState};
    use std::time::{Duration, Instant};

    #[test]
    fn a_transition_names_the_old_state() {
        let mut slots = Slots::new(2);
        let now = Instant::now();
        let id = slots.take("a", now).expect("two are free");
        assert_eq!(slots.change(id, SlotState::Ready, SlotState::Hashing, now), Err(WrongState));
        assert_eq!(slots.change(id, SlotState::Filling, SlotState::Free, now), Err(WrongState));
        assert_eq!(slots.change(id, SlotState::Filling, SlotState::Ready, now), Ok(()));
        assert_eq!(slots.free(id, SlotState::Done, now), Err(WrongState));
        assert_eq!(slots.free(id, SlotState::Ready, now), Ok("a"));
        assert_eq!(slots.transitions(), 3);

        // The same slot, but another use of it.
        let other = slots.take("b", now).expect("two are free");
        assert_eq!((other.index(), slots.state(id), slots.get(id)), (id.index(), None, None));
        assert_eq!(slots.change(id, SlotState::Filling, SlotState::Ready, now), Err(WrongState));
        assert_eq!(slots.free(id, SlotState::Filling, now), Err(WrongState));
        assert_eq!((slots.state(other), slots.get(other)), (Some(SlotState::Filling), Some(&mut "b")));
    }

    #[test]
    fn states_are_counted_and_aged() {
        let mut slots = Slots::new(3);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let ids: Vec<_> = (0..3).map(|i| slots.take((), at(i)).expect("three are free")).collect();
        assert!(slots.take((), at(3)).is_none());
        assert_eq!(slots.oldest(SlotState::Filling, at(5)), Some(Duration::from_secs(5)));
        slots.change(ids[0], SlotState::Filling, SlotState::Ready, at(4)).expect("it is filling");
        assert_eq!(slots.oldest(SlotState::Filling, at(5)), Some(Duration::from_secs(4)));
        assert_eq!(slots.oldest(SlotState::Ready, at(5)), Some(Duration::from_secs(1)));
        let counts = SlotState::ALL.iter().map(|state| slots.count(*state)).collect::<Vec<_>>();
        assert_eq!(counts, [0, 2, 1, 0, 0]);
        slots.free(ids[1], SlotState::Filling, at(6)).expect("it is filling");
        assert_eq!(slots.count(SlotState::Free), 1);
    }
}
