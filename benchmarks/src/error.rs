//! What can go wrong: each ends the program.

use manyhash::Algorithm;
use std::path::PathBuf;

/// Why there are no figures.
#[derive(thiserror::Error, Debug)]
pub(crate) enum Error {
    #[error(transparent)]
    Backend(#[from] manyhash::BackendVariableError),
    #[error(
        "wrong digest: {subject}, {algorithm}, load {load}, message {message} of {length} bytes: \
         {wrong} should be {expected}"
    )]
    WrongDigest {
        subject: &'static str,
        algorithm: Algorithm,
        load: &'static str,
        message: usize,
        length: usize,
        wrong: String,
        expected: String,
    },
    #[error("wrong answer: {subject}, load lookup, query {query}")]
    WrongAnswer { subject: &'static str, query: usize },
    #[error("none of the subjects of --subject computes {0}; leave that algorithm out of --algorithm")]
    NoSubject(Algorithm),
    #[error("OpenSSL: {0}")]
    OpenSsl(#[from] openssl::error::ErrorStack),
    #[error("--threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error("staying on one core: {0}")]
    Affinity(std::io::Error),
    #[error("the engine: {0}")]
    Engine(#[from] manyhash::engine::BuildError),
    #[error("the engine: {0}")]
    Job(#[from] manyhash::engine::JobError),
    #[error("redb: {0}")]
    Redb(Box<redb::Error>),
    #[error("LMDB: {0}")]
    Lmdb(#[from] heed::Error),
    #[error("the picture: {0}")]
    Draw(#[from] plotters::drawing::DrawingAreaErrorKind<std::io::Error>),
    #[error("--plot {path}: {error}", path = path.display())]
    Plot { path: PathBuf, error: std::io::Error },
    #[error("the sending process: {0}")]
    Sender(std::io::Error),
    #[error("tokio's runtime: {0}")]
    Runtime(std::io::Error),
    #[error("a caller's thread cannot be started: {0}; ask for fewer with --callers")]
    Caller(std::io::Error),
    #[error("receiving an object: {0}")]
    Receive(std::io::Error),
    #[error("a task ended early: {0}")]
    Task(#[from] tokio::task::JoinError),
    #[error(transparent)]
    Files(#[from] crate::files::FilesError),
    #[error("the file to digest: {0}")]
    Local(#[from] manyhash_s3_client::local::Error),
    #[error(transparent)]
    S3(#[from] crate::s3::S3LoadError),
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
}
