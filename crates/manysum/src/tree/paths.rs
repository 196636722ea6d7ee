//! The paths of the files in a directory and in its directories.

use super::Walk;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Walks a directory, and goes on where a path becomes too long for the system.
pub(super) struct Paths {
    walk: Walk,
    root: PathBuf,
    /// The walk from the root, and from directories whose path is too long, each in the one before.
    levels: Vec<Level>,
}

struct Level {
    entries: walkdir::IntoIter,
    /// If it is not walked from where it is: from where else, and its path.
    #[cfg(target_os = "linux")]
    moved: Option<super::deep::Moved>,
}

impl Paths {
    pub(super) fn new(walk: Walk, root: PathBuf) -> Self {
        let entries = entries(&walk, &root);
        let level = Level {
            entries,
            #[cfg(target_os = "linux")]
            moved: None,
        };
        Paths { walk, root, levels: vec![level] }
    }

    /// The next entry of a level, in a directory that is taken.
    fn entry(&mut self) -> Option<walkdir::Result<DirEntry>> {
        let level = self.levels.last_mut()?;
        loop {
            match level.entries.next()? {
                Ok(entry) if entry.depth() > 0 && !takes(&self.walk, &self.root, level, &entry) => {
                    if entry.file_type().is_dir() {
                        level.entries.skip_current_dir();
                    }
                }
                entry => return Some(entry),
            }
        }
    }

    /// What is too deep for the walk so far.
    #[cfg(target_os = "linux")]
    fn go_deeper(&mut self, error: &walkdir::Error) -> io::Result<bool> {
        let (Some(path), Some(level)) = (error.path(), self.levels.last()) else { return Ok(false) };
        // A walk that follows links would not know that one leads back to a directory above it.
        if self.walk.follow || !super::deep::is_too_long(error) {
            return Ok(false);
        }
        let moved = super::deep::Moved::new(path, level.path(path))?;
        self.levels.push(Level { entries: entries(&self.walk, moved.place()), moved: Some(moved) });
        Ok(true)
    }

    #[cfg(not(target_os = "linux"))]
    fn go_deeper(&mut self, _: &walkdir::Error) -> io::Result<bool> {
        Ok(false)
    }
}

impl Level {
    /// The path of what is walked under this one.
    fn path(&self, walked: &Path) -> PathBuf {
        #[cfg(target_os = "linux")]
        if let Some(moved) = &self.moved {
            return moved.path(walked);
        }
        walked.to_owned()
    }
}

impl Iterator for Paths {
    type Item = Result<PathBuf, (OsString, io::Error)>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.levels.is_empty() {
            match self.entry() {
                None => {
                    self.levels.pop();
                }
                Some(Ok(entry)) if entry.file_type().is_file() => {
                    let level = self.levels.last()?;
                    return Some(Ok(level.path(entry.path())));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => match self.go_deeper(&error) {
                    Ok(true) => {}
                    Ok(false) => return Some(Err(self.failure(error, None))),
                    Err(deeper) => return Some(Err(self.failure(error, Some(deeper)))),
                },
            }
        }
        None
    }
}

impl Paths {
    /// The path of what cannot be walked, and why.
    fn failure(&self, error: walkdir::Error, deeper: Option<io::Error>) -> (OsString, io::Error) {
        let path = match (error.path(), self.levels.last()) {
            (Some(path), Some(level)) => level.path(path),
            _ => self.root.clone(),
        };
        let leads_back = || io::Error::other("symbolic link leads back to a directory above it");
        (path.into_os_string(), deeper.unwrap_or_else(|| error.into_io_error().unwrap_or_else(leads_back)))
    }
}

fn entries(walk: &Walk, place: &Path) -> walkdir::IntoIter {
    let entries = WalkDir::new(place).sort_by_file_name();
    entries.follow_links(walk.follow).same_file_system(walk.one_file_system).into_iter()
}

fn takes(walk: &Walk, root: &Path, level: &Level, entry: &DirEntry) -> bool {
    if walk.selection.takes_all() {
        return true;
    }
    let path = level.path(entry.path());
    walk.selection.takes(path.strip_prefix(root).unwrap_or(&path), entry.file_type().is_dir())
}
