//! Many messages in memory.

use crate::algorithm;
use crate::buffer::Messages;
use manyhash::Digest;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

fn digests(name: &str, buffers: &Bound<'_, PyAny>) -> PyResult<Vec<Digest>> {
    let algorithm = algorithm::parse(name)?;
    let messages = Messages::of(buffers)?;
    let slices = messages.slices();
    Ok(buffers.py().detach(|| manyhash::digest_many(algorithm, slices)))
}

/// The digests of many buffers, in their order, computed on all cores. Other threads run Python meanwhile.
#[pyfunction]
pub(crate) fn digest_many<'py>(name: &str, buffers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let (py, digests) = (buffers.py(), digests(name, buffers)?);
    PyList::new(py, digests.iter().map(|digest| PyBytes::new(py, digest.as_bytes())))
}

/// As digest_many, in hexadecimal.
#[pyfunction]
pub(crate) fn hexdigest_many<'py>(name: &str, buffers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let (py, digests) = (buffers.py(), digests(name, buffers)?);
    let mut hex = [0; 128];
    let strings = digests.iter().map(|digest| {
        let hex = &mut hex[..2 * digest.as_bytes().len()];
        // There is room for two digits a byte, and they are ASCII.
        let _ = const_hex::encode_to_slice(digest.as_bytes(), hex);
        PyString::new(py, str::from_utf8(hex).unwrap_or_default())
    });
    PyList::new(py, strings)
}
