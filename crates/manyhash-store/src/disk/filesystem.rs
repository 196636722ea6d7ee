//! The system's own files.

use super::{Access, Disk, DiskFile};
use std::any::Any;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The system's file systems.
#[derive(Clone, Copy, Debug)]
pub struct Filesystem;

/// A file, with the name it has while it is to have none.
#[derive(Debug)]
struct Named {
    file: File,
    temporary: Mutex<Option<PathBuf>>,
    /// Whether it was found to be on a file system in memory.
    is_in_memory: AtomicBool,
}

impl Named {
    fn boxed(file: File, temporary: Option<PathBuf>) -> Box<dyn DiskFile> {
        Box::new(Named { file, temporary: Mutex::new(temporary), is_in_memory: AtomicBool::new(false) })
    }
}

impl Disk for Filesystem {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let (write, create) = (access != Access::Read, access == Access::Create);
        Ok(Named::boxed(OpenOptions::new().read(true).write(write).create_new(create).open(path)?, None))
    }

    fn create_unnamed(&self, directory: &Path) -> io::Result<Box<dyn DiskFile>> {
        match open_unnamed(directory) {
            Ok(file) => Ok(Named::boxed(file, None)),
            // What file systems that have no unnamed files answer, and kernels that do not know of them.
            Err(error) if is_unsupported(&error) => create_temporary(directory),
            Err(error) => Err(error),
        }
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        let space = rustix::fs::statvfs(path)?;
        Ok(space.f_bavail.saturating_mul(space.f_frsize))
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl DiskFile for Named {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn read_cached_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.is_in_memory.load(Ordering::Relaxed) {
            return self.file.read_at(buffer, offset);
        }
        match read_cached_at(&self.file, buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported && is_in_memory(&self.file)? => {
                self.is_in_memory.store(true, Ordering::Relaxed);
                self.file.read_at(buffer, offset)
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Err(io::ErrorKind::WouldBlock.into()),
            result => result,
        }
    }

    fn write_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        write_at(&self.file, slices, offset)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn link(&self, path: &Path) -> io::Result<()> {
        let mut temporary = self.temporary.lock().unwrap_or_else(|poison| poison.into_inner());
        match &*temporary {
            Some(name) => fs::rename(name, path)?,
            None => link_unnamed(&self.file, path)?,
        }
        *temporary = None;
        Ok(())
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let temporary = self.temporary.get_mut().unwrap_or_else(|poison| poison.into_inner());
        if let Some(name) = temporary {
            // What stays is removed when the store is opened again.
            let _ = fs::remove_file(name);
        }
    }
}

/// Creates a file with a name that nobody else uses.
fn create_temporary(directory: &Path) -> io::Result<Box<dyn DiskFile>> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("{}-{next}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Ok(Named::boxed(file, Some(path))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let unsupported = [Errno::OPNOTSUPP, Errno::ISDIR, Errno::INVAL, Errno::NOSYS].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| unsupported.contains(&code)) || error.kind() == io::ErrorKind::Unsupported
}

#[cfg(target_os = "linux")]
fn open_unnamed(directory: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666))?.into())
}

#[cfg(not(target_os = "linux"))]
fn open_unnamed(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn link_unnamed(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    // open(2) names this way: the one by the descriptor alone is the administrator's on older kernels.
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn read_cached_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    use rustix::io::{ReadWriteFlags, preadv2};
    Ok(preadv2(file, &mut [io::IoSliceMut::new(buffer)], offset, ReadWriteFlags::NOWAIT)?)
}

#[cfg(not(target_os = "linux"))]
fn read_cached_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether a file is on one of Linux's file systems in memory, which do not say whether a read would wait.
#[cfg(target_os = "linux")]
fn is_in_memory(file: &File) -> io::Result<bool> {
    /// statfs(2).
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    Ok(u64::try_from(rustix::fs::fstatfs(file)?.f_type) == Ok(TMPFS_MAGIC))
}

#[cfg(not(target_os = "linux"))]
fn is_in_memory(_: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(target_os = "linux")]
fn write_at(file: &File, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    /// How many slices Linux takes.
    const IOV_MAX: usize = 1024;
    Ok(rustix::io::pwritev(file, slices.get(..IOV_MAX).unwrap_or(slices), offset)?)
}

#[cfg(not(target_os = "linux"))]
fn write_at(file: &File, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    let first = slices.iter().find(|slice| !slice.is_empty());
    first.map_or(Ok(0), |slice| file.write_at(slice, offset))
}
