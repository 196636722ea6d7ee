//! What can go wrong with a cache. Never a digest.

use crate::console::reason;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no cache, or not all was stored in it.
#[derive(thiserror::Error, Debug)]
pub enum CacheError {
    /// There is no place for it.
    #[error("no digest cache: neither XDG_CACHE_HOME nor HOME names a directory; name a file with --cache")]
    NoHome,
    /// The system's word.
    #[error("digest cache {path}: {error}", path = .0.display(), error = reason(.1))]
    Io(PathBuf, io::Error),
    /// No cache of this program.
    #[error(
        "digest cache {path}: not a cache of this version of manyhash; name another file, or delete it",
        path = .0.display()
    )]
    Foreign(PathBuf),
    /// It was, once.
    #[error(
        "digest cache {path}: damaged ({1}); delete it, and the files will be hashed again",
        path = .0.display()
    )]
    Damaged(PathBuf, String),
    /// To be opened for writing once before it can be read.
    #[error("digest cache {path}: not closed by the last process that wrote to it", path = .0.display())]
    Unclean(PathBuf),
    /// Another program, or another version of this one.
    #[error("digest cache {path}: in use by another program that does not share it", path = .0.display())]
    InUse(PathBuf),
    /// For too long.
    #[error(
        "digest cache {path}: too slow, or locked by another process; {1} digests were not stored",
        path = .0.display()
    )]
    Stalled(PathBuf, usize),
}

impl CacheError {
    /// What the database says of the file at `path`.
    pub(super) fn of(path: &Path, error: redb::Error) -> Self {
        let path = path.to_owned();
        match error {
            redb::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => CacheError::Foreign(path),
            // The database ends before it should.
            redb::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                CacheError::Damaged(path, reason(&error))
            }
            redb::Error::Io(error) => CacheError::Io(path, error),
            redb::Error::Unsupported => CacheError::Io(path, io::ErrorKind::Unsupported.into()),
            redb::Error::RepairAborted => CacheError::Unclean(path),
            redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => CacheError::InUse(path),
            redb::Error::UpgradeRequired(_)
            | redb::Error::TableDoesNotExist(_)
            | redb::Error::TableTypeMismatch { .. }
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TypeDefinitionChanged { .. } => CacheError::Foreign(path),
            error => CacheError::Damaged(path, error.to_string()),
        }
    }
}
