//! The functions that make HASH objects: one for each algorithm, and `new`.

use super::object;
use crate::algorithm;
use manyhash::{Algorithm, Hasher};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::convert::Infallible;

/// An argument that may be left out. None is an argument: it has no bytes, and a missing value is no empty message.
pub(crate) struct Given<'py>(Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = Infallible;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Given(Some(object.to_owned())))
    }
}

/// Return a HASH object for a named algorithm, updated with `data`. An unknown name raises ValueError.
#[pyfunction]
#[pyo3(signature = (name, data = Given(None), *, usedforsecurity = None, string = Given(None)))]
#[pyo3(text_signature = "(name, data=b'', *, usedforsecurity=True, string=b'')")]
pub(crate) fn new<'py>(
    py: Python<'py>,
    name: &str,
    data: Given<'py>,
    usedforsecurity: Option<Bound<'py, PyAny>>,
    string: Given<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    begin(py, algorithm::parse(name)?, data, usedforsecurity, string)
}

/// A HASH that has taken the bytes that are given, if any are.
fn begin<'py>(
    py: Python<'py>,
    algorithm: Algorithm,
    data: Given<'py>,
    usedforsecurity: Option<Bound<'py, PyAny>>,
    string: Given<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(value) = usedforsecurity {
        // Any truth value will do.
        value.is_truthy()?;
    }
    let data = match (data.0, string.0) {
        (Some(_), Some(_)) => {
            return Err(PyTypeError::new_err("'data' and 'string' are the same argument; give only one"));
        }
        (data, None) | (None, data) => data,
    };
    let hasher = object::make(py, Hasher::new(algorithm))?;
    if let Some(data) = data {
        object::hasher(&hasher)?.update(&data)?;
    }
    Ok(hasher)
}

macro_rules! constructors {
    ($(
        $name:ident $function:ident: $family:ident, $bytes:literal, $module:ident::$initial:ident, [$($spelling:literal),*],
            $about:literal;
    )*) => {
        $(
            #[doc = concat!("Return a HASH object updated with `data`: ", $about, " `usedforsecurity` is ignored.")]
            #[pyfunction]
            #[pyo3(signature = (data = Given(None), *, usedforsecurity = None, string = Given(None)))]
            #[pyo3(text_signature = "(data=b'', *, usedforsecurity=True, string=b'')")]
            fn $function<'py>(
                py: Python<'py>,
                data: Given<'py>,
                usedforsecurity: Option<Bound<'py, PyAny>>,
                string: Given<'py>,
            ) -> PyResult<Bound<'py, PyAny>> {
                begin(py, Algorithm::$name, data, usedforsecurity, string)
            }
        )*

        /// Adds the functions of all algorithms.
        pub(crate) fn add_constructors(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($function, module)?)?;)*
            Ok(())
        }
    };
}

manyhash::algorithms!(constructors);
