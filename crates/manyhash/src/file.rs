//! Files to digests.
//!
//! Every core reads and hashes on its own: a worker opens files from one common source, reads a chunk of each, and
//! advances their streams together in its lanes. Memory is a chunk for each lane of each core, and the results that
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

/// Threads at the most, whatever is asked for: many more than can help.
const MAX_THREADS: usize = 1024;

/// Where the bytes of a message come from.
#[derive(Debug)]
pub enum Source {
    /// A file by its path.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Nothing: what went wrong before it could be opened, to be reported in its turn.
    Failed(io::Error),
    /// Nothing: the digests are known, one for each function, to be given in their turn.
    Known(Vec<Digest>),
}

/// What came of a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Digested {
    /// The digests, one for each function, in their order.
    pub digests: Vec<Digest>,
    /// Bytes that were read.
    pub bytes: u64,
    /// What the system says of the regular file that was read, if it said the same before and after: its size, its
    /// times, and where the system tells also its device and inode. None of anything else, of a file that was written
    /// meanwhile, and of one whose size is not that of what was read, as those of `/proc`.
    pub settled: Option<Metadata>,
}

/// Reads files and hashes them: how, and with what.
///
/// A file is read to its end, wherever that is when it comes: one that grows or shrinks meanwhile gives the digest of
/// what was read.
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
    /// With these functions, of which each file is read once for all, on all cores.
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

    /// On so many threads, the caller's among them and up to 1024; `None`, and if this is not called, one for every core.
    #[must_use]
    pub fn threads(self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        Files { threads: threads.into(), ..self }
    }

    /// From storage of this kind.
    #[must_use]
    pub fn storage(self, storage: Storage) -> Self {
        Files { storage, ..self }
    }

    /// Adds bytes to `counter` as they are hashed.
    #[must_use]
    pub fn counter(self, counter: &'a AtomicU64) -> Self {
        Files { counter: Some(counter), ..self }
    }

    /// Maps what is long and in memory already instead of copying it, where that turns out to be faster: it depends on the
    /// machine. A file that is truncated while it is mapped gives an error then. [`SigbusGuard::install`] is the program's
    /// leave for it; a library looks for that by [`SigbusGuard::installed`].
    #[cfg(all(feature = "map", target_os = "linux"))]
    #[must_use]
    pub fn map(self, guard: SigbusGuard) -> Self {
        Files { guard: Some(guard), ..self }
    }

    /// Hashes files, and gives what comes of each to `done`, in the order of `files`, as soon as those before it are done.
    ///
    /// `files` is drawn from no faster than files are hashed, by threads that have other files in hand: it should not
    /// wait for the digest of a file that it gave before. `done` is called by one thread at a time, may take its time, and may
    /// use this library: other threads go on meanwhile, up to 32,768 files ahead of it. It may end it all with
    /// [`ControlFlow::Break`]. What is no regular file (a pipe, a terminal) is read when its turn in the order has come, so
    /// that the same one named twice is read to its end first for the first.
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
