//! redb.

use super::{COMMIT, Contestant, Entry, Opened};
use crate::error::Error;
use redb::{Builder, ConcurrencyMode, ReadOnlyDatabase, ReadableDatabase, ReadableTable, TableDefinition};
use std::path::Path;

const TABLE: TableDefinition<u128, &[u8]> = TableDefinition::new("digests");

/// Pure Rust: reads and writes.
pub(super) struct Redb;

fn builder() -> Builder {
    let mut builder = Builder::new();
    // The cache's memory.
    builder.set_cache_size(32 << 20).set_concurrency_mode(ConcurrencyMode::MultiWriter);
    builder
}

impl Contestant for Redb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn build(&self, path: &Path, entries: &[Entry]) -> Result<(), Error> {
        let database = builder().create(path).map_err(error)?;
        for entries in entries.chunks(COMMIT) {
            let transaction = database.begin_write().map_err(error)?;
            let mut table = transaction.open_table(TABLE).map_err(error)?;
            for entry in entries {
                table.insert(entry.key, &entry.record[..]).map_err(error)?;
            }
            drop(table);
            transaction.commit().map_err(error)?;
        }
        database.close().map_err(error)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Opened>, Error> {
        Ok(Box::new(builder().open_read_only(path).map_err(error)?))
    }

    /// All of it is checked, as changing a damaged tree can end in an abort.
    fn open_to_write(&self, path: &Path) -> Result<(), Error> {
        let database = builder().set_check_integrity_on_open(true).open(path).map_err(error)?;
        database.begin_write().and_then(|transaction| Ok(transaction.abort()?)).map_err(error)?;
        database.close().map_err(error)
    }
}

impl Opened for ReadOnlyDatabase {
    fn look_up(&self, keys: &[u128], show: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<(), Error> {
        let table = self.begin_read().map_err(error)?.open_table(TABLE).map_err(error)?;
        for (at, key) in keys.iter().enumerate() {
            let record = ReadableTable::get(&table, key).map_err(error)?;
            show(at, record.as_ref().map(|record| record.value()));
        }
        Ok(())
    }
}

/// It is large.
fn error(error: impl Into<redb::Error>) -> Error {
    Error::Redb(Box::new(error.into()))
}
