//! From a source to something that can be read.

use super::Source;
use crate::Digest;
use std::fs::{File, Metadata};
use std::path::PathBuf;
use std::{io, mem};

/// A source that was opened.
pub(super) enum Input {
    /// A regular file, whose bytes are there, and what the system said of its path just before it was opened.
    File(File, Metadata),
    /// Anything else, whose bytes come when they come.
    Slow(Unopened),
    /// Nothing to read: the digests are known.
    Known(Vec<Digest>),
}

impl Source {
    /// Opens it. What could not be opened by its path may be tried again.
    pub(super) fn open(&mut self) -> io::Result<Input> {
        match self {
            Source::Path(path) => {
                let metadata = match std::fs::metadata(&*path) {
                    #[cfg(target_os = "linux")]
                    Err(error) if super::deep::is_too_long(&error) => return super::deep::open(path),
                    metadata => metadata?,
                };
                let kind = metadata.file_type();
                // Opening a pipe waits for its writer; reading a directory fails at once.
                if !kind.is_file() && !kind.is_dir() {
                    return Ok(Input::Slow(Unopened::Path(mem::take(path))));
                }
                Ok(Input::File(File::open(path)?, metadata))
            }
            Source::Stdin => Ok(Input::Slow(Unopened::Stdin)),
            Source::Failed(error) => Err(mem::replace(error, io::ErrorKind::Other.into())),
            Source::Known(digests) => Ok(Input::Known(mem::take(digests))),
        }
    }
}

/// What is opened when its turn has come.
pub(super) enum Unopened {
    Path(PathBuf),
    Stdin,
}

impl Unopened {
    pub(super) fn open(&self) -> io::Result<File> {
        match self {
            Unopened::Path(path) => File::open(path),
            Unopened::Stdin => stdin(),
        }
    }
}

/// Standard input itself: [`io::stdin`] buffers, and takes one that cannot be read for an empty one.
fn stdin() -> io::Result<File> {
    #[cfg(unix)]
    return Ok(File::from(std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?));
    #[cfg(windows)]
    return Ok(File::from(std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned()?));
    #[cfg(not(any(unix, windows)))]
    return Err(io::ErrorKind::Unsupported.into());
}
