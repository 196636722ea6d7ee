//! Segments: files of small bodies, to which is appended and nothing else.
//!
//! A segment is records one after another, without padding. A record is a head of [`HEAD`] bytes and the body:
//!
//! | bytes | content |
//! | --- | --- |
//! | 4 | [`MAGIC`] |
//! | 8 | the length of the body, little-endian |
//! | 8 | the number of the blob, little-endian |
//! | 32 | the SHA-256 of the body |
//!
//! The index knows where each body is and never looks at heads. They are for whoever has lost the index, for the check,
//! and for moving what is alive out of a segment of which most is dead.
//!
//! What is behind the end that the index has recorded was never answered for. It is written over by the next batch, or
//! cut off when the store is opened.

use crate::disk::{Access, Disk, DiskFile, read_exact_at, write_all_at};
use crate::index::BlobKey;
use crate::layout::Layout;
use bytes::Bytes;
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::sync::{Arc, RwLock};

/// What a record begins with.
const MAGIC: [u8; 4] = *b"mhs1";

/// The length of a head.
pub(crate) const HEAD: u64 = 52;

/// The length at which a segment is sealed.
pub(crate) const SEGMENT: u64 = 256 << 20;

/// How many segments are kept open: a few of the descriptors that a process has.
const MAX_OPEN: usize = 256;

/// What is in front of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) key: BlobKey,
    pub(crate) length: u64,
}

impl Head {
    pub(crate) fn to_bytes(self) -> [u8; HEAD as usize] {
        let mut bytes = [0; HEAD as usize];
        let fields = [&MAGIC[..], &self.length.to_le_bytes(), &self.key.id().to_le_bytes(), &self.key.sha256()];
        bytes.copy_from_slice(&fields.concat());
        bytes
    }

    /// Reads a head, if it is one.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Head> {
        let (magic, rest) = bytes.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (id, rest) = rest.split_first_chunk()?;
        let (sha256, _) = rest.split_first_chunk()?;
        let key = BlobKey::new(sha256, u64::from_le_bytes(*id));
        (*magic == MAGIC).then_some(Head { key, length: u64::from_le_bytes(*length) })
    }

    /// The length of the record, if that can be.
    pub(crate) fn record(&self) -> Option<u64> {
        self.length.checked_add(HEAD)
    }
}

/// A body to be appended.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) head: Head,
    pub(crate) slices: Vec<Bytes>,
}

/// Writes records at an offset, with one call of the system if it takes them all. They are not durable yet.
pub(crate) fn write_records(file: &dyn DiskFile, records: &[Append], offset: u64) -> io::Result<()> {
    let heads: Vec<[u8; HEAD as usize]> = records.iter().map(|record| record.head.to_bytes()).collect();
    let mut slices = Vec::with_capacity(records.iter().map(|record| 1 + record.slices.len()).sum());
    for (head, record) in heads.iter().zip(records) {
        slices.push(IoSlice::new(head));
        slices.extend(record.slices.iter().map(|slice| IoSlice::new(slice)));
    }
    write_all_at(file, &mut slices, offset).map(drop)
}

/// Reads the head of the record at an offset, if there is one.
pub(crate) fn read_head(file: &dyn DiskFile, offset: u64) -> io::Result<Option<Head>> {
    let mut bytes = [0; HEAD as usize];
    read_exact_at(file, &mut bytes, offset)?;
    Ok(Head::from_bytes(&bytes))
}

/// The segments of a directory, and those of them that are open.
#[derive(Debug)]
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    layout: Layout,
    open: RwLock<HashMap<u32, Arc<dyn DiskFile>>>,
}

impl Segments {
    pub(crate) fn new(disk: Arc<dyn Disk>, layout: Layout) -> Self {
        Segments { disk, layout, open: RwLock::default() }
    }

    /// A segment, to be read.
    pub(crate) fn file(&self, segment: u32) -> io::Result<Arc<dyn DiskFile>> {
        if let Some(file) = self.open.read().unwrap_or_else(|poison| poison.into_inner()).get(&segment) {
            return Ok(file.clone());
        }
        let file: Arc<dyn DiskFile> = self.disk.open(&self.layout.segment(segment), Access::Read)?.into();
        self.keep(segment, file.clone());
        Ok(file)
    }

    /// A segment that is not full, to be appended to.
    pub(crate) fn open(&self, segment: u32) -> io::Result<Arc<dyn DiskFile>> {
        let file: Arc<dyn DiskFile> = self.disk.open(&self.layout.segment(segment), Access::Write)?.into();
        self.keep(segment, file.clone());
        Ok(file)
    }

    /// A new segment, whose name is durable.
    pub(crate) fn create(&self, segment: u32) -> io::Result<Arc<dyn DiskFile>> {
        let file: Arc<dyn DiskFile> = self.disk.open(&self.layout.segment(segment), Access::Create)?.into();
        self.disk.sync_directory(self.layout.segments())?;
        self.keep(segment, file.clone());
        Ok(file)
    }

    /// Removes a segment. Its name may come back after a power failure.
    pub(crate) fn remove(&self, segment: u32) -> io::Result<()> {
        self.open.write().unwrap_or_else(|poison| poison.into_inner()).remove(&segment);
        match self.disk.unlink(&self.layout.segment(segment)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn keep(&self, segment: u32, file: Arc<dyn DiskFile>) {
        let mut open = self.open.write().unwrap_or_else(|poison| poison.into_inner());
        if open.len() >= MAX_OPEN {
            // Any: who reads from it has it.
            let first = open.keys().next().copied();
            first.map(|segment| open.remove(&segment));
        }
        open.insert(segment, file);
    }
}

#[cfg(test)]
mod tests {
    use super::{HEAD, Head};
    use crate::index::BlobKey;
    use proptest::prelude::*;

    #[test]
    fn a_head_is_read_back() {
        let head = Head { key: BlobKey::new(&[9; 32], 77), length: 4096 };
        let bytes = head.to_bytes();
        assert_eq!((Head::from_bytes(&bytes), head.record()), (Some(head), Some(4096 + HEAD)));
        assert_eq!(bytes[..4], *b"mhs1");
        assert_eq!(Head::from_bytes(&bytes[1..]), None);
        assert_eq!(Head::from_bytes(&bytes[..51]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_head_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Head::from_bytes(&bytes).and_then(|head| head.record());
            let _ = Head::from_bytes(&[b"mhs1", &bytes[..]].concat()).and_then(|head| head.record());
        }
    }
}
