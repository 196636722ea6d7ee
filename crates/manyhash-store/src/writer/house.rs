//! What is tidied up: blobs that nothing refers to, and segments in which nothing lives.
//!
//! A blob that is a file, or that is pinned, goes through three steps, each after the one before is durable:
//!
//! 1. The batch that releases it moves its record to the trash.
//! 2. When nobody has it pinned, its file is unlinked, and the directory synced.
//! 3. A later batch removes its record from the trash.
//!
//! So no name is forgotten that may still be there. The same holds for segments: sealed, empty, unlinked, forgotten.

use super::Writer;
use super::ledger::Ledger;
use super::moves::Mover;
use crate::index::{BlobKey, BlobRecord, Place, SegmentRecord, Tables};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;

/// How many blobs are unlinked before their directories are synced although there is other work.
const MAX_UNLINKED: usize = 1024;

/// What is to be tidied up.
#[derive(Debug, Default)]
pub(super) struct House {
    /// In the trash, and perhaps pinned.
    trash: Vec<(BlobKey, BlobRecord)>,
    /// Unlinked, as far as they have files.
    unlinked: Vec<(BlobKey, BlobRecord)>,
    /// Unlinked for good.
    settled: Vec<(BlobKey, BlobRecord)>,
    /// Sealed segments in which nothing lives.
    empty: BTreeSet<u32>,
    /// Segments that were unlinked for good.
    removed: BTreeSet<u32>,
    pub(super) mover: Mover,
}

impl House {
    /// What the index says is to be tidied up.
    pub(super) fn new(trash: Vec<(BlobKey, BlobRecord)>, segments: &BTreeMap<u32, SegmentRecord>) -> Self {
        let mut house = House { trash, ..House::default() };
        for (number, record) in segments {
            house.look_at(*number, record);
        }
        house
    }

    /// Whether there may be something to do.
    pub(super) fn has_work(&self) -> bool {
        self.trash() > 0 || !self.empty.is_empty() || !self.removed.is_empty() || self.mover.has_work()
    }

    /// What changes when something was tidied up.
    fn progress(&self) -> (u64, usize, Mover) {
        (self.trash(), self.removed.len(), self.mover.clone())
    }

    /// How many blobs are in the trash.
    pub(super) fn trash(&self) -> u64 {
        (self.trash.len() + self.unlinked.len() + self.settled.len()) as u64
    }

    /// Takes note of a segment that has changed.
    pub(super) fn look_at(&mut self, number: u32, record: &SegmentRecord) {
        if record.sealed && record.live == 0 {
            self.empty.insert(number);
        }
        self.mover.look_at(number, record);
    }

    /// Removes from the index what was unlinked for good. Says whether there is any.
    pub(super) fn discard(&self, tables: &mut Tables<'_>, ledger: &mut Ledger<'_>) -> Result<bool, redb::Error> {
        for (key, record) in &self.settled {
            tables.trash.remove(&key.0)?;
            ledger.discard(record);
        }
        Ok(!self.settled.is_empty() || !self.removed.is_empty())
    }

    /// The same for segments.
    pub(super) fn discard_segments(&self, tables: &mut Tables<'_>) -> Result<(), redb::Error> {
        for number in &self.removed {
            tables.segments.remove(number)?;
        }
        Ok(())
    }

    /// Takes note that a batch was committed, which has put blobs into the trash and has taken some out of it. Returns
    /// the segments that are removed from the index.
    pub(super) fn take_over(
        &mut self,
        trash: Vec<(BlobKey, BlobRecord)>,
        revived: &[BlobKey],
        next: Option<u64>,
    ) -> BTreeSet<u32> {
        if !revived.is_empty() {
            let revived: HashSet<&BlobKey> = revived.iter().collect();
            self.trash.retain(|(key, _)| !revived.contains(key));
        }
        self.trash.extend(trash);
        self.settled.clear();
        self.mover.advance(next);
        mem::take(&mut self.removed)
    }
}

impl Writer {
    /// Tidies up while nobody waits. Says whether there may be more to do at once.
    pub(super) fn tidy_up(&mut self) -> bool {
        if self.is_broken && self.reopen().is_err() {
            return false;
        }
        self.empty_trash();
        self.settle_trash(true);
        self.remove_segments();
        let before = self.house.progress();
        let moves = self.next_moves(true);
        let House { settled, removed, .. } = &self.house;
        if !settled.is_empty() || !removed.is_empty() || !moves.is_empty() {
            self.batch(Vec::new(), moves);
        }
        self.house.progress() != before
    }

    /// Unlinks what nobody has pinned.
    pub(super) fn empty_trash(&mut self) {
        for (key, record) in mem::take(&mut self.house.trash) {
            let is_free = !self.shared.pins.is_pinned(&key);
            let list = match record.place {
                Place::File { generation } if is_free && self.blobs.unlink(generation, &key).is_ok() => {
                    &mut self.house.unlinked
                }
                Place::Segment { .. } if is_free => &mut self.house.settled,
                // It is pinned, or the disk has failed: later.
                _ => &mut self.house.trash,
            };
            list.push((key, record));
        }
    }

    /// Makes durable what was unlinked, at once or when there is much of it.
    pub(super) fn settle_trash(&mut self, at_once: bool) {
        let House { unlinked, settled, .. } = &mut self.house;
        if !at_once && unlinked.len() < MAX_UNLINKED {
            return;
        }
        // Also names that were given in vain.
        if self.blobs.is_synced() || self.shared.counters.directory_syncs.time(|| self.blobs.sync_unlinked()).is_ok() {
            settled.append(unlinked);
        }
    }

    /// Unlinks segments in which nothing lives.
    fn remove_segments(&mut self) {
        let House { empty, removed, .. } = &mut self.house;
        let mut unlinked = BTreeSet::new();
        empty.retain(|number| {
            let is_unlinked = self.shared.segments.remove(*number).is_ok();
            if is_unlinked {
                unlinked.insert(*number);
            }
            !is_unlinked
        });
        if unlinked.is_empty() {
            return;
        }
        match self.shared.disk.sync_directory(self.shared.layout.segments()) {
            Ok(()) => removed.append(&mut unlinked),
            // They are unlinked once more, and synced, later.
            Err(_) => empty.append(&mut unlinked),
        }
    }
}
