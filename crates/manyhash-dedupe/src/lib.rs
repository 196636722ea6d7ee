//! What Linux offers to whoever does away with duplicate files: to have equal bytes of two files share their blocks, and
//! to know whether anybody could be writing to a file.
//!
//! Both are system calls that no well-kept library offers to safe code without a C compiler's headers at build time.

use std::fs::File;
use std::io;

/// What came of [`share`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShareResult {
    /// So many bytes share their blocks now, fewer than were asked for if the file system takes no more in one call.
    Bytes(u64),
    /// The bytes are not equal, and nothing was changed.
    Differ,
}

/// Has the bytes of `to` share the blocks of those of `from`, `length` at `offset` in both, if they are equal
/// (`FIDEDUPERANGE`).
///
/// The system compares them, and no write comes between that and the sharing. Neither file's content, times,
/// permissions or other attributes change, and `to` need not be open for writing if the caller owns it.
///
/// # Errors
/// If the file system cannot: it shares no blocks, the files are on two, or the caller may not write to `to`.
#[cfg(target_os = "linux")]
pub fn share(from: &File, to: &File, offset: u64, length: u64) -> io::Result<ShareResult> {
    linux::share(from, to, offset, length)
}

/// Not on this system.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn share(_from: &File, _to: &File, _offset: u64, _length: u64) -> io::Result<ShareResult> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether the file is open for writing, by this process or any other, or mapped so; none if that cannot be known: the
/// caller neither owns it nor may do as if, or its file system has no leases.
///
/// A read lease is given only on a file that nobody has open for writing. It is given back at once. On network file
/// systems the answer is the server's, and may mean something else.
pub fn is_open_for_writing(file: &File) -> Option<bool> {
    #[cfg(target_os = "linux")]
    return linux::is_open_for_writing(file);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::ShareResult;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;

    /// `struct file_dedupe_range` of `linux/fs.h`, up to its array.
    #[repr(C)]
    struct Range {
        offset: u64,
        length: u64,
        destinations: u16,
        reserved: [u16; 3],
    }

    /// `struct file_dedupe_range_info`, an element of that array.
    #[repr(C)]
    struct Destination {
        descriptor: i64,
        offset: u64,
        shared: u64,
        status: i32,
        reserved: u32,
    }

    /// A request with one destination.
    #[repr(C)]
    struct Request {
        range: Range,
        destination: Destination,
    }

    /// The number tells the size of what stands before the array.
    const FIDEDUPERANGE: libc::Ioctl = libc::_IOWR::<Range>(0x94, 54);

    /// Of `asm-generic/fcntl.h`, as all processors that Rust knows have it.
    const F_SETSIG: libc::c_int = 10;

    pub(super) fn share(from: &File, to: &File, offset: u64, length: u64) -> io::Result<ShareResult> {
        let range = Range { offset, length, destinations: 1, reserved: [0; 3] };
        let descriptor = to.as_raw_fd().into();
        let destination = Destination { descriptor, offset, shared: 0, status: 0, reserved: 0 };
        let mut request = Request { range, destination };
        // SAFETY: the descriptor is open for as long as `from` is borrowed. The request is laid out as this ioctl has it,
        // and holds as many destinations as it says, so that the system reads and writes nothing else.
        let returned = unsafe { libc::ioctl(from.as_raw_fd(), FIDEDUPERANGE, &raw mut request) };
        if returned == -1 {
            return Err(io::Error::last_os_error());
        }
        // `FILE_DEDUPE_RANGE_SAME`, `FILE_DEDUPE_RANGE_DIFFERS`, or an error of this destination.
        match request.destination.status {
            0 => Ok(ShareResult::Bytes(request.destination.shared.min(length))),
            1 => Ok(ShareResult::Differ),
            status => Err(io::Error::from_raw_os_error(-status)),
        }
    }

    pub(super) fn is_open_for_writing(file: &File) -> Option<bool> {
        // Whoever opens the file while the lease is held has its holder told by a signal, which by default is SIGIO and
        // ends the process. SIGURG does nothing.
        control(file, F_SETSIG, libc::SIGURG).ok()?;
        match control(file, libc::F_SETLEASE, libc::F_RDLCK) {
            Ok(()) => {
                // A lease that is not given back ends when the file is closed.
                let _ = control(file, libc::F_SETLEASE, libc::F_UNLCK);
                Some(false)
            }
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Some(true),
            Err(_) => None,
        }
    }

    fn control(file: &File, command: libc::c_int, argument: libc::c_int) -> io::Result<()> {
        // SAFETY: the descriptor is open for as long as `file` is borrowed, and both commands take a number.
        let returned = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
        if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{is_open_for_writing, share};
    use std::fs::File;

    #[test]
    fn writers_are_seen() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        std::fs::write(&path, "x").expect("a file");
        let file = File::open(&path).expect("a file");
        let Some(open) = is_open_for_writing(&file) else {
            eprintln!("skipped: no leases on this file system");
            return;
        };
        assert!(!open);
        let writer = File::options().append(true).open(&path).expect("a file");
        assert_eq!(is_open_for_writing(&file), Some(true));
        drop(writer);
        assert_eq!(is_open_for_writing(&file), Some(false));
    }

    #[test]
    fn a_file_that_shares_no_blocks_is_an_error() {
        let [from, to] = ["/proc/version", "/dev/null"].map(|path| File::open(path).expect("a file"));
        assert!(share(&from, &to, 0, 1).is_err());
    }
}
