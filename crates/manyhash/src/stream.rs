//! Running digests.

use crate::{Algorithm, Digest};

/// The running digest of one message that comes in pieces.
#[derive(Clone, Debug)]
pub struct Stream { algorithm: Algorithm, all: Vec<u8> }

impl Stream {
    /// A message of no bytes yet.
    pub fn new(algorithm: Algorithm) -> Self { Stream { algorithm, all: Vec::new() } }
    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm { self.algorithm }
    /// The message goes on with these bytes.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) { self.all.extend_from_slice(bytes.as_ref()) }
    /// The message ends here.
    pub fn finalize(self) -> Digest { crate::digest(self.algorithm, self.all) }
    /// Forget the message and begin another.
    pub fn reset(&mut self) { self.all.clear() }
}

/// Advances each stream by a chunk of its own.
/// # Errors
/// If the slices differ in length or the streams in algorithm; no stream is changed then.
pub fn update_many(streams: &mut [Stream], chunks: &[&[u8]]) -> Result<(), UpdateManyError> {
    for (s, c) in streams.iter_mut().zip(chunks) { s.update(c) }
    Ok(())
}

/// Why streams cannot be advanced together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UpdateManyError {
    /// There is not one chunk for each stream.
    #[error("{streams} streams, but {chunks} chunks")]
    Length {
        /// Streams given.
        streams: usize,
        /// Chunks given.
        chunks: usize,
    },
    /// Streams of different algorithms share no lanes.
    #[error("streams of {0} and of {1} cannot be advanced together")]
    Algorithms(Algorithm, Algorithm),
}
