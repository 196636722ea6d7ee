//! Hashes files.
//!
//! Each core reads and hashes on its own. Its worker opens files from a shared source, reads a chunk of each, and
//! advances their states together in its lanes. Memory holds a chunk for each lane of each core, and the results that
//! wait for an earlier file.

#[cfg(target_os = "linux")]
mod deep;
mod disk;
mod handover;
mod input;
mod lanes;
mod limit;
#[cfg(all(feature = "map", target_os = "linux"))]
mod mapped;
mod open;
mod ordered;
mod pace;
mod worker;

use crate::{Digest, HashFunction};
use disk::Disks;
use handover::Handover;
use limit::Opened;
use ordered::Ordered;
use pace::Pace;
use std::fs::Metadata;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::thread;

pub use disk::Storage;
#[cfg(all(feature = "map", target_os = "linux"))]
pub use mapped::SigbusGuard;

/// The maximum number of threads, whatever is asked for: many more than can help.
const MAX_THREADS: usize = 1024;

/// The source of a message's bytes.
#[derive(Debug)]
pub enum Source {
    /// The file at a path.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// An error from before the file could be opened, to be reported in its turn. Nothing is read.
    Failed(io::Error),
    /// Digests that are already known, one for each function, to be reported in their turn. Nothing is read.
    Known(Vec<Digest>),
}

/// The result of hashing a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Digested {
    /// The digests, one for each function, in the functions' order.
    pub digests: Vec<Digest>,
    /// Number of bytes that were read.
    pub bytes: u64,
    /// The metadata of a regular file, if its size and times were the same before and after it was read, as were its
    /// device and inode on systems that have them.
    ///
    /// `None` for anything but a regular file, for a file that was written meanwhile, and for a file whose size differs
    /// from the number of bytes read, such as those in `/proc`.
    pub settled: Option<Metadata>,
}

/// Reads files and hashes each with one function or several.
///
/// A file is read until it ends. If it grows or shrinks meanwhile, its digest is that of what was read.
///
/// ```
/// use manyhash::{Algorithm, HashFunction, file};
/// use std::ops::ControlFlow;
///
/// let files = ["Cargo.toml", "no such file"].map(|name| (name, file::Source::Path(name.into())));
/// let functions = [Algorithm::Md5, Algorithm::Sha256].map(HashFunction::Lanes);
/// file::Files::new(&functions).digest(files.into_iter(), |name, digested| {
///     match digested {
///         Ok(digested) => println!("{} {}  {name}", digested.digests[0], digested.digests[1]),
///         Err(error) => eprintln!("{name}: {error}"),
///     }
///     ControlFlow::Continue(())
/// });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    functions: &'a [HashFunction],
    threads: Option<NonZeroUsize>,
    storage: Storage,
    counter: Option<&'a AtomicU64>,
    #[cfg(all(feature = "map", target_os = "linux"))]
    guard: Option<SigbusGuard>,
}

impl<'a> Files<'a> {
    /// Creates a `Files` that hashes with these functions on all cores. Each file is read once for all functions.
    pub fn new(functions: &'a [HashFunction]) -> Self {
        Files {
            functions,
            threads: None,
            storage: Storage::Auto,
            counter: None,
            #[cfg(all(feature = "map", target_os = "linux"))]
            guard: None,
        }
    }

    /// Sets the number of threads, including the caller's, up to 1024. The default, `None`, is one per core.
    #[must_use]
    pub fn threads(self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        Files { threads: threads.into(), ..self }
    }

    /// Sets the kind of storage that files are on.
    #[must_use]
    pub fn storage(self, storage: Storage) -> Self {
        Files { storage, ..self }
    }

    /// Adds the number of bytes hashed to `counter` as hashing proceeds.
    #[must_use]
    pub fn counter(self, counter: &'a AtomicU64) -> Self {
        Files { counter: Some(counter), ..self }
    }

    /// Maps long files that are already in memory instead of copying them, if that is faster on this machine.
    ///
    /// A file that is truncated while it is mapped then gives an error. A program permits mapping with
    /// [`SigbusGuard::install`]; a library checks for that with [`SigbusGuard::installed`].
    #[cfg(all(feature = "map", target_os = "linux"))]
    #[must_use]
    pub fn map(self, guard: SigbusGuard) -> Self {
        Files { guard: Some(guard), ..self }
    }

    /// Hashes files, and passes the result of each to `done`, in the order of `files`, once all earlier files are done.
    ///
    /// `files` is drawn from no faster than files are hashed, by threads that are hashing other files. It should not
    /// wait for the digest of a file that it returned before.
    ///
    /// `done` is called by one thread at a time. It may be slow, and it may use this library: other threads continue
    /// meanwhile, up to 32,768 files ahead of it. It stops everything by returning [`ControlFlow::Break`].
    ///
    /// Anything that is not a regular file, such as a pipe or a terminal, is read when its turn in the order has come.
    /// If it is named twice, its first occurrence is read to the end first.
    pub fn digest<T: Send>(
        &self,
        files: impl Iterator<Item = (T, Source)> + Send,
        done: impl FnMut(T, io::Result<Digested>) -> ControlFlow<()> + Send,
    ) {
        let threads = self.threads.or_else(|| thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get).min(MAX_THREADS);
        let disks = Disks::new(self.storage);
        let ordered = Ordered::new(Box::new(files), Box::new(done), &disks);
        let (opened, handover) = (Opened::default(), Handover::new());
        let pace = Mutex::new(Pace::default());
        let shared = Shared { files: self, threads, disks: &disks, ordered, opened, handover, pace };
        thread::scope(|scope| {
            for i in 1..threads {
                // Without another thread, those that there are do its work.
                let thread = thread::Builder::new().name(format!("manyhash-file-{i}"));
                if thread.spawn_scoped(scope, || worker::work(&shared)).is_err() {
                    break;
                }
            }
            worker::work(&shared);
        });
    }
}

/// What the workers share.
struct Shared<'a, 'f, T> {
    files: &'a Files<'f>,
    threads: usize,
    disks: &'a Disks,
    ordered: Ordered<'a, T>,
    opened: Opened,
    handover: Handover<lanes::InHand<T>>,
    pace: Mutex<Pace>,
}
