//! The files among which duplicates are looked for.

use crate::name;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A regular file that is not empty.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    /// Its place in the order of the scan.
    pub(super) number: usize,
}

/// The files below the arguments, in their order and then in that of their names, each once however many names it has.
/// What cannot be looked at goes to `failed`.
pub(super) fn scan(arguments: &[OsString], mut failed: impl FnMut(&[u8], &io::Error)) -> Vec<Candidate> {
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    for argument in arguments {
        for entry in WalkDir::new(argument).sort_by_file_name() {
            match entry.map_err(|error| named(error, argument)).and_then(looked_at) {
                Ok((path, metadata)) if metadata.is_file() && metadata.len() > 0 => {
                    if seen.insert(identity(&path, &metadata)) {
                        files.push(Candidate { path, size: metadata.len(), number: files.len() });
                    }
                }
                Ok(_) => {}
                Err((path, error)) => failed(name::bytes(&path), &error),
            }
        }
    }
    files
}

/// What is there. A link among the arguments is taken for what it leads to, as walkdir does where that is a directory.
fn looked_at(entry: walkdir::DirEntry) -> Result<(PathBuf, Metadata), (OsString, io::Error)> {
    if entry.depth() == 0 {
        let metadata = std::fs::metadata(entry.path());
        return metadata
            .map(|metadata| (entry.path().to_owned(), metadata))
            .map_err(|error| (entry.into_path().into_os_string(), error));
    }
    let path = entry.path().to_owned();
    entry.metadata().map(|metadata| (path.clone(), metadata)).map_err(|error| named(error, path.as_os_str()))
}

/// An error with the name that it is about.
fn named(error: walkdir::Error, root: &OsStr) -> (OsString, io::Error) {
    let path = error.path().map_or(root, Path::as_os_str).to_owned();
    (path, error.into_io_error().unwrap_or_else(|| io::Error::other("Cannot be walked")))
}

/// What two names of one file have in common.
#[cfg(unix)]
pub(super) fn identity(_path: &Path, metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// What two names of one file have in common.
#[cfg(not(unix))]
pub(super) fn identity(path: &Path, _metadata: &Metadata) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
