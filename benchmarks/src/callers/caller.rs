//! One of many callers: a message, and a way to its digest.

use crate::error::Error;
use crate::subject::Evp;
use crate::verify::Origin;
use bytes::Bytes;
use manyhash::Algorithm;
use manyhash::engine::{Digesting, Engine};
use std::time::{Duration, Instant};

/// Who makes the digests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallersSubject {
    /// An engine that all callers share.
    Manyhash,
    /// The caller itself, with a context of its own that it keeps.
    OpenSsl,
}

impl CallersSubject {
    /// All, in the order of tables.
    pub(crate) const ALL: [CallersSubject; 2] = [CallersSubject::Manyhash, CallersSubject::OpenSsl];

    pub(crate) fn name(self) -> &'static str {
        match self {
            CallersSubject::Manyhash => "manyhash",
            CallersSubject::OpenSsl => "openssl",
        }
    }
}

/// How a message is handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hand {
    /// In one piece.
    Whole,
    /// Chunk by chunk.
    Chunks,
}

/// Bytes in a chunk, but for a message's last.
const CHUNK: usize = 64 << 10;

/// A message, and what its digest should be.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) algorithm: Algorithm,
    /// Which of the crowd's messages it is.
    pub(crate) number: usize,
    /// Clones share the bytes.
    pub(crate) message: Bytes,
    pub(crate) digest: Vec<u8>,
}

impl Known {
    fn chunks(&self) -> impl Iterator<Item = Bytes> {
        let length = self.message.len();
        (0..length).step_by(CHUNK).map(move |start| self.message.slice(start..length.min(start + CHUNK)))
    }

    fn check(&self, subject: CallersSubject, digest: &[u8]) -> Result<(), Error> {
        let Known { algorithm, number, message, .. } = self;
        let (subject, algorithm, message, length) = (subject.name(), *algorithm, *number, message.len());
        Origin { subject, algorithm, load: "callers", message, length }.same(digest, &self.digest)
    }
}

/// Who needs the digest of one message again and again, and checks it each time.
pub(crate) struct Caller {
    known: Known,
    hand: Hand,
    way: Way,
}

enum Way {
    Manyhash(Engine),
    OpenSsl(Evp),
}

impl Caller {
    pub(crate) fn new(subject: CallersSubject, engine: &Engine, hand: Hand, known: Known) -> Result<Self, Error> {
        let way = match subject {
            CallersSubject::Manyhash => Way::Manyhash(engine.clone()),
            CallersSubject::OpenSsl => Way::OpenSsl(Evp::new(known.algorithm)?),
        };
        Ok(Caller { known, hand, way })
    }

    /// Has the message hashed, within a task.
    pub(crate) async fn digest(&mut self) -> Result<(), Error> {
        let Caller { known, hand, way } = self;
        match way {
            Way::OpenSsl(context) => hash(context, known, *hand),
            Way::Manyhash(engine) => {
                let digest = match hand {
                    Hand::Whole => engine.digest(known.algorithm, known.message.clone()).await?,
                    Hand::Chunks => {
                        let mut stream = engine.stream(known.algorithm);
                        for chunk in known.chunks() {
                            stream.write(chunk).await?;
                        }
                        stream.finish().await?
                    }
                };
                known.check(CallersSubject::Manyhash, digest.as_bytes())
            }
        }
    }

    /// Has the message hashed in one piece, on a thread that may block.
    pub(crate) fn wait(&mut self) -> Result<(), Error> {
        let Caller { known, way, .. } = self;
        match way {
            Way::OpenSsl(context) => hash(context, known, Hand::Whole),
            Way::Manyhash(engine) => {
                let digest = engine.digest(known.algorithm, known.message.clone()).wait()?;
                known.check(CallersSubject::Manyhash, digest.as_bytes())
            }
        }
    }

    /// Hands the message over in one piece, without waiting for its digest.
    pub(crate) fn ask(self) -> Asked {
        let start = Instant::now();
        let digesting = match &self.way {
            Way::OpenSsl(_) => None,
            Way::Manyhash(engine) => Some(engine.digest(self.known.algorithm, self.known.message.clone())),
        };
        Asked { caller: self, start, digesting }
    }
}

/// The message in the caller's hand, hashed by OpenSSL.
fn hash(context: &mut Evp, known: &Known, hand: Hand) -> Result<(), Error> {
    let mut digest = [0; 64];
    match hand {
        Hand::Whole => context.digest(&known.message, &mut digest)?,
        Hand::Chunks => {
            context.start()?;
            known.chunks().try_for_each(|chunk| context.update(&chunk))?;
            context.finish(&mut digest)?;
        }
    }
    known.check(CallersSubject::OpenSsl, &digest)
}

/// A caller whose message was handed over.
pub(crate) struct Asked {
    caller: Caller,
    start: Instant,
    /// None if the caller is to make the digest itself.
    digesting: Option<Digesting<Algorithm>>,
}

impl Asked {
    /// Waits for the digest: the caller again, and the time since it asked.
    pub(crate) async fn answer(self) -> Result<(Caller, Duration), Error> {
        let Asked { mut caller, start, digesting } = self;
        match digesting {
            None => caller.digest().await?,
            Some(digesting) => caller.known.check(CallersSubject::Manyhash, digesting.await?.as_bytes())?,
        }
        Ok((caller, start.elapsed()))
    }
}
