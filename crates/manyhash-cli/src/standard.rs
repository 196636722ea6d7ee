//! Standard input and output themselves: the standard library's handles are shared and keep what they have read ahead, and
//! take a descriptor that was not opened for reading for an empty one.

use manyhash::file::Source;
use std::fs::File;
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::fd::AsFd;

/// Standard input as a file among others.
pub(crate) fn input_source() -> Source {
    #[cfg(unix)]
    if let Err(error) = there(&io::stdin()) {
        return Source::Failed(error);
    }
    Source::Stdin
}

/// Standard input.
///
/// # Errors
/// If the program was started without.
#[cfg(unix)]
pub(crate) fn input() -> io::Result<Box<dyn Read + Send>> {
    there(&io::stdin())?;
    Ok(Box::new(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
}

#[cfg(not(unix))]
pub(crate) fn input() -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(io::stdin()))
}

/// Standard output. If the program was started without, nothing can be written to it.
#[cfg(unix)]
pub(crate) fn output() -> Box<dyn Write + Send> {
    match there(&io::stdout()).and_then(|()| io::stdout().as_fd().try_clone_to_owned()) {
        Ok(descriptor) => Box::new(File::from(descriptor)),
        Err(_) => Box::new(Closed),
    }
}

#[cfg(not(unix))]
pub(crate) fn output() -> Box<dyn Write + Send> {
    Box::new(io::stdout())
}

/// What is not open for writing.
#[cfg(unix)]
struct Closed;

#[cfg(unix)]
impl Write for Closed {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(bad_descriptor())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
fn bad_descriptor() -> io::Error {
    rustix::io::Errno::BADF.into()
}

/// Whether a standard descriptor was open when the program started.
///
/// Before `main` Rust opens /dev/null in place of those that were not, so that no file comes to stand there: for reading
/// and writing, which a redirection to or from it is not. To take it for an empty file would be to overlook an error.
#[cfg(target_os = "linux")]
fn there(descriptor: &impl AsFd) -> io::Result<()> {
    /// The number of /dev/null on Linux (`Documentation/admin-guide/devices.txt`).
    const NULL: (u32, u32) = (1, 3);
    let status = rustix::fs::fstat(descriptor)?;
    let is_null = rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::CharacterDevice
        && status.st_rdev == rustix::fs::makedev(NULL.0, NULL.1);
    let is_both = rustix::fs::fcntl_getfl(descriptor)?.contains(rustix::fs::OFlags::RDWR);
    if is_null && is_both { Err(bad_descriptor()) } else { Ok(()) }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn there(_descriptor: &impl AsFd) -> io::Result<()> {
    Ok(())
}
