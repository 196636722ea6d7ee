//! The functions that make HASH objects: `md5` to `sha512_256`, and `new`.

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

/// A digest by the name of its algorithm, that has taken `data`. A name that is none is a ValueError.
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
            return Err(PyTypeError::new_err("'data' and 'string' are two names of one argument"));
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
    ($($(#[$about:meta])* $name:ident: $algorithm:ident;)*) => {
        $(
            $(#[$about])*
            #[pyfunction]
            #[pyo3(signature = (data = Given(None), *, usedforsecurity = None, string = Given(None)))]
            #[pyo3(text_signature = "(data=b'', *, usedforsecurity=True, string=b'')")]
            pub(crate) fn $name<'py>(
                py: Python<'py>,
                data: Given<'py>,
                usedforsecurity: Option<Bound<'py, PyAny>>,
                string: Given<'py>,
            ) -> PyResult<Bound<'py, PyAny>> {
                begin(py, Algorithm::$algorithm, data, usedforsecurity, string)
            }
        )*
    };
}

constructors! {
    /// An MD5 digest that has taken `data`. `usedforsecurity` is taken for hashlib's sake.
    md5: Md5;
    /// A SHA-1 digest that has taken `data`. `usedforsecurity` is taken for hashlib's sake.
    sha1: Sha1;
    /// A SHA-224 digest that has taken `data`. `usedforsecurity` is taken for hashlib's sake.
    sha224: Sha224;
    /// A SHA-256 digest that has taken `data`. `usedforsecurity` is taken for hashlib's sake.
    sha256: Sha256;
    /// A SHA-384 digest that has taken `data`. `usedforsecurity` is taken for hashlib's sake.
    sha384: Sha384;
    /// A SHA-512 digest that has taken `data`. `usedforsecurity` is taken for hashlib's sake.
    sha512: Sha512;
    /// A SHA-512/256 digest that has taken `data`. `usedforsecurity` is taken for hashlib's sake.
    sha512_256: Sha512_256;
}
