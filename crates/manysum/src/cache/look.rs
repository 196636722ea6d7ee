//! What the system says of many files.

use super::Stamp;
#[cfg(target_os = "linux")]
use std::ffi::OsStr;
use std::path::Path;

/// Looks at files one after another: those of one directory by their names in it, which takes a third less than by their
/// whole paths.
#[derive(Default)]
pub struct Look {
    /// The directory of the last file, and how it was named.
    #[cfg(target_os = "linux")]
    directory: Option<(std::path::PathBuf, rustix::fd::OwnedFd)>,
}

impl Look {
    /// The stamp of a regular file, if it has one; of a symbolic link there is none.
    #[cfg(target_os = "linux")]
    pub fn at(&mut self, path: &Path) -> Option<Stamp> {
        use rustix::fs::{AtFlags, Mode, OFlags};
        use std::os::unix::ffi::OsStrExt;
        // By bytes: to take a path apart takes as long as what is gained. What ends in a slash is no file.
        let path = path.as_os_str().as_bytes();
        let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let (parent, name) = (Path::new(OsStr::from_bytes(&path[..end])), &path[end..]);
        if self.directory.as_ref().is_none_or(|(last, _)| last.as_os_str() != parent.as_os_str()) {
            let named = if end == 0 { Path::new(".") } else { parent };
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let directory = rustix::fs::open(named, flags, Mode::empty()).ok()?;
            self.directory = Some((parent.to_owned(), directory));
        }
        let (_, directory) = self.directory.as_ref()?;
        Stamp::of_stat(&rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?)
    }

    /// The stamp of a regular file, if it has one; of a symbolic link there is none.
    #[cfg(not(target_os = "linux"))]
    pub fn at(&mut self, path: &Path) -> Option<Stamp> {
        Stamp::of(&path.symlink_metadata().ok()?)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn as_by_the_whole_path() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("b")).expect("a directory");
        for name in ["a", "b/a", "c"] {
            fs::write(path(name), name).expect("a file");
        }
        std::os::unix::fs::symlink("a", path("link")).expect("a link");
        let mut look = Look::default();
        for name in ["a", "b/a", "b/none", "c", "link", "b", "none/a", "a"] {
            let due = path(name).symlink_metadata().ok().and_then(|metadata| Stamp::of(&metadata));
            assert_eq!(look.at(&path(name)), due, "{name}");
        }
    }
}
