//! Which cache a program uses.

use super::{Cache, CacheError};
use crate::console::Console;
use std::path::PathBuf;

/// The options of programs that use the cache unless they are told otherwise.
#[derive(clap::Args)]
pub struct CacheOptions {
    /// Keep digests of unchanged files in FILE [default: manyhash/digests in XDG_CACHE_HOME or ~/.cache]. A file on a
    /// disk is cached once its last change is older than the system's write-back delay, 40 s by default
    #[arg(long, value_name = "FILE", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,

    /// Read every file, without using or updating the cache
    #[arg(long)]
    no_cache: bool,

    #[arg(long, conflicts_with = "no_cache", help = TRUST_HELP)]
    trust_times: bool,
}

const TRUST_HELP: &str = "Cache digests also of files on file systems whose timestamps may miss a change: tmpfs, FUSE, \
                          network file systems and all others not known to be on a disk";

/// The option of a program that uses the cache if it is told to.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CacheOption {
    /// Keep digests of unchanged files in FILE, and read only what has changed. Without FILE, use manyhash/digests in
    /// XDG_CACHE_HOME or ~/.cache. A file on a disk is cached once its last change is older than the system's
    /// write-back delay, 40 s by default
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "check")]
    cache: Option<Option<PathBuf>>,

    #[arg(long, requires = "cache", help = TRUST_HELP)]
    trust_times: bool,
}

impl CacheOption {
    /// Opens the cache, if there should be one.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn open(&self) -> Result<Option<Cache>, CacheError> {
        match &self.cache {
            None => Ok(None),
            Some(Some(path)) => Cache::open(path, self.trust_times).map(Some),
            Some(None) => Cache::open(&Cache::default_path()?, self.trust_times).map(Some),
        }
    }
}

impl CacheOptions {
    /// Opens the cache. Where the usual one cannot be used, that is said, and there is none.
    ///
    /// # Errors
    /// If one was named that cannot be used.
    pub fn open(&self, console: &mut Console) -> Result<Option<Cache>, CacheError> {
        match &self.cache {
            _ if self.no_cache => Ok(None),
            Some(path) => Cache::open(path, self.trust_times).map(Some),
            // Without inodes nothing would be found.
            None if cfg!(not(unix)) => Ok(None),
            None => {
                let opened = Cache::default_path().and_then(|path| Cache::open(&path, self.trust_times));
                Ok(opened.map_err(|error| console.message(format!("{error}; continuing without a cache"))).ok())
            }
        }
    }
}
