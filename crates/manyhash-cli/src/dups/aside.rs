//! Duplicates set aside: a file `DIR/NAME` that may be about to go is moved to `DIR/.manyhash-aside-XXXXXX/NAME`, a
//! directory made for it, until all is seen to be right; then it is removed, or moved back.
//!
//! A run that is killed leaves it there, whole and with its name, for a later run to put back. The directory is locked for
//! as long as its run goes on, which is how one run tells that another one is at work there.

use super::scan::{identity, parent};
use manysum::console::reason;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// How the names of such directories begin.
const PREFIX: &str = ".manyhash-aside-";

/// Whether a directory of this name is one.
pub(super) fn is_one(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
}

/// Whether a path leads into one.
pub(super) fn is_below_one(path: &Path) -> bool {
    path.iter().any(is_one)
}

/// A file that was set aside.
pub(super) struct Aside {
    /// Where it belongs.
    name: PathBuf,
    /// The directory that it is in.
    directory: PathBuf,
    /// None where the file system has no locks.
    _lock: Option<File>,
}

impl Aside {
    /// Sets a file aside.
    pub(super) fn set(name: &Path) -> io::Result<Self> {
        let (directory, lock) = make_beside(name)?;
        let aside = Aside { name: name.to_owned(), directory, _lock: lock };
        // As it would be put back: where that cannot be done, it is not set aside either.
        match rename_new(name, &aside.path()) {
            Ok(()) => Ok(aside),
            Err(error) => {
                let _ = fs::remove_dir(&aside.directory);
                Err(error)
            }
        }
    }

    /// What a run that was stopped has left in a directory; none if that run, or another one, is at work there.
    pub(super) fn left(directory: &Path) -> io::Result<Vec<Self>> {
        let Taken::By(lock) = take(directory)? else { return Ok(Vec::new()) };
        let mut left = Vec::new();
        for entry in fs::read_dir(directory)? {
            let lock = lock.as_ref().map(File::try_clone).transpose()?;
            let name = parent(directory).join(entry?.file_name());
            left.push(Aside { name, directory: directory.to_owned(), _lock: lock });
        }
        if left.is_empty() {
            fs::remove_dir(directory)?;
        }
        Ok(left)
    }

    /// Where it belongs.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Where it is.
    pub(super) fn path(&self) -> PathBuf {
        self.directory.join(self.name.file_name().unwrap_or_default())
    }

    /// Moves it to where it belongs, unless something else has come there.
    pub(super) fn put_back(&self) -> io::Result<()> {
        match rename_new(&self.path(), &self.name) {
            Ok(()) => {
                // Of no use to anybody, and the next run tries again.
                let _ = fs::remove_dir(&self.directory);
                Ok(())
            }
            Err(error) => {
                let why = match error.kind() {
                    ErrorKind::AlreadyExists => "another file has taken its place".to_owned(),
                    _ => format!("cannot be put back: {}", reason(&error)),
                };
                let message = format!("{why}; the original is now {}", self.path().display());
                Err(io::Error::new(error.kind(), message))
            }
        }
    }

    /// Removes it for good.
    pub(super) fn remove(&self) -> io::Result<()> {
        fs::remove_file(self.path())?;
        let _ = fs::remove_dir(&self.directory);
        Ok(())
    }
}

/// Whether two files are in one directory that is seen through two file systems.
///
/// A new directory beside the one is to be seen beside the other then. One of the two may be seen through a cache, which
/// knows nothing yet of what comes to be on the other side, but passes on what is made on its own: so one is made on each.
pub(super) fn are_views_of_one(aside: &Aside, kept: &Path) -> bool {
    let name = aside.name();
    let directory = |path: &Path| {
        let parent = parent(path);
        fs::metadata(&parent).map(|metadata| identity(&parent, &metadata))
    };
    if matches!((directory(name), directory(kept)), (Ok(ours), Ok(theirs)) if ours == theirs) {
        return false;
    }
    let is_seen = |made: &Path, beside: &Path| {
        made.file_name().is_some_and(|made| parent(beside).join(made).symlink_metadata().is_ok())
    };
    // Where nothing can be made beside the one that stays, the other side has to do.
    is_seen(&aside.directory, kept)
        || make_beside(kept).is_ok_and(|(made, _lock)| {
            let seen = is_seen(&made, name);
            let _ = fs::remove_dir(made);
            seen
        })
}

