//! Many messages in memory.

use crate::algorithm;
use crate::buffer::{Bytes, Messages};
use manyhash::{Batch, Digest};
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

/// Short messages hashed at a time: they, and their digests, are still in the cache when Python's objects are made.
const GROUP: usize = 8192;

/// Bytes a message, on average, up to which it is the objects and not the hashing that takes the time. Longer ones are
/// hashed all at once, so that the longest can start first.
const SHORT: usize = 1024;

/// An object for each digest, of groups that are hashed by `hash`.
fn objects<'py, T: PyTypeInfo>(
    buffers: &Bound<'py, PyAny>,
    hash: impl Fn(&[&[u8]], &mut Vec<Digest>) + Sync,
    mut object: impl FnMut(Python<'py>, &Digest) -> Bound<'py, T>,
) -> PyResult<Bound<'py, PyList>> {
    let py = buffers.py();
    let objects = PyList::empty(py);
    let mut digests = Vec::new();
    let mut groups = Messages::of(buffers)?;
    while let Some(group) = groups.next(|messages, bytes| messages >= GROUP && bytes / messages < SHORT)? {
        py.detach(|| hash(group, &mut digests));
        digests.iter().try_for_each(|digest| objects.append(object(py, digest)))?;
    }
    Ok(objects)
}

/// Hashes a group to as many digests.
fn hash(batch: Batch) -> impl Fn(&[&[u8]], &mut Vec<Digest>) + Sync {
    move |group, digests| {
        digests.resize(group.len(), Digest::default());
        // There is a digest for each message.
        let _ = batch.digest_many_into(group, digests);
    }
}

fn bytes<'py>(py: Python<'py>, digest: &Digest) -> Bound<'py, PyBytes> {
    PyBytes::new(py, digest.as_bytes())
}

/// Return the digests of many buffers, in their order, computed on all cores. Other threads run Python meanwhile.
#[pyfunction]
pub(crate) fn digest_many<'py>(name: &str, buffers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    objects(buffers, hash(Batch::new(algorithm::parse(name)?)), bytes)
}

/// Return the digests of many buffers in hexadecimal. Otherwise as digest_many.
#[pyfunction]
pub(crate) fn hexdigest_many<'py>(name: &str, buffers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    objects(buffers, hash(Batch::new(algorithm::parse(name)?)), hex)
}

/// A digest in hexadecimal.
pub(crate) fn hex<'py>(py: Python<'py>, digest: &Digest) -> Bound<'py, PyString> {
    let mut hex = [0; 128];
    let hex = &mut hex[..2 * digest.as_bytes().len()];
    // There is room for two digits a byte, and they are ASCII.
    let _ = const_hex::encode_to_slice(digest.as_bytes(), hex);
    PyString::new(py, str::from_utf8(hex).unwrap_or_default())
}

/// Return the HMACs (RFC 2104) of many buffers under one key, in their order, computed on all cores, as hmac.digest
/// would for each. The key is a buffer of any length, and is hashed once. Other threads run Python meanwhile.
#[pyfunction]
pub(crate) fn hmac_many<'py>(
    key: &Bound<'py, PyAny>,
    name: &str,
    buffers: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let algorithm = algorithm::parse(name)?;
    let key = Bytes::of(key)?;
    let (py, key) = (buffers.py(), key.as_slice());
    let batch = py.detach(|| Batch::new(algorithm).key(key));
    objects(buffers, hash(batch), bytes)
}
