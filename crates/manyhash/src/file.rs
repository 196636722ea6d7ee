//! Files to digests.
//!
//! Every core reads and hashes on its own: a worker opens files from one common source, reads a chunk of each, and
//! advances their streams together in its lanes. Memory is a chunk for each lane of each core, and the results that
//! wait for an earlier file.

mod handover;
mod ordered;
mod worker;

use crate::{Digest, Function};
use handover::Handover;
use ordered::Ordered;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread;

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
}

/// The digests of files, each file's given to `done` in the order of `files` as soon as those before it are done: one for
/// each function, in their order, from one read.
///
/// A file is read to its end, wherever that is when it comes: one that grows or shrinks meanwhile gives the digest of
/// what was read. `threads` is the number of workers, the caller's thread among them; 0 is one for every core. `files`
/// is drawn from no faster than files are hashed, by threads that have other files in hand: it should not wait for the
/// digest of a file that it gave before. `done` may end it all with [`ControlFlow::Break`]. What is no
/// regular file (a pipe, a terminal) is read when its turn in the order has come, so that the same one named twice is
/// read to its end first for the first.
///
/// ```
/// use manyhash::{Algorithm, Function, file};
/// use std::ops::ControlFlow;
///
/// let files = ["Cargo.toml", "no such file"].map(|name| (name, file::Source::Path(name.into())));
/// let functions = [Algorithm::Md5, Algorithm::Sha256].map(Function::Lanes);
/// file::digest_files(&functions, 0, files.into_iter(), |name, digests| {
///     match digests {
///         Ok(digests) => println!("{} {}  {name}", digests[0], digests[1]),
///         Err(error) => eprintln!("{name}: {error}"),
///     }
///     ControlFlow::Continue(())
/// });
/// ```
pub fn digest_files<T: Send>(
    functions: &[Function],
    threads: usize,
    files: impl Iterator<Item = (T, Source)> + Send,
    done: impl FnMut(T, io::Result<Vec<Digest>>) -> ControlFlow<()> + Send,
) {
    let threads = if threads == 0 { thread::available_parallelism().map_or(1, usize::from) } else { threads };
    let threads = threads.min(MAX_THREADS);
    let ordered = Ordered::new(Box::new(files), Box::new(done));
    let handover = Handover::new();
    thread::scope(|scope| {
        for i in 1..threads {
            // Without another thread, those that there are do its work.
            let thread = thread::Builder::new().name(format!("manyhash-file-{i}"));
            if thread.spawn_scoped(scope, || worker::work(functions, threads, &ordered, &handover)).is_err() {
                break;
            }
        }
        worker::work(functions, threads, &ordered, &handover);
    });
}

/// A source that was opened.
enum Input {
    /// A regular file, whose bytes are there.
    File(File),
    /// Anything else, whose bytes come when they come.
    Slow(Unopened),
}

impl Source {
    fn open(self) -> io::Result<Input> {
        match self {
            Source::Path(path) => {
                let kind = std::fs::metadata(&path)?.file_type();
                // Opening a pipe waits for its writer; reading a directory fails at once.
                let slow = !kind.is_file() && !kind.is_dir();
                if slow { Ok(Input::Slow(Unopened::Path(path))) } else { File::open(path).map(Input::File) }
            }
            Source::Stdin => Ok(Input::Slow(Unopened::Stdin)),
            Source::Failed(error) => Err(error),
        }
    }
}

/// A file that is opened at the first read.
enum Unopened {
    Path(PathBuf),
    Stdin,
    Opened(File),
}

impl Read for Unopened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            *self = match self {
                Unopened::Path(path) => Unopened::Opened(File::open(path)?),
                Unopened::Stdin => Unopened::Opened(stdin()?),
                Unopened::Opened(file) => return file.read(buffer),
            };
        }
    }
}

/// Standard input itself: [`io::stdin`] buffers, and takes one that cannot be read for an empty one.
fn stdin() -> io::Result<File> {
    #[cfg(unix)]
    return Ok(File::from(std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?));
    #[cfg(windows)]
    return Ok(File::from(std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned()?));
    #[cfg(not(any(unix, windows)))]
    return Err(io::ErrorKind::Unsupported.into());
}
