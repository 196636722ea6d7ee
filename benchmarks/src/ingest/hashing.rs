//! What hashes the chunks of an object as they come.

use crate::error::Error;
use crate::subject::Evp;
use crate::verify::Origin;
use bytes::Bytes;
use manyhash::engine::{Engine, HashStream};
use manyhash::{Algorithm, Digest};
use std::sync::Arc;

/// The subjects of `ingest`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IngestSubject {
    /// Objects are received only.
    None,
    /// OpenSSL within the task.
    OpenSsl,
    /// OpenSSL in a thread that may block, for every chunk.
    OpenSslBlocking,
    /// A stream of the engine for every object.
    Manyhash,
}

impl IngestSubject {
    /// All, in the order of tables.
    pub(crate) const ALL: [IngestSubject; 4] =
        [IngestSubject::None, IngestSubject::OpenSsl, IngestSubject::OpenSslBlocking, IngestSubject::Manyhash];

    pub(crate) fn name(self) -> &'static str {
        match self {
            IngestSubject::None => "none",
            IngestSubject::OpenSsl => "openssl",
            IngestSubject::OpenSslBlocking => "openssl-blocking",
            IngestSubject::Manyhash => "manyhash",
        }
    }
}

/// What the digests of an object should be.
pub(crate) struct Expected {
    length: usize,
    digests: Vec<(Algorithm, Vec<u8>)>,
}

impl Expected {
    pub(crate) fn new(length: usize, digests: Vec<(Algorithm, Vec<u8>)>) -> Self {
        Expected { length, digests }
    }

    /// Bytes in the object.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    fn algorithms(&self) -> impl Iterator<Item = Algorithm> {
        self.digests.iter().map(|(algorithm, _)| *algorithm)
    }

    fn check(&self, subject: IngestSubject, at: usize, digest: &[u8]) -> Result<(), Error> {
        let (algorithm, expected) = &self.digests[at];
        let (subject, length) = (subject.name(), self.length);
        Origin { subject, algorithm: *algorithm, load: "ingest", message: 0, length }.same(digest, expected)
    }
}

/// What one task hashes one object after another with.
pub(crate) struct Hashing {
    expected: Arc<Expected>,
    way: Way,
}

enum Way {
    None,
    /// A context for each algorithm.
    OpenSsl(Vec<Evp>),
    OpenSslBlocking(Vec<Evp>),
    Manyhash(Engine, Option<Streams>),
}

/// The stream of an object. Most programs need one digest of it, and say so.
enum Streams {
    One(HashStream<Algorithm>),
    Several(HashStream<Vec<Algorithm>>),
}

impl Hashing {
    pub(crate) fn new(subject: IngestSubject, engine: &Engine, expected: &Arc<Expected>) -> Result<Self, Error> {
        let contexts = || expected.algorithms().map(Evp::new).collect::<Result<_, _>>();
        let way = match subject {
            IngestSubject::None => Way::None,
            IngestSubject::OpenSsl => Way::OpenSsl(contexts()?),
            IngestSubject::OpenSslBlocking => Way::OpenSslBlocking(contexts()?),
            IngestSubject::Manyhash => Way::Manyhash(engine.clone(), None),
        };
        Ok(Hashing { expected: expected.clone(), way })
    }

    /// Begins an object.
    pub(crate) fn start(&mut self) -> Result<(), Error> {
        match &mut self.way {
            Way::None => {}
            Way::OpenSsl(contexts) | Way::OpenSslBlocking(contexts) => contexts.iter_mut().try_for_each(Evp::start)?,
            Way::Manyhash(engine, stream) => {
                *stream = Some(match &self.expected.digests[..] {
                    [(algorithm, _)] => Streams::One(engine.stream(*algorithm)),
                    _ => Streams::Several(engine.stream(self.expected.algorithms().collect::<Vec<_>>())),
                });
            }
        }
        Ok(())
    }

    /// Hashes its next chunk, or has it hashed in time.
    pub(crate) async fn update(&mut self, chunk: Bytes) -> Result<(), Error> {
        match &mut self.way {
            Way::None | Way::Manyhash(_, None) => {}
            Way::OpenSsl(contexts) => update(contexts, &chunk)?,
            Way::OpenSslBlocking(contexts) => {
                let mut moved = std::mem::take(contexts);
                let blocking = tokio::task::spawn_blocking(move || update(&mut moved, &chunk).map(|()| moved));
                *contexts = blocking.await??;
            }
            Way::Manyhash(_, Some(Streams::One(stream))) => stream.write(chunk).await?,
            Way::Manyhash(_, Some(Streams::Several(stream))) => stream.write(chunk).await?,
        }
        Ok(())
    }

    /// The object's digests are there, and right.
    pub(crate) async fn finish(&mut self) -> Result<(), Error> {
        let expected = &self.expected;
        let same = |at, digest: &Digest| expected.check(IngestSubject::Manyhash, at, digest.as_bytes());
        match &mut self.way {
            Way::None => Ok(()),
            Way::OpenSsl(contexts) => finish(contexts, expected, IngestSubject::OpenSsl),
            Way::OpenSslBlocking(contexts) => finish(contexts, expected, IngestSubject::OpenSslBlocking),
            Way::Manyhash(_, stream) => match stream.take() {
                None => Ok(()),
                Some(Streams::One(stream)) => same(0, &stream.finish().await?),
                Some(Streams::Several(stream)) => {
                    stream.finish().await?.iter().enumerate().try_for_each(|(at, digest)| same(at, digest))
                }
            },
        }
    }
}

fn update(contexts: &mut [Evp], chunk: &[u8]) -> Result<(), Error> {
    Ok(contexts.iter_mut().try_for_each(|context| context.update(chunk))?)
}

fn finish(contexts: &mut [Evp], expected: &Expected, subject: IngestSubject) -> Result<(), Error> {
    for (at, context) in contexts.iter_mut().enumerate() {
        let mut digest = [0; 64];
        context.finish(&mut digest)?;
        expected.check(subject, at, &digest)?;
    }
    Ok(())
}
