//! Polars' interface for plugins, version 0.1: the functions of C that it looks up in a library, and what it passes to
//! them. It is that of the crate `polars-ffi` (module `version_0`) on the other side, and has been the same since Polars
//! 0.20.16.
//!
//! Series and types come and go by Arrow's C data interface. A function that fails leaves its output empty, and Polars
//! asks for the message. Nothing unwinds into Polars.

use super::digest::{Expression, refusal};
use arrow_array::cast::AsArray;
use arrow_array::ffi::from_ffi_and_data_type;
use arrow_array::types::BinaryViewType;
use arrow_array::{Array, ArrayRef, NullArray, make_array};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

/// A series on its way between Polars and a plugin.
#[repr(C)]
pub(crate) struct SeriesExport {
    /// The name and the type.
    field: *mut FFI_ArrowSchema,
    /// A pointer for each chunk. Whoever takes the series moves the arrays out, and then releases the rest.
    arrays: *mut *mut FFI_ArrowArray,
    chunks: usize,
    release: Option<unsafe extern "C" fn(*mut SeriesExport)>,
    /// Null in an empty one.
    private: *mut c_void,
}

impl Drop for SeriesExport {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: who filled it in says how it is released; this happens once, here.
            unsafe { release(self) }
        }
    }
}

/// What is behind a series of ours until Polars releases it.
struct Exported {
    field: FFI_ArrowSchema,
    /// Polars has moved them out when it releases the series.
    arrays: Vec<ManuallyDrop<FFI_ArrowArray>>,
    pointers: Vec<*mut FFI_ArrowArray>,
}

impl SeriesExport {
    fn new(name: &str, data_type: DataType, chunks: &[ArrayRef]) -> Result<Self, String> {
        let field = schema(name, data_type)?;
        let arrays = chunks.iter().map(|chunk| ManuallyDrop::new(FFI_ArrowArray::new(&chunk.to_data())));
        let exported = Box::new(Exported { field, arrays: arrays.collect(), pointers: Vec::new() });
        // From here on it is reached by pointers only.
        let private = Box::into_raw(exported);
        // SAFETY: the box is live until the release, and nobody else has the pointer yet.
        let exported = unsafe { &mut *private };
        exported.pointers = exported.arrays.iter_mut().map(|array| &raw mut **array).collect();
        Ok(SeriesExport {
            field: &raw mut exported.field,
            arrays: exported.pointers.as_mut_ptr(),
            chunks: exported.pointers.len(),
            release: Some(release),
            private: private.cast(),
        })
    }

    /// The name, the type, and the chunks of a series that Polars gives.
    ///
    /// # Safety
    /// The series is one that its owner has filled in, and nobody has taken it before.
    unsafe fn take(self) -> Result<(String, DataType, Vec<ArrayRef>), String> {
        // SAFETY: the owner's field stays until the release, which is by the drop of `self`.
        let field = unsafe { &*self.field };
        let data_type = data_type(field);
        // SAFETY: `arrays` are as many pointers as there are chunks; of none, a pointer that is not null.
        let pointers = unsafe { std::slice::from_raw_parts(self.arrays, self.chunks) };
        // All are moved out before anything can fail, so that none leaks.
        // SAFETY: each points to an array, which is moved out once.
        let arrays: Vec<FFI_ArrowArray> = pointers.iter().map(|array| unsafe { ptr::read(*array) }).collect();
        let data_type = data_type?;
        let chunks = arrays.into_iter().map(|array| {
            if data_type == DataType::Null {
                // Polars gives it a buffer, which Arrow has not.
                return Ok(Arc::new(NullArray::new(array.len())) as ArrayRef);
            }
            // SAFETY: the array is Polars', and of the type that it says.
            let data = unsafe { from_ffi_and_data_type(array, data_type.clone()) };
            data.map(make_array).map_err(|error| error.to_string())
        });
        let chunks = chunks.collect::<Result<_, _>>()?;
        Ok((name(field), data_type, chunks))
    }
}

unsafe extern "C" fn release(series: *mut SeriesExport) {
    // SAFETY: Polars releases what `SeriesExport::new` made, once, and so `private` is the box from there.
    drop(unsafe { Box::from_raw((*series).private.cast::<Exported>()) });
    // SAFETY: as above, it is a live series.
    unsafe { (*series).release = None };
}

