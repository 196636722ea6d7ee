//! Standard input and output themselves: the standard library's handles are shared and keep what they have read ahead, and
//! take a descriptor that was not opened for reading for an empty one.

use manyhash::file::Source;
use manyhash_stdio::Standard;
use std::fs::File;
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::fd::AsFd;

/// Standard input as a file among others.
pub(crate) fn input_source() -> Source {
    match there(Standard::Input) {
        Ok(()) => Source::Stdin,
        Err(error) => Source::Failed(error),
    }
}

/// Standard input.
///
/// # Errors
/// If the program was started without.
#[cfg(unix)]
pub(crate) fn input() -> io::Result<Box<dyn Read + Send>> {
    there(Standard::Input)?;
    Ok(Box::new(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
}

#[cfg(not(unix))]
pub(crate) fn input() -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(io::stdin()))
}

/// Standard output. If the program was started without, nothing can be written to it.
#[cfg(unix)]
pub(crate) fn output() -> Box<dyn Write + Send> {
    match there(Standard::Output).and_then(|()| io::stdout().as_fd().try_clone_to_owned()) {
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

#[cfg(not(unix))]
fn bad_descriptor() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// Whether a standard descriptor was open when the program was started: one that was not is no empty file, and swallows
/// nothing.
fn there(descriptor: Standard) -> io::Result<()> {
    if descriptor.was_closed() { Err(bad_descriptor()) } else { Ok(()) }
}
