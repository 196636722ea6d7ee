//! Many messages in memory to digests.

use crate::Digest;
use manyhash_core::{Algorithm, reference};

/// The digest of one message.
pub fn digest(algorithm: Algorithm, message: impl AsRef<[u8]>) -> Digest {
    Digest::new(reference::digest(algorithm, message.as_ref()), algorithm.digest_bytes())
}

/// The digests of many messages, in their order, computed on all cores.
pub fn digest_many<M: AsRef<[u8]> + Sync>(algorithm: Algorithm, messages: &[M]) -> Vec<Digest> {
    Batch::new(algorithm).digest_many(messages)
}

/// As [`digest_many`], into the caller's slice.
///
/// # Errors
/// If the slices differ in length; nothing is written then.
pub fn digest_many_into<M: AsRef<[u8]> + Sync>(algorithm: Algorithm, messages: &[M], digests: &mut [Digest]) -> Result<(), OutputLength> {
    Batch::new(algorithm).digest_many_into(messages, digests)
}

/// How a batch of messages is hashed.
#[derive(Clone, Copy, Debug)]
pub struct Batch { algorithm: Algorithm, threads: usize }

impl Batch {
    /// On all cores.
    pub fn new(algorithm: Algorithm) -> Self { Batch { algorithm, threads: 0 } }
    /// At most this many threads, the caller's own among them; 0 is one a core, and 1 never leaves the caller's.
    pub fn threads(self, threads: usize) -> Self { Batch { threads, ..self } }
    /// The digests, in the order of the messages.
    pub fn digest_many<M: AsRef<[u8]> + Sync>(&self, messages: &[M]) -> Vec<Digest> {
        messages.iter().map(|m| digest(self.algorithm, m)).collect()
    }
    /// The digests into the caller's slice.
    /// # Errors
    /// If the slices differ in length; nothing is written then.
    pub fn digest_many_into<M: AsRef<[u8]> + Sync>(&self, messages: &[M], digests: &mut [Digest]) -> Result<(), OutputLength> {
        let _ = self.threads;
        if messages.len() != digests.len() { return Err(OutputLength { messages: messages.len(), digests: digests.len() }); }
        for (m, d) in messages.iter().zip(digests) { *d = digest(self.algorithm, m); }
        Ok(())
    }
}

/// As many digests as messages are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{messages} messages, but room for {digests} digests")]
pub struct OutputLength { messages: usize, digests: usize }
