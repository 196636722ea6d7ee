//! Mapped files: the program's permission to map them, and the bytes of a window.
//!
//! This is the only module of the library with `unsafe`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

/// The program's permission to map files, which requires a handler for `SIGBUS`. Available with the feature `map` on
/// Linux.
///
/// Without a guard files are read, never mapped.
#[derive(Clone, Copy, Debug)]
pub struct SigbusGuard(manyhash_map::Guard);

impl SigbusGuard {
    /// Installs a handler for `SIGBUS`, which stays until the process ends. Call it once, in `main`: later calls return
    /// the outcome of the first.
    ///
    /// Touching the missing pages of a mapped file that was truncated raises the signal. The handler maps zeros there,
    /// and the file gives an error instead of digests. Every other `SIGBUS` goes to the handler that was installed
    /// before.
    ///
    /// ```
    /// use manyhash::{Algorithm, file};
    ///
    /// // SAFETY: nothing else in this program handles SIGBUS or maps files.
    /// let guard = unsafe { file::SigbusGuard::install()? };
    /// let functions = [Algorithm::Md5.into()];
    /// let files = file::Files::new(&functions).map(guard);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Safety
    /// The caller guarantees for the whole process:
    /// - No other code replaces the handler of `SIGBUS` later, unless the replacement passes on what it does not
    ///   handle.
    /// - No thread that hashes files blocks the signal. The system would kill the process.
    /// - The process has no writable mapping of a file that is hashed.
    ///
    /// The caller also accepts what it cannot rule out: other processes may write to a file while it is mapped. In
    /// Rust's memory model that is a data race. The library relies on what compilers do with loads: mapped bytes reach
    /// only hash functions, and the branches, addresses and lengths of hash functions do not depend on the message. So
    /// the digest of a file that is written to meanwhile is that of a mixture of old and new bytes, as it is when the
    /// file is read.
    ///
    /// # Errors
    /// Returns the system's error if the handler cannot be installed.
    pub unsafe fn install() -> io::Result<Self> {
        // SAFETY: the caller's promises are at least those that are asked for.
        unsafe { manyhash_map::Guard::install() }.map(SigbusGuard)
    }

    /// Returns the guard, if [`install`](Self::install) was called before and did not fail.
    pub fn installed() -> Option<Self> {
        manyhash_map::Guard::installed().map(SigbusGuard)
    }

    /// Maps so many bytes of a file from an offset on.
    pub(super) fn map(self, file: &File, offset: u64, length: usize) -> io::Result<Window> {
        self.0.map(file, offset, length).map(Window)
    }
}

/// A mapped part of a file. It stays inside the module of files, which gives its bytes to hash functions only.
pub(super) struct Window(manyhash_map::Window);

impl Window {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes, for hash functions.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `OpenFile::chunk` is the one caller, and `Lanes::advance` gives what it returns to `Hashes::update_many` and
        // to nothing else. The functions behind it compute on the bytes as numbers: the kernels of `manyhash-core` and the
        // crates of the feature `others` branch on lengths alone, and the tables of the latter are indexed by what one byte
        // can be. A byte that is read twice (by an unaligned load, or into the buffer of an unfinished block) may differ, and
        // only the digest depends on it.
        unsafe { self.0.bytes() }
    }

    /// Whether all of it was the file's whenever it was touched.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_whole()
    }
}
