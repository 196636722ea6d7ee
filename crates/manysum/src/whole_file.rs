//! Files that are there whole or not at all: written beside their place, and then renamed.
//!
//! A file that takes the place of another keeps its owner, group, mode and extended attributes, as far as the system
//! lets it ([`attributes`]). Other hard links of the old file keep the old content: to write through them would leave
//! none of it whole if the program is stopped midway, and spoil the copies that snapshots are made of.
//!
//! What is no regular file (a pipe, a terminal, `/dev/null`) and what the program has open (`/dev/stdout`) cannot be
//! replaced: it is written to.

#[cfg(unix)]
mod attributes;
#[cfg(unix)]
mod opened;

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How the name begins of a file that is not yet in its place.
pub const PREFIX: &str = ".manyhash-";
/// How it ends.
pub const SUFFIX: &str = ".tmp";

/// A file to be written.
pub struct WholeFile {
    path: PathBuf,
    place: Place,
}

/// What is done with what is at its path.
enum Place {
    /// The file takes its place.
    Replaced,
    /// It is written to.
    Open(File),
}

impl WholeFile {
    /// Looks whether it can be written. Nothing is left behind until it is; but a pipe is opened, and its reader waited
    /// for.
    ///
    /// # Errors
    /// If it cannot: it is a directory, or its directory takes no files.
    pub fn check(path: &Path) -> io::Result<Self> {
        let there = match path.metadata() {
            Ok(there) if there.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(there) => Some(there),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(there) = &there
            && let Some(file) = opened(path, there)?
        {
            return Ok(WholeFile { path: path.to_owned(), place: Place::Open(file) });
        }
        // Where a link leads, so that the link stays.
        let path = if there.is_some() { path.canonicalize()? } else { path.to_owned() };
        let file = WholeFile { path, place: Place::Replaced };
        file.temporary(false)?;
        Ok(file)
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it takes the place of what is there.
    pub fn replaces(&self) -> bool {
        matches!(self.place, Place::Replaced)
    }

    /// Writes it, in place of what was there if that was a file.
    ///
    /// # Errors
    /// If that fails; a file that was there is there still.
    pub fn write(&self, mut content: impl Read) -> io::Result<()> {
        if let Place::Open(file) = &self.place {
            let mut file: &File = file;
            return io::copy(&mut content, &mut file).map(drop);
        }
        let old = self.path.metadata().ok();
        let mut file = self.temporary(old.is_some())?;
        io::copy(&mut content, &mut file)?;
        #[cfg(unix)]
        if let Some(old) = old {
            attributes::keep(&self.path, &old, file.as_file())?;
        }
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// A file beside it, gone when it is dropped; of nobody else's as long as it has not the permissions of the old one,
    /// if there is one.
    fn temporary(&self, is_private: bool) -> io::Result<NamedTempFile> {
        if self.path.file_name().is_none() {
            return Err(ErrorKind::NotFound.into());
        }
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        // A new file is opened as any other: the process's mask takes away what others may not do.
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_private { 0o600 } else { 0o666 });
        #[cfg(not(unix))]
        let _ = is_private;
        builder.make_in(directory.unwrap_or(Path::new(".")), |path| options.open(path))
    }
}

#[cfg(unix)]
use opened::opened;

#[cfg(not(unix))]
fn opened(path: &Path, there: &std::fs::Metadata) -> io::Result<Option<File>> {
    if there.is_file() { Ok(None) } else { File::options().write(true).open(path).map(Some) }
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
    }

    #[test]
    #[cfg(unix)]
    fn other_links_keep_what_was_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let [path, link] = ["file", "link"].map(|name| directory.path().join(name));
        fs::write(&path, "old").expect("a file");
        fs::hard_link(&path, &link).expect("a link");
        WholeFile::check(&path).and_then(|file| file.write(&b"new"[..])).expect("it is written");
        assert_eq!([path, link].map(|path| fs::read(path).expect("a file")), [b"new", b"old"]);
    }

    #[test]
    #[cfg(unix)]
    fn devices_are_written_to() {
        use std::os::unix::fs::FileTypeExt;
        WholeFile::check("/dev/null".as_ref()).and_then(|file| file.write(&b"new"[..])).expect("it is written");
        assert!(fs::metadata("/dev/null").expect("a device").file_type().is_char_device());
    }
}
