//! What can go wrong: each ends the program.

use manyhash::Algorithm;

/// Why there are no figures.
#[derive(thiserror::Error, Debug)]
pub(crate) enum Error {
    #[error(transparent)]
    Backend(#[from] manyhash::BackendError),
    #[error(
        "wrong digest: {subject}, {algorithm}, load {load}, message {message} of {length} bytes: \
         {wrong} should be {expected}; nothing was timed"
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
    #[error("none of the subjects of --subject computes {0}; leave that algorithm out of --algorithm")]
    NoSubject(Algorithm),
    #[error("OpenSSL: {0}")]
    OpenSsl(#[from] openssl::error::ErrorStack),
    #[error("--threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
}
