//! A file that gets its name when all of it is there and right, and never otherwise.

use super::error::{Error, blocking};
use bytes::Bytes;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// How the name begins of a file that is not yet in its place, and how it ends. It is gone when the download fails; if the
/// process is killed, it stays.
const PREFIX: &str = ".manyhash-";
const SUFFIX: &str = ".tmp";

/// Where a file is to be.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The directory that the caller named, which is there as it is, links and all.
    pub(super) root: PathBuf,
    /// The file's path below it.
    pub(super) below: PathBuf,
}

/// A file on its way to its place.
pub(super) struct Incoming {
    temporary: NamedTempFile,
    file: Arc<File>,
    path: PathBuf,
}

impl Place {
    pub(super) fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }

    /// Makes the directories that the file is in, and the file, of this size and without its name.
    ///
    /// # Errors
    /// If something else than a directory is in the way, a link to one included: a link below the root may lead out of it.
    pub(super) async fn open(&self, size: u64) -> Result<Incoming, Error> {
        let place = self.clone();
        blocking(move || place.open_blocking(size)).await.map_err(Error::Write)?
    }

    fn open_blocking(&self, size: u64) -> Result<Incoming, Error> {
        fs::create_dir_all(&self.root).map_err(Error::Write)?;
        let mut directory = self.root.clone();
        for part in self.below.parent().into_iter().flat_map(Path::components) {
            directory.push(part);
            match fs::create_dir(&directory) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !fs::symlink_metadata(&directory).map_err(Error::Write)?.is_dir() {
                        return Err(Error::NoDirectory { path: directory });
                    }
                }
                Err(error) => return Err(Error::Write(error)),
            }
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        // As any other new file: the process's mask takes away what others may not do.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(&directory).map_err(Error::Write)?;
        let file = temporary.as_file().try_clone().map_err(Error::Write)?;
        file.set_len(size).map_err(Error::Write)?;
        Ok(Incoming { temporary, file: Arc::new(file), path: self.path() })
    }
}

impl Incoming {
    pub(super) fn file(&self) -> Arc<File> {
        self.file.clone()
    }

    /// Gives the file its name, after its bytes are where no loss of power takes them away.
    ///
    /// # Errors
    /// If that fails, or there is such a file and `replaces` is not set.
    pub(super) async fn publish(self, replaces: bool) -> Result<(), Error> {
        let publish = move || {
            let Incoming { temporary, file, path } = self;
            file.sync_all()?;
            match replaces {
                true => temporary.persist(path),
                false => temporary.persist_noclobber(path),
            }
            .map(drop)
            .map_err(|error| error.error)
        };
        blocking(publish).await.and_then(|published| published).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::FileExists,
            _ => Error::Write(error),
        })
    }
}

/// Writes pieces one after another, from an offset on.
pub(super) async fn write(file: &Arc<File>, pieces: Vec<Bytes>, offset: u64) -> Result<(), Error> {
    let file = file.clone();
    let write = move || {
        let mut at = offset;
        for piece in pieces {
            write_all_at(&file, &piece, at)?;
            at += piece.len() as u64;
        }
        Ok(())
    };
    blocking(write).await.and_then(|written| written).map_err(Error::Write)
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    use std::sync::{Mutex, PoisonError};

    /// A file has one position.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let place = |below: &str| Place { root: directory.path().join("new"), below: below.into() };
        let names =
            || walkdir::WalkDir::new(directory.path()).into_iter().filter(|e| e.as_ref().unwrap().path().is_file());
        let incoming = place("a/b/c").open(5).await.unwrap();
        write(&incoming.file(), vec!["45".into()], 3).await.unwrap();
        write(&incoming.file(), vec!["1".into(), "23".into()], 0).await.unwrap();
        assert!(!place("a/b/c").path().exists());
        incoming.publish(false).await.unwrap();
        assert_eq!(fs::read(place("a/b/c").path()).unwrap(), b"12345");

        let again = place("a/b/c").open(1).await.unwrap();
        assert!(matches!(again.publish(false).await, Err(Error::FileExists)));
        drop(place("a/b/d").open(9).await.unwrap());
        assert_eq!((names().count(), fs::read(place("a/b/c").path()).unwrap()), (1, b"12345".to_vec()));
        let again = place("a/b/c").open(0).await.unwrap();
        again.publish(true).await.unwrap();
        assert_eq!(fs::read(place("a/b/c").path()).unwrap(), b"");
        assert!(matches!(place("a/b/c/d").open(1).await, Err(Error::NoDirectory { .. })));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn no_link_leads_elsewhere() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(elsewhere.path(), directory.path().join("link")).unwrap();
        let place = |root: PathBuf, below: &str| Place { root, below: below.into() };
        let below = place(directory.path().to_owned(), "link/file").open(1).await;
        assert!(matches!(below, Err(Error::NoDirectory { .. })));
        // The caller's own may be a link.
        let root = place(directory.path().join("link"), "file");
        root.open(1).await.unwrap().publish(false).await.unwrap();
        let mode = elsewhere.path().join("file").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o444, 0o444, "{mode:o}");
        // A file in the place of a link replaces the link, and not what it leads to.
        symlink(elsewhere.path().join("file"), directory.path().join("other")).unwrap();
        let other = place(directory.path().to_owned(), "other");
        assert!(matches!(other.open(0).await.unwrap().publish(false).await, Err(Error::FileExists)));
        other.open(0).await.unwrap().publish(true).await.unwrap();
        assert!(other.path().symlink_metadata().unwrap().is_file());
        assert_eq!(elsewhere.path().join("file").metadata().unwrap().len(), 1);
    }
}
