//! The digests of arrays.

use crate::column::{check_type, rows_of, with_column};
use crate::output::{Digests, Output};
use crate::pages::zeros;
use crate::{ArrayError, views};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType};
use manyhash::Batch;

/// Hashes the rows of an array, and returns their digests in order, as an array. Null rows stay null.
///
/// A struct with one field is hashed as that field.
///
/// ```
/// use arrow_array::{Array, BinaryArray, cast::AsArray};
/// use manyhash::{Algorithm, Batch};
/// use manyhash_arrow::{Output, digest_array};
///
/// let rows = BinaryArray::from(vec![Some(&b"abc"[..]), None]);
/// let digests = digest_array(&Batch::new(Algorithm::Sha256), &rows, Output::FixedSizeBinary)?;
/// assert_eq!(digests.as_fixed_size_binary().value(0)[..4], [0xba, 0x78, 0x16, 0xbf]);
/// assert!(digests.is_null(1));
/// # Ok::<(), manyhash_arrow::ArrayError>(())
/// ```
///
/// # Errors
/// Returns an error if [`check_type`] rejects the array's type, if a struct has null rows, if the array breaks Arrow's
/// rules, or if there is not enough memory.
pub fn digest_array(batch: &Batch, array: &dyn Array, output: Output) -> Result<ArrayRef, ArrayError> {
    match digest(batch, array, output)? {
        Hashed::Array(array) => Ok(array),
        Hashed::Digests(digests) => {
            let data_type = output.data_type(batch.algorithm(), digests.bytes.len());
            digests.into_array(&data_type, output.encoding().width(batch.algorithm()))
        }
    }
}

/// Arrays of digests, all of one type.
#[derive(Debug)]
#[non_exhaustive]
pub struct Chunks {
    /// The type, which is known even if there are no arrays.
    pub data_type: DataType,
    /// An array for each array that was hashed, with as many rows.
    pub arrays: Vec<ArrayRef>,
}

/// Hashes a column that comes in several arrays of one type, each as [`digest_array`] does.
///
/// The arrays of digests have one type: if one is too long for 32-bit offsets, all have 64-bit offsets.
///
/// # Errors
/// Returns the errors of [`digest_array`], or the first error that `arrays` yields.
pub fn digest_chunks(
    batch: &Batch,
    arrays: impl IntoIterator<Item = Result<ArrayRef, ArrowError>>,
    output: Output,
) -> Result<Chunks, ArrayError> {
    let chunks: Vec<Hashed> =
        arrays.into_iter().map(|array| digest(batch, &array?, output)).collect::<Result<_, _>>()?;
    let longest = chunks.iter().map(|chunk| match chunk {
        Hashed::Array(_) => 0,
        Hashed::Digests(digests) => digests.bytes.len(),
    });
    let data_type = output.data_type(batch.algorithm(), longest.max().unwrap_or(0));
    let width = output.encoding().width(batch.algorithm());
    let arrays = chunks.into_iter().map(|chunk| match chunk {
        Hashed::Array(array) => Ok(array),
        Hashed::Digests(digests) => digests.into_array(&data_type, width),
    });
    let arrays = arrays.collect::<Result<_, _>>()?;
    Ok(Chunks { data_type, arrays })
}

/// An array's digests.
enum Hashed {
    /// As the array that they become, with views.
    Array(ArrayRef),
    /// Before it is known how long the longest array of the column is.
    Digests(Digests),
}

fn digest(batch: &Batch, array: &dyn Array, output: Output) -> Result<Hashed, ArrayError> {
    check_type(array.data_type())?;
    let array = rows_of(array)?;
    match output {
        Output::BinaryView | Output::Utf8View => views::digest(batch, array, output).map(Hashed::Array),
        Output::FixedSizeBinary | Output::Binary | Output::Utf8 => {
            let encoding = output.encoding();
            let mut bytes = zeros(array.len(), encoding.width(batch.algorithm()))?;
            with_column(array, |column| batch.digest_column_into(column, encoding, &mut bytes))??;
            let bytes = Buffer::from_vec(bytes);
            Ok(Hashed::Digests(Digests { bytes, rows: array.len(), nulls: array.logical_nulls() }))
        }
    }
}
