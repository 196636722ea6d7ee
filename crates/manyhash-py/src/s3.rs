//! The module behind `manyhash.s3`: what S3 says of objects, computed of files and compared with what is in buckets.
//!
//! Requests are sent by a client of boto3, which blocks. They are made by threads of Python's own, so that the interpreter
//! waits for them when it ends, and no thread of Rust's ever runs Python ([`desk`]).

mod answer;
mod bell;
mod body;
mod client;
mod desk;
mod files;
mod outcomes;
mod refusal;

pub(crate) use desk::Job;
pub(crate) use outcomes::Outcomes;

use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where Python finds it: no attribute of the extension module, which gives all that it has to the package.
const NAME: &str = "manyhash._s3";

/// Adds the module to those that are imported already.
pub(crate) fn add_module(py: Python<'_>) -> PyResult<()> {
    let module = PyModule::new(py, NAME)?;
    module.add_function(wrap_pyfunction!(files::checksum, &module)?)?;
    module.add_function(wrap_pyfunction!(files::checksum_files, &module)?)?;
    module.add_function(wrap_pyfunction!(files::etag, &module)?)?;
    module.add_function(wrap_pyfunction!(files::etag_files, &module)?)?;
    module.add_function(wrap_pyfunction!(files::guess, &module)?)?;
    module.add_function(wrap_pyfunction!(outcomes::verify, &module)?)?;
    py.import("sys")?.getattr("modules")?.set_item(NAME, module)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
