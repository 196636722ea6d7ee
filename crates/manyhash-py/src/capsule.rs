//! Arrow's PyCapsule interface: arrays, streams of arrays and their types, in and out.
//!
//! A capsule holds a structure of Arrow's C data interface under a name that says which. Whoever imports it moves the
//! structure out, and leaves one without a release function, which is how a capsule that is used up is told. What of a
//! structure can be checked without trusting it, [`check`] does; its buffers are taken at their word, as the interface has
//! no lengths of them.

mod check;
mod stream;

pub(crate) use stream::Stream;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use manyhash_arrow::{ArrayError, check_type, in_type};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// What an object gives, of a type that can be hashed.
pub(crate) enum Imported {
    Array(ArrayRef, Field),
    Stream(Stream),
}

/// Asks an object for its array, or else for its stream; none if it has neither method.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Imported>> {
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let (schema, array) = capsules.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let field = field(&take::<FFI_ArrowSchema>(&schema, SCHEMA)?)?;
        let array = array_of(take(&array, ARRAY)?, &field).map_err(value_error)?;
        return Ok(Some(Imported::Array(array, field)));
    }
    if object.hasattr("__arrow_c_stream__")? {
        let stream = take::<FFI_ArrowArrayStream>(&object.call_method0("__arrow_c_stream__")?, STREAM)?;
        return Stream::new(stream).map(|stream| Some(Imported::Stream(stream)));
    }
    Ok(None)
}

/// A structure of Arrow's C data interface, which a capsule of some name holds.
trait Structure: Sized {
    /// # Safety
    /// It points to such a structure, which nobody else uses meanwhile.
    unsafe fn take(place: NonNull<Self>) -> Self;

    /// Whether it has no release function: it was used before, or never filled in.
    fn is_released(&self) -> bool;
}

impl Structure for FFI_ArrowSchema {
    unsafe fn take(place: NonNull<Self>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_raw(place.as_ptr()) }
    }

    fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

impl Structure for FFI_ArrowArray {
    unsafe fn take(place: NonNull<Self>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_raw(place.as_ptr()) }
    }

    fn is_released(&self) -> bool {
        FFI_ArrowArray::is_released(self)
    }
}

impl Structure for FFI_ArrowArrayStream {
    unsafe fn take(place: NonNull<Self>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_raw(place.as_ptr()) }
    }

    fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

/// Moves the structure out of a capsule.
///
/// # Errors
/// TypeError if it is no capsule; ValueError if it has another name, or nothing is in it any more.
fn take<T: Structure>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<T> {
    let place = place::<T>(capsule, name)?;
    // SAFETY: by the interface, what is in a capsule of this name is this structure. This thread is attached to the
    // interpreter, which the capsule's other users are too.
    let structure = unsafe { T::take(place) };
    if structure.is_released() {
        return Err(value_error(format!("the capsule {name:?} was already used")));
    }
    Ok(structure)
}

/// Where the structure of a capsule is.
///
/// # Errors
/// TypeError if it is no capsule; ValueError if it has another name.
fn place<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<NonNull<T>> {
    let place = capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast::<T>();
    if place.is_aligned() { Ok(place) } else { Err(value_error(format!("the capsule {name:?} has no valid pointer"))) }
}

/// The name and type of an array, which can be hashed.
fn field(schema: &FFI_ArrowSchema) -> PyResult<Field> {
    let field = Field::try_from(schema).map_err(|error| PyTypeError::new_err(error.to_string()))?;
    check_type(field.data_type()).map_err(exception)?;
    Ok(field)
}

/// An array of a type that can be hashed.
fn array_of(array: FFI_ArrowArray, field: &Field) -> Result<ArrayRef, ArrowError> {
    check::check(&array, field.data_type())?;
    // SAFETY: the structure is whole and fits the type. Its buffers are as long as the interface asks for, for which whoever
    // made it answers.
    let data = unsafe { from_ffi_and_data_type(array, field.data_type().clone()) }?;
    Ok(make_array(data))
}

/// The type as a capsule.
pub(crate) fn export_schema<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(field).map_err(value_error)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// The type and the array as capsules.
pub(crate) fn export_array<'py>(py: Python<'py>, field: &Field, array: &ArrayRef) -> PyResult<Bound<'py, PyTuple>> {
    let schema = export_schema(py, field)?;
    let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&array.to_data()), ARRAY)?;
    (schema, array).into_pyobject(py)
}

/// Arrays of one type as the capsule of a stream.
pub(crate) fn export_stream<'py>(
    py: Python<'py>,
    field: FieldRef,
    arrays: Vec<ArrayRef>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, stream::export(field, arrays), STREAM)
}

/// Arrays of digests in the type that a consumer requests, if they can be in it, and else as they are: to cast them is then
/// the consumer's, as the interface has it.
pub(crate) fn requested(
    field: &FieldRef,
    arrays: &[ArrayRef],
    schema: Option<&Bound<'_, PyAny>>,
) -> PyResult<(FieldRef, Vec<ArrayRef>)> {
    let Some(schema) = schema else { return Ok((field.clone(), arrays.to_vec())) };
    let place = place::<FFI_ArrowSchema>(schema, SCHEMA)?;
    // SAFETY: by the interface, what is in a capsule of this name is this structure, and stays the consumer's.
    let schema = unsafe { place.as_ref() };
    if schema.release.is_none() {
        return Err(value_error("the requested type is already released"));
    }
    // What Arrow's crate panics over is no type that digests can be in.
    let data_type = catch_unwind(AssertUnwindSafe(|| DataType::try_from(schema).ok())).unwrap_or_default();
    let converted = data_type.and_then(|data_type| {
        let arrays = arrays.iter().map(|array| in_type(array, &data_type)).collect::<Option<_>>()?;
        Some((Arc::new(Field::new(field.name(), data_type, true)), arrays))
    });
    Ok(converted.unwrap_or_else(|| (field.clone(), arrays.to_vec())))
}

fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Python's exception for what went wrong with an array.
pub(crate) fn exception(error: ArrayError) -> PyErr {
    match error {
        ArrayError::Type(_) => PyTypeError::new_err(error.to_string()),
        ArrayError::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        _ => value_error(error),
    }
}