fn schema(name: &str, data_type: DataType) -> Result<FFI_ArrowSchema, String> {
    FFI_ArrowSchema::try_from(Field::new(name, data_type, true)).map_err(|error| error.to_string())
}

fn name(field: &FFI_ArrowSchema) -> String {
    field.name().unwrap_or_default().to_owned()
}

/// The type; some of Polars' are not Arrow's, and named here by Polars' own codes.
fn data_type(field: &FFI_ArrowSchema) -> Result<DataType, String> {
    DataType::try_from(field).map_err(|_| refusal(field.format()))
}

/// What is said of any other number of inputs.
const INPUTS: &str = "expected one column for a digest, or one column and one key for an HMAC";

/// The key, in the first row of the second input: a literal.
fn key(chunks: &[ArrayRef]) -> Result<&[u8], String> {
    let chunk = chunks.iter().find(|chunk| !chunk.is_empty()).ok_or("missing key for an HMAC")?;
    match chunk.as_byte_view_opt::<BinaryViewType>() {
        Some(array) if array.is_valid(0) => Ok(array.value(0)),
        _ => Err(format!("the key of an HMAC must be bytes, not {}", chunk.data_type())),
    }
}

/// Evaluates an expression.
///
/// # Safety
/// `inputs` are `count` series, which are handed over, and `output` is an empty one.
pub(crate) unsafe fn evaluate(work: Expression, inputs: *mut SeriesExport, count: usize, output: *mut SeriesExport) {
    guard(|| {
        // SAFETY: there are `count`, which Polars filled in, gives away and forgets. All are taken, or they would leak.
        let inputs: Vec<_> = (0..count).map(|i| unsafe { ptr::read(inputs.add(i)).take() }).collect();
        let inputs = inputs.into_iter().collect::<Result<Vec<_>, _>>()?;
        let ((name, input_type, chunks), key) = match &inputs[..] {
            [column] if !work.is_keyed => (column, None),
            [column, (_, _, keys)] if work.is_keyed => (column, Some(key(keys)?)),
            _ => return Err(INPUTS.to_owned()),
        };
        let output_type = work.output_type(input_type)?;
        let digests = chunks.iter().map(|chunk| work.digest(chunk, key)).collect::<Result<Vec<_>, _>>()?;
        let series = SeriesExport::new(name, output_type, &digests)?;
        // SAFETY: `output` is a place for a series, and the empty one in it has nothing to drop.
        unsafe { ptr::write(output, series) };
        Ok(())
    });
}

/// Says of which type an expression is.
///
/// # Safety
/// `inputs` are `count` types, and `output` is an empty one.
pub(crate) unsafe fn output_type(
    work: Expression,
    inputs: *const FFI_ArrowSchema,
    count: usize,
    output: *mut FFI_ArrowSchema,
) {
    guard(|| {
        if count != 1 + usize::from(work.is_keyed) {
            return Err(INPUTS.to_owned());
        }
        // SAFETY: there is one or more, and the first, the column, stays Polars'.
        let field = unsafe { &*inputs };
        let schema = schema(&name(field), work.output_type(&data_type(field)?)?)?;
        // SAFETY: `output` is a place for a type, and the empty one in it has nothing to drop.
        unsafe { ptr::write(output, schema) };
        Ok(())
    });
}

thread_local! {
    /// Why the last call of this thread failed.
    static LAST_ERROR: RefCell<CString> = RefCell::new(CString::default());
}

/// Runs a call, and keeps the message if it fails or panics.
fn guard(call: impl FnOnce() -> Result<(), String>) {
    // What a panic interrupts is gone with it.
    let error = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(_) => "manyhash panicked: see standard error for the reason, and please report it".to_owned(),
    };
    // No text of ours has a byte 0 in it, nor the name of a type.
    let error = CString::new(error.replace('\0', " ")).unwrap_or_default();
    LAST_ERROR.with(|last| *last.borrow_mut() = error);
}

/// The message of the call that failed on this thread. Polars copies it at once.
#[unsafe(export_name = "_polars_plugin_get_last_error_message")]
extern "C" fn last_error() -> *const c_char {
    LAST_ERROR.with(|last| last.borrow().as_ptr())
}

/// The interface's version: the major one in the upper half, the minor one in the lower.
#[unsafe(export_name = "_polars_plugin_get_version")]
extern "C" fn version() -> u32 {
    1
}
