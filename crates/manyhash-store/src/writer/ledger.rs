//! Who refers to which blob, while a batch is applied.
//!
//! Counts change in memory, and go to the index once at the end of the batch. So a blob that loses its last reference
//! and gets another in the same batch is never gone.

use crate::ReadError;
use crate::index::{BlobKey, BlobRecord, Place, SegmentRecord, Tables, blob, encode};
use crate::pins::Pins;
use crate::segments::HEAD;
use redb::ReadableTable;
use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeMap, HashMap};

/// Where a blob was before the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Home {
    /// Nowhere: it was written for this batch.
    Fresh,
    Index,
    Trash,
}

#[derive(Debug)]
struct Entry {
    record: BlobRecord,
    home: Home,
    is_changed: bool,
}

/// The blobs and segments that a batch touches.
#[derive(Debug)]
pub(super) struct Ledger<'a> {
    blobs: HashMap<BlobKey, Entry>,
    /// The segments before the batch.
    before: &'a BTreeMap<u32, SegmentRecord>,
    /// Segments that have changed.
    pub(super) segments: BTreeMap<u32, SegmentRecord>,
    /// By how much the bytes of all blobs have grown, and shrunk.
    pub(super) grown: u64,
    pub(super) shrunk: u64,
}

/// What a batch leaves to be tidied up.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// Files that were given a name, and that nothing refers to.
    pub(super) unused: Vec<(u32, BlobKey)>,
    /// What was put into the trash.
    pub(super) trash: Vec<(BlobKey, BlobRecord)>,
    /// What was taken out of the trash.
    pub(super) revived: Vec<BlobKey>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(before: &'a BTreeMap<u32, SegmentRecord>) -> Self {
        Ledger { blobs: HashMap::new(), before, segments: BTreeMap::new(), grown: 0, shrunk: 0 }
    }

    /// A segment, to be changed.
    pub(super) fn segment(&mut self, number: u32) -> &mut SegmentRecord {
        let before = self.before;
        self.segments.entry(number).or_insert_with(|| before.get(&number).copied().unwrap_or_default())
    }

    /// Adds a blob that was written for this batch.
    pub(super) fn add_fresh(&mut self, key: BlobKey, record: BlobRecord) {
        self.blobs.insert(key, Entry { record, home: Home::Fresh, is_changed: true });
    }

    /// Reads a blob, so that references to it can be taken and released. Says whether there is one.
    pub(super) fn load(&mut self, tables: &Tables<'_>, key: &BlobKey) -> Result<bool, ReadError> {
        let MapEntry::Vacant(vacant) = self.blobs.entry(*key) else {
            return Ok(true);
        };
        let (record, home) = if let Some(row) = tables.blobs.get(&key.0)? {
            (blob(row.value())?, Home::Index)
        } else if let Some(row) = tables.trash.get(&key.0)? {
            (blob(row.value())?, Home::Trash)
        } else {
            return Ok(false);
        };
        vacant.insert(Entry { record, home, is_changed: false });
        Ok(true)
    }

    /// Whether a loaded blob is in the trash, where only a pin can keep it.
    pub(super) fn is_trash(&self, key: &BlobKey) -> bool {
        self.blobs.get(key).is_some_and(|entry| entry.home == Home::Trash && entry.record.references == 0)
    }

    /// Takes a reference to a loaded blob.
    pub(super) fn take(&mut self, key: &BlobKey) {
        if let Some(entry) = self.blobs.get_mut(key) {
            entry.record.references = entry.record.references.saturating_add(1);
            entry.is_changed = true;
        }
    }

    /// Releases a reference to a loaded blob. One that is not there has none: a check says so.
    pub(super) fn release(&mut self, key: &BlobKey) {
        if let Some(entry) = self.blobs.get_mut(key) {
            entry.record.references = entry.record.references.saturating_sub(1);
            entry.is_changed = true;
        }
    }

    /// Says that a loaded blob was copied to another place. It is not moved if it is not where it was.
    pub(super) fn relocate(&mut self, key: &BlobKey, from: Place, to: Place) {
        if let Some(entry) = self.blobs.get_mut(key)
            && entry.home == Home::Index
            && entry.record.place == from
        {
            entry.record.place = to;
            entry.is_changed = true;
            let length = entry.record.length;
            self.forget_bytes(from, length);
            self.count_bytes(to, length);
        }
    }

    /// Takes out of the trash what is free.
    pub(super) fn discard(&mut self, record: &BlobRecord) {
        self.forget_bytes(record.place, record.length);
    }

    fn count_bytes(&mut self, place: Place, length: u64) {
        if let Place::Segment { segment, .. } = place {
            let record = self.segment(segment);
            record.live = record.live.saturating_add(length).saturating_add(HEAD);
        }
    }

    fn forget_bytes(&mut self, place: Place, length: u64) {
        if let Place::Segment { segment, .. } = place {
            let record = self.segment(segment);
            record.live = record.live.saturating_sub(length.saturating_add(HEAD));
        }
    }

    /// Writes what has changed to the index.
    pub(super) fn finish(&mut self, tables: &mut Tables<'_>, pins: &Pins) -> Result<Leftovers, redb::Error> {
        let mut leftovers = Leftovers::default();
        // In the order of the table, so that neighbours are written together.
        let mut blobs: Vec<(BlobKey, Entry)> = self.blobs.drain().filter(|(_, entry)| entry.is_changed).collect();
        blobs.sort_unstable_by_key(|(key, _)| *key);
        for (key, Entry { record, home, .. }) in blobs {
            match (home, record.references) {
                (Home::Fresh, 0) => {
                    if let Place::File { generation } = record.place {
                        leftovers.unused.push((generation, key));
                    }
                }
                (Home::Fresh, _) => {
                    insert(&mut tables.blobs, &key, &record)?;
                    self.grown = self.grown.saturating_add(record.length);
                    self.count_bytes(record.place, record.length);
                }
                (Home::Index, 0) => {
                    tables.blobs.remove(&key.0)?;
                    self.shrunk = self.shrunk.saturating_add(record.length);
                    if matches!(record.place, Place::Segment { .. }) && pins.retire(&key) {
                        self.forget_bytes(record.place, record.length);
                    } else {
                        insert(&mut tables.trash, &key, &record)?;
                        leftovers.trash.push((key, record));
                    }
                }
                (Home::Index, _) => insert(&mut tables.blobs, &key, &record)?,
                (Home::Trash, 0) => {}
                (Home::Trash, _) => {
                    tables.trash.remove(&key.0)?;
                    insert(&mut tables.blobs, &key, &record)?;
                    self.grown = self.grown.saturating_add(record.length);
                    leftovers.revived.push(key);
                }
            }
        }
        for (number, record) in &self.segments {
            tables.segments.insert(number, &*encode(record)?)?;
        }
        Ok(leftovers)
    }
}

fn insert(
    table: &mut redb::Table<'_, &'static [u8; 40], &'static [u8]>,
    key: &BlobKey,
    record: &BlobRecord,
) -> Result<(), redb::Error> {
    table.insert(&key.0, &*encode(record)?)?;
    Ok(())
}
