//! The index's tables, in a transaction of the writer.

use super::records::{StateRecord, decode, encode};
use super::{FORMAT, into_io};
use crate::ReadError;
use redb::{ReadableTable, Table, TableDefinition, TableError, WriteTransaction};
use std::io;

type Bytes = &'static [u8];

pub(super) const META: TableDefinition<'_, &str, Bytes> = TableDefinition::new("meta");
pub(super) const BUCKETS: TableDefinition<'_, &str, Bytes> = TableDefinition::new("buckets");
pub(super) const OBJECTS: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("objects");
pub(super) const UPLOADS: TableDefinition<'_, (&str, &str, &str), Bytes> = TableDefinition::new("uploads");
pub(super) const PARTS: TableDefinition<'_, (u64, u16), Bytes> = TableDefinition::new("parts");
pub(super) const BLOBS: TableDefinition<'_, &[u8; 40], Bytes> = TableDefinition::new("blobs");
pub(super) const TRASH: TableDefinition<'_, &[u8; 40], Bytes> = TableDefinition::new("trash");
pub(super) const SEGMENTS: TableDefinition<'_, u32, Bytes> = TableDefinition::new("segments");

/// The rows of [`META`].
pub(super) const FORMAT_ROW: &str = "format";
pub(super) const STATE_ROW: &str = "state";

/// All tables.
pub(crate) struct Tables<'t> {
    pub(crate) meta: Table<'t, &'static str, Bytes>,
    /// By name: [`BucketRecord`](super::BucketRecord).
    pub(crate) buckets: Table<'t, &'static str, Bytes>,
    /// By [`object_key`](super::object_key): [`ObjectRecord`](super::ObjectRecord).
    pub(crate) objects: Table<'t, Bytes, Bytes>,
    /// By bucket, key and id: [`UploadRecord`](super::UploadRecord).
    pub(crate) uploads: Table<'t, (&'static str, &'static str, &'static str), Bytes>,
    /// By the upload's serial and the part's number: [`PartRecord`](super::PartRecord).
    pub(crate) parts: Table<'t, (u64, u16), Bytes>,
    /// By [`BlobKey`](super::BlobKey): [`BlobRecord`](super::BlobRecord), with at least one reference.
    pub(crate) blobs: Table<'t, &'static [u8; 40], Bytes>,
    /// Blobs that nothing refers to, until their place is free.
    pub(crate) trash: Table<'t, &'static [u8; 40], Bytes>,
    /// By number: [`SegmentRecord`](super::SegmentRecord).
    pub(crate) segments: Table<'t, u32, Bytes>,
}

impl<'t> Tables<'t> {
    /// Opens all tables. Those that are not there are created.
    pub(crate) fn open(transaction: &'t WriteTransaction) -> Result<Self, TableError> {
        Ok(Tables {
            meta: transaction.open_table(META)?,
            buckets: transaction.open_table(BUCKETS)?,
            objects: transaction.open_table(OBJECTS)?,
            uploads: transaction.open_table(UPLOADS)?,
            parts: transaction.open_table(PARTS)?,
            blobs: transaction.open_table(BLOBS)?,
            trash: transaction.open_table(TRASH)?,
            segments: transaction.open_table(SEGMENTS)?,
        })
    }

    /// Fills what an empty index has.
    pub(super) fn create(&mut self) -> Result<(), redb::Error> {
        self.meta.insert(FORMAT_ROW, &FORMAT.to_le_bytes()[..])?;
        self.meta.insert(STATE_ROW, &*encode(&StateRecord::default())?)?;
        Ok(())
    }

    pub(crate) fn state(&self) -> Result<StateRecord, ReadError> {
        let row = self.meta.get(STATE_ROW)?.ok_or(ReadError::Damaged("the state in the index"))?;
        decode(row.value(), "the state in the index")
    }

    pub(crate) fn set_state(&mut self, state: &StateRecord) -> io::Result<()> {
        self.meta.insert(STATE_ROW, &*encode(state)?).map_err(into_io)?;
        Ok(())
    }
}
