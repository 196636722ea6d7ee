//! Arrays whose values are digests that stand side by side.

use crate::ArrayError;
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{ArrayRef, FixedSizeBinaryArray, GenericByteArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use manyhash::{Algorithm, Encoding};
use std::sync::Arc;

/// The type of the arrays that digests come as: bytes, or lower-case hexadecimal digits, two a byte.
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
    /// Whether digests are bytes or digits.
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
    pub(crate) bytes: Vec<u8>,
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
            _ => {
                let bytes = Buffer::from_vec(self.bytes);
                Arc::new(FixedSizeBinaryArray::try_new(width as i32, bytes, self.nulls)?)
            }
        })
    }

    fn with_offsets<T: ByteArrayType>(self, width: usize) -> ArrayRef {
        let offsets = OffsetBuffer::<T::Offset>::from_repeated_length(width, self.rows);
        // SAFETY: there are `rows` digests of this width, so that the last offset is where the bytes end, and `data_type` chose
        // a type whose offsets go that far. Nulls are the input's, which has as many rows. Strings are hexadecimal digits.
        Arc::new(unsafe { GenericByteArray::<T>::new_unchecked(offsets, Buffer::from_vec(self.bytes), self.nulls) })
    }
}
