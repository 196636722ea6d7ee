//! The digest cache: what files were hashed to, so that a file that has not changed is not read again.
//!
//! A digest is found again by a file's device, inode, size, modification and change time, all of them ([`stamp`]), where
//! the file system's times tell every change, and none of a file is stored before they do ([`systems`]); what is stored
//! under them is checked before it is believed (`record`), so that the worst that a crash, another program or a dying disk
//! can do is that files are hashed again. The records are in an embedded database ([`store`]) that
//! readers of any process look into while another writes; a thread of its own commits ([`writer`]).
//!
//! The database is redb. LMDB, by way of heed, is the faster one (`manyhash-bench store`: by a quarter in the order of
//! inodes, more at random), but with both a look-up takes less than the `stat` that it needs first. LMDB trusts its file,
//! and maps it: one that was truncated ends the program by SIGBUS, one with a changed byte makes it read and write
//! outside of its pages, and a whole run would go down with what was only to save time. It also wants a size beforehand,
//! which 32 bits do not hold for long, and no network file system. redb reads and writes, in safe code.

mod error;
mod guard;
mod look;
mod lookups;
mod options;
mod record;
mod stamp;
mod store;
mod systems;
mod writer;

#[cfg(all(test, unix))]
mod tests;

pub use error::CacheError;
pub use look::Look;
pub(crate) use lookups::Lookups;
use manyhash::file::Digested;
use manyhash::{Digest, HashFunction};
pub use options::{CacheOption, CacheOptions};
#[cfg(feature = "fuzzing")]
pub use record::fuzzing::cached_record;
use record::{Digests, record};
pub use stamp::Stamp;
use std::env;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use store::{Snapshot, Store};
use systems::FileSystems;
use writer::{Pace, SharedStore};

/// A cache that is open, for any number of threads.
pub struct Cache {
    shared: Arc<SharedStore>,
    /// None once it has ended.
    writer: Option<JoinHandle<()>>,
    opened: SystemTime,
    systems: FileSystems,
}

/// What is in a cache at one moment, for some functions.
pub struct Reader<'a> {
    shared: &'a SharedStore,
    systems: &'a FileSystems,
    snapshot: Option<Snapshot>,
    names: Vec<String>,
}

impl Cache {
    /// Opens the cache in this file, or makes it: before files are looked at, since files that change from then on are
    /// not stored. If `all` file systems are trusted, so are those whose times do not tell every change.
    ///
    /// # Errors
    /// If there is something else, or something that no longer is a cache, or none can be made.
    pub fn open(path: &Path, all: bool) -> Result<Self, CacheError> {
        Self::with(path, Pace::USUAL, FileSystems::new(all))
    }

    /// One for which files are old enough at this age: tests do not wait until a disk has what was written.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn with_age(path: &Path, age: Duration) -> Result<Self, CacheError> {
        Self::with(path, Pace::USUAL, FileSystems::with_age(age))
    }

    fn with(path: &Path, pace: Pace, systems: FileSystems) -> Result<Self, CacheError> {
        let opened = SystemTime::now();
        let shared = Arc::new(SharedStore::new(Store::open(path)?, pace));
        let writer = {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("cache".into()).spawn(move || shared.commit())
        };
        let writer = writer.map_err(|error| CacheError::Io(path.to_owned(), error))?;
        Ok(Cache { shared, writer: Some(writer), opened, systems })
    }

    /// The file that is the cache where none is named: `manyhash/digests` in the directory for caches of the XDG base
    /// directory specification. It is the same on all systems; crates that know others' customs do nothing more here.
    ///
    /// # Errors
    /// If there is no such directory.
    pub(crate) fn default_path() -> Result<PathBuf, CacheError> {
        // One that is not absolute is to be ignored.
        let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || env::home_dir().filter(|path| path.is_absolute()).map(|path| path.join(".cache"));
        let directory = named.or_else(home).ok_or(CacheError::NoHome)?;
        Ok(directory.join("manyhash").join("digests"))
    }

    /// Looks up digests of these functions, for a while: what is written meanwhile takes up more of the disk until the
    /// reader is dropped, so it should not be kept while files are hashed.
    pub fn reader(&self, functions: &[HashFunction]) -> Reader<'_> {
        let snapshot = self.shared.unless_failed(|| self.shared.store.snapshot());
        Reader {
            shared: &self.shared,
            systems: &self.systems,
            snapshot,
            names: functions.iter().map(HashFunction::to_string).collect(),
        }
    }

    /// Remembers what was read of the file at this path and hashed with these functions, from the next commit on. It does
    /// not if nothing tells that version of the file from others, or a change after the cache was opened might not.
    pub fn store(&self, functions: &[HashFunction], path: &Path, read: &Digested) {
        // What the system makes up as it is read (proc, sys) has some other size, and times that say nothing.
        if let Some(settled) = read.settled.as_ref().filter(|metadata| metadata.len() == read.bytes) {
            self.store_settled(functions, path, settled, &read.digests);
        }
    }

    /// The same of a file that was read whole, and was as `settled` says before and after that.
    pub fn store_settled(&self, functions: &[HashFunction], path: &Path, settled: &Metadata, digests: &[Digest]) {
        let Some(file) = Stamp::of(settled) else { return };
        if self.systems.age(file.device, path).is_some_and(|age| file.is_settled(self.opened, age)) {
            self.remember(&file, functions, digests);
        }
    }

    /// The same of a version of a file that nothing speaks against.
    pub fn remember(&self, file: &Stamp, functions: &[HashFunction], digests: &[Digest]) {
        if self.shared.has_failed() {
            return;
        }
        let names: Vec<String> = functions.iter().map(HashFunction::to_string).collect();
        let entries = names.iter().map(String::as_bytes).zip(digests.iter().map(Digest::as_bytes));
        self.shared.store(*file, record(file, entries));
    }

    /// Commits the rest.
    ///
    /// # Errors
    /// If something failed since it was opened: what was not found for that, or not stored, is hashed next time.
    pub fn finish(mut self) -> Result<(), CacheError> {
        self.end();
        self.shared.outcome()
    }

    fn end(&mut self) {
        if let Some(writer) = self.writer.take() {
            self.shared.end();
            // It has nothing to say that is not in the outcome.
            let _ = writer.join();
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.end();
    }
}

impl Reader<'_> {
    /// The digests of the file at this path as it is now, in the order of the functions, if it has one of each. Look-ups in
    /// the order of the inodes are the fastest.
    pub fn find_at(&self, path: &Path, file: &Stamp) -> Option<Vec<Digest>> {
        self.systems.age(file.device, path)?;
        self.find(file)
    }

    /// The same, wherever the file is.
    pub fn find(&self, file: &Stamp) -> Option<Vec<Digest>> {
        let snapshot = self.snapshot.as_ref()?;
        let digests = |record: &[u8]| {
            let there = Digests::of(file, record)?;
            let digest = |name: &String| Digest::from_bytes(there.find(name.as_bytes())?).ok();
            self.names.iter().map(digest).collect()
        };
        self.shared.unless_failed(|| self.shared.store.look_up(snapshot, file, digests))?
    }
}
