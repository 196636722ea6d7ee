//! One regular file that is open, and its next bytes.
//!
//! Bytes that are in memory already are taken at once, read or mapped. Those that are not are asked for, and read when
//! they are needed and other files were asked for too: so the device has many requests at a time.

#[cfg(all(feature = "map", target_os = "linux"))]
mod map;
mod memory;

#[cfg(all(feature = "map", target_os = "linux"))]
use super::mapped::{SigbusGuard, Window};
use super::pace::Way;
use std::fs::{File, Metadata};
use std::io::{self, Read};
#[cfg(all(feature = "map", target_os = "linux"))]
use std::io::{Seek, SeekFrom};

/// Bytes read from a file at a time: few system calls, and the chunks of all lanes stay in a core's own cache.
pub(super) const CHUNK: usize = 32 << 10;

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
    guard: Option<SigbusGuard>,
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
            Chunk::Window(window) => window.bytes(),
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
            match memory::read(&self.file, buffer, &self.metadata) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Linux 5.9 and 5.10 say so also of bytes that are not in memory: preadv2(2), BUGS.
                Ok(0) if self.offset < self.metadata.len() => {}
                result => return result,
            }
        }
        let asked = self.asked.get_or_insert(self.offset);
        if *asked < self.metadata.len() && *asked < self.offset + AHEAD / 2 {
            memory::ask(&self.file, *asked, AHEAD);
            *asked += AHEAD;
        }
        if !wait {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        memory::retry(|| self.file.read(buffer))
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
