//! Reading content.
//!
//! A reader of one blob has it open from the start, so that it may be deleted or moved. A reader of several opens one
//! after another, since there may be ten thousand, and pins those that it has not opened yet.

use crate::disk::{Access, DiskFile};
use crate::index::Place;
use crate::store::Shared;
use crate::{Extent, Pin, ReadError};
use bytes::Bytes;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// How often a blob is looked for that was moved since the index was read.
const TRIES: usize = 3;

/// Reads a range of some content. It reads on in the order of the content.
#[derive(Debug)]
pub struct Reader {
    shared: Arc<Shared>,
    current: Piece,
    /// What comes after it, pinned.
    rest: VecDeque<(Pin, Range<u64>)>,
    remaining: u64,
}

/// What is left to be read of an open blob.
#[derive(Debug)]
struct Piece {
    file: Option<Arc<dyn DiskFile>>,
    offset: u64,
    left: u64,
}

/// Opens content for reading.
pub(crate) fn open(shared: &Arc<Shared>, extents: &[Extent], range: Range<u64>) -> Result<Reader, ReadError> {
    let length = extents.iter().fold(0, |sum: u64, extent| sum.saturating_add(extent.length));
    let Some(remaining) = range.end.checked_sub(range.start).filter(|_| range.end <= length) else {
        return Err(ReadError::Range { end: range.end.max(range.start), length });
    };
    let mut pieces = VecDeque::new();
    let mut start: u64 = 0;
    for extent in extents {
        let end = start.saturating_add(extent.length);
        let (from, to) = (range.start.max(start), range.end.min(end));
        if from < to {
            pieces.push_back((*extent, from - start..to - start));
        }
        start = end;
    }
    let mut reader = Reader {
        shared: shared.clone(),
        current: Piece { file: None, offset: 0, left: 0 },
        rest: VecDeque::new(),
        remaining,
    };
    if let Some((extent, range)) = pieces.pop_front() {
        reader.current = open_piece(shared, &extent, range)?;
    }
    for (extent, range) in pieces {
        let pin = Pin::new(shared, extent)?.ok_or(ReadError::Gone)?;
        reader.rest.push_back((pin, range));
    }
    Ok(reader)
}

/// Opens a range of a blob. One that is pinned may be in the trash.
fn open_piece(shared: &Shared, extent: &Extent, range: Range<u64>) -> Result<Piece, ReadError> {
    let mut error = ReadError::Gone;
    for _ in 0..TRIES {
        let (key, snapshot) = (extent.key(), shared.index.snapshot()?);
        let mut blob = snapshot.blob(&key)?;
        if blob.is_none() && shared.pins.is_pinned(&key) {
            blob = snapshot.blob_or_trash(&key)?;
        }
        let opened = match blob.ok_or(ReadError::Gone)?.place {
            Place::Segment { segment, offset } => shared.segments.file(segment).map(|file| (file, offset)),
            Place::File { generation } => {
                let path = shared.layout.blob(generation, &key);
                shared.disk.open(&path, Access::Read).map(|file| (file.into(), 0))
            }
        };
        match opened {
            Ok((file, offset)) => {
                let offset = offset.checked_add(range.start).ok_or(ReadError::Damaged("a blob in the index"))?;
                return Ok(Piece { file: Some(file), offset, left: range.end - range.start });
            }
            // Since the index was read, it was moved or deleted; or it is missing, and looked for in vain.
            Err(found) if found.kind() == io::ErrorKind::NotFound => error = found.into(),
            Err(found) => return Err(found.into()),
        }
    }
    Err(error)
}

impl Reader {
    /// Returns how many bytes are left to be read.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Reads the next bytes, up to `max` of them, or `None` at the end. It waits for the disk.
    ///
    /// # Errors
    /// The disk's. A blob that is shorter than the index says gives [`io::ErrorKind::UnexpectedEof`].
    pub fn read(&mut self, max: usize) -> io::Result<Option<Bytes>> {
        while self.current.left == 0 {
            let Some((pin, range)) = self.rest.pop_front() else {
                return Ok(None);
            };
            self.current = open_piece(&self.shared, pin.extent(), range).map_err(into_io)?;
        }
        self.read_piece(max, |file, buffer, offset| file.read_at(buffer, offset))
    }

    /// Reads the next bytes, up to `max` of them, if they are in memory.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if they are not, or if that is not known: [`Reader::read`] reads them. Otherwise
    /// as there.
    pub fn read_cached(&mut self, max: usize) -> io::Result<Option<Bytes>> {
        if self.current.left == 0 {
            return if self.rest.is_empty() { Ok(None) } else { Err(io::ErrorKind::WouldBlock.into()) };
        }
        self.read_piece(max, |file, buffer, offset| file.read_cached_at(buffer, offset))
    }

    fn read_piece(
        &mut self,
        max: usize,
        read: impl Fn(&dyn DiskFile, &mut [u8], u64) -> io::Result<usize>,
    ) -> io::Result<Option<Bytes>> {
        let Piece { file: Some(file), offset, left } = &mut self.current else {
            return Ok(None);
        };
        let size = usize::try_from(*left).unwrap_or(usize::MAX).min(max.max(1));
        let mut buffer = vec![0; size];
        let read = loop {
            match read(&**file, &mut buffer, *offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a blob is shorter than the index says"));
        }
        buffer.truncate(read);
        let read = read as u64;
        *offset = offset.saturating_add(read);
        *left = left.saturating_sub(read);
        self.remaining = self.remaining.saturating_sub(read);
        Ok(Some(buffer.into()))
    }
}

fn into_io(error: ReadError) -> io::Error {
    match error {
        ReadError::Disk(error) => error,
        error => io::Error::other(error),
    }
}
