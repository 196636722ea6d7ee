//! The look before Rust's runtime.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether descriptors 0 and 1 were closed.
pub(super) static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// Whether the program was started with the signal ignored.
pub(super) static IGNORES_SIGPIPE: AtomicBool = AtomicBool::new(false);

// SAFETY: the section holds pointers to functions of C's calling convention, which the loader calls once, before main
// and so before Rust's runtime. This one needs nothing of it: system calls, and stores to memory of its own.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    for (descriptor, closed) in (0..).zip(&CLOSED) {
        // SAFETY: a descriptor's flags are asked for, if there is one, and nothing is changed.
        let is_closed = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1;
        closed.store(is_closed, Ordering::Relaxed);
    }
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: with no new action the system only writes the one that there is, which there is room for.
    let asked = unsafe { libc::sigaction(libc::SIGPIPE, ptr::null(), action.as_mut_ptr()) };
    if asked == 0 {
        // SAFETY: the call that returned 0 has written it.
        let action = unsafe { action.assume_init() };
        IGNORES_SIGPIPE.store(action.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
    }
}
