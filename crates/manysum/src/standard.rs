//! Standard input and output themselves: the standard library's handles are shared and keep what they have read ahead, and
//! take a descriptor that was not opened for reading for an empty one.

use crate::incoming::Incoming;
use manyhash::file::Source;
use manyhash_stdio::Standard;
use std::fs::File;
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard input was asked for, and was not there.
static MISSED: AtomicBool = AtomicBool::new(false);

/// Ends with standard input, if anything was read from there.
///
/// # Errors
/// If it was not open when the program was started, and was wanted.
pub(crate) fn close_input() -> io::Result<()> {
    if MISSED.load(Ordering::Relaxed) { Err(bad_descriptor()) } else { Ok(()) }
}

/// Standard input as a file among others.
pub(crate) fn input_source() -> Source {
    match there(Standard::Input) {
        Ok(()) => Source::Stdin,
        Err(error) => Source::Failed(error),
    }
}

#[cfg(unix)]
fn input_file() -> io::Result<File> {
    there(Standard::Input)?;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Standard input.
///
/// # Errors
/// If the program was started without.
#[cfg(unix)]
pub fn input() -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(input_file()?))
}

#[cfg(not(unix))]
pub fn input() -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(io::stdin()))
}

/// The lines of standard input.
///
/// # Errors
/// If the program was started without.
pub(crate) fn input_lines() -> io::Result<Incoming> {
    #[cfg(unix)]
    return Incoming::from_file(input_file()?);
    #[cfg(not(unix))]
    input().map(Incoming::new)
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
pub(crate) fn there(descriptor: Standard) -> io::Result<()> {
    if !descriptor.was_closed() {
        return Ok(());
    }
    if descriptor == Standard::Input {
        MISSED.store(true, Ordering::Relaxed);
    }
    Err(bad_descriptor())
}
