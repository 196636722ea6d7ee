//! What storage is made of: whether its files are better read one at a time, and in which order.

use super::ordered::{Taken, lock};
use std::fs::Metadata;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// The kind of storage that files are on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Storage {
    /// Whatever the system reports for each device.
    #[default]
    Auto,
    /// Storage without moving parts: many files are read at once.
    Ssd,
    /// Rotating disks: files that are not in memory are read one at a time. Each thousand or so are sorted by their
    /// places on the disk.
    Hdd,
}

/// The devices that files are on.
pub(super) struct Disks {
    storage: Storage,
    /// Those that were asked for, and whether they rotate.
    known: Mutex<Vec<(u64, bool)>>,
    /// For whoever reads from one that does.
    head: Mutex<()>,
}

impl Disks {
    pub(super) fn new(storage: Storage) -> Self {
        Disks { storage, known: Mutex::new(Vec::new()), head: Mutex::new(()) }
    }

    /// Whether a file is on a disk that rotates.
    pub(super) fn rotates(&self, file: &Metadata) -> bool {
        match self.storage {
            Storage::Ssd => false,
            Storage::Hdd => true,
            Storage::Auto => self.device_rotates(device(file)),
        }
    }

    fn device_rotates(&self, device: u64) -> bool {
        let mut known = lock(&self.known);
        if let Some((_, rotates)) = known.iter().find(|(other, _)| *other == device) {
            return *rotates;
        }
        let rotates = rotates(device);
        known.push((device, rotates));
        rotates
    }

    /// Waits until no other thread reads from a disk that rotates.
    pub(super) fn head(&self) -> MutexGuard<'_, ()> {
        lock(&self.head)
    }

    /// Whether the files from here on, of which this is the first, should be [sorted](Self::sort).
    pub(super) fn wants_order(&self, first: &Path) -> bool {
        match self.storage {
            Storage::Ssd => false,
            Storage::Hdd => true,
            Storage::Auto => std::fs::metadata(first).is_ok_and(|file| self.rotates(&file)),
        }
    }

    /// Puts files into the order of their places on the disk; what has none comes after, in the order that it had.
    pub(super) fn sort<T>(files: &mut [Taken<T>]) {
        files.sort_by_cached_key(|file| match &file.source {
            super::Source::Path(path) => place(path).unwrap_or(u64::MAX),
            _ => u64::MAX,
        });
    }
}

#[cfg(unix)]
fn device(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::dev(file)
}

#[cfg(not(unix))]
fn device(_: &Metadata) -> u64 {
    0
}

/// Whether a device rotates, as Linux says in sysfs.
#[cfg(target_os = "linux")]
fn rotates(device: u64) -> bool {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    // A link to the device, or to a partition in it. A file system on none, or on several, has a number without one.
    let Ok(device) = std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")) else { return false };
    let disk = if device.join("queue").is_dir() { &device } else { device.parent().unwrap_or(&device) };
    // virtio says that all its disks rotate, whatever the host has.
    let is_virtual = disk.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"vd"));
    !is_virtual && std::fs::read(disk.join("queue/rotational")).is_ok_and(|flag| flag.starts_with(b"1"))
}

#[cfg(not(target_os = "linux"))]
fn rotates(_: u64) -> bool {
    false
}

/// Where a regular file begins on its disk, in bytes.
#[cfg(target_os = "linux")]
fn place(path: &Path) -> Option<u64> {
    // Opening anything else may wait.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    fiemap::fiemap(path).ok()?.next()?.ok().map(|extent| extent.fe_physical)
}

#[cfg(not(target_os = "linux"))]
fn place(_: &Path) -> Option<u64> {
    None
}
