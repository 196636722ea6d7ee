//! Doing away with duplicates: the first file of each group stays, and every other one is compared with it byte for byte
//! before it is deleted or replaced.

use super::find::Group;
use super::report::count;
use super::scan::identity;
use crate::console::Console;
use crate::name;
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// What becomes of a duplicate.
#[derive(Clone, Copy)]
pub(super) enum Replacement {
    Nothing,
    HardLink,
    Reflink,
}

impl Replacement {
    /// The one that was asked for, if any was.
    pub(super) fn of(delete: bool, hardlink: bool, reflink: bool) -> Option<Self> {
        match (delete, hardlink, reflink) {
            (true, _, _) => Some(Replacement::Nothing),
            (_, true, _) => Some(Replacement::HardLink),
            (_, _, true) => Some(Replacement::Reflink),
            _ => None,
        }
    }

    fn question(self, files: usize) -> String {
        let files = count(files, "file");
        match self {
            Replacement::Nothing => format!("Delete {files}?"),
            Replacement::HardLink => format!("Replace {files} by hard links?"),
            Replacement::Reflink => format!("Replace {files} by copies that share blocks?"),
        }
    }
}

/// Replaces all files but the first of each group, and says how many; whether all could be.
///
/// # Errors
/// If standard output or standard input fails.
pub(super) fn replace(
    console: &mut Console,
    groups: &[Group],
    replacement: Replacement,
    yes: bool,
) -> io::Result<bool> {
    let files: usize = groups.iter().map(|group| group.files.len() - 1).sum();
    if files == 0 {
        return Ok(true);
    }
    if !yes {
        if !io::stdin().is_terminal() {
            console.message("nothing was changed: without a terminal to ask on, --yes is needed");
            return Ok(false);
        }
        if !confirmed(&replacement.question(files))? {
            console.message("nothing was changed");
            return Ok(true);
        }
    }
    let mut replaced = 0;
    for group in groups {
        let [kept, duplicates @ ..] = &group.files[..] else { continue };
        for duplicate in duplicates {
            match replace_one(kept, duplicate, replacement) {
                Ok(()) => replaced += 1,
                Err(error) => console.file_error(name::bytes(duplicate.as_os_str()), &error),
            }
        }
    }
    let done = if matches!(replacement, Replacement::Nothing) { "deleted" } else { "replaced" };
    console.message(format!("{} {done}", count(replaced, "file")));
    Ok(replaced == files)
}

fn confirmed(question: &str) -> io::Result<bool> {
    eprint!("{question} [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// A regular file that is open, and what it was when it was opened.
struct Opened {
    file: File,
    metadata: Metadata,
}

impl Opened {
    fn open(path: &Path) -> io::Result<Self> {
        // What is there now may be no file any more; opening a pipe would wait.
        if !fs::symlink_metadata(path)?.is_file() && !fs::metadata(path)?.is_file() {
            return Err(changed());
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok(Opened { file, metadata })
    }

    /// Whether the path still leads to this file, as it was.
    fn is_still(&self, path: &Path) -> io::Result<bool> {
        let now = fs::symlink_metadata(path)?;
        Ok(identity(path, &now) == identity(path, &self.metadata)
            && now.len() == self.metadata.len()
            && now.modified().ok() == self.metadata.modified().ok())
    }
}

fn changed() -> io::Error {
    io::Error::other("changed since it was hashed; it stays as it is")
}

fn replace_one(kept: &Path, duplicate: &Path, replacement: Replacement) -> io::Result<()> {
    // A link to a symbolic link would be one more of those.
    let kept = &kept.canonicalize()?;
    let (mut first, mut other) = (Opened::open(kept)?, Opened::open(duplicate)?);
    if identity(kept, &first.metadata) == identity(duplicate, &other.metadata) {
        // It has become another name of the one that stays.
        return Err(changed());
    }
    if !same_content(&mut first.file, &mut other.file)? {
        return Err(io::Error::other("differs from the first of its group; it stays as it is"));
    }
    if !first.is_still(kept)? || !other.is_still(duplicate)? {
        return Err(changed());
    }
    match replacement {
        Replacement::Nothing => fs::remove_file(duplicate),
        Replacement::HardLink => in_place_of(duplicate, |path| fs::hard_link(kept, path)),
        Replacement::Reflink => in_place_of(duplicate, |path| reflink(&first.file, &other, path)),
    }
}

fn same_content(a: &mut File, b: &mut File) -> io::Result<bool> {
    let mut chunks = [vec![0; 1 << 16], vec![0; 1 << 16]];
    let [ours, theirs] = &mut chunks;
    loop {
        let (read, as_much) = (fill(a, ours)?, fill(b, theirs)?);
        if ours[..read] != theirs[..as_much] {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the chunk is full or the file ends.
fn fill(file: &mut File, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match file.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Has something made beside a file, and renames it to the file: there is always one of the two.
fn in_place_of(path: &Path, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".manyhash-").suffix(".tmp");
    let made: tempfile::NamedTempFile<PathBuf> =
        builder.make_in(directory, |path| make(path).map(|()| path.to_owned()))?;
    made.persist(path)?;
    Ok(())
}

/// A file that shares all blocks, with the owner, permissions and times of the one that it replaces.
#[cfg(target_os = "linux")]
fn reflink(kept: &File, duplicate: &Opened, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let copy = File::options().write(true).create_new(true).open(path)?;
    let shared = rustix::fs::ioctl_ficlone(&copy, kept).map_err(io::Error::from).and_then(|()| {
        let times = fs::FileTimes::new()
            .set_accessed(duplicate.metadata.accessed()?)
            .set_modified(duplicate.metadata.modified()?);
        fchown(&copy, Some(duplicate.metadata.uid()), Some(duplicate.metadata.gid()))?;
        // After that: a change of the owner takes permissions away.
        copy.set_permissions(duplicate.metadata.permissions())?;
        copy.set_times(times)
    });
    if shared.is_err() {
        // Nothing of it is wanted.
        let _ = fs::remove_file(path);
    }
    shared
}

#[cfg(not(target_os = "linux"))]
fn reflink(_kept: &File, _duplicate: &Opened, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
