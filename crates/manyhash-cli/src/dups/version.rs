//! Files as they were at one moment, by which a change is seen.

use super::scan::{Identity, identity};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// A version of a file: its content is another one only if this is too, but for what is written through a mapping.
///
/// The modification time can be put back by whoever changes a file; the change time, which Unix systems keep, cannot.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) identity: Identity,
    pub(super) size: u64,
    modified: Option<SystemTime>,
    changed: (i64, i64),
}

impl Version {
    /// What is at this path, which must be a regular file.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        Self::of(path, &fs::symlink_metadata(path)?)
    }

    fn of(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        if metadata.is_symlink() {
            return Err(io::Error::other("symbolic link skipped; name the file itself"));
        }
        if !metadata.is_file() {
            return Err(changed());
        }
        Ok(Version {
            identity: identity(path, metadata),
            size: metadata.len(),
            modified: metadata.modified().ok(),
            changed: change_time(metadata),
        })
    }
}

#[cfg(unix)]
fn change_time(metadata: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn change_time(_metadata: &Metadata) -> (i64, i64) {
    (0, 0)
}

/// A regular file that is open, and what it was when it was opened.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) version: Version,
}

impl Opened {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true);
        // What is there by now may be no file any more: to open a pipe may wait for ever, and a link leads elsewhere.
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            use std::os::unix::fs::OpenOptionsExt;
            options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        }
        let file = options.open(path)?;
        let version = Version::of(path, &file.metadata()?)?;
        Ok(Opened { file, version })
    }

    /// Whether it is as it was, and the path leads to it.
    pub(super) fn is_still(&self, path: &Path) -> io::Result<bool> {
        Ok(Version::at(path)? == self.version && Version::of(path, &self.file.metadata()?)? == self.version)
    }

    /// Whether any program could be writing to it, as far as the system tells.
    ///
    /// A page that is mapped and was written to before may be written to again without a trace in the file's times, so
    /// that only this tells.
    pub(super) fn has_writers(&self) -> bool {
        !is_remote(&self.file) && manyhash_dedupe::is_open_for_writing(&self.file) == Some(true)
    }
}

/// Whether leases are a server's to give: it refuses them for reasons of its own.
#[cfg(target_os = "linux")]
fn is_remote(file: &File) -> bool {
    /// NFS, CIFS and SMB 2, as `statfs(2)` has them.
    const KINDS: [u32; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];
    rustix::fs::fstatfs(file).is_ok_and(|there| KINDS.contains(&(there.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_file: &File) -> bool {
    false
}

/// That something else is there than what was hashed.
pub(super) fn changed() -> io::Error {
    io::Error::other("changed since it was hashed; skipped")
}
