//! Messages from callers who know nothing of each other, hashed side by side.
//!
//! An [`Engine`] has threads of its own. Whoever has a message [submits](Engine::digest) it, or [streams](Engine::stream)
//! it, and waits for the digest, as a future in any async runtime or on a thread. The engine fills SIMD lanes, then
//! cores, from whoever is there. Nobody who waits is left waiting for full lanes: with little to do it hashes as the best
//! code for one message does, on the caller's own thread if that is soonest.
//!
//! ```
//! use manyhash::{Algorithm, engine::Engine};
//!
//! let engine = Engine::builder().build()?;
//! let a = engine.digest(Algorithm::Md5, "a message");
//! let b = engine.digest([Algorithm::Md5, Algorithm::Sha256], vec![7; 100_000]); // S3 wants both of one body
//!
//! let mut stream = engine.stream(Algorithm::Sha1);
//! stream.write("a message ").wait()?; // or `.await`
//! stream.write("in chunks").wait()?;
//! println!("{} {:?} {}", a.wait()?, b.wait()?, stream.finish().wait()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! How it works, and why no wake-up is lost, is said in `src/engine/README.md`.

mod algorithms;
mod announced;
mod block_on;
mod costs;
mod digesting;
mod digesting_many;
mod gate;
mod inner;
mod links;
#[cfg(all(test, manyhash_shuttle))]
mod model;
mod pool;
#[cfg(feature = "prometheus")]
mod prometheus;
mod reentry;
mod schedule;
mod shared;
#[cfg(test)]
mod simulation;
mod slots;
mod stats;
mod stream;
mod stretch;
mod sync;
mod turn;
mod unlocked;
mod work;

pub use algorithms::Algorithms;
pub use digesting::Digesting;
pub use digesting_many::{Collection, DigestingMany};
pub use slots::SlotState;
pub use stats::{AlgorithmStats, Histogram, KernelUse, StateStats, Stats};
pub use stream::{HashStream, Write};

use crate::{Algorithm, Digests};
use digesting::Submission;
use digesting_many::Part;
use shared::SharedEngine;
use std::io;
use std::num::NonZeroUsize;
use sync::Arc;
use unlocked::Most;
use work::{Chunk, Content, ShortMessages};

/// Hashes messages of independent callers side by side, on threads of its own. Cheap to clone: clones share them.
///
/// When the last clone is dropped, messages that were submitted and let in are still finished, and their futures get
/// the digests; those in line for memory, and streams that are written to later, fail with [`JobError::Closed`]. The
/// drop itself waits for nothing.
#[derive(Clone)]
pub struct Engine {
    handle: Arc<Handle>,
}

/// Closes the engine when the last clone is gone.
struct Handle(Arc<SharedEngine>);

impl Drop for Handle {
    fn drop(&mut self) {
        if self.0.check_process().is_ok() {
            self.0.close();
        }
    }
}

/// A message shorter than this shares a job with others that were submitted with it.
const SHORT: usize = 16 << 10;

/// Messages in such a job at the most, and about their bytes: hashed in one go, it is to take no longer than a slice.
const BATCH_MESSAGES: usize = 4096;
const BATCH_BYTES: usize = 1 << 20;

impl Engine {
    /// Says how many threads and how much memory an engine shall have.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The digest of a message, or its digests by several algorithms.
    ///
    /// The bytes are handed over, not copied. The message is submitted now, and the future may be polled late or not at
    /// all; if the engine's memory is used up, it waits in line for it. Only what the thread that polls had better hash
    /// itself waits for that: a message of a few KiB, and, while nothing else is there, one that takes less than 2 ms.
    ///
    /// A buffer is asked for its bytes here, for their number, and again when they are hashed. If it then has another number
    /// of bytes, the digest is [`JobError::Changed`].
    ///
    /// A task may loop over this as it likes: the future lets others on its thread go first after every quarter of a
    /// millisecond's hashing.
    pub fn digest<A: Algorithms>(&self, algorithms: A, bytes: impl AsRef<[u8]> + Send + 'static) -> Digesting<A> {
        match self.hash_at_once(&algorithms, bytes) {
            Ok(outcome) => Digesting::at_once(outcome),
            Err((bytes, length)) => Digesting::new(self.submit(algorithms.list(), bytes, length)),
        }
    }

    fn submit(&self, algorithms: &[Algorithm], bytes: impl AsRef<[u8]> + Send + 'static, length: usize) -> Submission {
        let (shared, chunk) = (&self.handle.0, Chunk::of_length(bytes, length));
        match shared.order(algorithms) {
            Ok(order) => Submission::of_message(shared.clone(), order, chunk),
            Err(error) => {
                let _ = chunk.discard();
                Submission::done(shared.clone(), Err(error))
            }
        }
    }

