//! The digests of an array of views, as another array of views.
//!
//! Digests are written side by side into buffers, and the views of the result point to them: all are longer than the 12
//! bytes that a view can hold itself.

use crate::pages::fresh;
use crate::rows;
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryViewType, ByteViewType, StringViewType};
use arrow_array::{Array, ArrayRef, GenericByteViewArray};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow_data::ByteView;
use arrow_schema::DataType;
use manyhash::{Algorithm, Batch, Column, Encoding};
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// Bytes up to which an array is hashed by the thread that Polars calls on: more than what its streaming engine, which has
/// all its threads at work, hands over at once.
const HERE: usize = 16 << 20;

/// Rows that one thread checks, hashes and points to before the next ones: they are in its cache meanwhile.
const ROWS_HERE: usize = 8 << 10;

/// The same of all threads together.
const ROWS: usize = 256 << 10;

/// Bytes in a buffer at the most: Arrow's offsets are signed.
const BUFFER: usize = i32::MAX as usize;

/// Arrow's binary view: the length, the first 4 bytes, and where all of them are; or, of up to 12 bytes, these.
type View = [u8; 16];

/// What an expression computes.
#[derive(Clone, Copy)]
pub(crate) struct Expression {
    pub(crate) algorithm: Algorithm,
    pub(crate) encoding: Encoding,
    /// Whether there is a second input, the key of an HMAC.
    pub(crate) is_keyed: bool,
}

impl Expression {
    /// The type of the digests of a column of this one.
    pub(crate) fn output_type(self, input: &DataType) -> Result<DataType, String> {
        match (input, self.encoding) {
            (DataType::Utf8View | DataType::BinaryView | DataType::Null, Encoding::Binary) => Ok(DataType::BinaryView),
            (DataType::Utf8View | DataType::BinaryView | DataType::Null, Encoding::Hex) => Ok(DataType::Utf8View),
            (DataType::Dictionary(..), _) => Err(refusal("Categorical or Enum")),
            (other, _) => Err(refusal(&other.to_string())),
        }
    }

    /// The digests of an array of a type that [`output_type`](Self::output_type) takes.
    pub(crate) fn digest(self, array: &ArrayRef, key: Option<&[u8]>) -> Result<ArrayRef, String> {
        match array.data_type() {
            DataType::Null => Ok(self.array(vec![0; array.len()], Vec::new(), array.logical_nulls())),
            DataType::Utf8View => self.digest_views(array.as_byte_view::<StringViewType>(), key),
            _ => self.digest_views(array.as_byte_view::<BinaryViewType>(), key),
        }
    }

    fn digest_views<T: ByteViewType>(
        self,
        array: &GenericByteViewArray<T>,
        key: Option<&[u8]>,
    ) -> Result<ArrayRef, String> {
        let (views, _) = array.views().inner().as_slice().as_chunks();
        let values: Vec<&[u8]> = array.data_buffers().iter().map(Buffer::as_slice).collect();
        let width = self.encoding.width(self.algorithm);
        let threads = self.threads(views);
        let batch = rows::batch(self.algorithm, key).threads(threads);
        let step = if threads == Some(NonZeroUsize::MIN) { ROWS_HERE } else { ROWS };

        let mut outputs = fresh(Vec::with_capacity(views.len()));
        let mut buffers = Vec::new();
        for (buffer, views) in (0..).zip(views.chunks(BUFFER / width)) {
            let mut digests = fresh(vec![0; views.len() * width]);
            let mut offset = 0;
            for (views, digests) in views.chunks(step).zip(digests.chunks_mut(step * width)) {
                let nulls = array.nulls().map(|nulls| nulls.slice(outputs.len(), views.len()));
                self.fill(&batch, views, &values, nulls.as_ref(), digests)?;
                for (row, digest) in digests.chunks_exact(width).enumerate() {
                    let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
                    outputs.push(if is_null { 0 } else { view(digest, buffer, offset) });
                    offset += width as u32;
                }
            }
            buffers.push(Buffer::from_vec(digests));
        }
        Ok(self.array(outputs, buffers, array.nulls().cloned()))
    }

    /// Writes the digests of rows.
    fn fill(
        self,
        batch: &Batch,
        views: &[View],
        values: &[&[u8]],
        nulls: Option<&NullBuffer>,
        digests: &mut [u8],
    ) -> Result<(), String> {
        let column = match nulls {
            Some(nulls) => Column::views_with_validity(views, values, nulls.validity(), nulls.offset()),
            None => Column::views(views, values),
        };
        let column = column.map_err(|error| error.to_string())?;
        batch.digest_column_into(&column, self.encoding, digests).map_err(|error| error.to_string())
    }

    /// The array of these views, which point into these buffers; a null's is empty.
    fn array(self, views: Vec<u128>, buffers: Vec<Buffer>, nulls: Option<NullBuffer>) -> ArrayRef {
        let views = ScalarBuffer::from(views);
        match self.encoding {
            Encoding::Binary => {
                // SAFETY: `digest_views` made each view of a digest in these buffers, or empty.
                Arc::new(unsafe { GenericByteViewArray::<BinaryViewType>::new_unchecked(views, buffers, nulls) })
            }
            Encoding::Hex => {
                // SAFETY: as above, and hexadecimal digits are ASCII.
                Arc::new(unsafe { GenericByteViewArray::<StringViewType>::new_unchecked(views, buffers, nulls) })
            }
        }
    }

    /// Threads for rows, if not one for every core.
    fn threads(self, views: &[View]) -> Option<NonZeroUsize> {
        let blocks = views.len().saturating_mul(self.algorithm.block_bytes());
        let length = |[a, b, c, d, ..]: &View| u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        let is_little = blocks < HERE && blocks + views.iter().map(length).sum::<usize>() < HERE;
        if is_little { Some(NonZeroUsize::MIN) } else { polars_threads() }
    }
}

/// What is said of a type that is not hashed.
pub(crate) fn refusal(data_type: &str) -> String {
    format!("cannot hash a column of type {data_type}; cast it to String or Binary")
}

/// The view of a digest that begins here in a buffer.
fn view(digest: &[u8], buffer: u32, offset: u32) -> u128 {
    let prefix = digest.first_chunk().map_or(0, |prefix| u32::from_le_bytes(*prefix));
    ByteView { length: digest.len() as u32, prefix, buffer_index: buffer, offset }.as_u128()
}

/// Threads that the user allows Polars, if the user says.
fn polars_threads() -> Option<NonZeroUsize> {
    static THREADS: OnceLock<Option<NonZeroUsize>> = OnceLock::new();
    *THREADS.get_or_init(|| std::env::var("POLARS_MAX_THREADS").ok()?.parse().ok())
}
