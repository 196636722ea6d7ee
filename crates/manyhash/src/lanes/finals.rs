//! The ends of messages: what follows the last whole block, padded to one or two blocks more.
//!
//! In the lanes, each end would be a stop of its own for all of them. Collected, those of as many messages as there
//! are lanes take one stop: full lanes again, and messages shorter than a block never enter the refilling lanes at all.

use super::Advance;
use manyhash_core::family::{MAX_BLOCK_BYTES, MAX_DIGEST_BYTES};
use manyhash_core::{Family, LaneStates, State};

/// Ends that wait for a group of lanes to be full: of one block, and of two.
pub(crate) struct Finals<F: Family, Tag> {
    groups: [Group<F, Tag>; 2],
}

struct Group<F: Family, Tag> {
    states: LaneStates<F>,
    /// The last blocks of as many messages as there are tags, and room that was used before.
    padded: Vec<[u8; 2 * MAX_BLOCK_BYTES]>,
    tags: Vec<Tag>,
}

impl<F: Family, Tag: Copy> Finals<F, Tag> {
    pub(crate) fn new() -> Self {
        let group = || Group { states: LaneStates::default(), padded: Vec::new(), tags: Vec::new() };
        Finals { groups: [group(), group()] }
    }

    /// Takes the end of a message: the state after its whole blocks, the `tail` that follows them, and the length in
    /// bytes of the whole message. Gives digests to `done` if a group is full with it.
    pub(crate) fn push(
        &mut self,
        plan: &impl Advance<F>,
        state: &State<F>,
        tail: &[u8],
        length: u128,
        tag: Tag,
        done: &mut impl FnMut(Tag, &[u8; MAX_DIGEST_BYTES]),
    ) {
        let blocks = F::final_blocks(tail.len());
        let group = &mut self.groups[blocks - 1];
        let lane = group.tags.len();
        if lane == group.padded.len() {
            group.padded.push([0; 2 * MAX_BLOCK_BYTES]);
        }
        F::pad(tail, length, &mut group.padded[lane]);
        group.states.set(lane, state);
        group.tags.push(tag);
        if group.tags.len() == plan.width() {
            group.flush(plan, blocks, done);
        }
    }

    /// Gives the digests of all that wait to `done`.
    pub(crate) fn flush(&mut self, plan: &impl Advance<F>, done: &mut impl FnMut(Tag, &[u8; MAX_DIGEST_BYTES])) {
        for (group, blocks) in self.groups.iter_mut().zip(1..) {
            group.flush(plan, blocks, done);
        }
    }
}

impl<F: Family, Tag: Copy> Group<F, Tag> {
    fn flush(&mut self, plan: &impl Advance<F>, blocks: usize, done: &mut impl FnMut(Tag, &[u8; MAX_DIGEST_BYTES])) {
        let messages: Vec<&[u8]> = self.padded[..self.tags.len()].iter().map(|padded| &padded[..]).collect();
        plan.compress(&mut self.states, &messages, blocks);
        for (lane, tag) in self.tags.iter().enumerate() {
            done(*tag, &F::digest(&self.states.get(lane)));
        }
        self.tags.clear();
    }
}
