//! manyhash's engine as the subject: each message is one of its streams.

use super::buffers::Chunk;
use super::load::Load;
use super::subject::{Counters, Failure, Message, Subject};
use manyhash::engine::{self, Engine, SlotState};
use manyhash::{Algorithm, Digest};
use std::num::NonZeroUsize;

/// The engine, and the algorithm that all messages are hashed with.
pub(super) struct Hashing {
    engine: Engine,
    algorithm: Algorithm,
}

impl Hashing {
    /// With so many threads, 0 for one a core. Its bound on memory is that of all buffers together.
    pub(super) fn new(load: &Load, threads: usize) -> Result<Self, Failure> {
        let engine = Engine::builder()
            .threads(NonZeroUsize::new(threads))
            .memory(load.buffers * load.chunk_size)
            .name("hash")
            .build()?;
        Ok(Hashing { engine, algorithm: load.algorithm })
    }
}

impl Subject for Hashing {
    type Message = engine::HashStream<Algorithm>;

    const NAME: &'static str = "manyhash";

    fn message(&self) -> Self::Message {
        self.engine.stream(self.algorithm)
    }

    fn threads(&self) -> usize {
        self.engine.stats().threads
    }

    fn counters(&self) -> Counters {
        let stats = self.engine.stats();
        let algorithm = stats.algorithms.iter().find(|stats| stats.algorithm == self.algorithm);
        Counters {
            bytes: algorithm.map_or(0, |stats| stats.bytes),
            busy: stats.busy,
            inline: stats.inline,
            occupancy: algorithm.map(|stats| stats.occupancy),
            slots: std::array::from_fn(|i| stats.slots(SlotState::ALL[i])),
        }
    }
}

impl Message for engine::HashStream<Algorithm> {
    async fn write(&mut self, chunk: Chunk) -> Result<(), Failure> {
        Ok(engine::HashStream::write(self, chunk).await?)
    }

    async fn finish(self) -> Result<Digest, Failure> {
        Ok(engine::HashStream::finish(self).await?)
    }
}
