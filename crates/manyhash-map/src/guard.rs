//! The handler of `SIGBUS`.

use crate::windows;
use libc::{c_int, c_void, sigaction, siginfo_t};
use std::sync::OnceLock;
use std::{io, mem, ptr};

/// The proof that the handler is in place, which stays for the rest of the process.
///
/// It is of no use to threads that block `SIGBUS`, whose process the system ends then, and if a handler that is put in its
/// place later does not pass signals on to it.
#[derive(Clone, Copy, Debug)]
pub struct Guard(());

/// What was there before the handler.
static PREVIOUS: OnceLock<sigaction> = OnceLock::new();

impl Guard {
    /// Puts the handler in place, if it is not yet. Signals that have nothing to do with windows go to the handler
    /// that was there before.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn install() -> io::Result<Self> {
        // Several at once would take each other's handler for the previous one.
        static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
        let installed = INSTALLED.get_or_init(|| install().map_err(|error| error.raw_os_error().unwrap_or_default()));
        (*installed).map_err(io::Error::from_raw_os_error)?;
        Ok(Guard(()))
    }
}

fn install() -> io::Result<()> {
    // SAFETY: all fields of a sigaction may be zero.
    let mut previous: sigaction = unsafe { mem::zeroed() };
    // SAFETY: no action is set, and `previous` is one to write to.
    if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut previous) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // Before the handler can run, which reads it.
    let _ = PREVIOUS.set(previous);

    // SAFETY: as above.
    let mut action: sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    // On the stack for signals where the thread has one, as the previous handler may be that of the standard library,
    // which tells stack overflows.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler has the signature that SA_SIGINFO asks for, and does only what is allowed in one: atomic
    // loads and stores, and system calls.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands over a description of the signal.
    let was_sent = unsafe { (*info).si_code } <= 0;
    // SAFETY: of a SIGBUS that nobody sent it has an address. Of one that was sent it says by whom, at the same place.
    let address = unsafe { (*info).si_addr() } as usize;
    // SAFETY: each thread has its own errno, which what was interrupted may be about to read.
    let errno = unsafe { *libc::__errno_location() };
    if was_sent || !windows::replace_lost_pages(address) {
        pass_on(signal, info, context, was_sent);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Leaves the signal to whatever would have had it.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void, was_sent: bool) {
    let previous = PREVIOUS.get();
    match previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction) {
        // What an instruction raises cannot be ignored.
        libc::SIG_IGN if was_sent => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all fields of a sigaction may be zero: the default action, which ends the process when the
            // interrupted instruction is run again; or when the signal that was sent comes again, after this handler.
            unsafe {
                let default: sigaction = mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
                if was_sent {
                    libc::raise(signal);
                }
            }
        }
        handler if previous.is_some_and(|previous| previous.sa_flags & libc::SA_SIGINFO != 0) => {
            // SAFETY: it was installed as a handler of this signature.
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = unsafe { mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: it was installed as a handler of this signature.
            let handler: extern "C" fn(c_int) = unsafe { mem::transmute(handler) };
            handler(signal);
        }
    }
}
