//! Hash many messages at once, at the speed the machine has.
#![forbid(unsafe_code)]

mod batch;
mod digest;
pub mod file;
mod stream;

pub use batch::{Batch, OutputLength, digest, digest_many, digest_many_into};
pub use digest::{Digest, DigestEncoding};
pub use manyhash_core::{Algorithm, UnknownAlgorithm};
pub use stream::{Stream, UpdateManyError, update_many};

/// The environment variable that forces a backend.
pub const BACKEND_VARIABLE: &str = "MANYHASH_BACKEND";

/// The backend in use: the best that the CPU has, or the one that the environment variable [`BACKEND_VARIABLE`] names.
///
/// # Errors
/// If the variable names no backend, or one that this CPU does not support.
pub fn backend() -> Result<Backend, BackendError> {
    static BACKEND: std::sync::OnceLock<Result<Backend, BackendError>> = std::sync::OnceLock::new();
    BACKEND.get_or_init(choose_backend).clone()
}

pub use manyhash_core::Backend;

fn choose_backend() -> Result<Backend, BackendError> {
    let Some(name) = std::env::var_os(BACKEND_VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(Backend::detect());
    };
    let name = name.to_string_lossy().into_owned();
    Backend::named(&name).map_err(|source| BackendError { name, source })
}

/// [`BACKEND_VARIABLE`] does not name a backend of this CPU.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{BACKEND_VARIABLE}={name}: {source}")]
pub struct BackendError {
    name: String,
    source: manyhash_core::BackendError,
}
