//! Paths that cannot be replaced, but written to.

use crate::standard;
use manyhash_stdio::Standard;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What a path leads to, open to be written to: a file that the program was given already, or what is no regular file.
/// None if it is a regular file to be replaced.
///
/// # Errors
/// If it is to be written to and cannot be.
pub(super) fn opened(path: &Path, there: &Metadata) -> io::Result<Option<File>> {
    // What others have written there stays, and what they will write comes after.
    if is_same(there, io::stdout().as_fd())? {
        standard::there(Standard::Output)?;
        return own(io::stdout().as_fd()).map(Some);
    }
    if is_same(there, io::stderr().as_fd())? {
        return own(io::stderr().as_fd()).map(Some);
    }
    if !there.is_file() {
        return File::options().write(true).open(path).map(Some);
    }
    if is_descriptor(path) { File::options().append(true).open(path).map(Some) } else { Ok(None) }
}

fn own(descriptor: BorrowedFd<'_>) -> io::Result<File> {
    Ok(descriptor.try_clone_to_owned()?.into())
}

/// Whether a descriptor is of this file.
fn is_same(file: &Metadata, descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    let other = own(descriptor)?.metadata()?;
    Ok((file.dev(), file.ino()) == (other.dev(), other.ino()))
}

/// Whether a path names one of the program's descriptors, as `/dev/fd/3`.
fn is_descriptor(path: &Path) -> bool {
    let Some(Ok(directory)) = path.parent().map(Path::canonicalize) else { return false };
    directory == Path::new("/dev/fd") || directory.starts_with("/proc") && directory.ends_with("fd")
}
