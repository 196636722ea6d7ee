//! Columns of messages, hashed into columns of digests.
//!
//! A [`Column`] borrows Arrow's buffers: values with offsets, values of one width, or views, and the validity bits. Its
//! digests are written side by side into one buffer, in binary or hexadecimal: the values of an Arrow array.

mod layout;
mod work;

use crate::batch::Batch;
use crate::batch::pool::Threads;
use crate::hasher::Hasher;
use crate::{Algorithm, OutputLengthError};

use layout::{Fixed, Layout, Offsets, Rows, Validity, Views};
use work::ColumnWork;

/// A column of messages in one of Arrow's layouts: borrowed rows, some of which may be null.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    rows: Rows<'a>,
    validity: Option<Validity<'a>>,
}

/// The encoding in which digests are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Encoding {
    /// The digest's bytes.
    Binary,
    /// Two lower-case hexadecimal digits per byte.
    Hex,
}

impl Encoding {
    /// Returns the number of bytes that a digest of this algorithm takes.
    pub fn width(self, algorithm: Algorithm) -> usize {
        match self {
            Encoding::Binary => algorithm.digest_bytes(),
            Encoding::Hex => 2 * algorithm.digest_bytes(),
        }
    }

    /// Writes a digest to a place of its width.
    #[inline]
    pub(crate) fn write(self, digest: &[u8], place: &mut [u8]) {
        match self {
            Encoding::Binary => place.copy_from_slice(digest),
            Encoding::Hex => {
                // There is room for two digits a byte, which is all that could be wrong.
                let _ = const_hex::encode_to_slice(digest, place);
            }
        }
    }

    /// Whether there is room for exactly one digest a row.
    pub(crate) fn check(self, algorithm: Algorithm, column: &Column, digests: &[u8]) -> Result<(), OutputLengthError> {
        OutputLengthError::check_bytes(column.len(), digests, self.width(algorithm))
    }
}

/// Why buffers do not form a [`Column`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// There are no offsets. Even a column without rows has one.
    #[error("no offsets: a column has one more offset than rows")]
    NoOffsets,
    /// An offset is smaller than the one before, or negative.
    #[error("offset {row} is smaller than the one before it, or negative")]
    Offset {
        /// Index of the offset.
        row: usize,
    },
    /// A row ends after the end of the values.
    #[error("row {row} ends after the end of its {bytes} bytes of values")]
    Values {
        /// Index of the row.
        row: usize,
        /// Number of bytes in the values, or in the buffer that a view refers to.
        bytes: usize,
    },
    /// The values are not a whole number of rows of the given width.
    #[error("{bytes} bytes of values are not a whole number of rows of {width} bytes")]
    Width {
        /// Number of bytes in the values.
        bytes: usize,
        /// Number of bytes in a row.
        width: usize,
    },
    /// A view refers to a buffer that does not exist.
    #[error("row {row} refers to buffer {buffer}, but there are only {buffers}")]
    Buffer {
        /// Index of the row.
        row: usize,
        /// Index of the buffer that its view refers to.
        buffer: usize,
        /// Number of buffers.
        buffers: usize,
    },
    /// There are fewer validity bits than rows.
    #[error("{bits} validity bits for {rows} rows")]
    Validity {
        /// Number of bits from the offset on.
        bits: usize,
        /// Number of rows.
        rows: usize,
    },
}

/// An Arrow offset: `i32`, or `i64` in the large layouts.
pub trait Offset: sealed::Sealed + Copy + PartialOrd {
    #[doc(hidden)]
    fn column<'a>(values: &'a [u8], offsets: &'a [Self]) -> Result<Column<'a>, ColumnError>;
    #[doc(hidden)]
    fn to_usize(self) -> Option<usize>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

macro_rules! offset {
    ($offset:ident, $layout:ident) => {
        impl Offset for $offset {
            fn column<'a>(values: &'a [u8], offsets: &'a [Self]) -> Result<Column<'a>, ColumnError> {
                let offsets = Offsets::new(values, offsets)?;
                Ok(Column { rows: Rows::$layout(offsets), validity: None })
            }
            #[inline]
            fn to_usize(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
        }
    };
}
offset!(i32, Binary);
offset!(i64, LargeBinary);

impl<'a> Column<'a> {
    /// Creates a column of rows of any length. Row `i` is `values[offsets[i]..offsets[i + 1]]`, with offsets of 32 or
    /// 64 bits. The first offset need not be 0, nor the last one the end of the values: an array may be sliced.
    ///
    /// # Errors
    /// Returns an error if there are no offsets, if an offset is negative or smaller than the one before it, or if a
    /// row ends after the end of the values.
    pub fn binary<O: Offset>(values: &'a [u8], offsets: &'a [O]) -> Result<Self, ColumnError> {
        O::column(values, offsets)
    }

    /// Creates a column of rows of one width, side by side.
    ///
    /// # Errors
    /// Returns an error if the values are not a whole number of rows. Rows of width 0 cannot be counted: they are
    /// accepted only without values, as a column of no rows.
    pub fn fixed(values: &'a [u8], width: usize) -> Result<Self, ColumnError> {
        match values.len().checked_rem(width) {
            Some(0) => {
                Ok(Column { rows: Rows::Fixed(Fixed { values, width, rows: values.len() / width }), validity: None })
            }
            None if values.is_empty() => {
                Ok(Column { rows: Rows::Fixed(Fixed { values, width, rows: 0 }), validity: None })
            }
            _ => Err(ColumnError::Width { bytes: values.len(), width }),
        }
    }

    /// Creates a column of rows of any length from Arrow's views. Rows of up to 12 bytes are stored in the views,
    /// longer ones in the buffers.
    ///
    /// # Errors
    /// Returns an error if a view refers to a buffer that does not exist, or to bytes after the end of its buffer.
    pub fn views(views: &'a [[u8; 16]], buffers: &'a [&'a [u8]]) -> Result<Self, ColumnError> {
        Ok(Column { rows: Rows::Views(Views::new(views, buffers, None)?), validity: None })
    }

    /// Creates a column from Arrow's views, with nulls as in [`with_validity`](Self::with_validity). The views of null
    /// rows are ignored.
    ///
    /// # Errors
    /// Returns an error if there are fewer bits than rows, or if a view that is not null refers to a buffer that does
    /// not exist, or to bytes after the end of its buffer.
    pub fn views_with_validity(
        views: &'a [[u8; 16]],
        buffers: &'a [&'a [u8]],
        bits: &'a [u8],
        offset: usize,
    ) -> Result<Self, ColumnError> {
        let validity = Some(Validity::new(bits, offset, views.len())?);
        Ok(Column { rows: Rows::Views(Views::new(views, buffers, validity)?), validity })
    }

    /// Marks rows as null. There is one bit per row, from bit `offset` on, least significant bit of each byte first; 0
    /// is null.
    ///
    /// # Errors
    /// Returns an error if there are fewer bits than rows.
    pub fn with_validity(self, bits: &'a [u8], offset: usize) -> Result<Self, ColumnError> {
        Ok(Column { validity: Some(Validity::new(bits, offset, self.len())?), ..self })
    }

    /// Returns the number of rows, nulls included.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Binary(rows) => rows.rows(),
            Rows::LargeBinary(rows) => rows.rows(),
            Rows::Fixed(rows) => rows.rows(),
            Rows::Views(rows) => rows.rows(),
        }
    }

