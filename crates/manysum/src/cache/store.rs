//! The database: one table in one file, which several processes may use at the same time.
//!
//! A commit is a new tree beside the old one, and what says which of the two counts is written last: whoever reads has
//! the old one until then, and after a crash or a loss of power there is one of them, whole. The locks of a process
//! that dies are gone with it.
//!
//! Those who look things up open it for reading only, which neither writes nor waits for anything; only where something
//! is to be stored it is opened once more, by the thread that does that.

use super::error::CacheError;
use super::guard::{Careful, guarded};
use super::record::{Key, merged};
use super::stamp::Stamp;
use redb::backends::FileBackend;
use redb::{
    Builder, ConcurrencyMode, Database, ReadOnlyDatabase, ReadOnlyTable, ReadableDatabase, ReadableTable,
    TableDefinition,
};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The records. Another layout of theirs gets another name.
const TABLE: TableDefinition<Key, &[u8]> = TableDefinition::new("manyhash digests 1");

/// Bytes of the database that each side keeps in memory, beside the system's own copy of the file.
const MEMORY: usize = 32 << 20;

/// A database that is looked into.
pub(super) struct Store {
    path: PathBuf,
    database: Careful<ReadOnlyDatabase>,
}

/// The records as they were at one moment.
pub(super) struct Snapshot(Careful<ReadOnlyTable<Key, &'static [u8]>>);

/// A database that is written to.
pub(super) struct Writable {
    path: PathBuf,
    database: Careful<Database>,
}

impl Store {
    /// Opens it, or makes one if nothing is there.
    pub(super) fn open(path: &Path) -> Result<Self, CacheError> {
        let failed = |error| CacheError::Io(path.to_owned(), error);
        if existing(path).map_err(failed)?.is_none() {
            create(path)?;
        }
        let open = || {
            let file = existing(path).and_then(|file| file.ok_or(ErrorKind::NotFound.into()));
            guarded(path, || Ok(builder().open_read_only_with_backend(FileBackend::new(file?)?)?))
        };
        let database = match open() {
            // Who wrote to it died.
            Err(CacheError::Unclean(_)) => Writable::open(path).map(drop).and_then(|()| open()),
            opened => opened,
        }?;
        let store = Store { path: path.to_owned(), database: Careful::new(database) };
        store.snapshot()?;
        Ok(store)
    }

    /// Its file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is committed by now.
    pub(super) fn snapshot(&self) -> Result<Snapshot, CacheError> {
        let table = guarded(&self.path, || Ok(self.database.get().begin_read()?.open_table(TABLE)?))?;
        Ok(Snapshot(Careful::new(table)))
    }

    /// What `read` makes of the record of a file.
    pub(super) fn look_up<T>(
        &self,
        snapshot: &Snapshot,
        file: &Stamp,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, CacheError> {
        let Snapshot(table) = snapshot;
        guarded(&self.path, || Ok(table.get().get(file.key())?.and_then(|record| read(record.value()))))
    }
}

impl Writable {
    /// Opens one that is there, and checks all of it: changing trees that are not sound may end worse than reading them
    /// can. It takes some 70 ms for a million files.
    pub(super) fn open(path: &Path) -> Result<Self, CacheError> {
        let file = File::options().read(true).write(true).open(path);
        let database = guarded(path, || {
            Ok(builder().set_check_integrity_on_open(true).create_with_backend(FileBackend::new(file?)?)?)
        })?;
        Ok(Writable { path: path.to_owned(), database: Careful::new(database) })
    }

    /// Writes records: all or, if that fails, none of them.
    pub(super) fn commit(&self, records: &[(Stamp, Vec<u8>)]) -> Result<(), CacheError> {
        guarded(&self.path, || {
            let transaction = self.database.get().begin_write()?;
            let mut table = transaction.open_table(TABLE)?;
            for (file, new) in records {
                let both = table.get(file.key())?.and_then(|old| merged(file, old.value(), new));
                table.insert(file.key(), both.as_ref().unwrap_or(new).as_slice())?;
            }
            drop(table);
            transaction.commit()?;
            Ok(())
        })
    }

    /// Does something while a commit is under way.
    #[cfg(test)]
    pub(super) fn while_writing(&self, work: impl FnOnce()) -> Result<(), CacheError> {
        guarded(&self.path, || {
            let transaction = self.database.get().begin_write()?;
            let mut table = transaction.open_table(TABLE)?;
            table.insert(0, &b"x"[..])?;
            work();
            drop(table);
            transaction.commit()?;
            Ok(())
        })
    }
}

/// The file at this path, if there is one with something in it.
fn existing(path: &Path) -> io::Result<Option<File>> {
    match fs::metadata(path) {
        // Opening a pipe would wait.
        Ok(there) if !there.is_file() => Err(io::Error::other("not a regular file")),
        Ok(there) if there.len() == 0 => Ok(None),
        Ok(_) => File::open(path).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes an empty one: elsewhere, and then moved to its place, so that none is ever found half made.
fn create(path: &Path) -> Result<(), CacheError> {
    let failed = |error| CacheError::Io(path.to_owned(), error);
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private_directory(directory).map_err(failed)?;
    let file = tempfile::Builder::new().prefix(".digests-").suffix(".tmp").tempfile_in(directory).map_err(failed)?;
    let inside = file.reopen().map_err(failed)?;
    guarded(path, || {
        let database = builder().create_with_backend(FileBackend::new(inside)?)?;
        let transaction = database.begin_write()?;
        transaction.open_table(TABLE)?;
        transaction.commit()?;
        database.close()?;
        Ok(())
    })?;
    let Err(error) = file.persist_noclobber(path) else { return Ok(()) };
    match fs::metadata(path) {
        // Another process was faster.
        Ok(there) if there.len() > 0 => Ok(()),
        Ok(_) => error.file.persist(path).map(drop).map_err(|error| failed(error.error)),
        Err(_) => Err(failed(error.error)),
    }
}

/// Makes directories as the XDG base directory specification wants them: for nobody else.
fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Each side opens the file on its own, as other processes do.
fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(MEMORY).set_concurrency_mode(ConcurrencyMode::MultiWriter);
    builder
}
