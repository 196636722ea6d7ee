//! Streams of arrays by Arrow's C stream interface. That of `arrow_array::ffi_stream` has arrays of structs only, as those of
//! tables are.

use super::{array_of, field, value_error};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, Field, FieldRef};
use pyo3::PyResult;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::vec::IntoIter;

/// Another library's stream: its arrays, until the first that fails.
///
/// Its functions are that library's code, and take the interpreter themselves if they need it.
pub(crate) struct Stream {
    stream: FFI_ArrowArrayStream,
    field: Field,
}

impl Stream {
    /// Of a type that can be hashed.
    pub(super) fn new(mut stream: FFI_ArrowArrayStream) -> PyResult<Self> {
        let Some(get_schema) = stream.get_schema else { return Err(value_error("the stream has no get_schema")) };
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and its function is called with it and a place for a type.
        let code = unsafe { get_schema(&mut stream, &mut schema) };
        if code != 0 {
            return Err(value_error(last_error(&mut stream, code)));
        }
        if schema.release.is_none() {
            return Err(value_error("the stream returned no type"));
        }
        let field = field(&schema)?;
        Ok(Stream { stream, field })
    }

    pub(crate) fn field(&self) -> &Field {
        &self.field
    }
}

impl Iterator for Stream {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut array = FFI_ArrowArray::empty();
        let Some(get_next) = self.stream.get_next else {
            return Some(Err(ArrowError::CDataInterface("the stream has no get_next".to_owned())));
        };
        // SAFETY: the stream is not released, and its function is called with it and a place for an array.
        let code = unsafe { get_next(&mut self.stream, &mut array) };
        if code != 0 {
            return Some(Err(ArrowError::CDataInterface(last_error(&mut self.stream, code))));
        }
        // It marks the end.
        if array.is_released() { None } else { Some(array_of(array, &self.field)) }
    }
}

/// What the stream says of its last error, or the error's number.
fn last_error(stream: &mut FFI_ArrowArrayStream, code: c_int) -> String {
    // SAFETY: the stream is not released, and its last call failed.
    let message = stream.get_last_error.map_or(ptr::null(), |get_last_error| unsafe { get_last_error(stream) });
    if message.is_null() {
        return format!("the stream failed with error {code}");
    }
    // SAFETY: it is a string that stays until the next call of the stream.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}

/// What is behind a stream of ours.
struct Exported {
    field: FieldRef,
    arrays: IntoIter<ArrayRef>,
}

/// The stream of these arrays.
pub(super) fn export(field: FieldRef, arrays: Vec<ArrayRef>) -> FFI_ArrowArrayStream {
    let exported = Box::new(Exported { field, arrays: arrays.into_iter() });
    FFI_ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(exported).cast(),
    }
}

/// What failed calls return: the one that can is of a type that cannot be exported.
const EINVAL: c_int = 22;

/// # Safety
/// The stream is one that [`export`] made and that was not released, and no other call of it is in progress.
unsafe fn exported<'a>(stream: *mut FFI_ArrowArrayStream) -> &'a mut Exported {
    // SAFETY: the caller's promise: its private data is the box from there.
    unsafe { &mut *(*stream).private_data.cast::<Exported>() }
}

unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, schema: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: by the interface, the stream is not released, and calls of it do not overlap.
    let Ok(exported) = FFI_ArrowSchema::try_from(unsafe { exported(stream) }.field.as_ref()) else { return EINVAL };
    // SAFETY: `schema` is a place for one, with nothing in it.
    unsafe { schema.write(exported) };
    0
}

unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, array: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: as above.
    let next = unsafe { exported(stream) }.arrays.next();
    let next = next.map_or_else(FFI_ArrowArray::empty, |array| FFI_ArrowArray::new(&array.to_data()));
    // SAFETY: `array` is a place for one, with nothing in it.
    unsafe { array.write(next) };
    0
}

unsafe extern "C" fn get_last_error(_: *mut FFI_ArrowArrayStream) -> *const c_char {
    c"the type cannot be exported".as_ptr()
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: by the interface, it is released once, and is not used after that.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Exported>()));
        (*stream).private_data = ptr::null_mut::<c_void>();
        (*stream).release = None;
    }
}