    /// Returns the bytes of a row, or `None` if it is null or out of range.
    pub fn row(&self, row: usize) -> Option<&[u8]> {
        if row >= self.len() || self.validity.is_some_and(|validity| !validity.is_valid(row)) {
            return None;
        }
        Some(match &self.rows {
            Rows::Binary(rows) => rows.row(row),
            Rows::LargeBinary(rows) => rows.row(row),
            Rows::Fixed(rows) => rows.row(row),
            Rows::Views(rows) => rows.row(row),
        })
    }

    /// Null where some of the rows of another column are: those from `first` on.
    pub(crate) fn null_as(self, other: &Column<'a>, first: usize) -> Self {
        let validity = other.validity.map(|validity| Validity { offset: validity.offset + first, ..validity });
        Column { validity, ..self }
    }

    /// Some of the rows, which must be there.
    pub(crate) fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        let validity = self.validity.map(|validity| Validity { offset: validity.offset + rows.start, ..validity });
        let rows = match self.rows {
            Rows::Binary(column) => Rows::Binary(column.slice(rows)),
            Rows::LargeBinary(column) => Rows::LargeBinary(column.slice(rows)),
            Rows::Fixed(column) => Rows::Fixed(column.slice(rows)),
            Rows::Views(column) => Rows::Views(column.slice(rows)),
        };
        Column { rows, validity }
    }

    /// As many rows of one width, null where these are.
    pub(crate) fn replaced(self, values: &'a [u8], width: usize) -> Self {
        Column { rows: Rows::Fixed(Fixed { values, width, rows: self.len() }), ..self }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Batch {
    /// Hashes the rows of a column, and returns their digests in order, side by side. A null row's digest is zeros.
    ///
    /// ```
    /// use manyhash::{Algorithm, Batch, Column, Encoding};
    ///
    /// let column = Column::binary(b"abcde", &[0, 1, 3, 5])?; // "a", "bc", "de"
    /// let hex = Batch::new(Algorithm::Md5).digest_column(&column, Encoding::Hex);
    /// assert_eq!(&hex[..32], b"0cc175b9c0f1b6a831c399e269772661");
    ///
    /// let column = Column::fixed(b"bb", 1)?; // "b", "b"
    /// let salted = Batch::new(Algorithm::Md5).salt("a", "c").digest_column(&column, Encoding::Hex);
    /// assert_eq!(salted, b"900150983cd24fb0d6963f7d28e17f72".repeat(2)); // "abc", twice
    /// # Ok::<(), manyhash::ColumnError>(())
    /// ```
    pub fn digest_column(&self, column: &Column, encoding: Encoding) -> Vec<u8> {
        let mut digests = vec![0; column.len() * encoding.width(self.algorithm())];
        self.fill_column(column, encoding, &mut digests);
        digests
    }

    /// Hashes like [`digest_column`](Self::digest_column), but into the caller's bytes. The digest of row `i` starts
    /// at byte `i * n`, where `n` is [`Encoding::width`].
    ///
    /// # Errors
    /// Returns an error, and writes nothing, unless there is room for exactly one digest per row.
    pub fn digest_column_into(
        &self,
        column: &Column,
        encoding: Encoding,
        digests: &mut [u8],
    ) -> Result<(), OutputLengthError> {
        encoding.check(self.algorithm(), column, digests)?;
        self.fill_column(column, encoding, digests);
        Ok(())
    }
}

/// Writes the digests of a column's rows. What is `before` every row, if anything, are whole blocks.
pub(crate) fn fill(
    algorithm: Algorithm,
    threads: Threads,
    column: &Column,
    encoding: Encoding,
    before: Option<&Hasher>,
    digests: &mut [u8],
) {
    let work = ColumnWork { algorithm, threads, validity: column.validity, encoding, before };
    match &column.rows {
        Rows::Binary(rows) => work.by_algorithm(rows, digests),
        Rows::LargeBinary(rows) => work.by_algorithm(rows, digests),
        Rows::Fixed(rows) => work.by_algorithm(rows, digests),
        Rows::Views(rows) => work.by_algorithm(rows, digests),
    }
}
