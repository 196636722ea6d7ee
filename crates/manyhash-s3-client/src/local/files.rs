//! Many files, or one, from the caller's iterator to the caller's sink.

use super::open::in_order;
use super::plan::Plan;
use super::pool;
use super::source::{Results, Source};
use super::sweep::{self, Done, Sweep};
use super::worker::Shared;
use super::{Cut, Digested, Error, Wanted};
use manyhash_s3::etag::{ETag, ETagKind};
use manyhash_s3::part_size::{Guess, candidates};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

/// The maximum number of threads, whatever is asked for: many more than can help.
const MAX_THREADS: usize = 1024;

/// Bytes that are read at a time of what is no file.
const CHUNK: usize = 256 << 10;

/// Reads files, each once, and computes what is wanted of each.
///
/// Lanes and cores are filled with the parts of a file, with the candidates of one, and with many files. Memory holds
/// 1 MiB of chunks for each thread, or 8 MiB where many files or parts are in hand, and the checksums of the parts.
///
/// ```
/// use manyhash_s3_client::local::{Cut, Files, Wanted};
/// use std::ops::ControlFlow;
///
/// let mut wanted = Wanted::new();
/// wanted.etag(Cut::Whole);
/// let files = ["Cargo.toml", "no such file"].map(|name| (name, name.into(), wanted.clone()));
/// Files::new().digest(files, |name, digested| {
///     match digested {
///         Ok(digested) => println!("{}  {name}", digested.etag(&Cut::Whole).expect("it is wanted")),
///         Err(error) => eprintln!("{name}: {error}"),
///     }
///     ControlFlow::Continue(())
/// });
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Files<'a> {
    threads: Option<NonZeroUsize>,
    pub(super) counter: Option<&'a AtomicU64>,
}

impl<'a> Files<'a> {
    /// Candidates that [`guess`](Self::guess) tries at most: eight reads of the file.
    pub const CANDIDATES: usize = 256;

    /// Creates a `Files` that uses all cores.
    pub fn new() -> Files<'a> {
        Files::default()
    }

    /// Sets the number of threads, up to 1024. The default, `None`, is one per core.
    #[must_use]
    pub fn threads(self, threads: impl Into<Option<NonZeroUsize>>) -> Files<'a> {
        Files { threads: threads.into(), ..self }
    }

    /// Adds the number of bytes read to `counter` as reading proceeds. Up to an eighth of a file with cuts that have no
    /// common edges is counted twice.
    #[must_use]
    pub fn counter(self, counter: &'a AtomicU64) -> Files<'a> {
        Files { counter: Some(counter), ..self }
    }

    /// Digests files, and passes the result of each to `done`, in the order of `files`, once all earlier ones are done.
    ///
    /// `files` is drawn from no faster than files are read, by threads that are at work on other files. `done` is called
    /// by one thread at a time, and stops everything by returning [`ControlFlow::Break`]. While it is slow, other threads
    /// go on, up to 32,768 files ahead.
    pub fn digest<T: Send>(
        &self,
        files: impl IntoIterator<Item = (T, PathBuf, Wanted), IntoIter: Send>,
        done: impl FnMut(T, Result<Digested, Error>) -> ControlFlow<()> + Send,
    ) {
        let threads = self.threads.or_else(|| thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get).min(MAX_THREADS);
        let (source, results) = (Source::new(Box::new(files.into_iter())), Results::new(Box::new(done)));
        pool::run(threads, Shared::new(self, source, results), Shared::work);
    }

    /// Digests one file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or cut as is asked for, or changes meanwhile.
    pub fn digest_one(&self, path: impl Into<PathBuf>, wanted: Wanted) -> Result<Digested, Error> {
        let mut result = None;
        self.digest([((), path.into(), wanted)], |(), digested| {
            result = Some(digested);
            ControlFlow::Break(())
        });
        result.unwrap_or_else(|| Err(io::Error::other("no result").into()))
    }

    /// Finds how a file must be cut to have an ETag, and returns what was computed of it for that. `None` if no cut gives
    /// it that is likely enough: the ETag is that of other bytes, is not made of MD5s, or the parts have a size that no
    /// program is known to use.
    ///
    /// Sizes that programs use are tried first, 32 in one read of the file. Part sizes that are told by the service,
    /// which HeadObject does for a part number, need no guess.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or changes meanwhile.
    pub fn guess(&self, path: impl AsRef<Path>, etag: &ETag) -> Result<Option<(Cut, Digested)>, Error> {
        let path = path.as_ref();
        let size = std::fs::metadata(path)?.len();
        let cuts: Vec<Cut> = match etag.kind() {
            ETagKind::Md5(_) => vec![Cut::Whole],
            ETagKind::Multipart { parts, .. } => {
                candidates(size, parts.get()).filter_map(Cut::every).take(Self::CANDIDATES).collect()
            }
            _ => Vec::new(),
        };
        for cuts in cuts.chunks(Guess::CANDIDATES) {
            let mut wanted = Wanted::new();
            for cut in cuts {
                wanted.etag(cut.clone());
            }
            let digested = self.digest_one(path, wanted)?;
            if digested.size() != size {
                return Err(Error::Changed);
            }
            let gives = |cut: &&Cut| digested.etag(cut).is_some_and(|found| found.kind() == etag.kind());
            if let Some(cut) = cuts.iter().find(gives) {
                return Ok(Some((cut.clone(), digested)));
            }
        }
        Ok(None)
    }
}

/// Digests bytes that can only be read once, such as those of a pipe, on the caller's thread.
///
/// # Errors
/// Returns an error if they cannot be read, or cut as is asked for.
pub fn digest_reader(mut reader: impl Read, wanted: &Wanted) -> Result<Digested, Error> {
    let plan = Arc::new(Plan::new(wanted, None)?);
    let mut sweep = Sweep::new(Arc::clone(&plan), 0..u64::MAX);
    let mut found = vec![BTreeMap::new(); plan.series().len()];
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match reader.read(&mut chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if read == 0 {
            sweep.end();
        }
        sweep::advance(vec![(&mut sweep, chunk.get(..read).unwrap_or_default())], 1);
        plan.check_parts(sweep.position())?;
        for Done { series, part, checksum } in sweep.take_done() {
            if let Some(found) = found.get_mut(series) {
                found.insert(part, checksum);
            }
        }
        if read == 0 {
            plan.check(sweep.position())?;
            return Ok(plan.digested(sweep.position(), None, in_order(found)));
        }
    }
}
