//! Names of algorithms, as Python has them.

use manyhash::Algorithm;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The algorithm of a name in any spelling that the library knows.
pub(crate) fn parse(name: &str) -> PyResult<Algorithm> {
    name.parse().map_err(|_| PyValueError::new_err(format!("unsupported hash type {name}")))
}

/// The algorithms that a caller asks for: of one name the digest is given as it is, of several in a container.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) is_one: bool,
}

impl<'py> FromPyObject<'_, 'py> for Names {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.extract::<&str>() {
            return Ok(Names { algorithms: vec![parse(name)?], is_one: true });
        }
        let names = object.extract::<Vec<String>>();
        let names = names.map_err(|_| PyTypeError::new_err("expected the name of a hash type, or a list of names"))?;
        if names.is_empty() {
            return Err(PyValueError::new_err("no hash type given"));
        }
        let algorithms = names.iter().map(|name| parse(name)).collect::<PyResult<_>>()?;
        Ok(Names { algorithms, is_one: false })
    }
}
