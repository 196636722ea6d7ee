//! The writer: the one thread that changes what is kept.
//!
//! It takes all changes that are ready as one batch. What becomes ready meanwhile is the next batch, so a batch is as
//! large as the disk is slow, and nobody waits for a timer. A batch is made in this order:
//!
//! 1. Small bodies are appended to the segment with one write, and synced. Files get their names, and the directory is
//!    synced. ([`bodies`])
//! 2. The changes are applied one after another in one transaction of the index, and it is committed. ([`apply`],
//!    [`ledger`])
//! 3. The changes are answered.
//! 4. Files that nothing refers to any more are unlinked. ([`house`])
//!
//! So the index never refers to what is not durable, and what is removed is never referred to. A crash before the
//! commit leaves bytes behind the end of the segment and names that the index does not know; a crash after it leaves
//! trash. Both are removed when the store is opened.
//!
//! An error of step 1 concerns the bodies that it hit. After a sync that failed, the segment or the directory is
//! abandoned, since nobody knows what is on the disk. An error of step 2 concerns the whole batch. If it was the commit
//! that failed, the index is opened again, and says whether the batch is in it.

mod apply;
mod batch;
mod bodies;
mod house;
mod ledger;
mod moves;

use crate::blobs::Blobs;
use crate::disk::DiskFile;
use crate::index::{BlobKey, SegmentRecord, StateRecord};
use crate::stats::{add, set};
use crate::store::Shared;
use crate::{Change, CommitError, Committed, ReadError};
use house::House;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use tokio::sync::oneshot;

/// The maximum number of changes in a batch.
const MAX_CHANGES: usize = 1024;

/// The length of small bodies after which a batch takes no more changes.
const MAX_BYTES: u64 = 16 << 20;

/// How long nothing must happen before the writer tidies up.
const IDLE: Duration = Duration::from_millis(100);

/// How long it waits before it tries again what it could not tidy up, such as blobs that are pinned.
const RETRY: Duration = Duration::from_secs(1);

/// What the writer is told.
#[derive(Debug)]
pub(crate) enum Message {
    /// To make a change.
    Change(Box<Pending>),
    /// To open the index again, if it has failed.
    Heal,
    /// To end, after what was sent before.
    Close,
}

/// A change that waits for its answer.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) change: Change,
    pub(crate) answer: oneshot::Sender<Result<Committed, CommitError>>,
}

/// The writer's view of the directory.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    blobs: Blobs,
    /// As the index has it, except for numbers, which are never given twice.
    state: StateRecord,
    /// As the index has them.
    segments: BTreeMap<u32, SegmentRecord>,
    /// The segment that is appended to.
    current: Option<Current>,
    /// Segments that are no longer appended to, and that the index does not know to be sealed.
    sealed: Vec<u32>,
    /// What is known of the directory that files are linked into.
    generation: Generation,
    house: House,
    /// Whether the index must be opened again before it is used.
    is_broken: bool,
    /// Names that were given in a batch of which nobody knows whether it is in the index.
    doubtful: Vec<(u32, BlobKey)>,
    /// Given up at the end.
    lock: Option<Box<dyn Any + Send + Sync>>,
}

/// What is known of a generation's directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Generation {
    /// Whether it is there.
    Unknown,
    /// It is there, and durable.
    Open,
    /// A sync of it has failed.
    Failed,
}

/// The segment that is appended to.
struct Current {
    number: u32,
    file: Arc<dyn DiskFile>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Writer").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Writer {
    /// Reads where the writer was.
    pub(crate) fn new(shared: Arc<Shared>, lock: Box<dyn Any + Send + Sync>) -> Result<Self, ReadError> {
        let mut writer = Writer {
            blobs: Blobs::new(shared.disk.clone(), shared.layout.clone()),
            shared,
            state: StateRecord::default(),
            segments: BTreeMap::new(),
            current: None,
            sealed: Vec::new(),
            generation: Generation::Unknown,
            house: House::default(),
            is_broken: false,
            doubtful: Vec::new(),
            lock: Some(lock),
        };
        writer.load()?;
        writer.state.next_segment =
            writer.state.next_segment.max(writer.segments.keys().next_back().map_or(0, |n| n + 1));
        Ok(writer)
    }

    /// Goes on appending to the last segment, if it can be opened.
    pub(crate) fn resume(&mut self) {
        let last = self.segments.last_key_value().map(|(number, record)| (*number, record.sealed));
        if let Some((number, false)) = last {
            match self.shared.segments.open(number) {
                Ok(file) => self.current = Some(Current { number, file }),
                Err(_) => self.sealed.push(number),
            }
        }
    }

