//! What a thread does with the jobs that it took: their bytes to states and digests, without the engine's lock.
//!
//! The bytes belong to callers, whose code says where they are each time they are asked for. It may panic, or give
//! other bytes than before; both are that job's failure and nobody else's.

use super::JobError;
use super::reentry;
use super::slots::Id;
use crate::family::with_family;
use crate::hasher::{FamilyRows, Variant, finalize_many, update_messages};
use crate::lanes::Planned;
use crate::running::Prefix;
use crate::{Algorithm, Digest, Hasher, batch};
use manyhash_core::family::MAX_BLOCK_BYTES;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What became of a job.
pub(super) type JobResult = Result<Vec<Digest>, JobError>;

/// Bytes that a caller handed over.
pub(super) struct Chunk {
    buffer: Box<dyn AsRef<[u8]> + Send>,
    length: usize,
    /// Bytes hashed so far.
    start: usize,
}

impl Chunk {
    /// Of bytes whose [`length`] is known.
    pub(super) fn of_length(buffer: impl AsRef<[u8]> + Send + 'static, length: usize) -> Self {
        Chunk { buffer: Box::new(buffer), length, start: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Bytes that are not hashed yet.
    pub(super) fn left(&self) -> usize {
        self.length - self.start
    }

    /// The next bytes, at most so many.
    fn next(&self, most: usize) -> Result<&[u8], JobError> {
        let bytes = guard(|| (*self.buffer).as_ref())?;
        if bytes.len() != self.length {
            return Err(JobError::Changed);
        }
        Ok(&bytes[self.start..][..self.left().min(most)])
    }

    /// Hashes all of it, at once.
    pub(super) fn hash(self, hashers: &mut [Hasher]) -> Result<(), JobError> {
        let hashed = self.next(usize::MAX).map(|bytes| hashers.iter_mut().for_each(|hasher| hasher.update(bytes)));
        let discarded = self.discard();
        hashed.and(discarded)
    }

    /// The digests of all of it, at once.
    pub(super) fn digests(self, algorithms: &[Algorithm]) -> JobResult {
        let digest = |bytes| algorithms.iter().map(|algorithm| crate::digest(*algorithm, bytes)).collect();
        let digests = self.next(usize::MAX).map(digest);
        let discarded = self.discard();
        digests.and_then(|digests| discarded.map(|()| digests))
    }

    /// Ends its life; a panic in that is the caller's code too.
    pub(super) fn discard(self) -> Result<(), JobError> {
        guard(|| drop(self.buffer))
    }
}

/// Runs a caller's code.
fn guard<T>(code: impl FnOnce() -> T) -> Result<T, JobError> {
    catch_unwind(AssertUnwindSafe(|| reentry::of_buffer(code))).map_err(|_| JobError::Panicked)
}

/// Ends the life of a buffer that has failed already.
pub(super) fn discard(buffer: impl AsRef<[u8]>) {
    let _ = guard(|| drop(buffer));
}

/// How many bytes a caller's buffer has.
pub(super) fn length(buffer: impl AsRef<[u8]>) -> Result<usize, JobError> {
    guard(|| buffer.as_ref().len())
}

/// What is made of a message's bytes, if they are no more than so many.
///
/// # Errors
/// If they are more, the buffer and how many.
pub(super) fn at_once<B: AsRef<[u8]>, D>(
    buffer: B,
    most: usize,
    digest: impl FnOnce(&[u8]) -> D,
) -> Result<Result<D, JobError>, (B, usize)> {
    let digests = guard(|| {
        let bytes = buffer.as_ref();
        if bytes.len() <= most { Ok(digest(bytes)) } else { Err(bytes.len()) }
    });
    match digests {
        Ok(Err(length)) => Err((buffer, length)),
        Ok(Ok(digests)) => Ok(guard(|| drop(buffer)).map(|()| digests)),
        Err(error) => {
            discard(buffer);
            Ok(Err(error))
        }
    }
}

/// What is hashed in a job.
pub(super) enum Content {
    /// The bytes of one message, by one algorithm or several.
    Message {
        hashers: Vec<Hasher>,
        /// What follows the bytes that are hashed already.
        chunks: VecDeque<Chunk>,
        /// Whether the message ends with them.
        ended: bool,
    },
    /// Many short messages.
    ShortMessages(Box<dyn Messages>),
}

/// States, and the bytes that they go on with.
type Piece<'a> = (&'a mut [Hasher], &'a [u8]);

/// A job in a thread's hands.
pub(super) struct Work {
    pub(super) id: Id,
    pub(super) content: Content,
    /// Maximum number of bytes to hash.
    pub(super) budget: usize,
    /// Bytes hashed.
    pub(super) hashed: usize,
    /// Bytes of chunks that are done with.
    pub(super) released: usize,
    /// The digests, or what went wrong, if that is the end of the job.
    pub(super) outcome: Option<JobResult>,
}

impl Work {
    pub(super) fn new(id: Id, content: Content, budget: usize) -> Self {
        Work { id, content, budget, hashed: 0, released: 0, outcome: None }
    }

    pub(super) fn fail(&mut self, error: JobError) {
        self.outcome.get_or_insert(Err(error));
    }

    /// The next bytes, if there are any left to hash now, and the states that go on with them. Of those that several
    /// algorithms read one after another, at most `shared`.
    fn next(&mut self, shared: usize) -> Result<Option<Piece<'_>>, JobError> {
        let Content::Message { hashers, chunks, .. } = &mut self.content else { return Ok(None) };
        let most = if hashers.len() > 1 { self.budget.min(shared) } else { self.budget };
        match chunks.front() {
            Some(chunk) if self.budget > 0 && self.outcome.is_none() => Ok(Some((hashers, chunk.next(most)?))),
            _ => Ok(None),
        }
    }

    /// So many bytes of the first chunk were hashed.
    fn advance(&mut self, bytes: usize) {
        let Content::Message { chunks, .. } = &mut self.content else { return };
        self.budget -= bytes;
        self.hashed += bytes;
        let Some(chunk) = chunks.front_mut() else { return };
        chunk.start += bytes;
        if chunk.left() == 0
            && let Some(chunk) = chunks.pop_front()
        {
            self.released += chunk.len();
            if let Err(error) = chunk.discard() {
                self.fail(error);
            }
        }
    }
}

/// Bytes of all messages side by side that are in cache when the next algorithm reads them.
const SHARED: usize = 512 << 10;

/// Of one message no fewer than this, and a multiple of it: many whole blocks of any algorithm.
const SHARED_GRAIN: usize = 4 << 10;

/// Hashes what the budgets allow, of many jobs side by side.
pub(super) fn run(works: &mut [Work], rows: &FamilyRows) {
    for work in works.iter_mut() {
        if let Content::ShortMessages(messages) = &mut work.content {
            work.outcome = Some(messages.run(rows));
            (work.hashed, work.released) = (messages.weight(), messages.weight());
        }
    }
    let shared = (SHARED / works.len().max(1)).next_multiple_of(SHARED_GRAIN);
    loop {
        let mut messages = Vec::with_capacity(works.len());
        let mut indices = Vec::with_capacity(works.len());
        let mut failed = Vec::new();
        for (i, work) in works.iter_mut().enumerate() {
            match work.next(shared) {
                Ok(Some(message)) => {
                    messages.push(message);
                    indices.push(i);
                }
                Ok(None) => {}
                Err(error) => failed.push((i, error)),
            }
        }
        update_messages(&mut messages, rows);
        let lengths: Vec<usize> = messages.iter().map(|(_, bytes)| bytes.len()).collect();
        for (i, error) in failed {
            works[i].fail(error);
        }
        if lengths.is_empty() {
            break;
        }
        for (i, bytes) in indices.into_iter().zip(lengths) {
            works[i].advance(bytes);
        }
    }
    finish(works, rows);
}

/// The digests of the messages that have ended.
fn finish(works: &mut [Work], rows: &FamilyRows) {
    let ended = |work: &&mut Work| {
        let all = matches!(&work.content, Content::Message { chunks, ended: true, .. } if chunks.is_empty());
        all && work.outcome.is_none()
    };
    let mut ended: Vec<&mut Work> = works.iter_mut().filter(ended).collect();
    let hashers = ended.iter().flat_map(|work| match &work.content {
        Content::Message { hashers, .. } => &hashers[..],
        Content::ShortMessages(_) => &[],
    });
    let mut digests = finalize_many(&hashers.collect::<Vec<_>>(), rows).into_iter();
    for work in &mut ended {
        if let Content::Message { hashers, .. } = &work.content {
            work.outcome = Some(Ok(digests.by_ref().take(hashers.len()).collect()));
        }
    }
}

/// Short messages that are hashed in one go.
pub(super) trait Messages: Send {
    /// Their bytes.
    fn bytes(&self) -> usize;

