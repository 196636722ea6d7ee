//! How files are read.

use manyhash::Function;
use manyhash::file::Files;

/// Files, hashed with these functions on so many threads (0 is one a core), and mapped where that is possible: the
/// programs have no other use for `SIGBUS`.
pub(crate) fn files(functions: &[Function], threads: usize) -> Files<'_> {
    let files = Files::new(functions).threads(threads);
    #[cfg(target_os = "linux")]
    if let Ok(guard) = manyhash::file::Guard::install() {
        return files.map(guard);
    }
    files
}
