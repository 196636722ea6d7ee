//! The handler for `SIGBUS`.

use crate::windows;
use libc::{c_int, c_void, sigaction, siginfo_t};
use std::sync::OnceLock;
use std::{io, mem, ptr};

/// Proof that the handler is installed. It stays installed until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Guard(());

/// What the handler needs and must not ask the system for: `sysconf` is not async-signal-safe.
struct Known {
    /// What was installed before the handler.
    previous: sigaction,
    /// Bytes in a page.
    page: usize,
}

/// Set once, before the handler is installed.
static KNOWN: OnceLock<Known> = OnceLock::new();

/// Whether the handler is installed, or the system's error.
static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();

impl Guard {
    /// Installs the handler, once per process: later calls return the outcome of the first.
    ///
    /// # Safety
    /// The caller guarantees for the whole process:
    /// - No other code replaces the handler of `SIGBUS` later, unless the replacement passes on what it does not
    ///   handle.
    /// - No thread that reads a window blocks the signal. The system would kill the process.
    /// - The process has no writable mapping of a file with windows. System calls of this and other processes may write
    ///   to, truncate and delete files: [`Window::bytes`](crate::Window::bytes) has the consequences.
    ///
    /// # Errors
    /// Returns the system's error if the handler cannot be installed.
    pub unsafe fn install() -> io::Result<Self> {
        // The first of several callers installs it: a second would take the first one's handler for the previous one.
        let installed = INSTALLED.get_or_init(|| install().map_err(|error| error.raw_os_error().unwrap_or_default()));
        (*installed).map_err(io::Error::from_raw_os_error)?;
        Ok(Guard(()))
    }

    /// Returns the proof, if [`install`](Self::install) was called before and did not fail.
    pub fn installed() -> Option<Self> {
        matches!(INSTALLED.get(), Some(Ok(()))).then_some(Guard(()))
    }
}

fn install() -> io::Result<()> {
    // SAFETY: the size of a page is a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let page = usize::try_from(page).ok().filter(|page| page.is_power_of_two());
    let page = page.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: all fields of a sigaction may be zero.
    let mut previous: sigaction = unsafe { mem::zeroed() };
    // SAFETY: no action is set, and `previous` is one to write to.
    if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut previous) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let _ = KNOWN.set(Known { previous, page });

    // SAFETY: as above.
    let mut action: sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    // On the alternate signal stack if the thread has one: the previous handler may be the standard library's, which
    // reports stack overflows.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler has the signature that SA_SIGINFO asks for, and does only what a handler may: atomic loads and
    // stores, and the system calls `mmap`, `sigaction` and `raise`.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands over a description of the signal.
    let code = unsafe { (*info).si_code };
    // SAFETY: each thread has its own errno, which the interrupted code may be about to read.
    let errno = unsafe { *libc::__errno_location() };
    // Otherwise a process sent it, or the system found memory broken that may be any thread's (BUS_MCEERR_AO): what is at
    // that address may have been unmapped since, and something else mapped.
    let is_fault = code > 0 && code != libc::BUS_MCEERR_AO;
    // SAFETY: of a fault it has the address.
    let address = unsafe { (*info).si_addr() }.addr();
    if !(is_fault && KNOWN.get().is_some_and(|known| windows::replace_lost_pages(address, known.page))) {
        pass_on(signal, info, context, is_fault);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Does what would have been done without this handler.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void, is_fault: bool) {
    let previous = KNOWN.get().map(|known| &known.previous);
    match previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction) {
        // An instruction that faults would fault again.
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all fields of a sigaction may be zero: the default action, which ends the process when the
            // interrupted instruction is run again; or when the signal is raised again below, after this handler.
            unsafe {
                let default: sigaction = mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
                if !is_fault {
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
