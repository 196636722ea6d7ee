//! Objects like hashlib's.

use crate::algorithm::{self, hashlib_name};
use crate::buffer::{Bytes, Messages};
use manyhash::{Algorithm, Digest, Stream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// From so many bytes on, other threads may run Python meanwhile; as in hashlib.
const WORTH_DETACHING: usize = 2048;

/// A running digest, as hashlib has them. `manyhash.sha256()` and its siblings make one.
#[pyclass(frozen, name = "HASH", module = "manyhash")]
pub(crate) struct Hasher {
    algorithm: Algorithm,
    /// Never held by a thread that waits for the interpreter, and so a thread attached to it may wait for this.
    stream: Mutex<Stream>,
}

impl Hasher {
    fn new(stream: Stream) -> Self {
        Hasher { algorithm: stream.algorithm(), stream: Mutex::new(stream) }
    }

    fn lock(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_attached(&self, py: Python<'_>) -> MutexGuard<'_, Stream> {
        self.stream.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self, py: Python<'_>) -> Digest {
        let stream = self.lock_attached(py).clone();
        stream.finalize()
    }
}

#[pymethods]
impl Hasher {
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

    /// The digest of the bytes so far.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.current(py).as_bytes())
    }

    /// The digest of the bytes so far, in hexadecimal.
    fn hexdigest(&self, py: Python<'_>) -> String {
        self.current(py).to_hex()
    }

    /// A digest that goes on from here on its own.
    fn copy(&self, py: Python<'_>) -> Self {
        Hasher::new(self.lock_attached(py).clone())
    }

    /// The algorithm, in hashlib's spelling.
    #[getter]
    fn name(&self) -> &'static str {
        hashlib_name(self.algorithm)
    }

    /// Bytes in the digest.
    #[getter]
    fn digest_size(&self) -> usize {
        self.algorithm.digest_bytes()
    }

    /// Bytes in a block.
    #[getter]
    fn block_size(&self) -> usize {
        self.algorithm.block_bytes()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("<{} manyhash.HASH object @ {:p}>", slf.get().name(), slf.as_ptr())
    }
}

fn begin(algorithm: Algorithm, data: Option<&Bound<'_, PyAny>>, string: Option<&Bound<'_, PyAny>>) -> PyResult<Hasher> {
    let hasher = Hasher::new(Stream::new(algorithm));
    match (data, string) {
        (Some(_), Some(_)) => return Err(PyTypeError::new_err("'data' and 'string' are two names of one argument")),
        (Some(data), None) | (None, Some(data)) => hasher.update(data)?,
        (None, None) => {}
    }
    Ok(hasher)
}

macro_rules! constructors {
    ($($(#[$about:meta])* $name:ident: $algorithm:ident;)*) => {
        $(
            $(#[$about])*
            #[pyfunction]
            #[pyo3(signature = (data = None, *, usedforsecurity = true, string = None))]
            #[pyo3(text_signature = "(data=b'', *, usedforsecurity=True, string=None)")]
            pub(crate) fn $name(
                data: Option<&Bound<'_, PyAny>>,
                usedforsecurity: bool,
                string: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Hasher> {
                let _ = usedforsecurity;
                begin(Algorithm::$algorithm, data, string)
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

/// A digest by the name of its algorithm, that has taken `data`. A name that is none is a ValueError.
#[pyfunction]
#[pyo3(signature = (name, data = None, *, usedforsecurity = true, string = None))]
#[pyo3(text_signature = "(name, data=b'', *, usedforsecurity=True, string=None)")]
pub(crate) fn new(
    name: &str,
    data: Option<&Bound<'_, PyAny>>,
    usedforsecurity: bool,
    string: Option<&Bound<'_, PyAny>>,
) -> PyResult<Hasher> {
    let _ = usedforsecurity;
    begin(algorithm::parse(name)?, data, string)
}

/// Advances each object by a buffer of its own, many side by side in SIMD lanes.
///
/// The objects are of one algorithm, and no two are the same; otherwise it is a ValueError, and none has changed.
#[pyfunction]
pub(crate) fn update_many<'py>(
    py: Python<'py>,
    objects: &Bound<'py, PyAny>,
    buffers: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let hashers = objects
        .try_iter()?
        .map(|object| Ok(object?.cast_into::<Hasher>()?))
        .collect::<PyResult<Vec<Bound<'py, Hasher>>>>()?;
    let mut messages = Messages::of(buffers)?;
    let messages = messages.all()?;
    let mut pairs: Vec<(&Hasher, &[u8])> =
        hashers.iter().map(|hasher| hasher.get()).zip(messages.iter().copied()).collect();
    if hashers.len() != messages.len() {
        let (objects, buffers) = (hashers.len(), messages.len());
        return Err(PyValueError::new_err(format!("{objects} objects, but {buffers} buffers")));
    }
    if let Some((first, _)) = pairs.first()
        && let Some((other, _)) = pairs.iter().find(|(hasher, _)| hasher.algorithm != first.algorithm)
    {
        let message = format!("objects of {} and of {} cannot be updated together", first.name(), other.name());
        return Err(PyValueError::new_err(message));
    }
    // Locked in the order of their addresses, so that two calls over the same objects do not wait for each other.
    let address = |hasher: &Hasher| std::ptr::from_ref(hasher).addr();
    pairs.sort_unstable_by_key(|(hasher, _)| address(hasher));
    if pairs.windows(2).any(|two| address(two[0].0) == address(two[1].0)) {
        return Err(PyValueError::new_err("an object is there twice"));
    }
    py.detach(|| advance(&pairs)).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn advance(pairs: &[(&Hasher, &[u8])]) -> Result<(), manyhash::UpdateManyError> {
    let mut guards: Vec<MutexGuard<'_, Stream>> = pairs.iter().map(|(hasher, _)| hasher.lock()).collect();
    let chunks: Vec<&[u8]> = pairs.iter().map(|(_, chunk)| *chunk).collect();
    // The library takes them side by side in memory.
    let mut streams: Vec<Stream> = guards.iter().map(|guard| Stream::clone(guard)).collect();
    let result = manyhash::update_many(&mut streams, &chunks);
    for (guard, stream) in guards.iter_mut().zip(streams) {
        **guard = stream;
    }
    result
}
