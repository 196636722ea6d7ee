//! The bodies of a batch: to where the index may refer to them.

use super::{Current, Generation, Writer};
use crate::disk::DiskFile;
use crate::error::is_storage_full;
use crate::index::{BlobKey, BlobRecord, Place, Snapshot};
use crate::segments::{Append, HEAD, Head, write_records};
use crate::{Body, Change, CommitError, Content, Extent, NewFile, Pin};
use bytes::Bytes;
use std::collections::HashMap;
use std::io;
use std::mem;
use std::sync::Arc;

/// What is left free for deleting: a transaction that deletes needs room before it gives room.
const RESERVE: u64 = 32 << 20;

/// The body of a change, in the store.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) extent: Extent,
    /// Whether it was in the store already.
    pub(super) deduplicated: bool,
    /// Keeps it there until the batch is made.
    pub(super) pin: Option<Pin>,
}

/// The body of a change, if it has one.
pub(super) type Found = Result<Option<Source>, CommitError>;

/// A blob that is copied out of a segment of which most is dead.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) head: Head,
    pub(super) from: Place,
    pub(super) body: Bytes,
}

/// The bodies of a batch.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    /// What was written.
    pub(super) fresh: Vec<(BlobKey, BlobRecord)>,
    /// What was moved: the key, and the place before and after.
    pub(super) moved: Vec<(BlobKey, Place, Place)>,
    /// The segment that was appended to, and where it ends now.
    pub(super) appended: Option<(u32, u64)>,
    /// Files that were given a name.
    pub(super) linked: Vec<(u32, BlobKey)>,
    /// Bytes that were written, and that were moved.
    pub(super) written: u64,
    pub(super) moved_bytes: u64,
}

/// What is still to be written.
#[derive(Default)]
struct ToWrite {
    appends: Vec<Append>,
    files: Vec<(BlobKey, NewFile)>,
    /// By digest: what is written for this batch already.
    known: HashMap<[u8; 32], Extent>,
}

/// How much of a change's body is in memory.
pub(super) fn small_bytes(change: &Change) -> u64 {
    match change {
        Change::Put { content: Content { body: Body::Small(_), length, .. }, .. }
        | Change::PutPart { content: Content { body: Body::Small(_), length, .. }, .. } => *length,
        _ => 0,
    }
}

/// Takes the body out of a change, if it has one.
fn take_body(change: &mut Change) -> Option<([u8; 32], u64, Body)> {
    match change {
        Change::Put { content, .. } | Change::PutPart { content, .. } => {
            let body = mem::replace(&mut content.body, Body::Small(Vec::new()));
            Some((content.sha256, content.length, body))
        }
        _ => None,
    }
}

/// Whether a change needs room on the disk.
fn grows(change: &Change) -> bool {
    !matches!(
        change,
        Change::Delete { .. } | Change::DeleteBucket { .. } | Change::AbortUpload { .. } | Change::Complete { .. }
    )
}

impl Writer {
    /// Writes the bodies of changes, and those that are moved, and makes them durable.
    ///
    /// Returns what was written, and for each change its body, if it has one.
    pub(super) fn write_bodies(&mut self, changes: &mut [Change], moves: Vec<Move>) -> (Bodies, Vec<Found>) {
        let (mut bodies, mut to_write) = (Bodies::default(), ToWrite::default());
        let mut sources: Vec<Found> = Vec::with_capacity(changes.len());
        let full = self.is_full(changes);
        let snapshot = if self.shared.dedupe { self.shared.index.snapshot().ok() } else { None };
        for change in changes {
            let source = match &full {
                Some(error) if grows(change) => Err(error.clone()),
                _ => take_body(change).map(|body| self.source(body, snapshot.as_deref(), &mut to_write)).transpose(),
            };
            sources.push(source);
        }
        let ToWrite { mut appends, files, .. } = to_write;
        let of_changes = appends.len();
        let (mut from, mut failed) = (Vec::with_capacity(moves.len()), HashMap::new());
        for Move { head, from: place, body } in moves {
            appends.push(Append { head, slices: vec![body] });
            from.push(place);
        }
        if !appends.is_empty() {
            match self.append(&appends) {
                Ok((segment, offset)) => bodies.place_records(&appends, of_changes, &from, segment, offset),
                Err(error) => {
                    // What was to be moved stays where it is.
                    let error = CommitError::from(error);
                    failed.extend(appends.iter().take(of_changes).map(|append| (append.head.key, error.clone())));
                }
            }
        }
        if !files.is_empty() {
            self.link(files, &mut bodies, &mut failed);
        }
        for source in &mut sources {
            if let Ok(Some(Source { extent, .. })) = source
                && let Some(error) = failed.get(&extent.key())
            {
                *source = Err(error.clone());
            }
        }
        (bodies, sources)
    }

