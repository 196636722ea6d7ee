//! Moving what is alive out of segments of which most is dead.
//!
//! A segment is walked from head to head, a little with each batch. A blob whose place in the index is here is appended
//! to the current segment like any other body, once its digest was found right: damage is not moved, and keeps its
//! segment.

use super::Writer;
use super::bodies::Move;
use crate::ReadError;
use crate::disk::{DiskFile, read_exact_at};
use crate::index::{Place, SegmentRecord};
use crate::segments::{HEAD, Head, read_head};
use crate::stats::add;
use bytes::Bytes;
use manyhash::{Algorithm, Batch};
use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;

/// How many bytes of bodies are moved with a batch, while changes wait and while none do.
const BUSY: u64 = 512 << 10;
const IDLE: u64 = 4 << 20;

/// How many heads are looked at for a batch.
const MAX_HEADS: usize = 4096;

/// Which segments are to be walked, and how far the walk has come.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Mover {
    /// Sealed segments of which most is dead.
    waiting: BTreeSet<u32>,
    /// Segments that were walked to the end. What is still there is pinned or damaged.
    walked: BTreeSet<u32>,
    /// The segment that is being walked, and the offset of the next head.
    current: Option<(u32, u64)>,
}

/// What is moved with a batch.
#[derive(Debug, Default)]
pub(super) struct Moves {
    pub(super) moves: Vec<Move>,
    /// Where the walk goes on, once the batch is committed.
    pub(super) next: Option<u64>,
}

impl Moves {
    pub(super) fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }
}

impl Mover {
    pub(super) fn has_work(&self) -> bool {
        self.current.is_some() || !self.waiting.is_empty()
    }

    /// Takes note of a segment that has changed.
    pub(super) fn look_at(&mut self, number: u32, record: &SegmentRecord) {
        let is_mostly_dead = record.sealed && record.live > 0 && record.live < record.end / 2;
        if is_mostly_dead && !self.walked.contains(&number) {
            self.waiting.insert(number);
        } else {
            self.waiting.remove(&number);
        }
    }

    /// Takes note that a batch was committed with what was to be moved up to here.
    pub(super) fn advance(&mut self, next: Option<u64>) {
        if let (Some((_, offset)), Some(next)) = (&mut self.current, next) {
            *offset = next;
        }
    }

    /// Ends the walk through a segment.
    fn finish(&mut self, number: u32) {
        self.waiting.remove(&number);
        self.walked.insert(number);
        self.current = None;
    }
}

impl Writer {
    /// Reads what is to be moved next.
    pub(super) fn next_moves(&mut self, is_idle: bool) -> Moves {
        let mover = &mut self.house.mover;
        let Some((number, offset)) = mover.current.or_else(|| mover.waiting.first().map(|number| (*number, 0))) else {
            return Moves::default();
        };
        mover.current = Some((number, offset));
        let end = self.segments.get(&number).map_or(0, |record| record.end);
        match self.walk(number, offset, end, if is_idle { IDLE } else { BUSY }) {
            // Nothing to wait for: dead heads were passed over.
            Ok(Moves { moves, next: Some(next) }) if moves.is_empty() && next < end => {
                self.house.mover.advance(Some(next));
                Moves::default()
            }
            Ok(moves) if !moves.is_empty() => moves,
            // It was walked to the end, or cannot be read.
            Ok(_) | Err(_) => {
                self.house.mover.finish(number);
                Moves::default()
            }
        }
    }

    /// Walks from head to head until so many bytes are to be moved.
    fn walk(&self, number: u32, mut offset: u64, end: u64, limit: u64) -> Result<Moves, ReadError> {
        let (file, snapshot) = (self.shared.segments.file(number)?, self.shared.index.snapshot()?);
        let (mut moves, mut bytes) = (Vec::new(), 0u64);
        for _ in 0..MAX_HEADS {
            if offset >= end || bytes >= limit {
                break;
            }
            let Some((head, next)) = head_at(&*file, offset, end)? else {
                return Err(ReadError::Damaged("a head in a segment"));
            };
            let from = Place::Segment { segment: number, offset: offset + HEAD };
            if snapshot.blob(&head.key)?.is_some_and(|blob| blob.place == from && blob.length == head.length) {
                moves.push(Move { head, from, body: read_body(&*file, offset + HEAD, head.length)? });
                bytes = bytes.saturating_add(head.length);
            }
            offset = next;
        }
        self.leave_damaged(&mut moves);
        Ok(Moves { moves, next: Some(offset) })
    }

    /// Leaves alone what does not have its digest.
    fn leave_damaged(&self, moves: &mut Vec<Move>) {
        let bodies: Vec<&Bytes> = moves.iter().map(|found| &found.body).collect();
        let digests = Batch::new(Algorithm::Sha256).threads(NonZeroUsize::MIN).digest_many(&bodies);
        let before = moves.len();
        let mut digests = digests.into_iter();
        moves.retain(|found| digests.next().is_some_and(|digest| digest.as_bytes() == found.head.key.sha256()));
        add(&self.shared.counters.damaged, (before - moves.len()) as u64);
    }
}

/// The head at an offset, and the offset of the next, if both are where they can be.
fn head_at(file: &dyn DiskFile, offset: u64, end: u64) -> io::Result<Option<(Head, u64)>> {
    let Some(head) = read_head(file, offset)? else {
        return Ok(None);
    };
    let next = head.record().and_then(|length| offset.checked_add(length)).filter(|next| *next <= end);
    Ok(next.map(|next| (head, next)))
}

fn read_body(file: &dyn DiskFile, offset: u64, length: u64) -> io::Result<Bytes> {
    let length = usize::try_from(length).map_err(io::Error::other)?;
    let mut body = vec![0; length];
    read_exact_at(file, &mut body, offset)?;
    Ok(body.into())
}