/// A new directory beside a file, and its lock.
fn make_beside(name: &Path) -> io::Result<(PathBuf, Option<File>)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    for _ in 0..16 {
        let made = builder.make_in(parent(name), |path| fs::create_dir(path))?;
        let directory = made.into_temp_path().keep()?;
        // Another run may take the directory for one that was left, before it is locked, and remove it.
        match take(&directory)? {
            Taken::By(lock) => return Ok((directory, lock)),
            Taken::Not => drop(fs::remove_dir(&directory)),
        }
    }
    Err(io::Error::other("cannot be set aside: other runs remove the directories made for it; skipped"))
}

/// Whether a directory could be locked.
enum Taken {
    /// None where the file system has no locks.
    By(Option<File>),
    /// Another run has it, or has removed it.
    Not,
}

fn take(directory: &Path) -> io::Result<Taken> {
    let file = match File::open(directory) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Taken::Not),
        // Elsewhere than on Unix a directory is nothing to open.
        Err(_) if cfg!(not(unix)) => return Ok(Taken::By(None)),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        // Whoever removes it has the lock, so that it stays from here on.
        Ok(()) if directory.is_dir() => Ok(Taken::By(Some(file))),
        Ok(()) | Err(TryLockError::WouldBlock) => Ok(Taken::Not),
        Err(TryLockError::Error(_)) => Ok(Taken::By(None)),
    }
}

/// Renames a file, unless something has the new name.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system cannot, NFS for one.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            renamed => return Ok(renamed?),
        }
    }
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

#[cfg(test)]
mod tests {
    use super::Aside;
    use std::fs;
    use std::io::ErrorKind;

    #[test]
    fn what_was_set_aside_comes_back_but_replaces_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        // As long as names are.
        let name = directory.path().join("n".repeat(255));
        fs::write(&name, "old").expect("a file");
        let entries = || fs::read_dir(directory.path()).expect("a directory").count();

        let aside = Aside::set(&name).expect("it is set aside");
        assert!(!name.exists() && aside.path().exists());
        // It is in use.
        assert!(Aside::left(&aside.directory).expect("it is looked at").is_empty());
        aside.put_back().expect("it is put back");
        assert_eq!((fs::read(&name).expect("a file"), entries()), (b"old".to_vec(), 1));

        let aside = Aside::set(&name).expect("it is set aside");
        fs::write(&name, "new").expect("a file");
        let error = aside.put_back().expect_err("something is there");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(error.to_string().contains(&*aside.path().to_string_lossy()), "{error}");
        assert_eq!(fs::read(&name).expect("a file"), b"new");
        assert_eq!(fs::read(aside.path()).expect("a file"), b"old");

        // Not in use any more.
        let left = aside.directory.clone();
        drop(aside);
        let [aside] = &Aside::left(&left).expect("it is looked at")[..] else { panic!("one file") };
        assert_eq!(aside.name(), name);
        fs::remove_file(&name).expect("it is gone");
        aside.put_back().expect("it is put back");
        assert_eq!((fs::read(&name).expect("a file"), entries()), (b"old".to_vec(), 1));

        Aside::set(&name).and_then(|aside| aside.remove()).expect("it is removed");
        assert_eq!(entries(), 0);
    }

    #[test]
    fn an_empty_directory_is_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let left = directory.path().join(".manyhash-aside-x");
        fs::create_dir(&left).expect("a directory");
        assert!(Aside::left(&left).expect("it is looked at").is_empty() && !left.exists());
    }
}