    /// The digests of a message that is so short as to be hashed here and now, or what is wrong with it. That needs
    /// neither the engine's threads nor its lock.
    ///
    /// # Errors
    /// If it is longer, its bytes and how many they are.
    fn hash_at_once<A: Algorithms, B: AsRef<[u8]>>(
        &self,
        algorithms: &A,
        bytes: B,
    ) -> Result<Result<A::Digests, JobError>, (B, usize)> {
        let shared = &self.handle.0;
        let most = shared.most(algorithms.list());
        work::at_once(bytes, most.at_once, |bytes| {
            stretch::add(bytes.len() as f64 * most.seconds);
            shared.unlocked.add(algorithms.list(), bytes.len());
            algorithms.digest(bytes)
        })
    }

    /// As [`digest`](Self::digest), but a message that finds no room is given back.
    ///
    /// # Errors
    /// If the engine's memory is used up.
    pub fn try_digest<A: Algorithms, B: AsRef<[u8]> + Send + 'static>(
        &self,
        algorithms: A,
        bytes: B,
    ) -> Result<Digesting<A>, FullError<B>> {
        let (bytes, length) = match self.hash_at_once(&algorithms, bytes) {
            Ok(outcome) => return Ok(Digesting::at_once(outcome)),
            Err(longer) => longer,
        };
        let (shared, list) = (&self.handle.0, algorithms.list());
        let order = match shared.check_process().and_then(|()| shared.order(list)) {
            Ok(order) => order,
            Err(error) => {
                work::discard(bytes);
                return Ok(Digesting::new(Submission::done(shared.clone(), Err(error))));
            }
        };
        let content = |bytes| Content::message(list, Chunk::of_length(bytes, length));
        let submission = Submission::try_new(shared.clone(), order.pool, bytes, content, length);
        submission.map(Digesting::new).map_err(|buffer| FullError { buffer })
    }

    /// The digests of many messages, in their order.
    ///
    /// Short ones share jobs, so that the cost of a submission is shared by thousands of them; of such a job, all fail
    /// if one does.
    pub fn digest_many<B>(&self, algorithm: Algorithm, messages: Vec<B>) -> DigestingMany
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.digest_all(algorithm, messages)
    }

    /// As [`digest_many`](Self::digest_many), side by side: each digest takes no more bytes than it has.
    ///
    /// ```
    /// use manyhash::{Algorithm, Md5, engine::Engine};
    ///
    /// let engine = Engine::builder().build()?;
    /// let digests = engine.digest_many_packed(Algorithm::Md5, vec!["a", "b"]).wait()?;
    /// assert_eq!(digests.as_bytes(), Md5::digest_many(&["a", "b"]).as_flattened());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn digest_many_packed<B>(&self, algorithm: Algorithm, messages: Vec<B>) -> DigestingMany<Digests>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.digest_all(algorithm, messages)
    }

    fn digest_all<B, C: Collection>(&self, algorithm: Algorithm, messages: Vec<B>) -> DigestingMany<C>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        let count = messages.len();
        let shared = &self.handle.0;
        let parts = match shared.check_process() {
            Ok(()) => self.parts(algorithm, messages),
            Err(error) => {
                messages.into_iter().for_each(work::discard);
                vec![Part { submission: Submission::done(shared.clone(), Err(error)), numbers: Vec::new() }]
            }
        };
        DigestingMany::new(algorithm, parts, count)
    }

    fn parts<B: AsRef<[u8]> + Send + 'static>(&self, algorithm: Algorithm, messages: Vec<B>) -> Vec<Part> {
        let (shared, at_once) = (&self.handle.0, Most::of_many(algorithm).tiny);
        let mut parts = Vec::new();
        let mut batch = ShortMessages::new(algorithm);
        let mut numbers = Vec::new();
        let mut submit = |batch: ShortMessages<B>, numbers| {
            let weight = batch.weight;
            let submission = if weight <= at_once {
                Submission::done(shared.clone(), shared.hash_at_once(algorithm, batch))
            } else {
                match shared.order(&[algorithm]) {
                    Ok(order) => Submission::new(shared.clone(), order.pool, Content::ShortMessages(Box::new(batch))),
                    Err(error) => Submission::done(shared.clone(), Err(error)),
                }
            };
            parts.push(Part { submission, numbers });
        };
        let mut long = Vec::new();
        for (number, message) in messages.into_iter().enumerate() {
            match work::length(&message) {
                Ok(length) if length < SHORT => {
                    batch.push(message, length);
                    numbers.push(number);
                    if numbers.len() == BATCH_MESSAGES || batch.weight >= BATCH_BYTES {
                        submit(
                            std::mem::replace(&mut batch, ShortMessages::new(algorithm)),
                            std::mem::take(&mut numbers),
                        );
                    }
                }
                Ok(length) => long.push((number, Ok((message, length)))),
                Err(error) => {
                    work::discard(message);
                    long.push((number, Err(error)));
                }
            }
        }
        if !numbers.is_empty() {
            submit(batch, numbers);
        }
        parts.extend(long.into_iter().map(|(number, message)| {
            let submission = match message {
                Ok((message, length)) => self.submit(&[algorithm], message, length),
                Err(error) => Submission::done(shared.clone(), Err(error)),
            };
            Part { submission, numbers: vec![number] }
        }));
        parts
    }

    /// A message that comes in chunks. It has a slot from the first chunk on that its caller does not hash himself.
    pub fn stream<A: Algorithms>(&self, algorithms: A) -> HashStream<A> {
        HashStream::new(self.handle.0.clone(), algorithms)
    }

    /// Says that a request is in progress whose body will come: for servers, at the head of a request.
    ///
    /// It is a hint and never needed: where many requests are in progress, the first body to come lets the others come
    /// too before it is hashed, so that they share lanes, without having to learn first that there are many. It counts
    /// until it is dropped, and for a millisecond or two at the most: what comes later does not come at the same time.
    pub fn announce(&self) -> Announcement {
        let shared = &self.handle.0;
        let own = shared.check_process().ok().map(|()| shared.with(|inner, now, _| inner.announced.add(now)));
        Announcement { shared: shared.clone(), own }
    }

    /// What the engine is doing, and what it has done.
    ///
    /// In a process that was forked after the engine was made, there is nothing to tell, and the figures are zero.
    pub fn stats(&self) -> Stats {
        let shared = &self.handle.0;
        match shared.check_process() {
            Ok(()) => shared.with(|inner, now, _| inner.stats(shared.threads, now)),
            Err(_) => inner::Inner::new(0, 0, Arc::default()).stats(0, std::time::Instant::now()),
        }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("threads", &self.handle.0.threads).finish_non_exhaustive()
    }
}

