//! Why a file or an object is not at its place.

use crate::remote::RemoteError;
use crate::{http, local};
use manyhash::engine::JobError;
use std::io;

/// Why a file or an object is not at its place. It names no file: the caller knows which it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A request failed.
    #[error(transparent)]
    Request(#[from] http::Error),
    /// A request of a [`Remote`](crate::remote::Remote) failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The local file cannot be read as it must be.
    #[error(transparent)]
    Local(#[from] local::Error),
    /// A file or directory cannot be written.
    #[error(transparent)]
    Write(io::Error),
    /// The hashing was stopped.
    #[error(transparent)]
    Hashing(#[from] JobError),
    /// The object was to be new, and is not.
    #[error("there is an object already, which is not known to have the same bytes")]
    ObjectExists,
    /// The service has something else than what was sent.
    #[error("what the service has is not what was sent: {reason}; do not rely on the object, and upload it again")]
    Stored {
        /// What differs.
        reason: String,
    },
    /// The service tells nothing that would prove that it has what was sent.
    #[error("the service tells neither an ETag that is made of MD5s nor the checksum of what it has")]
    Untold,
    /// There is a file already.
    #[error("there is a file already, which is not known to be the same; allow it to be replaced, or move it away")]
    FileExists,
    /// There is no value that a download could be compared with.
    #[error(
        "the service has no checksum of the object, nor an ETag that is made of MD5s of known parts: allow objects that \
         cannot be verified to have it anyway"
    )]
    Unverifiable,
    /// What arrived is not the object.
    #[error("damaged: what arrived has the {what} {found}, and the service says {due}; nothing was kept")]
    Damaged {
        /// What was compared.
        what: String,
        /// The value of what arrived.
        found: String,
        /// The value that the service tells.
        due: String,
    },
    /// Something stands where a directory must be.
    #[error("{} is in the way: it is no directory", path.display())]
    NoDirectory {
        /// The path.
        path: std::path::PathBuf,
    },
}

impl Error {
    /// A local file that changed, or cannot be read.
    pub(super) fn read(error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Local(local::Error::Changed),
            _ => Error::Local(local::Error::Read(error)),
        }
    }
}

/// What a thread that reads or writes came to. It ends only by a panic or with the process.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
}
