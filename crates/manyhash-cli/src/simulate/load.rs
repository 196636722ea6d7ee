//! What is asked for: so many producers, each with a message that comes in chunks.

use super::SimulateArguments;
use manyhash::Algorithm;
use serde::Serialize;

/// Producers at the most.
pub(super) const MAX_PRODUCERS: u64 = 65536;

/// Bytes at the most, which keep a fast machine busy for a day.
const MAX_TOTAL: u64 = 1 << 50;

/// Chunks of each producer that there is memory for, if the bound allows it: one that it fills, one that is hashed,
/// and one between, for each of two to wait less for the other; and one that is about to come back.
const CHUNKS_EACH: u64 = 4;

/// The load, the same for each subject.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Load {
    #[serde(serialize_with = "by_name")]
    pub(super) algorithm: Algorithm,
    pub(super) producers: usize,
    /// In bytes.
    pub(super) chunk_size: usize,
    /// Bytes of all producers together.
    pub(super) total_size: u64,
    /// Bytes a second of each producer at the most; 0 is no limit.
    pub(super) speed: u64,
    /// Chunks in memory at the most, all counted: those that are filled, wait, or are hashed.
    pub(super) buffers: usize,
}

/// Arguments that do not go together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LoadError {
    #[error("--chunk-size: {chunk} bytes exceed the {total} of --total-size")]
    ChunkOverTotal { chunk: u64, total: u64 },
    #[error("--total-size: {total} bytes are too few for {producers} producers")]
    TotalTooSmall { total: u64, producers: u64 },
    #[error("--total-size: {total} bytes exceed the limit of 1P")]
    TotalTooLarge { total: u64 },
    #[error("--chunk-size: {chunk} bytes exceed the {memory} of --memory")]
    ChunkOverMemory { chunk: u64, memory: u64 },
}

impl Load {
    pub(super) fn new(arguments: &SimulateArguments) -> Result<Self, LoadError> {
        let &SimulateArguments { hash, producers, chunk_size: chunk, total_size: total, speed, memory, .. } = arguments;
        if chunk > total {
            return Err(LoadError::ChunkOverTotal { chunk, total });
        }
        if total < producers {
            return Err(LoadError::TotalTooSmall { total, producers });
        }
        if total > MAX_TOTAL {
            return Err(LoadError::TotalTooLarge { total });
        }
        if chunk > memory {
            return Err(LoadError::ChunkOverMemory { chunk, memory });
        }
        // No producer has chunks longer than its whole message.
        let chunk = chunk.min(total.div_ceil(producers));
        let chunks = (CHUNKS_EACH * producers).min(memory / chunk).min(total.div_ceil(chunk) + producers);
        Ok(Load {
            algorithm: hash,
            producers: producers as usize,
            chunk_size: chunk as usize,
            total_size: total,
            speed,
            buffers: chunks as usize,
        })
    }

    /// The bytes of a producer's message: the first ones have a byte more where it does not come out even.
    pub(super) fn share(&self, producer: usize) -> u64 {
        let producers = self.producers as u64;
        self.total_size / producers + u64::from((producer as u64) < self.total_size % producers)
    }
}

fn by_name<S: serde::Serializer>(algorithm: &Algorithm, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(algorithm.name())
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Load, LoadError};
    use crate::simulate::SimulateArguments;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        arguments: SimulateArguments,
    }

    /// The load of these arguments.
    pub(in crate::simulate) fn load(arguments: &str) -> Result<Load, LoadError> {
        let program = Program::try_parse_from(std::iter::once("simulate").chain(arguments.split_whitespace()));
        Load::new(&program.unwrap_or_else(|error| panic!("{error}")).arguments)
    }

    #[test]
    fn shares_add_up() {
        let load = load("--producers 7 --total-size 1000003 --chunk-size 1K").expect("a load");
        assert_eq!((0..7).map(|producer| load.share(producer)).sum::<u64>(), 1_000_003);
        assert_eq!((load.share(0), load.share(6)), (142_858, 142_857));
    }

    #[test]
    fn memory_is_bounded() {
        assert_eq!(load("--producers 3 --total-size 1G --chunk-size 1M").expect("a load").buffers, 12);
        assert_eq!(load("--producers 3 --total-size 1G --chunk-size 1M --memory 5M").expect("a load").buffers, 5);
        let short = load("--producers 2 --total-size 10 --chunk-size 10").expect("a load");
        assert_eq!((short.chunk_size, short.buffers), (5, 4));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (arguments, option) in [
            ("--total-size 1K --chunk-size 1025", "--chunk-size: 1025"),
            ("--total-size 9 --producers 10 --chunk-size 1", "--total-size: 9"),
            ("--total-size 2P", "--total-size"),
            ("--total-size 2G --chunk-size 1G --memory 1M", "--memory"),
        ] {
            let message = load(arguments).expect_err("no load").to_string();
            assert!(message.contains(option), "{arguments}: {message}");
        }
    }
}
