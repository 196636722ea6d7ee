//! A batch, from what was waiting to the answers.

use super::apply::{Apply, Failure};
use super::bodies::{Bodies, Found, Source};
use super::ledger::{Ledger, Leftovers};
use super::moves::Moves;
use super::{Pending, Writer};
use crate::index::{BlobKey, SegmentRecord, StateRecord, Tables, into_io};
use crate::stats::{add, set};
use crate::{Change, CommitError, Committed, ReadError};
use redb::{ReadableTableMetadata, WriteTransaction};
use std::collections::BTreeMap;
use std::io;

type Answer = Result<Committed, CommitError>;

/// What comes of a batch when it is committed.
struct Applied {
    answers: Vec<Answer>,
    /// Whether there is anything to commit.
    is_changed: bool,
    state: StateRecord,
    /// Segments that have changed.
    segments: BTreeMap<u32, SegmentRecord>,
    leftovers: Leftovers,
    /// How many there are.
    objects: u64,
    uploads: u64,
    blobs: u64,
}

/// What came of a commit.
enum Outcome {
    Committed,
    /// It is in the index, which had to be opened again to see that.
    Reopened,
    /// It is not in the index; or nobody knows, and the index cannot be opened.
    Failed(io::Error),
}

impl Writer {
    /// Makes changes, and answers them.
    pub(super) fn make(&mut self, pending: Vec<Pending>) {
        let (mut changes, mut waiting) = (Vec::with_capacity(pending.len()), Vec::with_capacity(pending.len()));
        for Pending { change, answer } in pending {
            changes.push(change);
            waiting.push(answer);
        }
        self.shared.counters.batch(changes.len());
        let moves = self.next_moves(false);
        let answers = self.batch(changes, moves);
        for (waiting, answer) in waiting.into_iter().zip(answers) {
            let counters = &self.shared.counters;
            add(if answer.is_ok() { &counters.changes } else { &counters.refused }, 1);
            // Who does not wait for the answer does not want it.
            let _ = waiting.send(answer);
        }
        self.empty_trash();
        self.settle_trash(false);
    }

    /// Makes changes, and moves blobs. Returns the answers.
    pub(super) fn batch(&mut self, mut changes: Vec<Change>, moves: Moves) -> Vec<Answer> {
        let count = changes.len();
        if self.is_broken
            && let Err(error) = self.reopen()
        {
            return vec![Err(error.into()); count];
        }
        // The sources hold pins, which are needed until the batch is committed.
        let (wanted, next) = (moves.moves.len(), moves.next);
        let (bodies, sources) = self.write_bodies(&mut changes, moves.moves);
        // What could not be moved is looked at again.
        let next = next.filter(|_| bodies.moved.len() == wanted);
        let mut state = self.state;
        let transacted = self.transact(changes, &sources, &bodies, &mut state);
        self.state.next = state.next;
        let answers = match transacted {
            Ok((applied, transaction)) if applied.is_changed => {
                let outcome = self.commit(transaction, applied.state.batch, &bodies);
                self.finish(outcome, applied, &bodies, &sources, next, count)
            }
            Ok((applied, transaction)) => {
                // It has only read.
                drop(transaction);
                self.forget(&bodies.linked);
                applied.answers
            }
            Err(error) => {
                // Nothing was committed. The index answers no more until it is opened again.
                self.is_broken = true;
                self.forget(&bodies.linked);
                vec![Err(error.into()); count]
            }
        };
        self.shared.pins.settle();
        answers
    }

