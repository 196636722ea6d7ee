//! One regular file that is open, and its next bytes.
//!
//! Bytes that are in memory already are taken at once, read or mapped. Those that are not are asked for, and read when
//! they are needed and other files were asked for too: so the device has many requests at a time.

use super::pace::Way;
#[cfg(all(feature = "map", target_os = "linux"))]
use manyhash_map::{Guard, Window};
use std::fs::{File, Metadata};
use std::io::{self, Read};
#[cfg(all(feature = "map", target_os = "linux"))]
use std::io::{Seek, SeekFrom};

/// Bytes read from a file at a time: few system calls, and the chunks of all lanes stay in a core's own cache.
pub(super) const CHUNK: usize = 32 << 10;

/// Bytes mapped at a time.
#[cfg(all(feature = "map", target_os = "linux"))]
const WINDOW: usize = 1 << 20;

/// Bytes from which on a file is mapped: below, reading is as fast.
#[cfg(all(feature = "map", target_os = "linux"))]
const MAPPED: u64 = 256 << 10;

/// Bytes asked for ahead of those that are read.
const AHEAD: u64 = 2 << 20;

/// A regular file.
pub(super) struct OpenFile {
    file: File,
    metadata: Metadata,
    /// Where its next bytes are.
    offset: u64,
    /// Where they would be read.
    #[cfg(all(feature = "map", target_os = "linux"))]
    cursor: u64,
    /// If it may be mapped.
    #[cfg(all(feature = "map", target_os = "linux"))]
    guard: Option<Guard>,
    /// The offset up to which bytes were asked for, once some were not in memory.
    asked: Option<u64>,
    chunk: Chunk,
    end: End,
    /// What the system said when there were as many bytes as it had said before.
    now: Option<Metadata>,
}

/// Whether a file has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// There may be more of it.
    Ahead,
    /// As many bytes were got as it had before it was opened, and no more came with them.
    Expected,
    /// There is no more of it.
    Reached,
}

/// Bytes that were got and not hashed yet.
enum Chunk {
    /// So many, in a buffer.
    Buffer(usize),
    #[cfg(all(feature = "map", target_os = "linux"))]
    Window(Window),
}

/// Whether the next bytes are there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    /// They are, or there are no more.
    Yes,
    /// They are not in memory, and were asked for.
    Cold,
}

impl OpenFile {
    pub(super) fn new(file: File, metadata: Metadata) -> Self {
        OpenFile {
            file,
            metadata,
            offset: 0,
            #[cfg(all(feature = "map", target_os = "linux"))]
            cursor: 0,
            #[cfg(all(feature = "map", target_os = "linux"))]
            guard: None,
            asked: None,
            chunk: Chunk::Buffer(0),
            end: End::Ahead,
            now: None,
        }
    }

    /// The same, which may be mapped if it is long enough.
    #[cfg(all(feature = "map", target_os = "linux"))]
    pub(super) fn with_guard(self, guard: Option<Guard>) -> Self {
        OpenFile { guard: guard.filter(|_| self.metadata.len() >= MAPPED), ..self }
    }

    /// What the system said before it was opened.
    pub(super) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What the system says of it, if it says the same as before it was opened and all bytes that it tells of were got.
    pub(super) fn settled(&mut self) -> Option<Metadata> {
        let now = self.now.take().or_else(|| self.file.metadata().ok())?;
        // Files of /proc say that they are empty, and nothing of when they change.
        (now.len() == self.offset && is_same(&self.metadata, &now)).then_some(now)
    }

