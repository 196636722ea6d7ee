//! Many messages in memory.

use crate::algorithm;
use crate::buffer::Messages;
use manyhash::{Batch, Digest};
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

/// Short messages hashed at a time: they, and their digests, are still in the cache when Python's objects are made.
const GROUP: usize = 8192;

/// Bytes a message, on average, up to which it is the objects and not the hashing that takes the time. Longer ones are
/// hashed all at once, so that the longest can start first.
const SHORT: usize = 1024;

/// An object for each digest.
fn objects<'py, T: PyTypeInfo>(
    name: &str,
    buffers: &Bound<'py, PyAny>,
    mut object: impl FnMut(Python<'py>, &Digest) -> Bound<'py, T>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, batch) = (buffers.py(), Batch::new(algorithm::parse(name)?));
    let objects = PyList::empty(py);
    let mut digests = Vec::new();
    let mut groups = Messages::of(buffers)?;
    while let Some(group) = groups.next(|messages, bytes| messages >= GROUP && bytes / messages < SHORT)? {
        digests.resize(group.len(), Digest::default());
        // There is a digest for each message.
        let _ = py.detach(|| batch.digest_many_into(group, &mut digests));
        digests.iter().try_for_each(|digest| objects.append(object(py, digest)))?;
    }
    Ok(objects)
}

/// The digests of many buffers, in their order, computed on all cores. Other threads run Python meanwhile.
#[pyfunction]
pub(crate) fn digest_many<'py>(name: &str, buffers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    objects(name, buffers, |py, digest| PyBytes::new(py, digest.as_bytes()))
}

/// As digest_many, in hexadecimal.
#[pyfunction]
pub(crate) fn hexdigest_many<'py>(name: &str, buffers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let mut hex = [0; 128];
    objects(name, buffers, |py, digest| {
        let hex = &mut hex[..2 * digest.as_bytes().len()];
        // There is room for two digits a byte, and they are ASCII.
        let _ = const_hex::encode_to_slice(digest.as_bytes(), hex);
        PyString::new(py, str::from_utf8(hex).unwrap_or_default())
    })
}
