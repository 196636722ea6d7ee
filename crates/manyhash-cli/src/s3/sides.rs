//! What a comparison is of: trees, buckets, lists of digests, and inventories.

mod inventory;
mod list;

use super::connection::{Connection, ConnectionArguments};
use manyhash::HashFunction;
use manyhash_s3_client::http::{Client, ConfigError};
pub(super) use manyhash_s3_client::remote::Address;
use manyhash_s3_client::remote::AddressError;
use manyhash_s3_client::verify::{Entry, Lines, Side};
use manysum::console::Console;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// A side as it is named.
#[derive(Clone, Debug)]
pub(super) enum Named {
    Bucket(Address),
    Tree(PathBuf),
    Inventory(PathBuf),
    List(OsString),
}

/// Why a side is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum SideNameError {
    #[error("{0}")]
    Address(#[from] AddressError),
    #[error("{0}")]
    Config(#[from] ConfigError),
    #[error("{}", manysum::console::reason(.0))]
    Io(#[from] io::Error),
    #[error("{0}")]
    Inventory(#[from] inventory::InventoryError),
    #[error("no properly formatted line found; if it does not name its algorithm, use --algorithm")]
    NoLine,
}

impl Named {
    /// What a name stands for.
    pub(super) fn parse(text: &OsStr) -> Result<Named, SideNameError> {
        if let Some(address) = Address::parse(text) {
            return Ok(Named::Bucket(address?.below()));
        }
        if text == "-" {
            return Ok(Named::List(text.to_owned()));
        }
        let path = Path::new(text);
        if path.metadata()?.is_dir() {
            return Ok(Named::Tree(path.to_owned()));
        }
        Ok(match inventory::is_named(path) {
            true => Named::Inventory(path.to_owned()),
            false => Named::List(text.to_owned()),
        })
    }

    /// What is compared.
    pub(super) async fn open(
        self,
        console: &mut Console,
        context: &Context<'_>,
        other: &Named,
    ) -> Result<Side<Client>, SideNameError> {
        Ok(match self {
            Named::Tree(root) => Side::Tree(root),
            Named::Bucket(Address { bucket, prefix }) => {
                Side::Bucket { remote: context.arguments.bucket(context.connection, &bucket).await?, prefix }
            }
            Named::List(name) => {
                let root = if let Named::Tree(root) = other { Some(root.as_path()) } else { None };
                Side::List(sorted(list::read(console, &name, context.algorithm, root)?))
            }
            Named::Inventory(path) => {
                // Of what is compared with, where that is a part of the bucket.
                let prefix = if let Named::Bucket(address) = other { address.prefix.as_str() } else { "" };
                Side::List(sorted(inventory::read(&path, prefix)?))
            }
        })
    }
}

/// What sides are opened with.
pub(super) struct Context<'a> {
    pub(super) arguments: &'a ConnectionArguments,
    pub(super) connection: &'a Connection,
    /// The function of lists that do not name theirs.
    pub(super) algorithm: Option<HashFunction>,
}

/// Entries in the order of their names.
fn sorted(mut entries: Vec<Entry>) -> Lines {
    entries.sort_by(|one, other| one.name().cmp(other.name()));
    Box::new(entries.into_iter().map(Ok))
}
