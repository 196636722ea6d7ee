//! Columns that are arrays of the crate `arrow-array`, in and out: with the feature `arrow`.
//!
//! The values are not copied on the way in; the digests are, in binary, an array of fixed size, and in hexadecimal an
//! array of strings. Nulls stay null.

use crate::Algorithm;
use crate::batch::Batch;
use crate::column::{Column, ColumnError, Encoding, Offset};
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, BinaryViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type};
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, LargeStringArray, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType};
use std::sync::Arc;

/// Why an array has no digests.
#[derive(Debug, thiserror::Error)]
pub enum ArrayError {
    /// Its values are no bytes.
    #[error("cannot hash a column of type {0}; cast it to binary or utf8")]
    Type(DataType),
    /// Its rows are not where they should be, which a checked array's are.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// The digests make no array.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Whether rows of a type can be hashed: binary and utf8, their large and view forms, binary of a fixed size, and nulls of
/// no type at all.
///
/// # Errors
/// If they cannot.
pub fn check_type(data_type: &DataType) -> Result<(), ArrayError> {
    use DataType::*;
    match data_type {
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) | Utf8 | LargeUtf8 | Utf8View | Null => Ok(()),
        other => Err(ArrayError::Type(other.clone())),
    }
}

/// Calls `f` with an array as a [`Column`], for whatever takes one.
///
/// # Errors
/// If rows of its type cannot be hashed.
pub fn with_column<R>(array: &dyn Array, f: impl FnOnce(&Column) -> R) -> Result<R, ArrayError> {
    check_type(array.data_type())?;
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
            let (offsets, nobody) = (vec![0_i32; array.len() + 1], vec![0; array.len().div_ceil(8)]);
            f(Column::binary(&[], &offsets)?.with_validity(&nobody, 0)?)
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

/// Digests that stand side by side as an array: binary of a fixed size, or strings (large ones if they are more than
/// 2 GiB).
///
/// # Errors
/// If there is not a digest for each null or other row.
pub fn array(
    algorithm: Algorithm,
    encoding: Encoding,
    digests: Vec<u8>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let width = encoding.width(algorithm);
    let rows = digests.len() / width;
    let digests = Buffer::from_vec(digests);
    Ok(match encoding {
        Encoding::Binary => Arc::new(FixedSizeBinaryArray::try_new(width as i32, digests, nulls)?),
        Encoding::Hex if i32::try_from(digests.len()).is_ok() => {
            Arc::new(StringArray::try_new(OffsetBuffer::from_repeated_length(width, rows), digests, nulls)?)
        }
        Encoding::Hex => {
            Arc::new(LargeStringArray::try_new(OffsetBuffer::from_repeated_length(width, rows), digests, nulls)?)
        }
    })
}

impl Batch {
    /// The digests of an array's rows, in their order; null where they are.
    ///
    /// ```
    /// use arrow_array::{Array, StringArray, cast::AsArray};
    /// use manyhash::{Algorithm, Batch, Encoding};
    ///
    /// let names = StringArray::from(vec![Some("a"), None]);
    /// let digests = Batch::new(Algorithm::Md5).digest_array(&names, Encoding::Hex)?;
    /// assert_eq!(digests.as_string::<i32>().value(0), "0cc175b9c0f1b6a831c399e269772661");
    /// assert!(digests.is_null(1));
    /// # Ok::<(), manyhash::arrow::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// If rows of its type cannot be hashed.
    pub fn digest_array(&self, array: &dyn Array, encoding: Encoding) -> Result<ArrayRef, ArrayError> {
        let digests = with_column(array, |column| self.digest_column(column, encoding))?;
        Ok(self::array(self.algorithm(), encoding, digests, array.logical_nulls())?)
    }
}
