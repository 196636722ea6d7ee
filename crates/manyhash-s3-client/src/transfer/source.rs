//! What is uploaded, read from its beginning to its end once.

use super::error::{Error, blocking};
use super::memory::Buffer;
use crate::local::{self, is_same};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// A file, or bytes that can only be read once.
pub(super) enum Source {
    File {
        file: File,
        /// What the system said when it was opened.
        before: Metadata,
    },
    Reader {
        reader: Box<dyn Read + Send>,
        /// The byte that told that there is more.
        ahead: Option<u8>,
    },
}

impl Source {
    /// Opens a regular file.
    pub(super) async fn open(path: &Path) -> Result<Source, Error> {
        let path = path.to_owned();
        let open = move || {
            // Opening a pipe would wait for its writer.
            if !std::fs::metadata(&path)?.is_file() {
                return Err(local::Error::NotAFile);
            }
            let file = File::open(&path)?;
            let before = file.metadata()?;
            if before.is_file() { Ok(Source::File { file, before }) } else { Err(local::Error::NotAFile) }
        };
        Ok(blocking(open).await.map_err(Error::read)??)
    }

    pub(super) fn of_reader(reader: impl Read + Send + 'static) -> Source {
        Source::Reader { reader: Box::new(reader), ahead: None }
    }

    /// The bytes, if they are known beforehand.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Source::File { before, .. } => Some(before.len()),
            Source::Reader { .. } => None,
        }
    }

    /// Fills a buffer with what follows, and tells whether that was all. The buffer is cut off where it ends.
    ///
    /// # Errors
    /// If it cannot be read, and for a file that has not so many bytes any more.
    pub(super) async fn read(mut self, mut buffer: Buffer) -> Result<(Source, Buffer, bool), Error> {
        let read = move || {
            let is_last = match &mut self {
                Source::File { file, .. } => {
                    file.read_exact(buffer.as_mut())?;
                    false
                }
                Source::Reader { reader, ahead } => {
                    let first: &[u8] = ahead.as_slice();
                    let bytes = read_full(&mut first.chain(&mut **reader), buffer.as_mut())?;
                    let is_full = bytes == buffer.as_ref().len();
                    buffer.truncate(bytes);
                    let mut next = [0];
                    *ahead = (is_full && read_full(reader, &mut next)? == 1).then_some(next[0]);
                    ahead.is_none()
                }
            };
            Ok::<_, io::Error>((self, buffer, is_last))
        };
        blocking(read).await.and_then(|read| read).map_err(Error::read)
    }

    /// Makes sure, after all was read, that it was all, and of one time.
    ///
    /// # Errors
    /// If a file is not as it was when it was opened.
    pub(super) async fn settle(self) -> Result<(), Error> {
        let Source::File { mut file, before } = self else { return Ok(()) };
        let settle = move || {
            // Files of /proc say that they are empty, and would never have settled.
            let is_longer = read_full(&mut file, &mut [0])? != 0;
            Ok::<_, io::Error>(!is_longer && is_same(&before, &file.metadata()?))
        };
        match blocking(settle).await.and_then(|settled| settled).map_err(Error::read)? {
            true => Ok(()),
            false => Err(local::Error::Changed.into()),
        }
    }
}

/// Reads until the buffer is full or there is no more.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
