//! The digests of one message, by the engine.

use super::internal;
use bytes::Bytes;
use manyhash::engine::{Digesting, HashStream};
use manyhash::{Algorithm, Digest, Engine};
use manyhash_s3::error::S3Error;

/// A message in pieces. Most small bodies are one piece, which costs less as a whole message than as a stream.
pub(super) struct Hashing {
    engine: Engine,
    algorithms: Vec<Algorithm>,
    pieces: Pieces,
}

enum Pieces {
    None,
    One(Bytes),
    Many(Box<HashStream<Vec<Algorithm>>>),
}

impl Hashing {
    pub(super) fn new(engine: &Engine, algorithms: Vec<Algorithm>) -> Self {
        Hashing { engine: engine.clone(), algorithms, pieces: Pieces::None }
    }

    /// Appends a piece. Waits while the engine's memory is used up.
    pub(super) async fn add(&mut self, bytes: Bytes) -> Result<(), S3Error> {
        let mut stream = match std::mem::replace(&mut self.pieces, Pieces::None) {
            Pieces::None => {
                self.pieces = Pieces::One(bytes);
                return Ok(());
            }
            Pieces::One(first) => {
                let mut stream = Box::new(self.engine.stream(self.algorithms.clone()));
                stream.write(first).await.map_err(internal)?;
                stream
            }
            Pieces::Many(stream) => stream,
        };
        stream.write(bytes).await.map_err(internal)?;
        self.pieces = Pieces::Many(stream);
        Ok(())
    }

    /// Ends the message.
    pub(super) fn end(self) -> Digesting<Vec<Algorithm>> {
        match self.pieces {
            Pieces::None => self.engine.digest(self.algorithms, Bytes::new()),
            Pieces::One(bytes) => self.engine.digest(self.algorithms, bytes),
            Pieces::Many(stream) => stream.finish(),
        }
    }

    /// Ends the message and waits for its digests.
    pub(super) async fn finish(self) -> Result<Vec<Digest>, S3Error> {
        self.end().await.map_err(internal)
    }
}
