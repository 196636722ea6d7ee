//! The index: which objects there are, and where their bodies are.
//!
//! One redb database, of one writer and any number of readers. A commit of redb is durable when it returns: pages of the
//! last commit are never overwritten, everything has a checksum, and after a crash the last commit counts whose
//! checksums are right. What a *failed* commit has left behind, nobody knows, and redb answers nothing any more until
//! it is opened again. So the index is opened again then, and says by its number which batch was the last:
//!
//! - After a failed write or read, the same file is opened. What had not been synced is verified by its checksums.
//! - After a failed sync it is copied to a new file first. The system may hold pages in memory that it believes to be
//!   on the disk and that are not; verified from memory, they would be right until the next power failure.

mod backend;
mod keys;
mod records;
mod snapshot;
mod tables;

pub(crate) use keys::{BlobKey, object_key, split_object_key};
pub(crate) use records::{
    BlobRecord, BucketRecord, ObjectRecord, PartRecord, Place, SegmentRecord, StateRecord, UploadRecord, decode, encode,
};
pub(crate) use snapshot::{Snapshot, Step, blob, object, object_name, part};
pub(crate) use tables::Tables;

use crate::disk::{Access, Disk, DiskFile, read_exact_at, write_all_at};
use crate::layout::Layout;
use crate::{OpenError, ReadError};
use backend::Backend;
use redb::{Database, DatabaseError, StorageError, WriteTransaction};
use std::fmt;
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The format of directories that this version reads and writes.
pub(crate) const FORMAT: u64 = 1;

/// The index of a directory.
pub(crate) struct Index {
    disk: Arc<dyn Disk>,
    layout: Layout,
    cache: usize,
    /// Whether a sync of the index has failed since it was last written anew.
    sync_failed: Arc<AtomicBool>,
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    database: Opened,
    /// What readers see, until the next commit. Made by the first of them.
    snapshot: Option<Arc<Snapshot>>,
}

/// The database, or why there is none.
#[derive(Default)]
enum Opened {
    Open(Arc<Database>),
    /// It is being opened, for the first time or again.
    #[default]
    Opening,
    /// It could not be opened again.
    Failed,
    /// The store was closed.
    Closed,
}

