//! What can go wrong with files and the programs that hash them.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

#[derive(thiserror::Error, Debug)]
pub(crate) enum FilesError {
    #[error(
        "{path} is missing: build it with the same profile first, `cargo build --release -p manysum -p manyhash-cli`",
        path = .0.display()
    )]
    NotBuilt(PathBuf),
    #[error("where this program is, and so the programs to measure: {0}")]
    Executable(std::io::Error),
    #[error("{path}: {error}", path = path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("OpenSSL: {0}")]
    OpenSsl(#[from] openssl::error::ErrorStack),
    #[error("{subject}: it cannot be run: {error}")]
    Run { subject: String, error: std::io::Error },
    #[error("{subject}: it failed, {status}: {message}")]
    Failed { subject: String, status: ExitStatus, message: String },
    #[error("wrong digest: {subject}, case {case}, {file}: {wrong} should be {expected}")]
    WrongDigest { subject: String, case: &'static str, file: String, wrong: String, expected: String },
    #[error("{subject}, case {case}: no digest of {file}")]
    Missing { subject: String, case: &'static str, file: String },
    #[error("{subject}, case {case}: this is not the one digest of a file: {line:?}")]
    Line { subject: String, case: &'static str, line: String },
}

impl FilesError {
    /// What to make of an error with this file.
    pub(crate) fn of(path: &Path) -> impl Fn(std::io::Error) -> FilesError + '_ {
        |error| FilesError::File { path: path.to_owned(), error }
    }
}
