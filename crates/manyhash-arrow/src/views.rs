//! The digests of an array as an array of views.
//!
//! Digests are written side by side into buffers, and the views of the result point to them: all are longer than the 12
//! bytes that a view can hold itself.

use crate::ArrayError;
use crate::column::with_column;
use crate::output::Output;
use crate::pages::{fresh, zeros};
use arrow_array::types::{BinaryViewType, ByteViewType, StringViewType};
use arrow_array::{Array, ArrayRef, GenericByteViewArray};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow_data::ByteView;
use manyhash::Batch;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Rows that one thread checks, hashes and points to before the next ones: they are in its cache meanwhile.
const ROWS_ALONE: usize = 8 << 10;

/// The same of all threads together.
const ROWS: usize = 256 << 10;

/// Maximum number of bytes in a buffer: Arrow's offsets are signed.
const BUFFER: usize = i32::MAX as usize;

/// The digests of an array of a type that can be hashed.
pub(crate) fn digest(batch: &Batch, array: &dyn Array, output: Output) -> Result<ArrayRef, ArrayError> {
    let (rows, encoding) = (array.len(), output.encoding());
    let width = encoding.width(batch.algorithm());
    let step = if batch.max_threads() == Some(NonZeroUsize::MIN) { ROWS_ALONE } else { ROWS };
    let most = BUFFER / width;

    let mut views = Vec::new();
    views.try_reserve_exact(rows).map_err(|_| ArrayError::Memory { rows })?;
    let mut views = fresh(views);
    let nulls = array.logical_nulls();
    let mut buffers = Vec::new();
    for first in (0..rows).step_by(most) {
        let mut digests = zeros(most.min(rows - first), width)?;
        let mut place = ByteView { length: width as u32, prefix: 0, buffer_index: buffers.len() as u32, offset: 0 };
        for digests in digests.chunks_mut(step * width) {
            let part = array.slice(views.len(), digests.len() / width);
            with_column(&part, |column| batch.digest_column_into(column, encoding, digests))??;
            for digest in digests.chunks_exact(width) {
                let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(views.len()));
                place.prefix = digest.first_chunk().map_or(0, |prefix| u32::from_le_bytes(*prefix));
                // A null's view is empty.
                views.push(if is_null { 0 } else { place.as_u128() });
                place.offset += width as u32;
            }
        }
        buffers.push(Buffer::from_vec(digests));
    }
    let views = ScalarBuffer::from(views);
    Ok(match output {
        // SAFETY: each view was made above, of a digest in these buffers, or is empty. Nulls are the input's, which has as many
        // rows.
        Output::BinaryView => unsafe { array_of::<BinaryViewType>(views, buffers, nulls) },
        // SAFETY: as above, and hexadecimal digits are ASCII.
        _ => unsafe { array_of::<StringViewType>(views, buffers, nulls) },
    })
}

/// # Safety
/// As of [`GenericByteViewArray::new_unchecked`].
unsafe fn array_of<T: ByteViewType>(
    views: ScalarBuffer<u128>,
    buffers: Vec<Buffer>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    // SAFETY: the caller vouches for it.
    Arc::new(unsafe { GenericByteViewArray::<T>::new_unchecked(views, buffers, nulls) })
}
