//! Files whose path is longer than the system takes at once (`PATH_MAX`), as walks find them: opened directory by directory.

use super::input::Input;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes of a path that the system takes, the NUL at its end not counted.
const MOST: usize = 4095;

/// Whether a path was too long.
pub(super) fn is_too_long(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NAMETOOLONG)
}

/// Opens such a file.
pub(super) fn open(path: &Path) -> io::Result<Input> {
    let (directory, name) = below(path)?;
    let directory = directory.as_ref().map_or(CWD, AsFd::as_fd);
    // As with other paths, what it is is asked before it is opened: a pipe would wait for its writer.
    let metadata = File::from(step(directory, name, OFlags::PATH)?).metadata()?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(Errno::NAMETOOLONG.into());
    }
    Ok(Input::File(step(directory, name, OFlags::RDONLY)?.into(), metadata))
}

/// A directory above, if there is one, and what of the path is below it.
fn below(path: &Path) -> io::Result<(Option<OwnedFd>, &[u8])> {
    let mut rest = path.as_os_str().as_bytes();
    let mut directory: Option<OwnedFd> = None;
    while rest.len() > MOST {
        let slash = rest[..MOST].iter().rposition(|byte| *byte == b'/').ok_or(Errno::NAMETOOLONG)?;
        // With the slash, which is all that there is of the root.
        let above = directory.as_ref().map_or(CWD, AsFd::as_fd);
        directory = Some(step(above, &rest[..=slash], OFlags::PATH | OFlags::DIRECTORY)?);
        rest = &rest[slash + 1..];
        // More of them would begin at the root.
        rest = &rest[rest.iter().take_while(|byte| **byte == b'/').count()..];
    }
    Ok((directory, rest))
}

fn step(directory: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    Ok(openat(directory, path, flags | OFlags::CLOEXEC, Mode::empty())?)
}
