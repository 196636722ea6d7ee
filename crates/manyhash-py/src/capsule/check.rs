//! What can be wrong with an array of Arrow's C data interface, and would be read or written through.
//!
//! The crates of Arrow take an array at its word, and panic or read what is not there if it breaks the rules. The lengths of
//! buffers are not told by the interface; all that is checked is what follows from the rest.

use arrow_array::ffi::FFI_ArrowArray;
use arrow_data::layout;
use arrow_schema::{ArrowError, DataType};

/// Checks an array of a type that can be hashed.
pub(super) fn check(array: &FFI_ArrowArray, data_type: &DataType) -> Result<(), ArrowError> {
    let wrong =
        |what: &str| Err(ArrowError::CDataInterface(format!("invalid array in Arrow's C data interface: {what}")));
    // Counts come as `usize`, of which the negative ones are the largest.
    let counts = [array.len(), array.offset(), array.num_buffers(), array.num_children()];
    if counts.iter().any(|count| isize::try_from(*count).is_err()) {
        return wrong("a negative length");
    }
    // Offsets of 64 bits for all rows, and one more, are within memory.
    let Some(rows) = array.len().checked_add(array.offset()).filter(|rows| *rows < isize::MAX as usize / 16) else {
        return wrong("too many rows for memory");
    };
    let layout = layout(data_type);
    let fixed = usize::from(layout.can_contain_null_mask) + layout.buffers.len();
    let data = array.num_buffers().checked_sub(fixed + usize::from(layout.variadic));
    if !data.is_some_and(|data| data == 0 || layout.variadic) {
        return wrong("wrong number of buffers");
    }
    let is_null = |buffer: usize| array.buffer(buffer).is_null();
    match data_type {
        DataType::Struct(fields) => {
            if fields.len() != array.num_children() {
                return wrong("wrong number of fields");
            }
            for (i, field) in fields.iter().enumerate() {
                if array.child(i).is_released() {
                    return wrong("a field is already released");
                }
                if array.child(i).len() < rows {
                    return wrong("a field has too few rows");
                }
                check(array.child(i), field.data_type())?;
            }
        }
        DataType::Binary | DataType::Utf8 | DataType::LargeBinary | DataType::LargeUtf8 if !array.is_empty() => {
            if is_null(1) {
                return wrong("no offsets");
            }
            let is_large = matches!(data_type, DataType::LargeBinary | DataType::LargeUtf8);
            // SAFETY: there is one offset more than rows, by the interface.
            if unsafe { last_offset(array.buffer(1), rows, is_large) } < 0 {
                return wrong("a negative offset");
            }
        }
        DataType::BinaryView | DataType::Utf8View => {
            let data = data.unwrap_or(0);
            let lengths = array.buffer(array.num_buffers() - 1).cast::<i64>();
            if data > 0 && lengths.is_null() {
                return wrong("no buffer lengths");
            }
            // SAFETY: there is a length for each of them, by the interface.
            if (0..data).any(|i| unsafe { lengths.add(i).read_unaligned() } < 0) {
                return wrong("a negative buffer length");
            }
        }
        _ => {}
    }
    Ok(())
}

/// The offset where the last of so many rows ends.
///
/// # Safety
/// There are so many offsets and one more.
unsafe fn last_offset(offsets: *const u8, rows: usize, is_large: bool) -> i64 {
    // SAFETY: the caller's promise.
    unsafe {
        if is_large {
            offsets.cast::<i64>().add(rows).read_unaligned()
        } else {
            offsets.cast::<i32>().add(rows).read_unaligned().into()
        }
    }
}
