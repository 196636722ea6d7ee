//! How files are read.

use crate::progress::When;
use clap::ValueEnum;
use manyhash::HashFunction;
use manyhash::file::{Files, Storage};
use std::num::NonZeroUsize;

/// The options of programs that read files.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Reading {
    /// Hash on at most N threads; 0 means one per core
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// Read files in the way that suits this kind of storage
    #[arg(long, value_name = "KIND", default_value = "auto")]
    pub io: Io,

    /// Show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub progress: When,
}

/// The kind of storage that files are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Io {
    /// Ask the system, for each device
    Auto,
    /// Read many files at once
    Ssd,
    /// Read one file at a time, in the order of their positions on the disk
    Hdd,
}

impl Reading {
    /// Of a tool of coreutils, which has no such options.
    pub const USUAL: Self = Reading { threads: 0, io: Io::Auto, progress: When::Never };

    /// Files, hashed with these functions, and mapped if `main` gave leave for it.
    pub fn files(self, functions: &[HashFunction]) -> Files<'_> {
        raise_limit();
        let storage = match self.io {
            Io::Auto => Storage::Auto,
            Io::Ssd => Storage::Ssd,
            Io::Hdd => Storage::Hdd,
        };
        let files = Files::new(functions).threads(NonZeroUsize::new(self.threads)).storage(storage);
        #[cfg(target_os = "linux")]
        if let Some(guard) = manyhash::file::SigbusGuard::installed() {
            return files.map(guard);
        }
        files
    }
}

/// Files that are enough on any number of cores, and fewer than the system's own limit anywhere.
#[cfg(unix)]
const OPEN: u64 = 1 << 12;

/// Lets the process have more files open, as far as it may. What the limit is that low for, `select`, is not used here.
fn raise_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let raised = maximum.map_or(OPEN, |maximum| maximum.min(OPEN));
        if current.is_some_and(|current| current < raised) {
            // If not, fewer files are in hand at once.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum });
        }
    }
}
