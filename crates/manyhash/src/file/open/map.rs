//! A file's bytes without copying them, in windows.

use super::{CHUNK, Chunk, OpenFile, memory};
use crate::file::mapped::SigbusGuard;
use std::io;

/// Bytes mapped at a time.
pub(super) const WINDOW: usize = 512 << 10;

/// Bytes from which on a file is mapped: below, reading is as fast.
const MAPPED: u64 = 256 << 10;

impl OpenFile {
    /// The same, which may be mapped if it is long enough.
    pub(in crate::file) fn with_guard(self, guard: Option<SigbusGuard>) -> Self {
        OpenFile { guard: guard.filter(|_| self.metadata.len() >= MAPPED), ..self }
    }

    /// Maps the next window; false if it has to be read.
    pub(super) fn map(&mut self) -> bool {
        let Some(guard) = self.guard else { return false };
        let left = self.metadata.len().saturating_sub(self.offset);
        let length = usize::try_from(left).unwrap_or(WINDOW).min(WINDOW);
        // Beyond the end that the file had it may have got more since. Whether a window's first byte is in memory tells
        // of the rest, as long files come and go in long pieces; what is not is better asked for.
        if length == 0 || self.asked.is_some() || memory::is_cold_at(&self.file, self.offset) {
            self.guard = None;
            return false;
        }
        let Ok(window) = guard.map(&self.file, self.offset, length) else { return false };
        self.offset += window.len() as u64;
        self.chunk = Chunk::Window(window);
        true
    }

    /// Why bytes of the last window were not there.
    pub(super) fn why_lost(&self, length: usize) -> io::Error {
        use std::os::unix::fs::FileExt;
        // What cannot be read says why; what is beyond the end says nothing.
        let mut buffer = vec![0; CHUNK];
        let start = self.offset - length as u64;
        for offset in (start..self.offset).step_by(CHUNK) {
            if let Err(error) = self.file.read_at(&mut buffer, offset) {
                return error;
            }
        }
        io::Error::other("File was truncated while it was read")
    }
}
