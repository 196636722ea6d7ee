//! Files to digests.

use crate::{Algorithm, Digest, Stream};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;

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

/// The digests of files, each given to `done` in the order of `files` as soon as those before it are done.
///
/// `threads`: 0 is one a core. `done` may end it early with [`ControlFlow::Break`].
pub fn digest_files<T: Send>(
    algorithm: Algorithm,
    threads: usize,
    files: impl Iterator<Item = (T, Source)> + Send,
    mut done: impl FnMut(T, io::Result<Digest>) -> ControlFlow<()> + Send,
) {
    let _ = threads;
    for (tag, source) in files {
        let read = || -> io::Result<Digest> {
            let mut all = Vec::new();
            match source {
                Source::Path(path) => std::fs::File::open(path)?.read_to_end(&mut all)?,
                Source::Stdin => io::stdin().lock().read_to_end(&mut all)?,
                Source::Failed(error) => return Err(error),
            };
            let mut stream = Stream::new(algorithm);
            stream.update(all);
            Ok(stream.finalize())
        };
        if done(tag, read()).is_break() {
            return;
        }
    }
}
