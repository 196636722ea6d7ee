//! What the programs were started with, as far as Rust's runtime covers it up before `main`.
//!
//! - Rust opens `/dev/null` in place of a standard descriptor that is not open, so that no other file comes to stand there.
//!   From then on it cannot be told from a `/dev/null` that the program was given, such as Python's `subprocess.DEVNULL`:
//!   both are open for reading and writing. But to take one that was closed for an empty file, or to let it swallow what
//!   is written, would be to overlook an error that coreutils report.
//! - Rust has `SIGPIPE` ignored, so that a write to a pipe that nobody reads is an error. But a shell, and whoever else
//!   waits for the program, should see that it ended by the signal, as others do, unless it was started with it ignored.
//!
//! So both are looked at earlier, by a function among the initialisers that the loader runs.

#[cfg(target_os = "linux")]
mod linux;

/// A standard descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standard {
    /// Standard input, 0.
    Input,
    /// Standard output, 1.
    Output,
}

impl Standard {
    /// Whether it was closed when the program was started; never on systems other than Linux.
    pub fn was_closed(self) -> bool {
        #[cfg(target_os = "linux")]
        return linux::CLOSED[self as usize].load(std::sync::atomic::Ordering::Relaxed);
        #[cfg(not(target_os = "linux"))]
        false
    }
}

/// Ends the program by `SIGPIPE`. Returns if that is not to be: where there is no such signal, and where the program was
/// started with it ignored, as far as that is known: on Linux.
pub fn end_by_sigpipe() {
    #[cfg(unix)]
    {
        #[cfg(target_os = "linux")]
        if linux::IGNORES_SIGPIPE.load(std::sync::atomic::Ordering::Relaxed) {
            return;
        }
        // SAFETY: the signal gets the system's own action, and is then sent to this thread; no memory is involved.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::raise(libc::SIGPIPE);
        }
    }
}