    /// Whether there are no bytes beyond those that were got.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.end == End::Expected {
            self.now = self.file.metadata().ok();
            // Another file may have taken its place before it was opened, and a read may end wherever memory does.
            let has_more = self.now.as_ref().is_some_and(|now| now.len() > self.offset);
            self.end = if has_more { End::Ahead } else { End::Reached };
        }
        self.end == End::Reached
    }

    /// Bytes that were got of it.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Gets the next bytes, if there are none left and there may be more: into the buffer, if they are read. Without
    /// `wait`, only those that are in memory.
    pub(super) fn fill(&mut self, buffer: &mut [u8], way: Way, wait: bool) -> io::Result<Filled> {
        if self.end != End::Ahead || self.len() > 0 {
            return Ok(Filled::Yes);
        }
        #[cfg(all(feature = "map", target_os = "linux"))]
        {
            if way == Way::Map && self.map() {
                return Ok(Filled::Yes);
            }
            if self.cursor != self.offset {
                self.file.seek(SeekFrom::Start(self.offset))?;
            }
        }
        #[cfg(not(all(feature = "map", target_os = "linux")))]
        let _ = way;
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..], wait || filled > 0) {
                Ok(0) => {
                    self.end = End::Reached;
                    break;
                }
                Ok(read) => {
                    filled += read;
                    self.offset += read as u64;
                    // A file that says its size, and ends there. Those of /proc say that they are empty.
                    if filled < buffer.len() && self.offset == self.metadata.len() {
                        self.end = End::Expected;
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !wait && filled == 0 => {
                    return Ok(Filled::Cold);
                }
                Err(error) => return Err(error),
            }
        }
        self.chunk = Chunk::Buffer(filled);
        #[cfg(all(feature = "map", target_os = "linux"))]
        {
            self.cursor = self.offset;
        }
        Ok(Filled::Yes)
    }

    /// Bytes that were got and not hashed yet.
    fn len(&self) -> usize {
        match &self.chunk {
            Chunk::Buffer(filled) => *filled,
            #[cfg(all(feature = "map", target_os = "linux"))]
            Chunk::Window(window) => window.len(),
        }
    }

    /// The bytes that were got, of which those that were read are in `buffer`.
    pub(super) fn chunk<'a>(&'a self, buffer: &'a [u8]) -> &'a [u8] {
        match &self.chunk {
            Chunk::Buffer(filled) => &buffer[..*filled],
            #[cfg(all(feature = "map", target_os = "linux"))]
            Chunk::Window(window) => window,
        }
    }

    /// The bytes that were got are hashed.
    ///
    /// # Errors
    /// If some of them were not the file's.
    pub(super) fn hashed(&mut self) -> io::Result<()> {
        #[cfg(all(feature = "map", target_os = "linux"))]
        if let Chunk::Window(window) = &self.chunk {
            // What is missing of a page of which the file still has some reads as zeros without a signal.
            let is_whole = window.is_whole() && self.file.metadata()?.len() >= self.offset;
            if !is_whole {
                return Err(self.why_lost(window.len()));
            }
        }
        self.chunk = Chunk::Buffer(0);
        Ok(())
    }

    /// Reads what is in memory, or waits for what is not; what is not is asked for first.
    fn read(&mut self, buffer: &mut [u8], wait: bool) -> io::Result<usize> {
        if self.asked.is_none() {
            match read_at_once(&self.file, buffer, &self.metadata) {
                Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Linux 5.9 and 5.10 say so also of bytes that are not in memory: preadv2(2), BUGS.
                Some(Ok(0)) if self.offset < self.metadata.len() => {}
                Some(result) => return result,
                None => return retry(|| self.file.read(buffer)),
            }
        }
        let asked = self.asked.get_or_insert(self.offset);
        if *asked < self.metadata.len() && *asked < self.offset + AHEAD / 2 {
            ask(&self.file, *asked, AHEAD);
            *asked += AHEAD;
        }
        if !wait {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        retry(|| self.file.read(buffer))
    }
}

/// Whether both say that the file is the same, and was not written in between.
pub(super) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |file: &Metadata| (file.dev(), file.ino(), file.ctime(), file.ctime_nsec());
        if identity(one) != identity(other) {
            return false;
        }
    }
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}

#[cfg(all(feature = "map", target_os = "linux"))]
impl OpenFile {
    /// Maps the next window; false if it has to be read.
    fn map(&mut self) -> bool {
        let Some(guard) = self.guard else { return false };
        let left = self.metadata.len().saturating_sub(self.offset);
        let length = usize::try_from(left).unwrap_or(WINDOW).min(WINDOW);
        // Beyond the end that the file had it may have got more since. Whether a window's first byte is in memory tells
        // of the rest, as long files come and go in long pieces; what is not is better asked for.
        if length == 0 || self.asked.is_some() || is_cold_at(&self.file, self.offset) {
            self.guard = None;
            return false;
        }
        let Ok(window) = guard.map(&self.file, self.offset, length) else { return false };
        self.offset += window.len() as u64;
        self.chunk = Chunk::Window(window);
        true
    }

    /// Why bytes of the last window were not there.
    fn why_lost(&self, length: usize) -> io::Error {
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

/// Whether the byte at an offset is not in memory.
#[cfg(all(feature = "map", target_os = "linux"))]
fn is_cold_at(file: &File, offset: u64) -> bool {
    let mut byte = [0];
    let read =
        rustix::io::preadv2(file, &mut [io::IoSliceMut::new(&mut byte)], offset, rustix::io::ReadWriteFlags::NOWAIT);
    read == Err(rustix::io::Errno::AGAIN)
}

/// Reads what is in memory already; [`io::ErrorKind::WouldBlock`] if nothing is, and none if that cannot be told of this
/// file.
#[cfg(target_os = "linux")]
fn read_at_once(file: &File, buffer: &mut [u8], metadata: &Metadata) -> Option<io::Result<usize>> {
    use rustix::io::{Errno, ReadWriteFlags};
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::{AtomicU64, Ordering};
    /// The device of a file system that last could not tell: it is spared the question.
    static UNABLE: AtomicU64 = AtomicU64::new(u64::MAX);
    if UNABLE.load(Ordering::Relaxed) == metadata.dev() {
        return None;
    }
    // This offset is the one where the file is.
    match rustix::io::preadv2(file, &mut [io::IoSliceMut::new(buffer)], u64::MAX, ReadWriteFlags::NOWAIT) {
        Ok(read) => Some(Ok(read)),
        Err(Errno::AGAIN) => Some(Err(io::ErrorKind::WouldBlock.into())),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            UNABLE.store(metadata.dev(), Ordering::Relaxed);
            None
        }
        // Reading gives it too, or goes on after an interruption.
        Err(_) => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn read_at_once(_: &File, _: &mut [u8], _: &Metadata) -> Option<io::Result<usize>> {
    None
}

fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Asks for bytes that will be read. If the system does nothing about it, they are read all the same.
#[cfg(target_os = "linux")]
fn ask(file: &File, offset: u64, length: u64) {
    let _ = rustix::fs::fadvise(file, offset, std::num::NonZeroU64::new(length), rustix::fs::Advice::WillNeed);
}

#[cfg(not(target_os = "linux"))]
fn ask(_: &File, _: u64, _: u64) {}

/// Its bytes from where it is on, until it ends there.
impl Read for OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = OpenFile::read(self, buffer, true)?;
        self.offset += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
