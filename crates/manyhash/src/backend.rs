//! The backend in use, chosen once a process.

use manyhash_core::Backend;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable that forces a backend: `portable`; on x86-64 `sse2`, `avx2`, `avx512`; on Arm `neon`,
/// `sve2`.
pub const BACKEND_VARIABLE: &str = "MANYHASH_BACKEND";

/// The backend in use: the one that the environment variable [`BACKEND_VARIABLE`] names, or the best that the CPU has. It
/// is chosen at the first call, and stays the same for the life of the process.
///
/// A program that wants a wrong variable as an error calls this first, and refuses to go on. Nothing else of this library
/// but [`Builder::build`](crate::engine::Builder::build) can return that error. Every other function then uses the best
/// backend that the CPU has, after a warning on standard error, once a process: digests are the same with every backend, and a
/// server that hashes at the wrong speed is better than one that ends.
///
/// # Errors
/// If the variable names no backend, or one that this CPU does not support.
pub fn backend() -> Result<Backend, BackendVariableError> {
    static BACKEND: OnceLock<Result<Backend, BackendVariableError>> = OnceLock::new();
    BACKEND.get_or_init(choose).clone()
}

fn choose() -> Result<Backend, BackendVariableError> {
    let Some(name) = std::env::var_os(BACKEND_VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(Backend::detect());
    };
    let name = name.to_string_lossy().into_owned();
    Backend::named(&name).map_err(|source| BackendVariableError { name, source })
}

/// The backend, where there is no way to return an error.
pub(crate) fn in_use() -> Backend {
    static WARNED: AtomicBool = AtomicBool::new(false);
    backend().unwrap_or_else(|error| {
        let best = Backend::detect();
        if !WARNED.swap(true, Ordering::Relaxed) {
            // Where standard error is closed, there is nobody to tell.
            let _ = writeln!(io::stderr(), "manyhash: {error}; using {best}");
        }
        best
    })
}

/// [`BACKEND_VARIABLE`] does not name a backend of this CPU.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{BACKEND_VARIABLE}={name}: {source}")]
pub struct BackendVariableError {
    name: String,
    source: manyhash_core::BackendError,
}
