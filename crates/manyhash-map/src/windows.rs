//! Windows into files.

use crate::{Guard, table};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::ptr;

/// A part of a file, mapped into memory to be read.
///
/// What others write to the file shows in it: a digest of it is one of bytes that were there at some time, as it is when
/// they are read. Pages that the file lost since are zeros.
#[derive(Debug)]
pub struct Window {
    address: *const u8,
    length: usize,
    slot: usize,
}

// SAFETY: it is memory that is read only, and belongs to whoever has the window.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl Guard {
    /// Maps `length` bytes of a file from `offset` on, all pages of it at once.
    ///
    /// # Errors
    /// If `offset` is no multiple of the size of a page, `length` is 0, too many windows are there, or the system
    /// refuses.
    pub fn map(self, file: &File, offset: u64, length: usize) -> io::Result<Window> {
        let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let slot = table::claim().ok_or_else(|| io::Error::other("too many windows are mapped"))?;
        let flags = libc::MAP_PRIVATE | libc::MAP_POPULATE;
        // SAFETY: a mapping where the system sees fit touches no memory that is in use.
        let address = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_READ, flags, file.as_raw_fd(), offset) };
        if address == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            table::release(slot);
            return Err(error);
        }
        table::publish(slot, address as usize..address as usize + length);
        Ok(Window { address: address.cast(), length, slot })
    }
}

impl Window {
    /// Whether all of it was the file's whenever it was touched. If not, what is missing reads as zeros.
    pub fn is_whole(&self) -> bool {
        !table::has_lost(self.slot)
    }
}

impl Deref for Window {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes are mapped for as long as the window is there. A page that is lost raises a signal whose
        // handler is in place, as there is a guard. The bytes may be changed by others, by whom they are but read.
        unsafe { std::slice::from_raw_parts(self.address, self.length) }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        table::release(self.slot);
        // SAFETY: it is this window's, and nobody has a reference into it any more. That it fails has no cause, and no
        // consequence but memory that stays mapped.
        unsafe { libc::munmap(self.address.cast_mut().cast(), self.length) };
    }
}

/// Maps zeros over the window that has this address, from its page on; false if there is none. For the handler of a
/// signal: it neither locks nor allocates.
pub(crate) fn replace_lost_pages(address: usize) -> bool {
    let Some((slot, end)) = table::find(address) else { return false };
    // First, as another thread that has the window too may read the zeros before this one goes on.
    table::lose(slot);
    // SAFETY: the size of a page is asked for, which is a system's constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let first = address & !(page - 1);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: these pages are the window's: the thread that touched them has it, so it is still mapped.
    let mapped = unsafe { libc::mmap(first as *mut _, end - first, libc::PROT_READ, flags, -1, 0) };
    mapped != libc::MAP_FAILED
}