    /// What counts for the schedule and against the bound: their bytes, and for each a block, which is about what its
    /// end costs.
    fn weight(&self) -> usize;

    fn run(&mut self, rows: &FamilyRows) -> JobResult;
}

/// Messages of one type, by one algorithm.
pub(super) struct ShortMessages<B> {
    algorithm: Algorithm,
    messages: Vec<B>,
    bytes: usize,
    pub(super) weight: usize,
}

impl<B> ShortMessages<B> {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        ShortMessages { algorithm, messages: Vec::new(), bytes: 0, weight: 0 }
    }

    pub(super) fn push(&mut self, message: B, length: usize) {
        self.messages.push(message);
        self.bytes += length;
        self.weight += length + MAX_BLOCK_BYTES / 2;
    }
}

impl<B> Drop for ShortMessages<B> {
    fn drop(&mut self) {
        let _ = discard_all(std::mem::take(&mut self.messages));
    }
}

/// Ends the lives of buffers one by one: were two of them to panic while their `Vec` is dropped, the process would end.
fn discard_all<B>(buffers: Vec<B>) -> Result<(), JobError> {
    let mut outcome = Ok(());
    for buffer in buffers {
        outcome = outcome.and(guard(|| drop(buffer)));
    }
    outcome
}

impl<B: AsRef<[u8]> + Send> Messages for ShortMessages<B> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn weight(&self) -> usize {
        self.weight
    }

    fn run(&mut self, rows: &FamilyRows) -> JobResult {
        let messages = std::mem::take(&mut self.messages);
        let algorithm = self.algorithm;
        let digests = guard(|| {
            let slices: Vec<&[u8]> = messages.iter().map(AsRef::as_ref).collect();
            let mut digests = vec![Digest::default(); slices.len()];
            with_family!(algorithm, F, start => {
                let lanes = || F::rows(rows).of(F::plan());
                batch::fill_here(lanes, Prefix::none(*start), &slices, &mut digests, |bytes| Digest::new(bytes, algorithm));
            });
            digests
        });
        discard_all(messages)?;
        digests
    }
}
