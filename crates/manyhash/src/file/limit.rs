//! How many files may be open, and what to do when more may not.
//!
//! A process may have 1024 files open, or 256, unless somebody has raised that: fewer than many cores would have in hand.
//! Half of them are left to the rest of the process, and if that takes more, a worker waits for those of the others.

use super::Shared;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files that may be in hand at once.
pub(super) fn files_in_hand() -> usize {
    #[cfg(unix)]
    if let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        return usize::try_from(limit / 2).unwrap_or(usize::MAX);
    }
    usize::MAX
}

/// Whether a file could not be opened because too many are open.
#[cfg(unix)]
pub(super) fn is_too_many(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(not(unix))]
pub(super) fn is_too_many(_: &io::Error) -> bool {
    false
}

/// Files that the workers have open.
#[derive(Debug, Default)]
pub(super) struct Opened {
    now: AtomicUsize,
    /// Those that were closed so far.
    closed: AtomicUsize,
}

impl<T> Shared<'_, '_, T> {
    /// Opens something, which is counted until it is [closed](Self::closed). If too many are open already, it waits until
    /// another worker has closed one; with some in hand itself, it does not wait.
    pub(super) fn open<O>(&self, has_some: bool, mut open: impl FnMut() -> io::Result<O>) -> io::Result<O> {
        let Opened { now, closed } = &self.opened;
        loop {
            let before = closed.load(Ordering::SeqCst);
            // Counted before it is open, so that nobody takes it for one of the rest of the process.
            now.fetch_add(1, Ordering::SeqCst);
            let opened = open();
            let Err(error) = opened else { return opened };
            now.fetch_sub(1, Ordering::SeqCst);
            let has_closed = || closed.load(Ordering::SeqCst) != before;
            // With none open, and none closed since this one was tried, it is the rest of the process that has too many.
            let may_wait = is_too_many(&error) && !has_some;
            if !may_wait
                || !self.ordered.wait_until(|_| has_closed() || now.load(Ordering::SeqCst) == 0)
                || !has_closed()
            {
                return Err(error);
            }
        }
    }

    /// So many are closed. Their results are given after this, of which those who wait are told.
    pub(super) fn closed(&self, files: usize) {
        self.opened.closed.fetch_add(files, Ordering::SeqCst);
        self.opened.now.fetch_sub(files, Ordering::SeqCst);
    }
}
