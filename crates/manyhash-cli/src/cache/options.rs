//! Which cache a program uses.

use super::{Cache, CacheError};
use crate::console::Console;
use std::path::PathBuf;

/// The options of programs that use the cache unless they are told otherwise.
#[derive(clap::Args)]
pub(crate) struct CacheOptions {
    /// Keep digests of unchanged files in FILE [default: manyhash/digests in XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "FILE", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,

    /// Read every file, whatever is known of it, and remember nothing
    #[arg(long)]
    no_cache: bool,
}

impl CacheOptions {
    /// Opens the cache. Where the usual one cannot be used, that is said, and there is none.
    ///
    /// # Errors
    /// If one was named that cannot be used.
    pub(crate) fn open(&self, console: &mut Console) -> Result<Option<Cache>, CacheError> {
        match &self.cache {
            _ if self.no_cache => Ok(None),
            Some(path) => Cache::open(path).map(Some),
            // Without inodes nothing would be found.
            None if cfg!(not(unix)) => Ok(None),
            None => {
                let opened = Cache::default_path().and_then(|path| Cache::open(&path));
                Ok(opened.map_err(|error| console.message(format!("{error}; going on without"))).ok())
            }
        }
    }
}
