//! The store as its callers see it.

use crate::blobs::GENERATION;
use crate::check::{self, Progress, Report};
use crate::commit::Commit;
use crate::disk::{Disk, Filesystem};
use crate::index::Index;
use crate::layout::Layout;
use crate::pins::Pins;
use crate::segments::{SEGMENT, Segments};
use crate::stats::Counters;
use crate::writer::Message;
use crate::{
    Bucket, Change, CommitError, Committed, Extent, ListQuery, Listing, NewFile, Object, OpenError, Part, Pin,
    ReadError, Reader, StoreStats, Upload, UploadListing, UploadQuery, list, reader, recovery,
};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// How a store is opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreOptions {
    pub(crate) dedupe: bool,
    pub(crate) cache: usize,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) limits: Limits,
}

/// When the next file or directory is begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The length at which a segment is sealed.
    pub(crate) segment: u64,
    /// The number of files at which a generation is full.
    pub(crate) generation: u64,
}

impl Default for StoreOptions {
    fn default() -> Self {
        let limits = Limits { segment: SEGMENT, generation: GENERATION };
        StoreOptions { dedupe: true, cache: 64 << 20, disk: Arc::new(Filesystem), limits }
    }
}

impl StoreOptions {
    /// Sets whether content that the store has is not stored again. The default is that it is not.
    #[must_use]
    pub fn dedupe(self, dedupe: bool) -> Self {
        StoreOptions { dedupe, ..self }
    }

    /// Sets how many bytes of the index are held in memory, apart from the system's own cache. The default is 64 MiB.
    #[must_use]
    pub fn cache(self, bytes: usize) -> Self {
        StoreOptions { cache: bytes, ..self }
    }

    /// Sets the disk. The default is the file system.
    #[must_use]
    pub fn disk(self, disk: Arc<dyn Disk>) -> Self {
        StoreOptions { disk, ..self }
    }

    /// Sets the length of segments and the number of files in a directory, so that tests need not fill them.
    #[doc(hidden)]
    #[must_use]
    pub fn limits(self, segment: u64, generation: u64) -> Self {
        StoreOptions { limits: Limits { segment, generation }, ..self }
    }
}

/// A directory that keeps objects. Clones are the same store.
///
/// Blocking, except [`Store::commit`]: a caller with an asynchronous runtime calls it from a thread that may block. All
/// but [`Store::read`] and what it returns touch the index alone, which as a rule is in memory.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

/// What all clones share, and what ends with the last of them.
#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// What the callers and the writer share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) layout: Layout,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) index: Index,
    pub(crate) segments: Segments,
    pub(crate) pins: Pins,
    pub(crate) counters: Counters,
    pub(crate) dedupe: bool,
    pub(crate) limits: Limits,
    pub(crate) queue: Sender<Message>,
}

impl Shared {
    /// Has the writer open the index again, if a read has failed because of the disk.
    pub(crate) fn report(&self, error: ReadError) -> ReadError {
        if matches!(error, ReadError::Disk(_)) {
            // A writer that has ended opens nothing any more.
            let _ = self.queue.send(Message::Heal);
        }
        error
    }
}

impl Store {
    /// Opens a directory as a store, and creates it if there is none.
    ///
    /// After a crash, what no answered change refers to is removed. That takes as long as reading the index.
    ///
    /// # Errors
    /// The directory is open in another process, is not a store, or cannot be read or written.
    pub fn open(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Store, OpenError> {
        let (shared, writer) = recovery::open(directory.as_ref(), options)?;
        Ok(Store { inner: Arc::new(Inner { shared, writer: Mutex::new(Some(writer)) }) })
    }

    /// Makes the changes that are waiting, and closes the directory. Every later call gives an error.
    ///
    /// Dropping the last clone does the same. A [`Reader`] of a single extent can still be read.
    pub fn close(&self) {
        self.inner.close();
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        self.shared().layout.directory()
    }

    /// Creates a file for a body, without a name: it is gone when it is dropped, or after a crash.
    ///
    /// # Errors
    /// The disk's.
    pub fn create_file(&self) -> io::Result<NewFile> {
        NewFile::create(self.shared())
    }

    /// Keeps the blob with this SHA-256, if there is one, as long as the pin lives.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn pin(&self, sha256: &[u8; 32]) -> Result<Option<Pin>, ReadError> {
        Pin::find(self.shared(), sha256).map_err(|error| self.shared().report(error))
    }

