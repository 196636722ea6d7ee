//! The disk as the store uses it: the seam at which tests make it fail.
//!
//! What is asked of a disk is what POSIX promises and no more. A write may be lost, or half lost, in a power failure
//! until [`DiskFile::sync`] has returned; a name, until [`Disk::sync_directory`] has. After a sync that failed, what it
//! was to make durable is not, and no later sync makes it so.

mod filesystem;

pub use filesystem::Filesystem;

use std::any::Any;
use std::fmt;
use std::io::{self, IoSlice};
use std::path::Path;

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Access {
    /// To be read. It must exist.
    Read,
    /// To be read and written. It must exist.
    Write,
    /// To be read and written. It must not exist.
    Create,
}

/// A file system.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Creates a directory, and those above it, if they are not there.
    ///
    /// # Errors
    /// It could not be created.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable, and the removal of names.
    ///
    /// # Errors
    /// They may not be durable.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Lists the names in a directory, in any order. Names that are not UTF-8 may be left out.
    ///
    /// # Errors
    /// It could not be read.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Opens a file.
    ///
    /// # Errors
    /// It could not be opened.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>>;

    /// Creates a file without a name. `directory` is on the same file system, and may be used for a name meanwhile.
    ///
    /// # Errors
    /// It could not be created.
    fn create_unnamed(&self, directory: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Removes the name of a file. Who has the file open can still read it.
    ///
    /// # Errors
    /// It could not be removed.
    fn unlink(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name, in place of the file that has it.
    ///
    /// # Errors
    /// It has the name it had.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Returns how many bytes are free for this user.
    ///
    /// # Errors
    /// It is not known.
    fn free_space(&self, path: &Path) -> io::Result<u64>;

    /// Locks a file for as long as the result lives, or returns `None` if it is locked. It is created if it is not
    /// there.
    ///
    /// # Errors
    /// It could not be opened.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>>;
}

/// An open file.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Returns the file's length.
    ///
    /// # Errors
    /// It is not known.
    fn length(&self) -> io::Result<u64>;

    /// Reads some bytes, at least one unless the file ends there or the buffer is empty.
    ///
    /// # Errors
    /// Nothing could be read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Reads some bytes if they are in memory.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if the first of them is not, or if that is not known.
    fn read_cached_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes some bytes, at least one unless there is none.
    ///
    /// # Errors
    /// Nothing, or something, was written.
    fn write_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize>;

    /// Makes the file shorter, or longer by zeros.
    ///
    /// # Errors
    /// Its length is what it was.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Makes what was written, and the length, durable.
    ///
    /// # Errors
    /// It may not be durable, and never will be.
    fn sync(&self) -> io::Result<()>;

    /// Gives a file that was created without a name its name, which no file has.
    ///
    /// # Errors
    /// It has no name.
    fn link(&self, path: &Path) -> io::Result<()>;
}

/// Fills the buffer.
pub(crate) fn read_exact_at(file: &dyn DiskFile, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match file.read_at(buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = buffer.get_mut(read..).unwrap_or_default();
                offset = offset.saturating_add(read as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all of the slices one after another, and returns the offset behind them.
pub(crate) fn write_all_at(file: &dyn DiskFile, mut slices: &mut [IoSlice<'_>], mut offset: u64) -> io::Result<u64> {
    // Leaves out empty slices in front, so that nothing to write is no slices.
    IoSlice::advance_slices(&mut slices, 0);
    while !slices.is_empty() {
        match file.write_at(slices, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                IoSlice::advance_slices(&mut slices, written);
                offset = offset.saturating_add(written as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(offset)
}
