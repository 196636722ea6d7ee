//! Files that are there whole or not at all: written beside their place, and then renamed.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How the names begin and end of files that are not yet in their place.
pub(crate) const PREFIX: &str = ".manyhash-";
pub(crate) const SUFFIX: &str = ".tmp";

/// A file to be written.
pub(crate) struct WholeFile {
    path: PathBuf,
}

impl WholeFile {
    /// Looks whether it can be written. Nothing is left behind until it is.
    ///
    /// # Errors
    /// If it cannot: its directory takes no files, or something is there that is no regular file.
    pub(crate) fn check(path: &Path) -> io::Result<Self> {
        let path = match path.metadata() {
            Ok(there) if there.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => return Err(io::Error::other("not a regular file")),
            // Where a link leads, so that the link stays.
            Ok(_) => path.canonicalize()?,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        let file = WholeFile { path };
        file.temporary()?;
        Ok(file)
    }

    /// Its name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes it, in place of what was there.
    ///
    /// # Errors
    /// If that fails; what was there is there still.
    pub(crate) fn write(&self, mut content: impl Read) -> io::Result<()> {
        let mut file = self.temporary()?;
        io::copy(&mut content, &mut file)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// A file beside it, gone when it is dropped.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        if self.path.file_name().is_none() {
            return Err(ErrorKind::NotFound.into());
        }
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        // Opened as any new file: the process's mask takes away what others may not do.
        let create = |path: &Path| File::options().write(true).create_new(true).open(path);
        builder.make_in(directory.unwrap_or(Path::new(".")), create)
    }
}

#[cfg(test)]
mod tests {
    use super::WholeFile;
    use std::fs;

    #[test]
    fn a_file_is_replaced_whole() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        let names = || fs::read_dir(directory.path()).expect("a directory").count();
        let file = WholeFile::check(&path).expect("it can be written");
        assert_eq!(names(), 0);
        file.write(&b"first"[..]).expect("it is written");
        WholeFile::check(&path).and_then(|file| file.write(&b"again"[..])).expect("it is written");
        assert_eq!((fs::read(&path).expect("a file"), names()), (b"again".to_vec(), 1));
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        for path in [directory.path().to_owned(), directory.path().join("none/file"), "/".into(), "".into()] {
            assert!(WholeFile::check(&path).is_err(), "{path:?}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_link_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let [path, link] = ["file", "link"].map(|name| directory.path().join(name));
        fs::write(&path, "old").expect("a file");
        std::os::unix::fs::symlink("file", &link).expect("a link");
        WholeFile::check(&link).and_then(|file| file.write(&b"new"[..])).expect("it is written");
        assert_eq!((fs::read(&path).expect("a file"), link.is_symlink()), (b"new".to_vec(), true));
        assert!(WholeFile::check("/dev/null".as_ref()).is_err());
    }
}