    /// Applies changes in a transaction that is yet to be committed.
    fn transact(
        &self,
        changes: Vec<Change>,
        sources: &[Found],
        bodies: &Bodies,
        state: &mut StateRecord,
    ) -> io::Result<(Applied, WriteTransaction)> {
        let transaction = self.shared.index.begin()?;
        let mut tables = Tables::open(&transaction).map_err(into_io)?;
        let mut ledger = Ledger::new(&self.segments);
        for (key, record) in &bodies.fresh {
            ledger.add_fresh(*key, *record);
        }
        for (key, from, to) in &bodies.moved {
            match ledger.load(&tables, key) {
                Ok(true) => ledger.relocate(key, *from, *to),
                Err(ReadError::Disk(error)) => return Err(error),
                // It is gone, or stays where it is.
                Ok(false) | Err(_) => {}
            }
        }
        let mut apply = Apply { tables: &mut tables, ledger: &mut ledger, state, is_changed: false };
        let mut answers = Vec::with_capacity(changes.len());
        for (change, source) in changes.into_iter().zip(sources) {
            let applied = match source {
                Ok(source) => apply.change(change, source.as_ref()),
                Err(error) => Err(Failure::Refused(error.clone())),
            };
            answers.push(match applied {
                Ok(committed) => Ok(committed),
                Err(Failure::Refused(error)) => Err(error),
                Err(Failure::Index(error)) => return Err(error),
            });
        }
        let mut is_changed = apply.is_changed || !bodies.moved.is_empty();
        is_changed |= self.house.discard(&mut tables, &mut ledger).map_err(into_io)?;
        for number in &self.sealed {
            ledger.segment(*number).sealed = true;
        }
        if let Some((number, end)) = bodies.appended {
            ledger.segment(number).end = end;
        }
        let leftovers = ledger.finish(&mut tables, &self.shared.pins).map_err(into_io)?;
        self.house.discard_segments(&mut tables).map_err(into_io)?;
        state.batch = state.batch.saturating_add(1);
        state.bytes = state.bytes.saturating_add(ledger.grown).saturating_sub(ledger.shrunk);
        tables.set_state(state)?;
        let counts = [tables.objects.len(), tables.uploads.len(), tables.blobs.len()];
        let [objects, uploads, blobs] = counts.map(|count| count.unwrap_or_default());
        let (state, segments) = (*state, ledger.segments);
        drop(tables);
        Ok((Applied { answers, is_changed, state, segments, leftovers, objects, uploads, blobs }, transaction))
    }

    fn commit(&mut self, transaction: WriteTransaction, batch: u64, bodies: &Bodies) -> Outcome {
        let committed = self.shared.counters.index_commits.time(|| transaction.commit());
        let Err(error) = committed else {
            self.shared.index.publish();
            return Outcome::Committed;
        };
        match self.reopen() {
            Ok(()) if self.state.batch == batch => return Outcome::Reopened,
            Ok(()) => self.forget(&bodies.linked),
            Err(_) => self.doubtful.extend_from_slice(&bodies.linked),
        }
        Outcome::Failed(into_io(error))
    }

    /// Takes over what was committed.
    fn finish(
        &mut self,
        outcome: Outcome,
        applied: Applied,
        bodies: &Bodies,
        sources: &[Found],
        next: Option<u64>,
        count: usize,
    ) -> Vec<Answer> {
        match outcome {
            Outcome::Committed => {
                self.state = applied.state;
                for (number, record) in applied.segments {
                    self.segments.insert(number, record);
                    self.house.look_at(number, &record);
                }
                self.sealed.clear();
                for number in self.house.take_over(applied.leftovers.trash, &applied.leftovers.revived, next) {
                    self.segments.remove(&number);
                }
            }
            // The writer has read what is in the index.
            Outcome::Reopened => {}
            Outcome::Failed(error) => return vec![Err(error.into()); count],
        }
        self.forget(&applied.leftovers.unused);
        let counters = &self.shared.counters;
        set(&counters.objects, applied.objects);
        set(&counters.uploads, applied.uploads);
        set(&counters.blobs, applied.blobs);
        add(&counters.written_bytes, bodies.written);
        add(&counters.moved_bytes, bodies.moved_bytes);
        for (answer, source) in applied.answers.iter().zip(sources) {
            if let (Ok(_), Ok(Some(Source { extent, deduplicated: true, .. }))) = (answer, source) {
                add(&counters.deduplicated, 1);
                add(&counters.deduplicated_bytes, extent.length);
            }
        }
        self.count_segments();
        applied.answers
    }

    /// Removes files to which the index does not refer.
    fn forget(&mut self, files: &[(u32, BlobKey)]) {
        for (generation, key) in files {
            // What stays is removed when the store is opened, or found by a check.
            let _ = self.blobs.unlink(*generation, key);
        }
    }
}
