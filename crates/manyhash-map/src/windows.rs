//! Windows into files.

use crate::{Guard, table};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

/// A part of a file, mapped into memory for reading.
///
/// Writes to the file by other processes show in it. Pages that the file has lost read as zeros.
#[derive(Debug)]
pub struct Window {
    address: *const u8,
    length: usize,
    slot: usize,
}

// SAFETY: the memory is only read through it, and is unmapped by its drop alone.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl Guard {
    /// Maps `length` bytes of a file from `offset` on, with all their pages at once.
    ///
    /// # Errors
    /// Returns an error if `offset` is not a multiple of the page size, if `length` is 0, if the process has too many
    /// windows, or if the system refuses.
    pub fn map(self, file: &File, offset: u64, length: usize) -> io::Result<Window> {
        let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let slot = table::claim().ok_or_else(|| io::Error::other("too many windows are mapped; drop some"))?;
        let flags = libc::MAP_PRIVATE | libc::MAP_POPULATE;
        // SAFETY: a mapping where the system sees fit touches no memory that is in use.
        let address = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_READ, flags, file.as_raw_fd(), offset) };
        if address == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            table::release(slot);
            return Err(error);
        }
        table::publish(slot, address.addr()..address.addr() + length);
        Ok(Window { address: address.cast(), length, slot })
    }
}

impl Window {
    /// Returns the number of bytes that are mapped.
    #[expect(clippy::len_without_is_empty, reason = "a mapping of no bytes is refused")]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns the bytes of the file, with zeros where it has lost them.
    ///
    /// # Safety
    /// Another process may write to the file while the slice exists. In Rust's memory model that is a data race, and no
    /// mapping protects against it. The caller relies on what compilers do with loads, and does only what is then
    /// harmless:
    /// - It reads the bytes as numbers, in code with branches and addresses that do not depend on them, such as a hash
    ///   function's.
    /// - It never assumes that a byte read twice is the same.
    ///
    /// The numbers may then be a mixture of the file's bytes at different times, and nothing else can go wrong.
    pub unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are mapped until this window is dropped. A page that is lost raises a signal whose handler is
        // installed, as there was a guard. For changes by other processes the caller answers.
        unsafe { std::slice::from_raw_parts(self.address, self.length) }
    }

    /// Returns whether the file still had every page when it was touched. If not, missing bytes were read as zeros.
    pub fn is_whole(&self) -> bool {
        !table::has_lost(self.slot)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        table::release(self.slot);
        // SAFETY: it is this window's, and references into it ended before. If it failed, the memory would stay mapped.
        unsafe { libc::munmap(self.address.cast_mut().cast(), self.length) };
    }
}

/// Maps zeros over the window that has this address, from its page on; false if there is none. For the handler of a
/// signal: it neither locks nor allocates, and is told the size of a page.
pub(crate) fn replace_lost_pages(address: usize, page: usize) -> bool {
    let Some((slot, end)) = table::find(address) else { return false };
    // First, as another thread that reads the window may see the zeros before this one goes on.
    table::lose(slot);
    let first = address & !(page - 1);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: these pages are the window's. This thread faulted in it, so it has a reference to it, and it is still mapped.
    let mapped = unsafe { libc::mmap(ptr::without_provenance_mut(first), end - first, libc::PROT_READ, flags, -1, 0) };
    mapped != libc::MAP_FAILED
}
