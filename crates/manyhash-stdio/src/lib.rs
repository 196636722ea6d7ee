//! Whether standard input and output were open when the program was started.
//!
//! Before `main`, Rust opens `/dev/null` in place of a standard descriptor that is not open, so that no other file comes to
//! stand there. From then on it cannot be told from a `/dev/null` that the program was given, such as Python's
//! `subprocess.DEVNULL`: both are open for reading and writing. But to take one that was closed for an empty file, or to
//! let it swallow what is written, would be to overlook an error that coreutils report. So it is looked at earlier, by a
//! function among the initialisers that the loader runs.

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

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

    // SAFETY: the section holds pointers to functions of C's calling convention, which the loader calls once, before main
    // and so before Rust's runtime. This one needs nothing of it: a system call, and a store to memory of its own.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        for (descriptor, closed) in (0..).zip(&CLOSED) {
            // SAFETY: a descriptor's flags are asked for, if there is one, and nothing is changed.
            let is_closed = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1;
            closed.store(is_closed, Ordering::Relaxed);
        }
    }
}
