//! The backend in use, chosen once per process.

use manyhash_core::Backend;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable that forces a backend: `portable`; on x86-64 `sse2`, `avx2`, `avx512`; on Arm `neon`,
/// `sve2`.
pub const BACKEND_VARIABLE: &str = "MANYHASH_BACKEND";

/// Returns the backend in use: the one named by the environment variable [`BACKEND_VARIABLE`], or the best that the CPU
/// supports. It is chosen at the first call, and stays the same for the life of the process.
///
/// A program that treats an invalid variable as an error calls this first. Only this function and
/// [`Builder::build`](crate::engine::Builder::build) return that error. Every other function writes a warning to
/// standard error, once per process, and uses the best backend that the CPU supports: every backend computes the same
/// digests, and a server at the wrong speed is better than one that stops.
///
/// # Errors
/// Returns an error if the variable names no backend, or one that this CPU does not support.
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
            // If standard error is closed, the warning is lost.
            let _ = writeln!(io::stderr(), "manyhash: {error}; using {best}");
        }
        best
    })
}

/// The environment variable [`BACKEND_VARIABLE`] does not name a backend that this CPU supports.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{BACKEND_VARIABLE}={name}: {source}")]
pub struct BackendVariableError {
    name: String,
    source: manyhash_core::BackendError,
}
