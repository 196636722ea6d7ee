//! The type HASH, in the interpreter's own terms.
//!
//! Its methods take no longer than hashlib's for a few bytes, which calls that pyo3 makes do; and it is immutable, as
//! hashlib's types are, which pyo3 cannot say in the stable interface of these versions of Python.

use super::{SharedHasher, WORTH_DETACHING};
use crate::many::hex;
use manyhash::Hasher;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A HASH as the interpreter has it.
#[repr(C)]
struct Object {
    head: PyObject,
    hasher: SharedHasher,
}

/// The type, from when the module is made; it is never gone. There is one interpreter: pyo3 refuses a second.
static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// A new HASH.
pub(super) fn make(py: Python<'_>, hasher: Hasher) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: this thread is attached, and the type was made with the module whose functions come here.
    let object = unsafe { ffi::PyObject_New::<Object>(TYPE.load(Relaxed)) };
    if object.is_null() {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: `object` is new memory of the type's size, whose head is filled in, and whose other part is ours to fill.
    unsafe { (&raw mut (*object).hasher).write(SharedHasher::new(hasher)) };
    // SAFETY: it is a new reference, and complete.
    Ok(unsafe { Bound::from_owned_ptr(py, object.cast()) })
}

/// The HASH that an object is.
///
/// # Errors
/// TypeError if it is none.
pub(super) fn hasher<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a SharedHasher> {
    // SAFETY: any object has a type.
    if unsafe { ffi::Py_TYPE(object.as_ptr()) } != TYPE.load(Relaxed) {
        let name = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a manyhash.HASH, not {name}")));
    }
    // SAFETY: nothing is derived from the type, and `make` has filled in every object of it.
    Ok(unsafe { of(object.as_ptr()) })
}

/// # Safety
/// The object is a HASH that lives longer than the reference.
unsafe fn of<'a>(object: *mut PyObject) -> &'a SharedHasher {
    // SAFETY: a HASH has this layout, and what it holds is shared only.
    unsafe { &(*object.cast::<Object>()).hasher }
}

/// Runs what may raise an exception, which the interpreter then finds set.
fn call(work: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>) -> *mut PyObject {
    Python::attach(|py| {
        let result = catch_unwind(AssertUnwindSafe(|| work(py)));
        match result.unwrap_or_else(|_| Err(PyRuntimeError::new_err("internal error in manyhash; please report it"))) {
            Ok(object) => object.into_ptr(),
            Err(error) => {
                error.restore(py);
                ptr::null_mut()
            }
        }
    })
}

/// The bytes of a short `bytes` object.
///
/// # Safety
/// The object lives longer than the slice, and this thread is attached.
unsafe fn short_bytes<'a>(object: *mut PyObject) -> Option<&'a [u8]> {
    // SAFETY: `object` is alive, and its bytes, as many as it says, never change or move.
    unsafe {
        if ffi::PyBytes_CheckExact(object) == 0 {
            return None;
        }
        let (mut bytes, mut length) = (ptr::null_mut(), 0);
        // It fails for other types only.
        ffi::PyBytes_AsStringAndSize(object, &mut bytes, &mut length);
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
        (bytes.len() < WORTH_DETACHING).then_some(bytes)
    }
}

unsafe extern "C" fn update(object: *mut PyObject, data: *mut PyObject) -> *mut PyObject {
    // SAFETY: the interpreter calls a method of HASH with a HASH, and with an argument, which live meanwhile.
    let (hasher, short) = unsafe { (of(object), short_bytes(data)) };
    if let Some(bytes) = short
        && let Ok(mut hasher) = hasher.hasher.try_lock()
    {
        hasher.update(bytes);
        // SAFETY: this thread is attached, as one that calls a method is.
        return unsafe { ffi::Py_NewRef(ffi::Py_None()) };
    }
    call(|py| {
        // SAFETY: as above.
        let data = unsafe { Borrowed::from_ptr(py, data) };
        hasher.update(&data)?;
        Ok(py.None().into_bound(py))
    })
}

unsafe extern "C" fn digest(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: the interpreter calls a method of HASH with a HASH, which lives meanwhile.
    let hasher = unsafe { of(object) };
    if let Ok(hasher) = hasher.hasher.try_lock() {
        let digest = hasher.clone().finalize();
        let bytes = digest.as_bytes();
        // SAFETY: this thread is attached, and the bytes are copied. If it fails, the exception is set.
        return unsafe { ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize) };
    }
    call(|py| Ok(pyo3::types::PyBytes::new(py, hasher.current(py).as_bytes()).into_any()))
}

