//! What can go wrong with servers and what they answer.

use super::program::Program;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(thiserror::Error, Debug)]
pub(crate) enum S3LoadError {
    #[error("{program}, {what}: {error}", program = .program.name())]
    In { program: Program, what: String, error: Box<S3LoadError> },
    #[error("{path} is missing: build it with the same profile first, `cargo build --release -p manyhash-cli`", path = .0.display())]
    NotBuilt(PathBuf),
    #[error("where this program is, and so the programs to measure: {0}")]
    Executable(io::Error),
    #[error("{path}: {error}", path = path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("it cannot be run: {0}")]
    Run(io::Error),
    #[error("it does not say where it listens; it said {0:?}")]
    NoEndpoint(String),
    #[error("it does not take requests: {problem}; it said {said:?}")]
    NotReady { problem: Box<S3LoadError>, said: String },
    #[error("it has ended")]
    Ended,
    #[error("the client cannot go on: {0}")]
    Client(io::Error),
    #[error("connection: {0}")]
    Connection(io::Error),
    #[error("the connection was closed before the answer")]
    Closed,
    #[error("an answer came before all of the request was sent")]
    Early,
    #[error("nothing came for {0:?}")]
    Silent(Duration),
    #[error("an answer is not HTTP: {0}")]
    NotHttp(String),
    #[error("status {status}: {said}")]
    Refused { status: u16, said: String },
    #[error("wrong ETag {wrong}, the MD5 is {expected}")]
    WrongETag { wrong: String, expected: String },
    #[error("an answer has another length than {expected}, or none")]
    WrongLength { expected: usize },
    #[error("wrong bytes for client {client} from {at} on, of {length}")]
    WrongBody { client: usize, at: usize, length: usize },
    #[error("wrk: {0}")]
    Wrk(String),
    #[error("signing: {0}")]
    Signing(#[from] manyhash_s3::sign::SigningError),
}

impl S3LoadError {
    /// What to make of an error with this file.
    pub(crate) fn of(path: &Path) -> impl Fn(io::Error) -> S3LoadError + '_ {
        |error| S3LoadError::File { path: path.to_owned(), error }
    }
}
