//! The backend in use, chosen once a process.

use manyhash_core::Backend;
use std::sync::OnceLock;

/// The environment variable that forces a backend: `portable`, `sse2`, `avx2` or `avx512`.
pub const BACKEND_VARIABLE: &str = "MANYHASH_BACKEND";

/// The backend in use: the one that the environment variable [`BACKEND_VARIABLE`] names, or the best that the CPU has.
///
/// A program that wants a wrong variable as an error calls this first: nothing else of this library can return one, and
/// hashing with another backend than was asked for would be worse, so everything else panics.
///
/// # Errors
/// If the variable names no backend, or one that this CPU does not support.
pub fn backend() -> Result<Backend, BackendError> {
    static BACKEND: OnceLock<Result<Backend, BackendError>> = OnceLock::new();
    BACKEND.get_or_init(choose).clone()
}

fn choose() -> Result<Backend, BackendError> {
    let Some(name) = std::env::var_os(BACKEND_VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(Backend::detect());
    };
    let name = name.to_string_lossy().into_owned();
    Backend::named(&name).map_err(|source| BackendError { name, source })
}

/// The backend, where there is no way to return an error.
pub(crate) fn in_use() -> Backend {
    backend().unwrap_or_else(|error| panic!("{error}"))
}

/// [`BACKEND_VARIABLE`] does not name a backend of this CPU.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{BACKEND_VARIABLE}={name}: {source}")]
pub struct BackendError {
    name: String,
    source: manyhash_core::BackendError,
}