    /// The error of a disk that has no room for the changes, as far as can be known before.
    fn is_full(&self, changes: &[Change]) -> Option<CommitError> {
        if !changes.iter().any(grows) {
            return None;
        }
        let needed = changes.iter().map(small_bytes).fold(RESERVE, u64::saturating_add);
        // A disk that does not say how much is free may have room.
        let free = self.shared.disk.free_space(self.shared.layout.directory()).unwrap_or(u64::MAX);
        (free < needed).then(|| io::Error::from(io::ErrorKind::StorageFull).into())
    }

    /// Finds a body in the store, or takes note that it is to be written.
    fn source(
        &mut self,
        (sha256, announced, body): ([u8; 32], u64, Body),
        snapshot: Option<&Snapshot>,
        to_write: &mut ToWrite,
    ) -> Result<Source, CommitError> {
        let length = match &body {
            Body::Small(slices) => slices.iter().map(|slice| slice.len() as u64).sum(),
            Body::File(file) => file.length(),
            Body::Kept(pin) => pin.length(),
        };
        if length != announced {
            return Err(CommitError::Length { announced, found: length });
        }
        let known = |extent| Source { extent, deduplicated: true, pin: None };
        if let Body::Kept(pin) = body {
            return Ok(Source { extent: *pin.extent(), deduplicated: true, pin: Some(pin) });
        }
        if let Some(extent) = to_write.known.get(&sha256)
            && extent.length == length
        {
            return Ok(known(*extent));
        }
        // If the index cannot be read, the transaction will say so.
        if let Some(Ok(Some((key, blob)))) = snapshot.map(|snapshot| snapshot.find_blob(&sha256))
            && blob.length == length
        {
            return Ok(known(Extent::new(&key, length)));
        }
        let key = BlobKey::new(&sha256, self.next_number());
        let extent = Extent::new(&key, length);
        if self.shared.dedupe {
            to_write.known.insert(sha256, extent);
        }
        match body {
            Body::Small(slices) => to_write.appends.push(Append { head: Head { key, length }, slices }),
            Body::File(file) => to_write.files.push((key, file)),
            Body::Kept(_) => {}
        }
        Ok(Source { extent, deduplicated: false, pin: None })
    }

    /// A number for a blob, a part or an upload.
    pub(super) fn next_number(&mut self) -> u64 {
        let number = self.state.next;
        self.state.next = number.saturating_add(1);
        number
    }

    /// Appends records to a segment and makes them durable. Returns the segment, and the offset of the first.
    fn append(&mut self, records: &[Append]) -> io::Result<(u32, u64)> {
        let length = records.iter().filter_map(|record| record.head.record()).fold(0, u64::saturating_add);
        let (number, file, offset) = self.segment_for(length)?;
        if let Err(error) = write_records(&*file, records, offset) {
            // What a full disk has taken is behind the end, and will be written over.
            if !is_storage_full(&error) {
                self.abandon_segment();
            }
            return Err(error);
        }
        let synced = self.shared.counters.segment_syncs.time(|| file.sync());
        if synced.is_err() {
            self.abandon_segment();
        }
        synced.map(|()| (number, offset))
    }

