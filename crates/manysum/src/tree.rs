//! The files that names stand for.

#[cfg(target_os = "linux")]
mod deep;
pub mod names;
mod paths;
pub(crate) mod select;

use crate::name;
use manyhash::file::Source;
use names::Names;
use paths::Paths;
use select::Selection;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// How directories are walked.
#[derive(Clone, Default)]
pub struct Walk {
    /// Which files are taken.
    pub selection: Selection,
    /// What symbolic links lead to is taken in their place.
    pub follow: bool,
    /// Directories on other file systems are left out.
    pub one_file_system: bool,
    /// A file to leave out, by its canonical path: the one that is being written.
    pub leave_out: Option<PathBuf>,
}

/// The files of the names, in their order, each with the name it is shown by.
///
/// With `walk`, a directory among the names, or behind a symbolic link among them, stands for the regular files in it and
/// in its directories, sorted by the bytes of their names. It is read while the files are taken, and only the entries of
/// one directory a level are held. What is neither file nor directory is skipped in there: to open a FIFO may wait for
/// ever, and a symbolic link may lead back. Names that were given are taken for what they are.
pub fn files(names: Names, walk: Option<Walk>) -> impl Iterator<Item = (OsString, Source)> + Send {
    Files { names, walk, directory: None }
}

struct Files {
    names: Names,
    walk: Option<Walk>,
    /// The files of the last name, where it is a directory.
    directory: Option<Box<dyn Iterator<Item = (OsString, Source)> + Send>>,
}

impl Iterator for Files {
    type Item = (OsString, Source);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(file) = self.directory.as_mut().and_then(Iterator::next) {
                return Some(file);
            }
            self.directory = None;
            let (name, source) = self.names.next()?;
            match (&self.walk, &source) {
                (Some(walk), Source::Path(path)) if fs::metadata(path).is_ok_and(|there| there.is_dir()) => {
                    self.directory = Some(Box::new(walk.files(name)));
                }
                _ => return Some((name, source)),
            }
        }
    }
}

impl Walk {
    /// The files of a directory.
    fn files(&self, root: OsString) -> impl Iterator<Item = (OsString, Source)> + Send + use<> {
        self.paths(root).map(|path| match path {
            Ok(path) => (path.clone().into_os_string(), Source::Path(path)),
            Err((name, error)) => (name, Source::Failed(error)),
        })
    }

    /// The paths of the files of a directory, and what cannot be walked.
    pub fn paths(&self, root: OsString) -> impl Iterator<Item = Result<PathBuf, (OsString, io::Error)>> + Send + use<> {
        let leave_out = self.leave_out.clone();
        let is_left_out = move |path: &Path| leave_out.as_ref().is_some_and(|out| is_same(out, path));
        Paths::new(self.clone(), root.into()).filter(move |path| !path.as_ref().is_ok_and(|path| is_left_out(path)))
    }
}

/// Whether `path` leads to the file of this canonical path. The system is asked only if the names are the same.
fn is_same(canonical: &Path, path: &Path) -> bool {
    // By bytes, since parts of paths are slow to find.
    let (canonical_bytes, bytes) = (name::bytes(canonical.as_os_str()), name::bytes(path.as_os_str()));
    let name = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    bytes.ends_with(&canonical_bytes[name(canonical_bytes)..])
        && path.canonicalize().is_ok_and(|path| path == canonical)
}
