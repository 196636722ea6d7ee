//! `manysum`, for the tests of `manyhash` beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    // SAFETY: the program has no other handler of SIGBUS and maps no file itself, and none of its threads blocks the signal.
    // If the system refuses, files are read.
    #[cfg(target_os = "linux")]
    let _ = unsafe { manyhash::file::SigbusGuard::install() };
    manysum::program::main()
}