impl Opened {
    fn get(&self) -> Result<&Arc<Database>, ReadError> {
        match self {
            Opened::Open(database) => Ok(database),
            Opened::Opening => Err(ReadError::Reopening),
            Opened::Failed => Err(io::Error::other("the index could not be opened again").into()),
            Opened::Closed => Err(ReadError::Closed),
        }
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Index").field("path", &self.layout.index()).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens the index of a directory, or creates it. With `verify`, all of its checksums are verified.
    pub(crate) fn open(disk: Arc<dyn Disk>, layout: &Layout, cache: usize, verify: bool) -> Result<Self, OpenError> {
        let sync_failed = Arc::<AtomicBool>::default();
        let index = Index { disk, layout: layout.clone(), cache, sync_failed, current: Mutex::new(Current::default()) };
        let path = layout.index();
        let database = match index.disk.open(&path, Access::Write) {
            Ok(file) => index.database(file, verify).map_err(|error| open_error(path, error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => index.create()?,
            Err(error) => return Err(OpenError::Disk { path, error }),
        };
        index.lock().database = Opened::Open(Arc::new(database));
        Ok(index)
    }

    fn database(&self, file: Box<dyn DiskFile>, verify: bool) -> Result<Database, DatabaseError> {
        let backend = Backend::new(file, self.sync_failed.clone());
        Database::builder().set_cache_size(self.cache).set_check_integrity_on_open(verify).create_with_backend(backend)
    }

    /// Writes an empty index, under another name until all of it is durable: half an index could not be told from one
    /// that is damaged.
    fn create(&self) -> Result<Database, OpenError> {
        let (new, path) = (self.layout.new_index(), self.layout.index());
        let disk_error = |error| OpenError::Disk { path: new.clone(), error };
        match self.disk.unlink(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(disk_error(error)),
            _ => {}
        }
        let file = self.disk.open(&new, Access::Create).map_err(disk_error)?;
        let database = self.database(file, false).map_err(|error| open_error(new.clone(), error))?;
        let written = || -> Result<(), redb::Error> {
            let transaction = database.begin_write()?;
            Tables::open(&transaction)?.create()?;
            transaction.commit()?;
            Ok(())
        };
        written().map_err(|error| disk_error(into_io(error)))?;
        database.close().map_err(|error| open_error(new.clone(), error))?;
        let named = || -> io::Result<Box<dyn DiskFile>> {
            let file = self.disk.open(&new, Access::Write)?;
            // Closing may have written something that no sync followed.
            file.sync()?;
            self.disk.rename(&new, &path)?;
            self.disk.sync_directory(self.layout.directory())?;
            Ok(file)
        };
        let file = named().map_err(disk_error)?;
        self.database(file, false).map_err(|error| open_error(path.clone(), error))
    }

    /// Begins a transaction. There is one at a time, the writer's.
    pub(crate) fn begin(&self) -> io::Result<WriteTransaction> {
        let database = self.lock().database.get().cloned();
        let database = database.map_err(|error| match error {
            ReadError::Disk(error) => error,
            error => io::Error::other(error),
        })?;
        database.begin_write().map_err(into_io)
    }

    /// Shows readers what was committed.
    pub(crate) fn publish(&self) {
        self.lock().snapshot = None;
    }

    /// What was committed last.
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, ReadError> {
        let mut current = self.lock();
        if let Some(snapshot) = &current.snapshot {
            return Ok(snapshot.clone());
        }
        // Within the lock, so that no snapshot from before a commit is kept after it.
        let snapshot = Arc::new(Snapshot::new(current.database.get()?)?);
        current.snapshot = Some(snapshot.clone());
        Ok(snapshot)
    }

    /// Opens the index again after it has failed. Readers are told so meanwhile: it may have to be read as a whole, and
    /// those who wait would be the threads that answer requests.
    pub(crate) fn reopen(&self) -> io::Result<()> {
        // The last owner: transactions do not own it, and the writer has none. What it still writes when it is closed
        // must not meet what is opened next.
        let last = std::mem::take(&mut *self.lock());
        drop(last);
        let (database, outcome) = match self.open_again() {
            Ok(database) => (Opened::Open(Arc::new(database)), Ok(())),
            Err(error) => (Opened::Failed, Err(error)),
        };
        self.lock().database = database;
        outcome
    }

    fn open_again(&self) -> io::Result<Database> {
        if self.sync_failed.load(Ordering::Acquire) {
            self.copy()?;
            self.sync_failed.store(false, Ordering::Release);
        }
        let file = self.disk.open(&self.layout.index(), Access::Write)?;
        self.database(file, false).map_err(into_io)
    }

    /// Replaces the index by a copy.
    fn copy(&self) -> io::Result<()> {
        let (new, path) = (self.layout.new_index(), self.layout.index());
        match self.disk.unlink(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let (from, to) = (self.disk.open(&path, Access::Read)?, self.disk.open(&new, Access::Create)?);
        let (length, mut offset, mut buffer) = (from.length()?, 0, vec![0; 1 << 20]);
        while offset < length {
            let size = usize::try_from(length - offset).unwrap_or(usize::MAX).min(buffer.len());
            let chunk = buffer.get_mut(..size).unwrap_or_default();
            read_exact_at(&*from, chunk, offset)?;
            offset = write_all_at(&*to, &mut [IoSlice::new(chunk)], offset)?;
        }
        to.sync()?;
        self.disk.rename(&new, &path)?;
        self.disk.sync_directory(self.layout.directory())
    }

    /// Closes the index, so that it need not be verified when it is opened again.
    pub(crate) fn close(&self) {
        // Closing may write, and readers do not wait for that either.
        let last = std::mem::replace(&mut *self.lock(), Current { database: Opened::Closed, snapshot: None });
        drop(last);
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

/// What it means that an index could not be opened.
fn open_error(path: PathBuf, error: DatabaseError) -> OpenError {
    match error {
        DatabaseError::Storage(StorageError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
            OpenError::Damaged { path, reason: error.to_string() }
        }
        DatabaseError::Storage(StorageError::Io(error)) => OpenError::Disk { path, error },
        error => OpenError::Damaged { path, reason: error.to_string() },
    }
}

/// The disk's error in one of redb's, or that error as one of the disk's.
pub(crate) fn into_io(error: impl Into<redb::Error>) -> io::Error {
    match error.into() {
        redb::Error::Io(error) => error,
        error @ redb::Error::Corrupted(_) => io::Error::new(io::ErrorKind::InvalidData, error),
        error => io::Error::other(error),
    }
}

impl From<StorageError> for ReadError {
    fn from(error: StorageError) -> Self {
        ReadError::Disk(into_io(error))
    }
}
