//! Bytes that the engine may keep.

use crate::buffer::{Bytes, refuse_one_message};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// `bytes` by a reference, since they never change, anything else by a copy.
pub(super) enum Held {
    Object {
        /// Keeps the bytes in place; let go of from any thread.
        _object: Py<PyBytes>,
        bytes: &'static [u8],
    },
    Copy(Vec<u8>),
}

impl Held {
    pub(super) fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(match Bytes::of(data)? {
            Bytes::Object(object) => {
                let bytes: &[u8] = object.as_bytes();
                // SAFETY: bytes objects never change or move their bytes, and `_object`, which is dropped with the slice,
                // has a reference to this one. Reading them needs no interpreter.
                let bytes = unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
                Held::Object { _object: object.unbind(), bytes }
            }
            Bytes::Exported(exported) => Held::Copy(exported.as_slice().to_vec()),
        })
    }

    /// Of everything that an iterable yields.
    pub(super) fn of_many(buffers: &Bound<'_, PyAny>) -> PyResult<Vec<Self>> {
        refuse_one_message(buffers)?;
        buffers.try_iter()?.map(|data| Held::of(&data?)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.as_ref().len()
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        match self {
            Held::Object { bytes, .. } => bytes,
            Held::Copy(bytes) => bytes,
        }
    }
}
