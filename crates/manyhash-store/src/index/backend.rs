//! The index's file, as redb uses it.

use crate::disk::{DiskFile, read_exact_at, write_all_at};
use redb::StorageBackend;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A file of the store's disk. No locks: the directory has one.
#[derive(Debug)]
pub(super) struct Backend {
    file: Box<dyn DiskFile>,
    sync_failed: Arc<AtomicBool>,
}

impl Backend {
    pub(super) fn new(file: Box<dyn DiskFile>, sync_failed: Arc<AtomicBool>) -> Self {
        Backend { file, sync_failed }
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_exact_at(&*self.file, out, offset)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.file.set_length(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync().inspect_err(|_| self.sync_failed.store(true, Ordering::Release))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        write_all_at(&*self.file, &mut [IoSlice::new(data)], offset).map(drop)
    }
}