    /// Makes changes until it is told to end.
    pub(crate) fn run(mut self, queue: &Receiver<Message>) {
        let mut patience = IDLE;
        loop {
            let first = if self.house.has_work() {
                queue.recv_timeout(patience)
            } else {
                queue.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            let Ok(first) = first else {
                if first.is_err_and(|error| error == RecvTimeoutError::Disconnected) {
                    break;
                }
                // Once it has begun, it goes on as long as there is something to do and nobody waits.
                patience = if self.tidy_up() { Duration::ZERO } else { RETRY };
                continue;
            };
            patience = IDLE;
            let batch = Ready::take(first, queue);
            if batch.heal {
                self.heal();
            }
            if !batch.changes.is_empty() {
                self.make(batch.changes);
            }
            if batch.close {
                break;
            }
        }
        self.tidy_up();
        self.remove_unused_segment();
        self.shared.index.close();
        self.lock = None;
    }

    /// Removes the segment that was begun for changes of which none was made.
    fn remove_unused_segment(&mut self) {
        if let Some(Current { number, .. }) = &self.current
            && !self.is_broken
            && !self.segments.contains_key(number)
        {
            // What stays is removed when the store is opened.
            let _ = self.shared.segments.remove(*number);
        }
    }

    /// Opens the index again if it has failed, on behalf of a reader.
    fn heal(&mut self) {
        if self.is_broken || self.shared.index.begin().is_err() {
            // If it fails, the next change or the next reader tries again.
            let _ = self.reopen();
        }
    }

    /// Opens the index again, and reads from it which of the batches before are in it.
    fn reopen(&mut self) -> io::Result<()> {
        self.is_broken = true;
        add(&self.shared.counters.reopened, 1);
        self.shared.index.reopen()?;
        self.load().map_err(|error| match error {
            ReadError::Disk(error) => error,
            error => io::Error::new(io::ErrorKind::InvalidData, error),
        })?;
        self.is_broken = false;
        Ok(())
    }

    /// Reads what the index says.
    fn load(&mut self) -> Result<(), ReadError> {
        let snapshot = self.shared.index.snapshot()?;
        let state = snapshot.state()?;
        self.segments = snapshot.segments()?.into_iter().collect();
        // A number may have been given away by a batch that is not in the index.
        self.state = StateRecord {
            batch: state.batch,
            bytes: state.bytes,
            next: self.state.next.max(state.next),
            next_segment: self.state.next_segment.max(state.next_segment),
            ..if self.state.generation < state.generation { state } else { self.state }
        };
        if self.state.generation == state.generation {
            self.state.files = self.state.files.max(state.files);
        }
        if let Some(current) = &self.current
            && self.segments.get(&current.number).is_some_and(|record| record.sealed)
        {
            self.current = None;
        }
        for (generation, key) in std::mem::take(&mut self.doubtful) {
            if snapshot.blob_or_trash(&key)?.is_none() {
                // What stays is found by a check.
                let _ = self.blobs.unlink(generation, &key);
            }
        }
        self.house = House::new(snapshot.trash()?, &self.segments);
        self.count_segments();
        Ok(())
    }

    /// Tells what is in the segments.
    fn count_segments(&self) {
        let counters = &self.shared.counters;
        set(&counters.segments, self.segments.len() as u64);
        set(&counters.segment_bytes, self.segments.values().map(|record| record.end).sum());
        set(&counters.segment_live_bytes, self.segments.values().map(|record| record.live).sum());
        set(&counters.bytes, self.state.bytes);
        set(&counters.trash, self.house.trash());
    }
}

/// What was waiting.
#[derive(Default)]
struct Ready {
    changes: Vec<Pending>,
    heal: bool,
    close: bool,
}

impl Ready {
    /// Takes all that is waiting, up to the size of a batch.
    fn take(first: Message, queue: &Receiver<Message>) -> Self {
        let (mut ready, mut bytes, mut next) = (Ready::default(), 0u64, Some(first));
        while let Some(message) = next {
            match message {
                Message::Change(pending) => {
                    bytes = bytes.saturating_add(bodies::small_bytes(&pending.change));
                    ready.changes.push(*pending);
                }
                Message::Heal => ready.heal = true,
                Message::Close => ready.close = true,
            }
            if ready.close || ready.changes.len() >= MAX_CHANGES || bytes >= MAX_BYTES {
                break;
            }
            next = queue.try_recv().ok();
        }
        ready
    }
}
