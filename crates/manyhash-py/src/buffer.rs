//! The bytes of Python objects, without a copy.
//!
//! `bytes` never change, so a reference is enough, and cheap. Anything else is asked for a buffer by CPython's buffer
//! protocol, and cannot be resized or freed as long as it is exported.

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString, PyTuple};

/// The bytes of an object, for as long as this lives.
pub(crate) enum Bytes<'py> {
    Object(Bound<'py, PyBytes>),
    Exported(Exported<'py>),
}

impl<'py> Bytes<'py> {
    /// Borrows them.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Bytes::Object(bytes.clone())),
            Err(_) => Exported::of(object).map(Bytes::Exported),
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Object(bytes) => bytes.as_bytes(),
            Bytes::Exported(exported) => exported.as_slice(),
        }
    }
}

/// A buffer that its owner keeps in place until this is dropped.
pub(crate) struct Exported<'py> {
    /// It may point into itself, so it stays where it was filled in.
    view: Box<ffi::Py_buffer>,
    /// Released only while attached to the interpreter.
    _py: Python<'py>,
}

impl<'py> Exported<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("Strings must be encoded before hashing"));
        }
        // SAFETY: `object` is a live reference, and the token proves that this thread is attached.
        if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 0 {
            let name = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!("object supporting the buffer API required, not {name}")));
        }
        let mut view = Box::new(ffi::Py_buffer::new());
        // With strides, or numpy answers with another exception for what is not contiguous than everyone else; without
        // the format, which some types have no name for.
        // SAFETY: `object` is live, and `view` is a place for a `Py_buffer` that is filled in or left alone.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut *view, ffi::PyBUF_STRIDES) } != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        // From here on it is released by `drop`, also if it is refused.
        let exported = Exported { view, _py: object.py() };
        // SAFETY: the view was filled in above and is not released.
        if unsafe { ffi::PyBuffer_IsContiguous(&*exported.view, b'C' as std::ffi::c_char) } == 0 {
            return Err(PyBufferError::new_err("underlying buffer is not C-contiguous"));
        }
        Ok(exported)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        if self.view.len == 0 {
            // Its pointer may be null.
            return &[];
        }
        // SAFETY: the exporter keeps `len` contiguous bytes at `buf` until the view is released, which takes `self`.
        // Python code in another thread may write to them meanwhile, as it may under hashlib: the digest is then of
        // a mixture, but no address and no length is ever read from these bytes.
        unsafe { std::slice::from_raw_parts(self.view.buf.cast::<u8>(), self.view.len as usize) }
    }
}

impl Drop for Exported<'_> {
    fn drop(&mut self) {
        // SAFETY: the view was filled in by `PyObject_GetBuffer`, is released once, and `_py` proves attachment.
        unsafe { ffi::PyBuffer_Release(&mut *self.view) }
    }
}

/// Objects from the one whose bytes are borrowed to the one that is asked for.
const AHEAD: usize = 16;

/// Asks for what an object begins with: its type, and, of `bytes`, the length and the first bytes. A list's objects may be
/// anywhere in memory, and each would be waited for.
fn prefetch(object: Borrowed<'_, '_, PyAny>) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = object.as_ptr().cast::<i8>();
        // SAFETY: every x86-64 CPU has SSE. A prefetch may be of any address: the second need not be the object's.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(start);
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(BYTES_HEADER));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = object;
}

/// Bytes of a `bytes` object before those that it holds: references, type, length, hash.
#[cfg(target_arch = "x86_64")]
const BYTES_HEADER: usize = 32;

/// # Errors
/// TypeError if what should yield messages is one itself.
pub(crate) fn refuse_one_message(iterable: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_message = iterable.is_instance_of::<PyString>()
        || iterable.is_instance_of::<PyBytes>()
        || iterable.is_instance_of::<PyByteArray>()
        || iterable.is_instance_of::<PyMemoryView>();
    if is_message {
        return Err(PyTypeError::new_err("expected an iterable of buffers, not one message"));
    }
    Ok(())
}

/// The bytes of many objects, a group at a time.
pub(crate) struct Messages<'py> {
    /// A group's bytes, which borrow from the two fields below.
    slices: Vec<&'static [u8]>,
    exported: Vec<Exported<'py>>,
    objects: Bound<'py, PyTuple>,
    /// The first object of the next group.
    next: usize,
}

impl<'py> Messages<'py> {
    /// Of everything that `iterable` yields.
    pub(crate) fn of(iterable: &Bound<'py, PyAny>) -> PyResult<Self> {
        refuse_one_message(iterable)?;
        // A tuple holds a reference to each object, and nobody can take one out; a list may change meanwhile.
        let py = iterable.py();
        // SAFETY: `iterable` is live and this thread attached; the result is a new reference to a tuple, or null with an
        // exception set.
        let objects = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PySequence_Tuple(iterable.as_ptr()))?.cast_into_unchecked::<PyTuple>()
        };
        Ok(Messages { slices: Vec::new(), exported: Vec::new(), objects, next: 0 })
    }

    /// Borrows the bytes of the next objects, until there are no more or `is_full` says so of their number and bytes.
    pub(crate) fn next(&mut self, is_full: impl Fn(usize, usize) -> bool) -> PyResult<Option<&[&[u8]]>> {
        self.slices.clear();
        self.exported.clear();
        let mut bytes = 0_usize;
        for i in self.next..self.objects.len() {
            if i + AHEAD < self.objects.len() {
                prefetch(self.objects.get_borrowed_item(i + AHEAD)?);
            }
            let object = self.objects.get_borrowed_item(i)?;
            let slice: &[u8] = match object.cast::<PyBytes>() {
                Ok(object) => {
                    // SAFETY: bytes objects never change or move their bytes, and `objects`, which is kept beside the
                    // slices, has a reference to this one.
                    unsafe { extend(object.as_bytes()) }
                }
                Err(_) => {
                    let view = Exported::of(&object)?;
                    // SAFETY: the bytes are in the exporter's memory, not in `view`, and stay there until it is dropped;
                    // it is kept beside the slices, which are cleared before it is.
                    let slice = unsafe { extend(view.as_slice()) };
                    self.exported.push(view);
                    slice
                }
            };
            bytes = bytes.saturating_add(slice.len());
            self.slices.push(slice);
            if is_full(self.slices.len(), bytes) {
                break;
            }
        }
        self.next += self.slices.len();
        Ok(if self.slices.is_empty() { None } else { Some(&self.slices) })
    }

    /// The bytes of all objects.
    pub(crate) fn all(&mut self) -> PyResult<&[&[u8]]> {
        Ok(self.next(|_, _| false)?.unwrap_or_default())
    }
}

/// # Safety
/// The slice must not be used after what it borrows from is gone.
unsafe fn extend<'a>(slice: &[u8]) -> &'a [u8] {
    // SAFETY: the pointer and length are those of a slice; the caller vouches for the lifetime.
    unsafe { std::slice::from_raw_parts(slice.as_ptr(), slice.len()) }
}
