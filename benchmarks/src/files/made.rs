//! A tree on disk or in memory, for as long as it is measured.

use super::error::FilesError;
use super::tree::{Shape, Tree};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A tree that is there, and goes when this is dropped.
pub(crate) struct Made {
    pub(crate) shape: Shape,
    pub(crate) tree: Tree,
    directory: TempDir,
    since: Instant,
}

impl Made {
    /// Makes it, in a directory of its own within this one.
    pub(crate) fn new(shape: Shape, within: &Path) -> Result<Self, FilesError> {
        let tree = Tree::new(shape);
        let directory = tempfile::Builder::new().prefix("manyhash-bench-").tempdir_in(within);
        let directory = directory.map_err(FilesError::of(within))?;
        let made = Made { shape, tree, directory, since: Instant::now() };
        let root = made.root();
        fs::create_dir(&root).map_err(FilesError::of(&root))?;
        made.tree.write(&root)?;
        flush(&root)?;
        Ok(Made { since: Instant::now(), ..made })
    }

    /// The directory of the files.
    pub(crate) fn root(&self) -> PathBuf {
        self.beside("tree")
    }

    /// A place beside the files.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Waits until the files are this old.
    pub(crate) fn age(&self, age: Duration) {
        std::thread::sleep(age.saturating_sub(self.since.elapsed()));
    }
}

/// Where a tmpfs usually is.
const MEMORY: &str = "/dev/shm";

/// The directory of a tmpfs, if there is one.
pub(crate) fn memory_directory() -> Option<&'static Path> {
    Some(Path::new(MEMORY)).filter(|path| is_memory(path))
}

/// Whether this directory is in a tmpfs.
pub(crate) fn is_memory(path: &Path) -> bool {
    room(path).is_some()
}

/// The directory of a tmpfs that has room for twice the tree, so that the machine does not begin to swap.
pub(crate) fn memory(tree: &Tree) -> Option<&'static Path> {
    let path = Path::new(MEMORY);
    let (bytes, files) = room(path)?;
    (bytes >= 2 * tree.memory() && files >= 2 * tree.names().len() as u64).then_some(path)
}

/// Bytes and inodes that a tmpfs has free. The bytes are no more than the machine has.
#[cfg(target_os = "linux")]
fn room(path: &Path) -> Option<(u64, u64)> {
    use nix::sys::statfs::{TMPFS_MAGIC, statfs};
    let system = statfs(path).ok().filter(|system| system.filesystem_type() == TMPFS_MAGIC)?;
    let free = system.blocks_available() * u64::try_from(system.block_size()).ok()?;
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((free.min(1024 * available), system.files_free()))
}

/// Bytes and inodes that a tmpfs has free: there is none.
#[cfg(not(target_os = "linux"))]
fn room(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Has the file system write what it has to, which would otherwise happen while others are measured.
fn flush(root: &Path) -> Result<(), FilesError> {
    let directory = File::open(root).map_err(FilesError::of(root))?;
    #[cfg(target_os = "linux")]
    let outcome = nix::unistd::syncfs(&directory).map_err(std::io::Error::from);
    #[cfg(not(target_os = "linux"))]
    let outcome = directory.sync_all();
    outcome.map_err(FilesError::of(root))
}

#[cfg(test)]
mod tests {
    use super::{Made, memory};
    use crate::files::tree::{Shape, Tree};
    use std::fs;

    #[test]
    fn a_tree_goes_with_its_owner() {
        let within = tempfile::tempdir().unwrap();
        let shape = Shape::Equal { files: 6, length: 10, folder: 2 };
        let made = Made::new(shape, within.path()).unwrap();
        assert_eq!(fs::metadata(made.root().join("d2/f1")).unwrap().len(), 10);
        fs::write(made.beside("more"), "more").unwrap();
        drop(made);
        assert_eq!(fs::read_dir(within.path()).unwrap().count(), 0);
        let error = Made::new(shape, &within.path().join("none")).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("/none: "), "{error}");
    }

    #[test]
    fn no_memory_has_room_for_everything() {
        assert_eq!(memory(&Tree::new(Shape::Equal { files: 1, length: 1 << 60, folder: 1 })), None);
    }
}
