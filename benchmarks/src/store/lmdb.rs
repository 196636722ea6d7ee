//! LMDB, by way of heed.

use super::{COMMIT, Contestant, Entry, Opened};
use crate::error::Error;
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, WithoutTls};
use std::path::Path;

/// Address space: more than it needs here, none of it memory.
const MAP: usize = 1 << (if usize::BITS >= 64 { 36 } else { 30 });

/// C: maps its file.
pub(super) struct Lmdb;

/// A database that is open.
struct Opening(Env<WithoutTls>);

fn open(path: &Path) -> Result<Opening, Error> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(MAP);
    // SAFETY: nothing else knows of the file, which is in a temporary directory of this process and was written by
    // LMDB; the flag says where the file is and takes no protection away.
    Ok(Opening(unsafe { options.flags(EnvFlags::NO_SUB_DIR).open(path) }?))
}

impl Opening {
    fn close(self) {
        self.0.prepare_for_closing().wait();
    }

    fn stored(&self) -> Result<Option<Database<'_, Bytes, Bytes>>, Error> {
        let there = self.0.open_databases_and_commit(self.0.read_txn()?, |options, transaction| {
            options.open_database::<Bytes, Bytes>(transaction, None).map(CommitOrAbort::<_, ()>::Commit)
        })?;
        Ok(there.unwrap_commit())
    }
}

impl Contestant for Lmdb {
    fn name(&self) -> &'static str {
        "lmdb"
    }

    fn build(&self, path: &Path, entries: &[Entry]) -> Result<(), Error> {
        let opening = open(path)?;
        let environment = &opening.0;
        let made = environment.create_databases_and_commit(environment.write_txn()?, |options, transaction| {
            options.create_database::<Bytes, Bytes>(transaction, None).map(CommitOrAbort::<_, ()>::Commit)
        })?;
        let database = made.unwrap_commit();
        for entries in entries.chunks(COMMIT) {
            let mut transaction = environment.write_txn()?;
            for entry in entries {
                database.put(&mut transaction, &entry.key.to_be_bytes(), &entry.record)?;
            }
            transaction.commit()?;
        }
        opening.close();
        Ok(())
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Opened>, Error> {
        Ok(Box::new(open(path)?))
    }

    /// It has nothing to check its file by.
    fn open_to_write(&self, path: &Path) -> Result<(), Error> {
        let opening = open(path)?;
        opening.0.write_txn()?.abort();
        opening.close();
        Ok(())
    }
}

impl Opened for Opening {
    fn look_up(&self, keys: &[u128], show: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<(), Error> {
        let Some(database) = self.stored()? else {
            keys.iter().enumerate().for_each(|(at, _)| show(at, None));
            return Ok(());
        };
        let transaction = self.0.read_txn()?;
        for (at, key) in keys.iter().enumerate() {
            show(at, database.get(&transaction, &key.to_be_bytes())?);
        }
        Ok(())
    }
}
