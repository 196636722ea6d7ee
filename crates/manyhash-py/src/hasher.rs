//! Objects like hashlib's.

mod constructors;
mod object;

pub(crate) use constructors::{add_constructors, new};
pub(crate) use object::add_type;

use crate::buffer::{Bytes, Messages};
use manyhash::{Algorithm, Digest, Hasher};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// From so many bytes on, other threads may run Python meanwhile; as in hashlib.
const WORTH_DETACHING: usize = 2048;

/// A running digest; in Python it is a HASH.
struct SharedHasher {
    algorithm: Algorithm,
    /// Never held by a thread that waits for the interpreter, and so a thread attached to it may wait for this.
    hasher: Mutex<Hasher>,
}

impl SharedHasher {
    fn new(hasher: Hasher) -> Self {
        SharedHasher { algorithm: hasher.algorithm(), hasher: Mutex::new(hasher) }
    }

    fn lock(&self) -> MutexGuard<'_, Hasher> {
        self.hasher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_attached(&self, py: Python<'_>) -> MutexGuard<'_, Hasher> {
        self.hasher.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self, py: Python<'_>) -> Digest {
        let hasher = self.lock_attached(py).clone();
        hasher.finalize()
    }

    fn name(&self) -> &'static str {
        self.algorithm.identifier()
    }

    /// The message goes on with these bytes.
    fn update(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = Bytes::of(data)?;
        let bytes = bytes.as_slice();
        if bytes.len() < WORTH_DETACHING {
            self.lock_attached(data.py()).update(bytes);
        } else {
            data.py().detach(|| self.lock().update(bytes));
        }
        Ok(())
    }
}

/// Update each object with a buffer of its own, many side by side in SIMD lanes.
///
/// Raises ValueError, and changes no object, if an object occurs twice. Objects of one algorithm share lanes.
#[pyfunction]
pub(crate) fn update_many<'py>(
    py: Python<'py>,
    objects: &Bound<'py, PyAny>,
    buffers: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let objects = objects.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let hashers = objects.iter().map(object::hasher).collect::<PyResult<Vec<&SharedHasher>>>()?;
    let mut messages = Messages::of(buffers)?;
    let messages = messages.all()?;
    let mut pairs: Vec<(&SharedHasher, &[u8])> = hashers.iter().copied().zip(messages.iter().copied()).collect();
    if hashers.len() != messages.len() {
        let (objects, buffers) = (hashers.len(), messages.len());
        return Err(PyValueError::new_err(format!("{objects} objects, but {buffers} buffers")));
    }
    // Locked in the order of their addresses, so that two calls over the same objects do not wait for each other.
    let address = |hasher: &SharedHasher| std::ptr::from_ref(hasher).addr();
    pairs.sort_unstable_by_key(|(hasher, _)| address(hasher));
    if pairs.windows(2).any(|two| address(two[0].0) == address(two[1].0)) {
        return Err(PyValueError::new_err("an object occurs twice"));
    }
    py.detach(|| advance(&pairs));
    Ok(())
}

fn advance(pairs: &[(&SharedHasher, &[u8])]) {
    let mut guards: Vec<MutexGuard<'_, Hasher>> = pairs.iter().map(|(hasher, _)| hasher.lock()).collect();
    let chunks = pairs.iter().map(|(_, chunk)| *chunk);
    manyhash::update_many(guards.iter_mut().map(|guard| &mut **guard).zip(chunks));
}
