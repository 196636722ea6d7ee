//! The files among which duplicates are looked for.

use super::aside;
use manysum::name;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A regular file that is not empty.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Its further names (hard links) below the arguments.
    pub(super) links: Vec<PathBuf>,
    pub(super) size: u64,
    pub(super) identity: Identity,
    /// Its place in the order of the scan.
    pub(super) number: usize,
}

impl Candidate {
    /// All its names.
    pub(super) fn names(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.path].into_iter().chain(&self.links)
    }
}

/// What is below the arguments.
#[derive(Default)]
pub(super) struct Scan {
    /// The files, in the order of the arguments and then in that of their names, each once however many names it has.
    pub(super) files: Vec<Candidate>,
    /// The directories in which a run has set files aside. These are no candidates: they may be about to be removed, and so
    /// must not count as the ones that stay.
    pub(super) asides: BTreeSet<PathBuf>,
}

/// Looks for files. What cannot be looked at goes to `failed`.
pub(super) fn scan(arguments: &[OsString], mut failed: impl FnMut(&[u8], &io::Error)) -> Scan {
    let mut scan = Scan::default();
    let mut names = Names::default();
    let mut parents = BTreeSet::new();
    for argument in arguments {
        let path = Path::new(argument);
        if path.canonicalize().is_ok_and(|path| aside::is_below_one(&path)) {
            let error = "holds files that a run set aside; name the directory above it";
            failed(name::bytes(argument), &io::Error::other(error));
            continue;
        }
        if !path.is_dir() {
            parents.insert(parent(path));
        }
        let mut walk = WalkDir::new(argument).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            if let Ok(entry) = &entry
                && entry.file_type().is_dir()
                && aside::is_one(entry.file_name())
            {
                scan.asides.insert(entry.path().to_owned());
                walk.skip_current_dir();
                continue;
            }
            match entry.map_err(|error| named(error, argument)).and_then(looked_at) {
                Ok((path, metadata)) if metadata.is_file() && metadata.len() > 0 => {
                    names.add(&mut scan.files, path, &metadata);
                }
                Ok(_) => {}
                Err((path, error)) => failed(name::bytes(&path), &error),
            }
        }
    }
    // Beside files among the arguments, for what was one of them in a run that was stopped.
    for entry in parents.into_iter().filter_map(|parent| fs::read_dir(parent).ok()).flatten().flatten() {
        if aside::is_one(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            scan.asides.insert(entry.path());
        }
    }
    scan
}

/// The files by what they are, and the names of those that have several.
#[derive(Default)]
struct Names {
    numbers: HashMap<Identity, usize>,
    /// Entries of directories: one may come by several paths.
    entries: HashSet<(Identity, OsString)>,
}

impl Names {
    fn add(&mut self, files: &mut Vec<Candidate>, path: PathBuf, metadata: &Metadata) {
        match self.numbers.entry(identity(&path, metadata)) {
            Entry::Vacant(vacant) => {
                vacant.insert(files.len());
                let (identity, number) = (identity(&path, metadata), files.len());
                files.push(Candidate { path, links: Vec::new(), size: metadata.len(), identity, number });
            }
            Entry::Occupied(number) if may_have_links(metadata) => {
                let file = &mut files[*number.get()];
                if let (Some(first), Some(further)) = (entry(&file.path), entry(&path)) {
                    self.entries.insert(first);
                    if self.entries.insert(further) && !path.is_symlink() {
                        file.links.push(path);
                    }
                }
            }
            Entry::Occupied(_) => {}
        }
    }
}

/// The directory that a path's name is in, and that name.
fn entry(path: &Path) -> Option<(Identity, OsString)> {
    let parent = parent(path);
    let metadata = fs::metadata(&parent).ok()?;
    Some((identity(&parent, &metadata), path.file_name()?.to_owned()))
}

/// The directory that a path's name is in.
pub(super) fn parent(path: &Path) -> PathBuf {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// What is there. A link among the arguments is taken for what it leads to, as walkdir does where that is a directory.
fn looked_at(entry: walkdir::DirEntry) -> Result<(PathBuf, Metadata), (OsString, io::Error)> {
    if entry.depth() == 0 {
        let metadata = fs::metadata(entry.path());
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
    (path, error.into_io_error().unwrap_or_else(|| io::Error::other("cannot be walked")))
}

/// What all names of one file have in common: its device and its number there.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);

/// What all names of one file have in common: where they lead.
#[cfg(not(unix))]
pub(super) type Identity = PathBuf;

#[cfg(unix)]
pub(super) fn identity(_path: &Path, metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
pub(super) fn identity(path: &Path, _metadata: &Metadata) -> Identity {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Whether two files may be on one device.
#[cfg(unix)]
pub(super) fn share_a_device(a: &Identity, b: &Identity) -> bool {
    a.0 == b.0
}

#[cfg(not(unix))]
pub(super) fn share_a_device(_a: &Identity, _b: &Identity) -> bool {
    true
}

/// Whether a file may have several names.
#[cfg(unix)]
pub(super) fn may_have_links(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

/// Paths that lead to the same place are one name.
#[cfg(not(unix))]
pub(super) fn may_have_links(_metadata: &Metadata) -> bool {
    false
}
