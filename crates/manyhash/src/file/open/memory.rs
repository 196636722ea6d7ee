//! What of a file is in memory.

use std::fs::{File, Metadata};
use std::io::{self, Read};

#[cfg(target_os = "linux")]
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// Reads what is in memory already; [`io::ErrorKind::WouldBlock`] if nothing is, or that cannot be told.
#[cfg(target_os = "linux")]
pub(super) fn read(file: &File, buffer: &mut [u8], metadata: &Metadata) -> io::Result<usize> {
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::{AtomicU64, Ordering};
    /// Devices of file systems that last were found out about, to be spared the question: one that cannot tell, such as
    /// overlayfs, and one that does not because it has nothing but memory.
    static UNABLE: AtomicU64 = AtomicU64::new(u64::MAX);
    static TMPFS: AtomicU64 = AtomicU64::new(u64::MAX);
    /// The kind of the latter (`include/uapi/linux/magic.h`).
    const TMPFS_MAGIC: i128 = 0x0102_1994;

    let device = metadata.dev();
    let mut file = file;
    if TMPFS.load(Ordering::Relaxed) == device {
        return retry(|| file.read(buffer));
    }
    if UNABLE.load(Ordering::Relaxed) == device {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    // This offset is the one where the file is.
    match preadv2(file, &mut [io::IoSliceMut::new(buffer)], u64::MAX, ReadWriteFlags::NOWAIT) {
        Ok(read) => Ok(read),
        Err(Errno::AGAIN) => Err(io::ErrorKind::WouldBlock.into()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let is_tmpfs = rustix::fs::fstatfs(file).is_ok_and(|system| i128::from(system.f_type) == TMPFS_MAGIC);
            if is_tmpfs { &TMPFS } else { &UNABLE }.store(device, Ordering::Relaxed);
            Err(io::ErrorKind::WouldBlock.into())
        }
        // Reading gives it too, or goes on after an interruption.
        Err(_) => retry(|| file.read(buffer)),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: &File, _: &mut [u8], _: &Metadata) -> io::Result<usize> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Whether the byte at an offset is not in memory.
#[cfg(all(feature = "map", target_os = "linux"))]
pub(super) fn is_cold_at(file: &File, offset: u64) -> bool {
    let mut byte = [0];
    let read = preadv2(file, &mut [io::IoSliceMut::new(&mut byte)], offset, ReadWriteFlags::NOWAIT);
    read == Err(Errno::AGAIN)
}

/// Does it again if a signal came in between.
pub(super) fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Asks for bytes that will be read. If the system does nothing about it, they are read all the same.
#[cfg(target_os = "linux")]
pub(super) fn ask(file: &File, offset: u64, length: u64) {
    let _ = rustix::fs::fadvise(file, offset, std::num::NonZeroU64::new(length), rustix::fs::Advice::WillNeed);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn ask(_: &File, _: u64, _: u64) {}
