//! The rows of an array, lent to the library as a column.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, BinaryViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type};
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType};
use manyhash::{Column, ColumnError, Offset, OutputLengthError};

/// Why an array cannot be hashed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The array's values are not bytes.
    #[error("cannot hash a column of type {0}; cast it to binary or utf8")]
    Type(DataType),
    /// The array is a struct with null rows. Its only field does not have these nulls.
    #[error("cannot hash a table with null rows; select its column")]
    NullRows,
    /// The array breaks Arrow's rules, such as with a row outside the values. Arrow checks this unless told not to.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// There is not enough memory for the digests.
    #[error("not enough memory for the digests of {rows} rows")]
    Memory {
        /// Number of rows in the array.
        rows: usize,
    },
    /// The output does not have room for exactly one digest per row.
    #[error(transparent)]
    Output(#[from] OutputLengthError),
    /// Arrow's own error, from the chunk to be hashed or from making the array of digests.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Checks that arrays of a type can be hashed.
///
/// These are `Binary` and `Utf8`, their large and view forms, `FixedSizeBinary`, `Null`, and a struct with one field of
/// such a type.
///
/// # Errors
/// Returns [`ArrayError::Type`] if the type cannot be hashed.
pub fn check_type(data_type: &DataType) -> Result<(), ArrayError> {
    use DataType::*;
    match data_type {
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) | Utf8 | LargeUtf8 | Utf8View | Null => Ok(()),
        Struct(fields) if fields.len() == 1 => check_type(fields[0].data_type()),
        other => Err(ArrayError::Type(other.clone())),
    }
}

/// The array with the rows: of a struct, as a table with one column is in Arrow's C interface, its only field.
pub(crate) fn rows_of(array: &dyn Array) -> Result<&dyn Array, ArrayError> {
    check_type(array.data_type())?;
    match array.as_struct_opt() {
        Some(table) if table.null_count() > 0 => Err(ArrayError::NullRows),
        Some(table) => rows_of(table.column(0)),
        None => Ok(array),
    }
}

/// Calls `f` with an array as a [`Column`]. No value is copied.
///
/// # Errors
/// Returns an error if [`check_type`] rejects the array's type, if a struct has null rows, or if the array breaks
/// Arrow's rules.
pub fn with_column<R>(array: &dyn Array, f: impl FnOnce(&Column) -> R) -> Result<R, ArrayError> {
    let array = rows_of(array)?;
    let f = |column: Column| match array.nulls() {
        Some(nulls) => Ok(f(&column.with_validity(nulls.validity(), nulls.offset())?)),
        None => Ok(f(&column)),
    };
    match array.data_type() {
        // The end of a sliced array may come without its values.
        _ if array.is_empty() => f(Column::fixed(&[], 0)?),
        DataType::Binary => f(binary::<BinaryType>(array)?),
        DataType::LargeBinary => f(binary::<LargeBinaryType>(array)?),
        DataType::Utf8 => f(binary::<Utf8Type>(array)?),
        DataType::LargeUtf8 => f(binary::<LargeUtf8Type>(array)?),
        DataType::BinaryView => views::<BinaryViewType, _>(array, f),
        DataType::Utf8View => views::<StringViewType, _>(array, f),
        DataType::Null => {
            let (offsets, validity) = (vec![0_i32; array.len() + 1], vec![0; array.len().div_ceil(8)]);
            f(Column::binary(&[], &offsets)?.with_validity(&validity, 0)?)
        }
        // Rows without bytes cannot be counted by their bytes.
        DataType::FixedSizeBinary(0) => f(Column::binary(&[], &vec![0_i32; array.len() + 1])?),
        _ => {
            let array = array.as_fixed_size_binary();
            // There may be bytes left over behind the last row.
            let width = array.value_length() as usize;
            f(Column::fixed(&array.value_data()[..array.len() * width], width)?)
        }
    }
}

fn binary<T: ByteArrayType<Offset: Offset>>(array: &dyn Array) -> Result<Column<'_>, ColumnError> {
    let array = array.as_bytes::<T>();
    Column::binary(array.value_data(), array.value_offsets())
}

fn views<T: ByteViewType, R>(
    array: &dyn Array,
    f: impl FnOnce(Column) -> Result<R, ArrayError>,
) -> Result<R, ArrayError> {
    let array = array.as_byte_view::<T>();
    let buffers: Vec<&[u8]> = array.data_buffers().iter().map(Buffer::as_slice).collect();
    let (views, _) = array.views().inner().as_slice().as_chunks();
    f(match array.nulls() {
        Some(nulls) => Column::views_with_validity(views, &buffers, nulls.validity(), nulls.offset())?,
        None => Column::views(views, &buffers)?,
    })
}