/// A request in progress, [announced](Engine::announce).
#[must_use = "it counts until it is dropped"]
pub struct Announcement {
    shared: Arc<SharedEngine>,
    own: Option<announced::AnnouncedAt>,
}

impl Drop for Announcement {
    fn drop(&mut self) {
        if let Some(own) = self.own
            && self.shared.check_process().is_ok()
        {
            self.shared.with(|inner, now, _| inner.announced.remove(own, now));
        }
    }
}

impl std::fmt::Debug for Announcement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Announcement").finish_non_exhaustive()
    }
}

/// What an engine shall have.
#[derive(Clone, Debug)]
pub struct Builder {
    threads: Option<NonZeroUsize>,
    memory: usize,
    name: String,
}

/// Threads at the most, whatever is asked for.
const MAX_THREADS: usize = 1024;

impl Default for Builder {
    fn default() -> Self {
        Builder { threads: None, memory: 256 << 20, name: "manyhash-engine".to_owned() }
    }
}

impl Builder {
    /// Threads that hash, up to 1024; `None`, and if this is not called, one for every core.
    #[must_use]
    pub fn threads(mut self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        self.threads = threads.into();
        self
    }

    /// Bytes handed over and not yet hashed at the most, all callers together; 256 MiB if this is not called. Whoever
    /// comes then waits. A message or chunk larger than this is let in when nothing else is there. What a caller had
    /// better hash himself, and has not looked at yet, is not handed over and does not count.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// The threads' name, to which their number is added; `manyhash-engine` if this is not called.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Makes the engine and starts its threads.
    ///
    /// # Errors
    /// If a thread cannot be started, or `MANYHASH_BACKEND` names no backend of this CPU.
    pub fn build(self) -> Result<Engine, BuildError> {
        crate::backend()?;
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get).min(MAX_THREADS);
        let shared = Arc::new(SharedEngine::new(threads, self.memory.max(1)));
        shared.start(&self.name).map_err(|source| BuildError::Thread { threads, source })?;
        Ok(Engine { handle: Arc::new(Handle(shared)) })
    }
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A thread cannot be started; none is left running.
    #[error("cannot start {threads} threads to hash: {source}; ask for fewer, or raise the limit on processes")]
    Thread {
        /// Threads wanted.
        threads: usize,
        /// What the system said.
        source: io::Error,
    },
    /// `MANYHASH_BACKEND` names no backend of this CPU.
    #[error(transparent)]
    Backend(#[from] crate::BackendVariableError),
}

/// There is no room for a message, which is given back.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the engine's memory is used up")]
#[non_exhaustive]
pub struct FullError<B> {
    /// The bytes.
    pub buffer: B,
}

impl<B> std::fmt::Debug for FullError<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FullError").finish_non_exhaustive()
    }
}

/// Why there is no digest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The last clone of the engine was dropped before the message was let in, or the future was polled after its end.
    #[error("the engine was dropped before the message was let in")]
    Closed,
    /// The code that says where the bytes are, or that frees them, panicked.
    #[error("the buffer's own code panicked")]
    Panicked,
    /// The buffer had another length when it was hashed than when it was handed over.
    #[error("the buffer changed its length after it was handed over")]
    Changed,
    /// The process was forked after the engine was made, and its threads are not in this one: make another engine. What
    /// callers hash themselves, such as messages of a few KiB, may go on there.
    #[error("the engine's threads did not survive a fork; make an engine after it")]
    Forked,
    /// The engine has 16,777,216 messages and streams in hand whose digests were not fetched, and takes no more.
    #[error("the engine has 16777216 messages and streams in hand; fetch their digests, or drop some")]
    TooMany,
    /// Code of a buffer, or a waker, that the engine has called waited for the engine: its thread would wait for itself.
    #[error("code that the engine has called cannot wait for it; hash there without it, or on another thread")]
    Reentrant,
}
