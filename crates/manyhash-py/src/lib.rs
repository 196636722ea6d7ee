//! The extension module behind the Python package `manyhash`, which documents what is here for its users.
//!
//! Whatever hashes lets go of the interpreter first, so that other threads run Python meanwhile. The bytes of Python
//! objects are borrowed, not copied: [`buffer`] says how they stay in place. Nothing is hashed here that the library could
//! hash.

mod algorithm;
mod buffer;
mod capsule;
mod column;
mod engine;
mod files;
mod hasher;
mod many;
mod polars;
mod rows;
mod s3;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySequence};

/// manyhash's extension module: use the package manyhash.
#[pymodule]
mod _manyhash {
    use super::*;

    #[pymodule_export]
    use column::{Array, ChunkedArray, digest_column, hmac_column};
    #[pymodule_export]
    use engine::{Engine, Stream};
    #[pymodule_export]
    use files::digest_files;
    #[pymodule_export]
    use hasher::{new, update_many};
    #[pymodule_export]
    use many::{digest_many, hexdigest_many, hmac_many};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Later the library could only panic about it.
        manyhash::backend().map_err(|error| PyImportError::new_err(error.to_string()))?;
        warm_up(module.py())?;
        hasher::add_type(module)?;
        hasher::add_constructors(module)?;
        s3::add_module(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let names: Vec<_> = manyhash::Algorithm::ALL.iter().map(|algorithm| algorithm.identifier()).collect();
        module.add("algorithms", names)
    }
}

/// Has pyo3 look up now what it keeps for ever once it has. Were another thread to do so while the process forks, the child
/// would wait for that thread, which it has not.
fn warm_up(py: Python<'_>) -> PyResult<()> {
    PyList::empty(py).try_iter()?.size_hint();
    let _ = py.None().bind(py).cast::<PySequence>();
    [
        py.get_type::<engine::Coroutine>(),
        py.get_type::<engine::GiveUp>(),
        py.get_type::<engine::NextTurn>(),
        py.get_type::<engine::Woken>(),
        py.get_type::<s3::Job>(),
        py.get_type::<s3::Outcomes>(),
    ]
    .iter()
    .try_for_each(|kind| kind.name().map(drop))
}
