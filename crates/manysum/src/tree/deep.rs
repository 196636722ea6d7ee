//! Directories whose path is longer than the system takes at once (`PATH_MAX`): walked by way of a descriptor.

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A directory that is walked from another place than where it is.
pub(super) struct Moved {
    /// What it is there by, as long as this is open.
    _directory: OwnedFd,
    place: PathBuf,
    path: PathBuf,
}

/// Whether a directory cannot be walked because its path is too long.
pub(super) fn is_too_long(error: &walkdir::Error) -> bool {
    error.io_error().and_then(Errno::from_io_error) == Some(Errno::NAMETOOLONG)
}

impl Moved {
    /// The directory that was walked to under the name `walked`, and is at `path`.
    pub(super) fn new(walked: &Path, path: PathBuf) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Of a path that is too long by one name, all above that name is not.
        let name = walked.file_name().ok_or(Errno::NAMETOOLONG)?;
        let above = openat(CWD, walked.parent().ok_or(Errno::NAMETOOLONG)?, flags - OFlags::NOFOLLOW, Mode::empty())?;
        let directory = openat(above.as_fd(), name, flags, Mode::empty())?;
        let place = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        Ok(Moved { _directory: directory, place, path })
    }

    /// Where it is walked from.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// The path of what was walked to from there.
    pub(super) fn path(&self, walked: &Path) -> PathBuf {
        match walked.strip_prefix(&self.place) {
            Ok(below) if below.as_os_str().is_empty() => self.path.clone(),
            Ok(below) => self.path.join(below),
            Err(_) => walked.to_owned(),
        }
    }
}
