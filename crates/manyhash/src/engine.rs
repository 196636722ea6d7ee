//! Hashes messages of independent callers side by side.
//!
//! An [`Engine`] has its own threads. A caller [submits](Engine::digest) or [streams](Engine::stream) a message, and
//! waits for the digest as a future in any async runtime, or on a thread. The engine fills SIMD lanes, then cores, with
//! the messages that it has. It does not wait until lanes are full. With little to do, it uses the best code for one
//! message, on the caller's own thread if that is soonest.
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
//! `src/engine/README.md` explains how the engine works, and why no wake-up is lost.

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

/// Hashes messages of independent callers side by side, on its own threads. Clones are cheap and share the threads.
///
/// When the last clone is dropped, messages that were already admitted are still hashed, and their futures return the
/// digests. Messages in line for memory, and streams written to later, fail with [`JobError::Closed`]. The drop itself
/// does not block.
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

/// At most this many messages are in such a job, and about this many bytes: it is hashed in one go, which should take
/// no longer than a slice.
const BATCH_MESSAGES: usize = 4096;
const BATCH_BYTES: usize = 1 << 20;

impl Engine {
    /// Returns a builder, which sets the engine's threads and memory.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Hashes a message with one algorithm or several.
    ///
    /// The bytes are handed over, not copied. This call submits the message, so the future may be polled late or not at
    /// all. If the engine's memory is used up, the message waits in line for it. The exceptions are messages that are
    /// better hashed by the thread that polls, and wait for that: those of a few KiB and, while the engine has nothing
    /// else, those that take less than 2 ms.
    ///
    /// This call asks the buffer for its length, and hashing asks it for its bytes. If the length has changed in
    /// between, the result is [`JobError::Changed`].
    ///
    /// A task may call this in a loop: after every quarter of a millisecond of hashing, the future yields to the other
    /// tasks on its thread.
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

    /// Hashes a message like [`digest`](Self::digest), but returns it if there is no room for it.
    ///
    /// # Errors
    /// Returns the message in a [`FullError`] if the engine's memory is used up.
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

    /// Hashes many messages, and returns their digests in order.
    ///
    /// Short messages share jobs, so that thousands of them share the cost of a submission. If one message of such a
    /// job fails, all of them do.
    pub fn digest_many<B>(&self, algorithm: Algorithm, messages: Vec<B>) -> DigestingMany
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.digest_all(algorithm, messages)
    }

    /// Hashes many messages like [`digest_many`](Self::digest_many), but returns the digests side by side: each takes
    /// only its length.
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

    /// Starts a message that arrives in chunks. It takes a slot with the first chunk that is not hashed by its caller.
    pub fn stream<A: Algorithms>(&self, algorithms: A) -> HashStream<A> {
        HashStream::new(self.handle.0.clone(), algorithms)
    }

    /// Announces that a request is in progress and its body will follow. Servers call this at the head of a request.
    ///
    /// The hint is optional. Where many requests are in progress, the first body to arrive is hashed only after the
    /// others have had time to arrive, so that they share lanes. With the hint, the engine does not have to learn first
    /// that there are many. An announcement counts until it is dropped, and for at most a millisecond or two: a body
    /// that arrives later does not arrive at the same time.
    pub fn announce(&self) -> Announcement {
        let shared = &self.handle.0;
        let own = shared.check_process().ok().map(|()| shared.with(|inner, now, _| inner.announced.add(now)));
        Announcement { shared: shared.clone(), own }
    }

    /// Returns what the engine is doing and what it has done.
    ///
    /// In a process that was forked after the engine was made, all figures are zero.
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

/// An [announcement](Engine::announce) of a request in progress.
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

/// Configures and makes an [`Engine`].
#[derive(Clone, Debug)]
pub struct Builder {
    threads: Option<NonZeroUsize>,
    memory: usize,
    name: String,
}

/// The maximum number of threads, whatever is asked for.
const MAX_THREADS: usize = 1024;

impl Default for Builder {
    fn default() -> Self {
        Builder { threads: None, memory: 256 << 20, name: "manyhash-engine".to_owned() }
    }
}

impl Builder {
    /// Sets the number of threads that hash, up to 1024. The default, `None`, is one per core.
    #[must_use]
    pub fn threads(mut self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        self.threads = threads.into();
        self
    }

    /// Sets how many bytes all callers together may have handed over and not yet hashed. The default is 256 MiB.
    ///
    /// Callers wait while the memory is used up. A message or chunk larger than this is admitted when there is no
    /// other. A message that is better hashed by its caller, and was not polled yet, is not handed over and does not
    /// count.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the name of the threads, to which their number is appended. The default is `manyhash-engine`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Makes the engine and starts its threads.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started, or if `MANYHASH_BACKEND` does not name a backend of this CPU.
    pub fn build(self) -> Result<Engine, BuildError> {
        crate::backend()?;
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get).min(MAX_THREADS);
        let shared = Arc::new(SharedEngine::new(threads, self.memory.max(1)));
        shared.start(&self.name).map_err(|source| BuildError::Thread { threads, source })?;
        Ok(Engine { handle: Arc::new(Handle(shared)) })
    }
}

/// Why [`Builder::build`] failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A thread cannot be started; none is left running.
    #[error("cannot start {threads} threads to hash: {source}; ask for fewer, or raise the limit on processes")]
    Thread {
        /// Number of threads wanted.
        threads: usize,
        /// The system's error.
        source: io::Error,
    },
    /// `MANYHASH_BACKEND` does not name a backend of this CPU.
    #[error(transparent)]
    Backend(#[from] crate::BackendVariableError),
}

/// The engine has no room for a message, which is returned.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the engine's memory is used up")]
#[non_exhaustive]
pub struct FullError<B> {
    /// The message's bytes.
    pub buffer: B,
}

impl<B> std::fmt::Debug for FullError<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FullError").finish_non_exhaustive()
    }
}

/// Why a message has no digest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The last clone of the engine was dropped before the message was admitted, or the future was polled after it
    /// completed.
    #[error("the engine was dropped before it admitted the message")]
    Closed,
    /// The buffer's code panicked: its `as_ref` or its `drop`.
    #[error("the buffer's own code panicked")]
    Panicked,
    /// The buffer's length changed between being handed over and being hashed.
    #[error("the buffer's length changed after it was handed over")]
    Changed,
    /// The process was forked after the engine was made, and the engine's threads do not exist in it: make another
    /// engine. Messages that callers hash themselves, such as those of a few KiB, may still succeed.
    #[error("the engine's threads do not exist in a forked process; make another engine after the fork")]
    Forked,
    /// The engine has 16,777,216 messages and streams whose digests were not fetched, and accepts no more.
    #[error("the engine has 16777216 messages and streams, and accepts no more; fetch their digests or drop some")]
    TooMany,
    /// A buffer's code or a waker, called by the engine, waited for the engine: its thread would wait for itself.
    #[error("code called by the engine cannot wait for the engine; hash without it, or on another thread")]
    Reentrant,
}
