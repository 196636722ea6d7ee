//! Blobs that are files of their own.
//!
//! A file gets its name when its body is durable, and the index refers to it when the name is. Names go into one
//! directory, the *generation*, until it is full; so the names of a batch are made durable by one sync.

use crate::disk::Disk;
use crate::index::BlobKey;
use crate::layout::Layout;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// How many files a generation has before the next begins.
pub(crate) const GENERATION: u64 = 10_000;

/// The files of a directory.
#[derive(Debug)]
pub(crate) struct Blobs {
    disk: Arc<dyn Disk>,
    layout: Layout,
    /// Generations of which a name was removed since their last sync.
    unsynced: BTreeSet<u32>,
}

impl Blobs {
    pub(crate) fn new(disk: Arc<dyn Disk>, layout: Layout) -> Self {
        Blobs { disk, layout, unsynced: BTreeSet::new() }
    }

    /// Creates the directory of a generation, if it is not there, and makes it durable.
    pub(crate) fn create_generation(&self, generation: u32) -> io::Result<()> {
        self.disk.create_directory(&self.layout.generation(generation))?;
        self.disk.sync_directory(self.layout.blobs())
    }

    /// Makes the names in a generation durable.
    pub(crate) fn sync(&self, generation: u32) -> io::Result<()> {
        self.disk.sync_directory(&self.layout.generation(generation))
    }

    /// Removes a file. Its name may come back after a power failure, until [`Blobs::sync_unlinked`].
    pub(crate) fn unlink(&mut self, generation: u32, key: &BlobKey) -> io::Result<()> {
        match self.disk.unlink(&self.layout.blob(generation, key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            // Who has removed it before may not have synced it.
            _ => {
                self.unsynced.insert(generation);
                Ok(())
            }
        }
    }

    /// Whether it is durable that names were removed.
    pub(crate) fn is_synced(&self) -> bool {
        self.unsynced.is_empty()
    }

    /// Makes durable that names were removed.
    pub(crate) fn sync_unlinked(&mut self) -> io::Result<()> {
        while let Some(&generation) = self.unsynced.first() {
            match self.sync(generation) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => self.unsynced.pop_first(),
            };
        }
        Ok(())
    }
}
