//! The subjects of `threads`, each as a worker that a thread owns.

use super::strings::Text;
use crate::error::Error;
use crate::subject::Evp;
use manyhash::engine::Engine;
use manyhash::{Algorithm, Batch, Digest};
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

/// Where digests go as they are made, in order.
pub(crate) trait Sink: Send {
    fn take<D: AsRef<[u8]>>(&mut self, digests: &[D]) -> Result<(), Error>;
}

/// While the time is taken, a digest has been used once it is in memory.
pub(crate) struct Discard;

impl Sink for Discard {
    fn take<D: AsRef<[u8]>>(&mut self, digests: &[D]) -> Result<(), Error> {
        black_box(digests);
        Ok(())
    }
}

/// Strings in a call of `manyhash`: enough for its lanes, few enough that the digests stay in cache.
const PIECE: usize = 4096;

/// What hashes the strings.
#[derive(Clone, Copy)]
pub(crate) enum ThreadsSubject {
    /// OpenSSL, one context for all threads, which is locked for every string.
    Shared,
    /// OpenSSL, a context for each thread.
    Own,
    /// A batch on each thread.
    Batch,
    /// An engine that all threads submit to, with so many strings a job; each waits for a job before the next.
    Engine(usize),
}

impl ThreadsSubject {
    /// All, in the order of tables.
    pub(crate) const ALL: [ThreadsSubject; 6] = [
        ThreadsSubject::Shared,
        ThreadsSubject::Own,
        ThreadsSubject::Batch,
        ThreadsSubject::Engine(1),
        ThreadsSubject::Engine(16),
        ThreadsSubject::ENGINE_BATCHES,
    ];

    /// The one that is held to a rate a core.
    pub(crate) const ENGINE_BATCHES: ThreadsSubject = ThreadsSubject::Engine(4096);

    pub(crate) fn name(self) -> &'static str {
        match self {
            ThreadsSubject::Shared => "openssl-shared",
            ThreadsSubject::Own => "openssl",
            ThreadsSubject::Batch => "manyhash",
            ThreadsSubject::Engine(1) => "engine-1",
            ThreadsSubject::Engine(16) => "engine-16",
            ThreadsSubject::Engine(_) => "engine-4096",
        }
    }

    /// A worker for each thread.
    pub(crate) fn workers(self, engine: &Engine, algorithm: Algorithm, threads: usize) -> Result<Vec<Worker>, Error> {
        let shared = Arc::new(Mutex::new(Evp::new(algorithm)?));
        let worker = |_| {
            Ok(match self {
                ThreadsSubject::Shared => Worker::Shared(shared.clone()),
                ThreadsSubject::Own => Worker::Own(Evp::new(algorithm)?),
                ThreadsSubject::Batch => Worker::Batch(
                    Batch::new(algorithm).threads(NonZeroUsize::MIN),
                    vec![Digest::default(); PIECE].into(),
                ),
                ThreadsSubject::Engine(1) => Worker::Single(engine.clone(), algorithm),
                ThreadsSubject::Engine(batch) => Worker::Many(engine.clone(), algorithm, batch),
            })
        };
        (0..threads).map(worker).collect()
    }
}

/// What one thread has of a subject.
pub(crate) enum Worker {
    Shared(Arc<Mutex<Evp>>),
    Own(Evp),
    Batch(Batch, Box<[Digest]>),
    Single(Engine, Algorithm),
    Many(Engine, Algorithm, usize),
}

impl Worker {
    /// Hashes strings, and hands over their digests.
    pub(crate) fn hash(&mut self, strings: &[Text], sink: &mut impl Sink) -> Result<(), Error> {
        let mut room = [[0; 64]];
        match self {
            Worker::Shared(context) => strings.iter().try_for_each(|text| {
                context.lock().expect("no thread panics").digest(text, &mut room[0])?;
                sink.take(&room)
            }),
            Worker::Own(context) => strings.iter().try_for_each(|text| {
                context.digest(text, &mut room[0])?;
                sink.take(&room)
            }),
            Worker::Batch(batch, digests) => strings.chunks(PIECE).try_for_each(|piece| {
                let digests = &mut digests[..piece.len()];
                batch.digest_many_into(piece, digests).expect("there are as many digests as strings");
                sink.take(digests)
            }),
            Worker::Single(engine, algorithm) => {
                strings.iter().try_for_each(|text| sink.take(&[engine.digest(*algorithm, *text).wait()?]))
            }
            Worker::Many(engine, algorithm, batch) => strings
                .chunks(*batch)
                .try_for_each(|piece| sink.take(&engine.digest_many(*algorithm, piece.to_vec()).wait()?)),
        }
    }
}
