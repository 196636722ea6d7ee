//! Arrays with digests side by side as their values.

use crate::ArrayError;
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{Array, ArrayRef, BinaryViewArray, FixedSizeBinaryArray, GenericByteArray};
use arrow_array::{LargeStringArray, StringViewArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use manyhash::{Algorithm, Encoding};
use std::sync::Arc;

/// The type of the arrays of digests: bytes, or lower-case hexadecimal digits, two per byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Output {
    /// Bytes without offsets: the smallest.
    FixedSizeBinary,
    /// Bytes with 32-bit offsets; with 64-bit offsets (`LargeBinary`) if an array has more than 2 GiB of digests.
    Binary,
    /// Bytes with views.
    BinaryView,
    /// Digits with 32-bit offsets; with 64-bit offsets (`LargeUtf8`) if an array has more than 2 GiB of digests.
    Utf8,
    /// Digits with views.
    Utf8View,
}

impl Output {
    /// Returns whether digests are written as bytes or as digits.
    pub fn encoding(self) -> Encoding {
        match self {
            Output::FixedSizeBinary | Output::Binary | Output::BinaryView => Encoding::Binary,
            Output::Utf8 | Output::Utf8View => Encoding::Hex,
        }
    }

    /// The type of arrays of an algorithm's digests, of which the longest array has so many bytes.
    pub(crate) fn data_type(self, algorithm: Algorithm, bytes: usize) -> DataType {
        let is_large = i32::try_from(bytes).is_err();
        match self {
            Output::FixedSizeBinary => DataType::FixedSizeBinary(self.encoding().width(algorithm) as i32),
            Output::Binary if is_large => DataType::LargeBinary,
            Output::Binary => DataType::Binary,
            Output::BinaryView => DataType::BinaryView,
            Output::Utf8 if is_large => DataType::LargeUtf8,
            Output::Utf8 => DataType::Utf8,
            Output::Utf8View => DataType::Utf8View,
        }
    }
}

/// The digests of one array's rows, side by side.
pub(crate) struct Digests {
    pub(crate) bytes: Buffer,
    pub(crate) rows: usize,
    /// As many as rows.
    pub(crate) nulls: Option<NullBuffer>,
}

impl Digests {
    /// The array of digests of this width, of a type that has no views.
    pub(crate) fn into_array(self, data_type: &DataType, width: usize) -> Result<ArrayRef, ArrayError> {
        Ok(match data_type {
            DataType::Binary => self.with_offsets::<BinaryType>(width),
            DataType::LargeBinary => self.with_offsets::<LargeBinaryType>(width),
            DataType::Utf8 => self.with_offsets::<Utf8Type>(width),
            DataType::LargeUtf8 => self.with_offsets::<LargeUtf8Type>(width),
            _ => Arc::new(FixedSizeBinaryArray::try_new(width as i32, self.bytes, self.nulls)?),
        })
    }

    fn with_offsets<T: ByteArrayType>(self, width: usize) -> ArrayRef {
        let offsets = OffsetBuffer::<T::Offset>::from_repeated_length(width, self.rows);
        // SAFETY: there are `rows` digests of this width, so that no offset is behind the bytes; `Output::data_type` and
        // `in_type` choose a type whose offsets go that far. Nulls are the input's, which has as many rows. Strings are hexadecimal digits.
        Arc::new(unsafe { GenericByteArray::<T>::new_unchecked(offsets, self.bytes, self.nulls) })
    }
}

/// Converts digests to another type without copying them. This serves consumers that request a type through Arrow's C
/// interface.
///
/// | from | to |
/// | --- | --- |
/// | `FixedSizeBinary` | `Binary`, `LargeBinary`, `BinaryView` |
/// | `Utf8` | `LargeUtf8`, `Utf8View` |
/// | `LargeUtf8` | `Utf8View` |
///
/// Returns `None` for any other pair of different types, or if the digests are too long for the offsets of `Binary`.
pub fn in_type(digests: &ArrayRef, data_type: &DataType) -> Option<ArrayRef> {
    use DataType::*;
    match (digests.data_type(), data_type) {
        (from, to) if from == to => Some(digests.clone()),
        (FixedSizeBinary(width), Binary | LargeBinary | BinaryView) => {
            let (array, width) = (digests.as_fixed_size_binary(), usize::try_from(*width).ok()?);
            if *data_type == Binary {
                i32::try_from(width * array.len()).ok()?;
            }
            let digests = Digests { bytes: array.values().clone(), rows: array.len(), nulls: array.nulls().cloned() };
            if *data_type == BinaryView {
                let array = digests.into_array(&LargeBinary, width).ok()?;
                return Some(Arc::new(BinaryViewArray::from(array.as_binary::<i64>())));
            }
            digests.into_array(data_type, width).ok()
        }
        (Utf8, LargeUtf8) => {
            let (offsets, digits, nulls) = digests.as_string::<i32>().clone().into_parts();
            let offsets: ScalarBuffer<i64> = offsets.iter().map(|offset| i64::from(*offset)).collect();
            Some(Arc::new(LargeStringArray::try_new(OffsetBuffer::new(offsets), digits, nulls).ok()?))
        }
        (Utf8, Utf8View) => Some(Arc::new(StringViewArray::from(digests.as_string::<i32>()))),
        (LargeUtf8, Utf8View) => Some(Arc::new(StringViewArray::from(digests.as_string::<i64>()))),
        _ => None,
    }
}