unsafe extern "C" fn hexdigest(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `digest`.
    let hasher = unsafe { of(object) };
    call(|py| Ok(hex(py, &hasher.current(py)).into_any()))
}

unsafe extern "C" fn copy(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `digest`.
    let hasher = unsafe { of(object) };
    call(|py| make(py, hasher.lock_attached(py).clone()))
}

unsafe extern "C" fn name(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
    // SAFETY: as in `digest`.
    let hasher = unsafe { of(object) };
    call(|py| Ok(hasher.name().into_pyobject(py)?.into_any()))
}

unsafe extern "C" fn digest_size(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
    // SAFETY: as in `digest`.
    let hasher = unsafe { of(object) };
    call(|py| Ok(hasher.algorithm.digest_bytes().into_pyobject(py)?.into_any()))
}

unsafe extern "C" fn block_size(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
    // SAFETY: as in `digest`.
    let hasher = unsafe { of(object) };
    call(|py| Ok(hasher.algorithm.block_bytes().into_pyobject(py)?.into_any()))
}

unsafe extern "C" fn repr(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `digest`.
    let hasher = unsafe { of(object) };
    call(|py| Ok(format!("<{} manyhash.HASH object @ {object:p}>", hasher.name()).into_pyobject(py)?.into_any()))
}

unsafe extern "C" fn dealloc(object: *mut PyObject) {
    // SAFETY: it is the last reference to a HASH, which `make` allocated and filled in. An object has a reference to its
    // type, which was made at run time.
    unsafe {
        let kind = ffi::Py_TYPE(object);
        ptr::drop_in_place(&raw mut (*object.cast::<Object>()).hasher);
        ffi::PyObject_Free(object.cast());
        ffi::Py_DecRef(kind.cast());
    }
}

fn method(name: &'static CStr, function: ffi::PyCFunction, flags: c_int, doc: &'static CStr) -> ffi::PyMethodDef {
    let ml_meth = ffi::PyMethodDefPointer { PyCFunction: function };
    ffi::PyMethodDef { ml_name: name.as_ptr(), ml_meth, ml_flags: flags, ml_doc: doc.as_ptr() }
}

fn getter(name: &'static CStr, get: ffi::getter, doc: &'static CStr) -> ffi::PyGetSetDef {
    ffi::PyGetSetDef { name: name.as_ptr(), get: Some(get), doc: doc.as_ptr(), ..Default::default() }
}

/// Makes the type, and gives it to the module.
pub(crate) fn add_type(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    // The type refers to these for ever.
    let methods = Box::leak(Box::new([
        method(c"update", update, ffi::METH_O, c"update($self, data, /)\n--\n\nAppend these bytes to the message."),
        method(c"digest", digest, ffi::METH_NOARGS, c"digest($self, /)\n--\n\nReturn the digest of the bytes so far."),
        method(
            c"hexdigest",
            hexdigest,
            ffi::METH_NOARGS,
            c"hexdigest($self, /)\n--\n\nReturn the digest of the bytes so far, in hexadecimal.",
        ),
        method(c"copy", copy, ffi::METH_NOARGS, c"copy($self, /)\n--\n\nReturn an independent copy."),
        ffi::PyMethodDef::zeroed(),
    ]));
    let getters = Box::leak(Box::new([
        getter(c"name", name, c"The algorithm, in hashlib's spelling."),
        getter(c"digest_size", digest_size, c"The length of the digest in bytes."),
        getter(c"block_size", block_size, c"The length of a block in bytes."),
        ffi::PyGetSetDef::default(),
    ]));
    let doc = c"A hash object, as in hashlib. Make one with manyhash.sha256() or its siblings.";
    let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, getters.as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, doc.as_ptr().cast_mut().cast()),
        ffi::PyType_Slot::default(),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION | ffi::Py_TPFLAGS_IMMUTABLETYPE;
    let mut spec = ffi::PyType_Spec {
        name: c"manyhash.HASH".as_ptr(),
        basicsize: size_of::<Object>() as c_int,
        itemsize: 0,
        flags: flags as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the description is complete, each function is of the kind that its slot asks for, what the type refers to is
    // static, and this thread is attached. The result is a new reference, or null with an exception set.
    let kind = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
    module.add("HASH", &kind)?;
    // Never let go of.
    TYPE.store(kind.into_ptr().cast(), Relaxed);
    Ok(())
}
