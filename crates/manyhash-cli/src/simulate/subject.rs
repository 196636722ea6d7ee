//! What is measured: something that takes messages in chunks and returns their digests.

use super::buffers::Chunk;
use super::load::LoadError;
use manyhash::engine::{BuildError, JobError, SlotState};
use manyhash::{BackendVariableError, Digest};
use manysum::console::reason;
use manysum::name;
use manysum::quote::quote;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Who hashes.
pub(super) trait Subject: Sync {
    /// One producer's message.
    type Message: Message;

    /// As it is called in the report.
    const NAME: &'static str;

    /// Begins a message.
    fn message(&self) -> Self::Message;

    /// Threads that hash.
    fn threads(&self) -> usize;

    /// How far it is.
    fn counters(&self) -> Counters;
}

/// A message that comes in chunks.
pub(super) trait Message: Send + 'static {
    /// Hands over a chunk, once there is room for it.
    fn write(&mut self, chunk: Chunk) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Ends the message, and waits for its digest.
    fn finish(self) -> impl Future<Output = Result<Digest, Failure>> + Send;
}

/// How far a subject is: sums since its start, and slots as they are now.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Counters {
    /// Hashed.
    pub(super) bytes: u64,
    /// Time that the threads hashed, summed over them.
    pub(super) busy: Duration,
    /// Time that the producers' own threads hashed.
    pub(super) inline: Duration,
    /// Lanes that had a message / lanes of the widest kernels, mean so far. Nothing for what has no lanes.
    pub(super) occupancy: Option<f64>,
    /// By [`SlotState`], but `Free`: messages begun, which have a slot each.
    pub(super) slots: [usize; SlotState::ALL.len()],
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Backend(#[from] BackendVariableError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(
        "--with openssl: this manyhash was built without it; build it with \
         `cargo install --path crates/manyhash-cli --features openssl`"
    )]
    BuiltWithoutOpenSsl,
    #[error("{}: {}", String::from_utf8_lossy(&quote(name::bytes(path.as_os_str()))), reason(error))]
    Report { path: PathBuf, error: io::Error },
    #[error(
        "{subject}: wrong digest of producer {producer} of {producers}, {length} bytes: {wrong} should be {expected}; please report it"
    )]
    WrongDigest {
        subject: &'static str,
        /// Counted from 1.
        producer: usize,
        producers: usize,
        length: u64,
        wrong: String,
        expected: String,
    },
    #[error("cannot start the engine: {0}")]
    Build(#[from] BuildError),
    #[error("the engine failed: {0}")]
    Job(#[from] JobError),
    #[error("cannot start threads: {}", reason(.0))]
    Threads(io::Error),
    #[cfg(feature = "openssl")]
    #[error("OpenSSL: {0}")]
    OpenSsl(#[from] openssl::error::ErrorStack),
    #[cfg(feature = "openssl")]
    #[error("OpenSSL has no {0}")]
    NotInOpenSsl(manyhash::Algorithm),
}
