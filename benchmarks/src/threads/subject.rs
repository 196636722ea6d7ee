//! The subjects of `threads`, each as a worker that a thread owns.

use super::strings::Text;
use crate::error::Error;
use crate::subject::Evp;
use manyhash::{Algorithm, Batch, Digest};
use std::hint::black_box;
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
pub(crate) enum Subject {
    /// OpenSSL, one context for all threads, which is locked for every string.
    Shared,
    /// OpenSSL, a context for each thread.
    Own,
    /// A batch on each thread.
    Batch,
}

impl Subject {
    /// All, in the order of tables.
    pub(crate) const ALL: [Subject; 3] = [Subject::Shared, Subject::Own, Subject::Batch];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Subject::Shared => "openssl-shared",
            Subject::Own => "openssl",
            Subject::Batch => "manyhash",
        }
    }

    /// A worker for each thread.
    pub(crate) fn workers(self, algorithm: Algorithm, threads: usize) -> Result<Vec<Worker>, Error> {
        let shared = Arc::new(Mutex::new(Evp::new(algorithm)?));
        let worker = |_| {
            Ok(match self {
                Subject::Shared => Worker::Shared(shared.clone()),
                Subject::Own => Worker::Own(Evp::new(algorithm)?),
                Subject::Batch => {
                    Worker::Batch(Batch::new(algorithm).threads(1), vec![Digest::default(); PIECE].into())
                }
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
        }
    }
}
