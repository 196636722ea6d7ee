//! Bodies that are received into files.

use crate::disk::{DiskFile, write_all_at};
use crate::store::Shared;
use bytes::Bytes;
use std::io::{self, IoSlice};
use std::path::Path;

/// How many bytes are written before they are synced: the disk writes while the rest is received, and the last sync
/// finds little left to do.
const SYNC_AFTER: u64 = 32 << 20;

/// A body that is being received, in a file without a name. It is gone when it is dropped.
///
/// Its methods block. After an error the file is of no use.
#[derive(Debug)]
pub struct NewFile {
    file: Box<dyn DiskFile>,
    length: u64,
    synced: u64,
    /// Whether a write or a sync has failed: what was written may be lost, whatever a later sync says.
    failed: bool,
}

impl NewFile {
    pub(crate) fn create(shared: &Shared) -> io::Result<Self> {
        let file = shared.disk.create_unnamed(shared.layout.new_files())?;
        Ok(NewFile { file, length: 0, synced: 0, failed: false })
    }

    /// Returns whether [`append`](Self::append) will wait until all is durable when it has written so many bytes more,
    /// as it does every 32 MiB.
    pub fn will_sync(&self, bytes: u64) -> bool {
        self.length.saturating_add(bytes).saturating_sub(self.synced) >= SYNC_AFTER
    }

    /// Writes the slices at the end, one after another. Every 32 MiB it waits until they are durable.
    ///
    /// # Errors
    /// The disk's.
    pub fn append(&mut self, slices: &[Bytes]) -> io::Result<()> {
        self.check()?;
        let mut slices: Vec<IoSlice<'_>> = slices.iter().map(|slice| IoSlice::new(slice)).collect();
        match write_all_at(&*self.file, &mut slices, self.length) {
            Ok(length) => self.length = length,
            Err(error) => {
                self.failed = true;
                return Err(error);
            }
        }
        if self.will_sync(0) { self.sync() } else { Ok(()) }
    }

    /// Makes the body durable. Callers do so in parallel, before they hand it over.
    ///
    /// # Errors
    /// The disk's.
    pub fn sync(&mut self) -> io::Result<()> {
        self.check()?;
        if !self.is_synced() {
            let result = self.file.sync();
            self.failed = result.is_err();
            result?;
            self.synced = self.length;
        }
        Ok(())
    }

    /// Returns how many bytes were written.
    pub fn length(&self) -> u64 {
        self.length
    }

    fn is_synced(&self) -> bool {
        self.synced == self.length
    }

    fn check(&self) -> io::Result<()> {
        if self.failed {
            Err(io::Error::other("the file is of no use: writing to it has failed before"))
        } else {
            Ok(())
        }
    }

    /// Gives it its name.
    pub(crate) fn link(&self, path: &Path) -> io::Result<()> {
        self.check()?;
        self.file.link(path)
    }
}