    /// Makes a change, together with all others that are ready. The future ends when the change is durable.
    ///
    /// Changes are made in the order of the calls. A change is made even if the future is dropped.
    ///
    /// # Errors
    /// The change was not made: nothing of it is there, now or after a crash. [`CommitError::Disk`] has the exception.
    pub fn commit(&self, change: Change) -> Commit {
        let (message, commit) = Commit::new(change);
        // If the writer has ended, the message is dropped, and the future says so.
        let _ = self.shared().queue.send(message);
        commit
    }

    /// Makes a change and waits until it is durable. See [`Store::commit`].
    ///
    /// # Errors
    /// As those of [`Store::commit`].
    pub fn commit_blocking(&self, change: Change) -> Result<Committed, CommitError> {
        self.commit(change).wait()
    }

    /// Returns a bucket.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn bucket(&self, name: &str) -> Result<Option<Bucket>, ReadError> {
        self.read_index(|snapshot| snapshot.bucket(name))
    }

    /// Returns all buckets, by name.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn buckets(&self) -> Result<Vec<Bucket>, ReadError> {
        self.read_index(|snapshot| snapshot.buckets())
    }

    /// Returns an object.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn object(&self, bucket: &str, key: &str) -> Result<Option<Object>, ReadError> {
        self.read_index(|snapshot| snapshot.object(bucket, key))
    }

    /// Lists objects, in the order of their keys' bytes. A bucket that does not exist has none.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn list(&self, bucket: &str, query: &ListQuery) -> Result<Listing, ReadError> {
        self.read_index(|snapshot| list::objects(snapshot, bucket, query))
    }

    /// Returns an upload.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn upload(&self, bucket: &str, key: &str, id: &str) -> Result<Option<Upload>, ReadError> {
        self.read_index(|snapshot| snapshot.upload(bucket, key, id))
    }

    /// Lists uploads in the order of their keys, and those to one key in the order of their ids.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn uploads(&self, bucket: &str, query: &UploadQuery) -> Result<UploadListing, ReadError> {
        self.read_index(|snapshot| list::uploads(snapshot, bucket, query))
    }

    /// Returns up to `max` uploads of any bucket that were started before a time, in milliseconds since 1970.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn uploads_before(&self, time: i64, max: usize) -> Result<Vec<Upload>, ReadError> {
        self.read_index(|snapshot| snapshot.uploads_before(time, max))
    }

    /// Returns up to `max` parts of an upload with numbers greater than `after`, by number.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn parts(&self, upload: &Upload, after: u16, max: usize) -> Result<Vec<Part>, ReadError> {
        self.read_index(|snapshot| snapshot.parts(upload.serial, after, max))
    }

    /// Opens content for reading: a range of the bytes of some extents, one after another.
    ///
    /// The content stays as it is while the reader lives, whatever is deleted meanwhile.
    ///
    /// # Errors
    /// [`ReadError::Gone`] if the content was deleted since its object was read: read the object again. Or the range
    /// does not lie in the content, or the disk failed.
    pub fn read(&self, extents: &[Extent], range: Range<u64>) -> Result<Reader, ReadError> {
        reader::open(self.shared(), extents, range).map_err(|error| self.shared().report(error))
    }

    /// Returns how many bytes are free on the disk.
    ///
    /// # Errors
    /// The disk's.
    pub fn free_space(&self) -> io::Result<u64> {
        self.shared().disk.free_space(self.directory())
    }

    /// Returns what was counted.
    pub fn stats(&self) -> StoreStats {
        self.shared().counters.stats()
    }

    /// Hashes every blob of a directory again, on all cores, and compares with the index. No process may have it open.
    ///
    /// With `repair`, wrong counts of references are corrected, and what nothing refers to is removed. No object is
    /// ever deleted.
    ///
    /// # Errors
    /// The directory is open in another process, is not a store, or the index cannot be read.
    pub fn check(
        directory: impl AsRef<Path>,
        repair: bool,
        progress: impl FnMut(Progress) + Send,
    ) -> Result<Report, OpenError> {
        check::check(directory.as_ref(), repair, progress)
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    fn read_index<T>(
        &self,
        read: impl FnOnce(&crate::index::Snapshot) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let shared = self.shared();
        shared.index.snapshot().and_then(|snapshot| read(&snapshot)).map_err(|error| shared.report(error))
    }
}

impl Inner {
    fn close(&self) {
        let writer = self.writer.lock().unwrap_or_else(|poison| poison.into_inner()).take();
        if let Some(writer) = writer {
            // If it has ended before, it has closed the index, or died with it.
            let _ = self.shared.queue.send(Message::Close);
            let _ = writer.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}