    /// The segment that takes so many bytes, and where it ends.
    fn segment_for(&mut self, length: u64) -> io::Result<(u32, Arc<dyn DiskFile>, u64)> {
        if let Some(current) = &self.current {
            let end = self.segments.get(&current.number).map_or(0, |record| record.end);
            if end == 0 || end.saturating_add(length) <= self.shared.limits.segment {
                return Ok((current.number, current.file.clone(), end));
            }
            self.abandon_segment();
        }
        let number = self.state.next_segment;
        self.state.next_segment =
            number.checked_add(1).ok_or_else(|| io::Error::other("there are no more segments"))?;
        let file = self.shared.segments.create(number)?;
        self.current = Some(Current { number, file: file.clone() });
        Ok((number, file, 0))
    }

    /// Appends no more to the segment.
    fn abandon_segment(&mut self) {
        let Some(Current { number, .. }) = self.current.take() else {
            return;
        };
        if self.segments.contains_key(&number) {
            self.sealed.push(number);
        } else {
            // Nothing refers to it. What stays is removed when the store is opened.
            let _ = self.shared.segments.remove(number);
        }
    }

    /// Gives files their names, and makes the names durable.
    fn link(
        &mut self,
        files: Vec<(BlobKey, NewFile)>,
        bodies: &mut Bodies,
        failed: &mut HashMap<BlobKey, CommitError>,
    ) {
        let generation = match self.generation_for(files.len() as u64) {
            Ok(generation) => generation,
            Err(error) => {
                let error = CommitError::from(error);
                failed.extend(files.iter().map(|(key, _)| (*key, error.clone())));
                return;
            }
        };
        let mut linked = Vec::with_capacity(files.len());
        for (key, mut file) in files {
            let path = self.shared.layout.blob(generation, &key);
            match file.sync().and_then(|()| file.link(&path)) {
                Ok(()) => linked.push((key, file.length())),
                Err(error) => {
                    failed.insert(key, error.into());
                }
            }
        }
        if linked.is_empty() {
            return;
        }
        self.state.files = self.state.files.saturating_add(linked.len() as u64);
        match self.shared.counters.directory_syncs.time(|| self.blobs.sync(generation)) {
            Ok(()) => {
                for (key, length) in linked {
                    let place = Place::File { generation };
                    bodies.fresh.push((key, BlobRecord { references: 0, length, place, damaged: false }));
                    bodies.linked.push((generation, key));
                    bodies.written = bodies.written.saturating_add(length);
                }
            }
            Err(error) => {
                self.generation = Generation::Failed;
                let error = CommitError::from(error);
                for (key, _) in linked {
                    // What stays is removed when the store is opened, or found by a check.
                    let _ = self.blobs.unlink(generation, &key);
                    failed.insert(key, error.clone());
                }
            }
        }
    }

    /// The generation that takes so many files.
    fn generation_for(&mut self, files: u64) -> io::Result<u32> {
        let is_full = self.state.files > 0 && self.state.files.saturating_add(files) > self.shared.limits.generation;
        if self.generation == Generation::Open && !is_full {
            return Ok(self.state.generation);
        }
        if is_full || self.generation == Generation::Failed {
            // When the store is opened, names that nobody knows are looked for in this generation and the next only.
            self.blobs.sync_unlinked()?;
            let next = self.state.generation.checked_add(1);
            self.state.generation = next.ok_or_else(|| io::Error::other("there are no more generations"))?;
            self.state.files = 0;
        }
        self.generation = Generation::Failed;
        self.blobs.create_generation(self.state.generation)?;
        self.generation = Generation::Open;
        Ok(self.state.generation)
    }
}

impl Bodies {
    /// Takes note of where records are: first those of changes, then those that were moved.
    fn place_records(&mut self, records: &[Append], of_changes: usize, from: &[Place], segment: u32, start: u64) {
        let mut end = start;
        let mut from = from.iter();
        for (i, record) in records.iter().enumerate() {
            let Head { key, length } = record.head;
            let place = Place::Segment { segment, offset: end.saturating_add(HEAD) };
            end = end.saturating_add(HEAD).saturating_add(length);
            if i < of_changes {
                self.fresh.push((key, BlobRecord { references: 0, length, place, damaged: false }));
                self.written = self.written.saturating_add(length);
            } else if let Some(from) = from.next() {
                self.moved.push((key, *from, place));
                self.moved_bytes = self.moved_bytes.saturating_add(length);
            }
        }
        self.appended = Some((segment, end));
    }
}
