//! Values of objects' bytes, as they come in.

use super::claim::Layout;
use super::function::{Function, value};
use super::plan::Value;
use bytes::Bytes;
use manyhash::engine::{Engine, HashStream, JobError};
use manyhash::{Algorithm, Digest, HashFunction};
use manyhash_s3::checksum::{self, ChecksumAlgorithm, RunningChecksum};

/// A value of bytes that arrive in pieces.
pub(crate) struct Hashing<'a> {
    engine: &'a Engine,
    running: Running,
    parts: Option<Parts>,
}

enum Running {
    Lanes(Box<HashStream<Algorithm>>),
    Checksum(RunningChecksum),
}

/// Where parts end.
struct Parts {
    algorithm: ChecksumAlgorithm,
    layout: Layout,
    /// The part that is on its way, from 0.
    number: usize,
    /// Bytes that it lacks.
    left: u64,
    /// The values of those before, one after another.
    values: Vec<u8>,
    /// Bytes that follow the part.
    after: u64,
}

impl<'a> Hashing<'a> {
    /// Of an object of so many bytes. `None` if the value cannot be had of bytes in pieces.
    pub(crate) fn new(engine: &'a Engine, of: &Value, size: u64) -> Option<Hashing<'a>> {
        let function = match of {
            Value::Whole(function) => *function,
            Value::Parts(algorithm, _) => Function::from(*algorithm),
        };
        let running = Running::new(engine, function)?;
        let parts = match of {
            Value::Whole(_) => None,
            Value::Parts(algorithm, layout) => {
                let mut parts = Parts {
                    algorithm: *algorithm,
                    layout: layout.clone(),
                    number: 0,
                    left: 0,
                    values: Vec::new(),
                    after: size,
                };
                parts.begin();
                Some(parts)
            }
        };
        Some(Hashing { engine, running, parts })
    }

    pub(crate) async fn update(&mut self, mut bytes: Bytes) -> Result<(), JobError> {
        while let Some(parts) = &mut self.parts {
            let room = usize::try_from(parts.left).unwrap_or(usize::MAX);
            if bytes.len() < room {
                parts.left -= bytes.len() as u64;
                break;
            }
            let chunk = bytes.split_to(room);
            self.running.update(chunk).await?;
            let next = Running::new(self.engine, parts.algorithm.into()).ok_or(JobError::Closed)?;
            let part = std::mem::replace(&mut self.running, next).finish().await?;
            parts.values.extend_from_slice(part.as_bytes());
            parts.number += 1;
            parts.begin();
            if parts.left == 0 {
                // The end, after which nothing comes.
                return Ok(());
            }
        }
        self.running.update(bytes).await
    }

    pub(crate) async fn finish(self) -> Result<Digest, JobError> {
        match self.parts {
            None => self.running.finish().await,
            Some(parts) => Ok(value(&checksum::digest(parts.algorithm, &parts.values))),
        }
    }
}

impl Parts {
    /// The next part.
    fn begin(&mut self) {
        let size = match &self.layout {
            Layout::Equal { part_bytes, .. } => *part_bytes,
            Layout::Sizes(sizes) => sizes.get(self.number).copied().unwrap_or(0),
        };
        self.left = size.min(self.after);
        self.after -= self.left;
    }
}

impl Running {
    fn new(engine: &Engine, function: Function) -> Option<Running> {
        if let Function::Hash(HashFunction::Lanes(algorithm)) = function {
            return Some(Running::Lanes(Box::new(engine.stream(algorithm))));
        }
        function.checksum_algorithm().and_then(RunningChecksum::new).map(Running::Checksum)
    }

    async fn update(&mut self, bytes: Bytes) -> Result<(), JobError> {
        match self {
            Running::Lanes(stream) => stream.write(bytes).await,
            Running::Checksum(checksum) => {
                checksum.update(&bytes);
                Ok(())
            }
        }
    }

    async fn finish(self) -> Result<Digest, JobError> {
        match self {
            Running::Lanes(stream) => stream.finish().await,
            Running::Checksum(checksum) => Ok(value(&checksum.finalize())),
        }
    }
}
