//! Columns of messages, as columnar data has them, to columns of digests.
//!
//! A [`Column`] borrows Arrow's buffers: values with offsets, values of one width, or views, and which rows are there. Its
//! digests are written side by side into one buffer, in binary or hexadecimal: an Arrow array's values.

use crate::batch::Batch;
use crate::family::with_family;
use crate::lanes::Planned;
use crate::running::Prefix;
use crate::short::{Done, Shorts, TooLong};
use crate::{Algorithm, OutputLength};
use manyhash_core::algorithm::MAX_DIGEST_BYTES;
use std::sync::{Mutex, PoisonError};

/// A column of messages: where its rows are, and which of them are null.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    rows: Rows<'a>,
    validity: Option<Validity<'a>>,
}

/// Arrow's layouts, checked: every row is inside the values.
#[derive(Clone, Copy, Debug)]
enum Rows<'a> {
    Binary(Offsets<'a, i32>),
    LargeBinary(Offsets<'a, i64>),
    Fixed(Fixed<'a>),
    Views(Views<'a>),
}

/// Row `i` is `values[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Copy, Debug)]
struct Offsets<'a, O> {
    values: &'a [u8],
    offsets: &'a [O],
}

/// Row `i` is `values[i * width..(i + 1) * width]`.
#[derive(Clone, Copy, Debug)]
struct Fixed<'a> {
    values: &'a [u8],
    width: usize,
    rows: usize,
}

/// A row of up to 12 bytes stands in its view, any other in a buffer that the view names.
#[derive(Clone, Copy, Debug)]
struct Views<'a> {
    views: &'a [[u8; 16]],
    buffers: &'a [&'a [u8]],
}

/// A bit a row, the lowest of a byte first; null where it is 0.
#[derive(Clone, Copy, Debug)]
struct Validity<'a> {
    bits: &'a [u8],
    /// The first row's bit.
    offset: usize,
}

impl Validity<'_> {
    fn is_valid(&self, row: usize) -> bool {
        let bit = self.offset + row;
        self.bits[bit / 8] >> (bit % 8) & 1 == 1
    }
}

/// How digests are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// Their bytes.
    Binary,
    /// Two lower-case hexadecimal digits a byte.
    Hex,
}

impl Encoding {
    /// Bytes that a digest of this algorithm takes.
    pub fn width(self, algorithm: Algorithm) -> usize {
        match self {
            Encoding::Binary => algorithm.digest_bytes(),
            Encoding::Hex => 2 * algorithm.digest_bytes(),
        }
    }
}

/// Why there is no column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ColumnError {
    /// There is not even the offset that ends no rows at all.
    #[error("no offsets: there is one more than rows")]
    NoOffsets,
    /// An offset is smaller than the one before, or negative.
    #[error("offset {row} is smaller than the one before it, or negative")]
    Offset {
        /// Which offset.
        row: usize,
    },
    /// A row ends behind the values.
    #[error("row {row} ends behind its {bytes} bytes of values")]
    Values {
        /// Which row.
        row: usize,
        /// Bytes there are.
        bytes: usize,
    },
    /// Values of one width are no whole number of rows.
    #[error("{bytes} bytes are no whole number of rows of {width} bytes")]
    Width {
        /// Bytes there are.
        bytes: usize,
        /// Bytes a row should have.
        width: usize,
    },
    /// A view names a buffer that is not there.
    #[error("row {row} is in buffer {buffer}, but there are {buffers}")]
    Buffer {
        /// Which row.
        row: usize,
        /// The buffer that it names.
        buffer: usize,
        /// Buffers there are.
        buffers: usize,
    },
    /// There are fewer validity bits than rows.
    #[error("{bits} validity bits for {rows} rows")]
    Validity {
        /// Bits there are, from the offset on.
        bits: usize,
        /// Rows.
        rows: usize,
    },
}

/// An Arrow offset: `i32`, or `i64` in the layouts called large.
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

impl<'a, O: Offset> Offsets<'a, O> {
    fn new(values: &'a [u8], offsets: &'a [O]) -> Result<Self, ColumnError> {
        let (first, last) = (offsets.first().ok_or(ColumnError::NoOffsets)?, offsets[offsets.len() - 1]);
        first.to_usize().ok_or(ColumnError::Offset { row: 0 })?;
        // All of them without a branch, which takes a fraction of the time; which one it is only matters if there is one.
        if !offsets.windows(2).fold(true, |grows, pair| grows & (pair[0] <= pair[1])) {
            let row = offsets.windows(2).position(|pair| pair[0] > pair[1]).map_or(0, |row| row + 1);
            return Err(ColumnError::Offset { row });
        }
        if last.to_usize().is_none_or(|last| last > values.len()) {
            let is_inside = |offset: &O| offset.to_usize().is_some_and(|offset| offset <= values.len());
            let row = offsets.iter().position(|offset| !is_inside(offset)).unwrap_or(0).saturating_sub(1);
            return Err(ColumnError::Values { row, bytes: values.len() });
        }
        Ok(Offsets { values, offsets })
    }
}

/// Bytes of a view's row at the most that stand in the view itself.
const INLINE: usize = 12;

impl<'a> Views<'a> {
    /// Word `i` of a view. Arrow's columnar format, Variable-size Binary View: 4 bytes each of the length, the first bytes
    /// of the row, the buffer, and the offset in it, least significant first.
    fn word(view: &[u8; 16], i: usize) -> usize {
        let (words, _) = view.as_chunks::<4>();
        u32::from_le_bytes(words[i]) as usize
    }

    fn new(views: &'a [[u8; 16]], buffers: &'a [&'a [u8]]) -> Result<Self, ColumnError> {
        for (row, view) in views.iter().enumerate() {
            let [length, _, buffer, start] = [0, 1, 2, 3].map(|i| Self::word(view, i));
            if length > INLINE {
                let bytes = buffers.get(buffer).map(|buffer| buffer.len());
                let bytes = bytes.ok_or(ColumnError::Buffer { row, buffer, buffers: buffers.len() })?;
                if start.checked_add(length).is_none_or(|end| end > bytes) {
                    return Err(ColumnError::Values { row, bytes });
                }
            }
        }
        Ok(Views { views, buffers })
    }
}

impl<'a> Column<'a> {
    /// Rows of any length: row `i` is `values[offsets[i]..offsets[i + 1]]`, with offsets of 32 or 64 bits. As of a sliced
    /// array, the first offset need not be 0, nor the last one the end of the values.
    ///
    /// # Errors
    /// If the offsets are none, fall, or end behind the values.
    pub fn binary<O: Offset>(values: &'a [u8], offsets: &'a [O]) -> Result<Self, ColumnError> {
        O::column(values, offsets)
    }

    /// Rows of one width, side by side.
    ///
    /// # Errors
    /// If the values are no whole number of them; rows of no bytes cannot be counted.
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

    /// Rows of any length by Arrow's views: those of up to 12 bytes stand in the views, the others in the buffers.
    ///
    /// # Errors
    /// If a view names a buffer that is not there, or bytes behind it.
    pub fn views(views: &'a [[u8; 16]], buffers: &'a [&'a [u8]]) -> Result<Self, ColumnError> {
        Ok(Column { rows: Rows::Views(Views::new(views, buffers)?), validity: None })
    }

    /// The same with nulls: a bit a row, from bit `offset` on, the lowest of each byte first; 0 is null.
    ///
    /// # Errors
    /// If there are fewer bits than rows.
    pub fn with_validity(self, bits: &'a [u8], offset: usize) -> Result<Self, ColumnError> {
        let there = bits.len().saturating_mul(8).saturating_sub(offset);
        if there < self.len() {
            return Err(ColumnError::Validity { bits: there, rows: self.len() });
        }
        Ok(Column { validity: Some(Validity { bits, offset }), ..self })
    }

    /// Rows, nulls included.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Binary(rows) => rows.rows(),
            Rows::LargeBinary(rows) => rows.rows(),
            Rows::Fixed(rows) => rows.rows(),
            Rows::Views(rows) => rows.rows(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How rows are found; each layout's loop is compiled for itself.
trait Layout: Copy + Sync {
    fn rows(&self) -> usize;

    /// The bytes of a row below [`rows`](Self::rows).
    fn row(&self, row: usize) -> &[u8];
}

impl<O: Offset + Sync> Layout for Offsets<'_, O> {
    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline]
    fn row(&self, row: usize) -> &[u8] {
        let end = |i: usize| self.offsets[i].to_usize().unwrap_or(usize::MAX);
        self.values.get(end(row)..end(row + 1)).unwrap_or(&[])
    }
}

impl Layout for Fixed<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    #[inline]
    fn row(&self, row: usize) -> &[u8] {
        self.values.get(row * self.width..(row + 1) * self.width).unwrap_or(&[])
    }
}

impl Layout for Views<'_> {
    fn rows(&self) -> usize {
        self.views.len()
    }

    #[inline]
    fn row(&self, row: usize) -> &[u8] {
        let view = &self.views[row];
        let length = Self::word(view, 0);
        let (bytes, start) = if length <= INLINE {
            (&view[..], 4)
        } else {
            (self.buffers.get(Self::word(view, 2)).copied().unwrap_or(&[]), Self::word(view, 3))
        };
        bytes.get(start..start + length).unwrap_or(&[])
    }
}

/// The digests of a column of Arrow's variable-size layout, computed on all cores: row `i` is
/// `values[offsets[i]..offsets[i + 1]]`. `validity` is a bit a row, and the first row's bit; a null row's digest is zeros.
///
/// [`Column`] has the other layouts, and [`Batch::digest_column_into`] writes into the caller's bytes.
///
/// # Errors
/// If the offsets or the bits do not fit.
pub fn digest_column<O: Offset>(
    algorithm: Algorithm,
    values: &[u8],
    offsets: &[O],
    validity: Option<(&[u8], usize)>,
) -> Result<Vec<u8>, ColumnError> {
    let mut column = Column::binary(values, offsets)?;
    if let Some((bits, offset)) = validity {
        column = column.with_validity(bits, offset)?;
    }
    Ok(Batch::new(algorithm).digest_column(&column, Encoding::Binary))
}

/// The digests of messages of one width, side by side, computed on all cores.
///
/// # Errors
/// If the values are no whole number of them.
pub fn digest_fixed(algorithm: Algorithm, values: &[u8], width: usize) -> Result<Vec<u8>, ColumnError> {
    Ok(Batch::new(algorithm).digest_column(&Column::fixed(values, width)?, Encoding::Binary))
}

/// Rows in a task at the least: groups of messages that are not full at its end are few beside it.
const TASK: usize = 8192;

/// Tasks for each thread, so that all end at about the same time.
const TASKS: usize = 16;

impl Batch {
    /// The digests of a column, in the order of its rows, side by side; zeros where a row is null.
    ///
    /// ```
    /// use manyhash::{Algorithm, Batch, Column, Encoding};
    ///
    /// let column = Column::binary(b"abcde", &[0, 1, 3, 5])?; // "a", "bc", "de"
    /// let hex = Batch::new(Algorithm::Md5).digest_column(&column, Encoding::Hex);
    /// assert_eq!(&hex[..32], b"0cc175b9c0f1b6a831c399e269772661");
    /// # Ok::<(), manyhash::ColumnError>(())
    /// ```
    pub fn digest_column(&self, column: &Column, encoding: Encoding) -> Vec<u8> {
        let mut digests = vec![0; column.len() * encoding.width(self.algorithm())];
        self.fill_column(column, encoding, &mut digests);
        digests
    }

    /// As [`digest_column`](Self::digest_column), into the caller's bytes: nothing is allocated per row.
    ///
    /// # Errors
    /// If there is not room for exactly one digest a row; nothing is written then.
    pub fn digest_column_into(
        &self,
        column: &Column,
        encoding: Encoding,
        digests: &mut [u8],
    ) -> Result<(), OutputLength> {
        let width = encoding.width(self.algorithm());
        // Whatever is left over counts as one more, so that it is never taken for the right number.
        OutputLength::check(column.len(), digests.len().div_ceil(width))?;
        OutputLength::check(column.len(), digests.len() / width)?;
        self.fill_column(column, encoding, digests);
        Ok(())
    }

    fn fill_column(&self, column: &Column, encoding: Encoding, digests: &mut [u8]) {
        let work = Work { batch: *self, validity: column.validity, encoding };
        match &column.rows {
            Rows::Binary(rows) => work.by_algorithm(rows, digests),
            Rows::LargeBinary(rows) => work.by_algorithm(rows, digests),
            Rows::Fixed(rows) => work.by_algorithm(rows, digests),
            Rows::Views(rows) => work.by_algorithm(rows, digests),
        }
    }
}

/// The digests of a column of which the layout is known.
#[derive(Clone, Copy)]
struct Work<'a> {
    batch: Batch,
    validity: Option<Validity<'a>>,
    encoding: Encoding,
}

impl Work<'_> {
    fn by_algorithm<L: Layout>(self, layout: &L, digests: &mut [u8]) {
        with_family!(self.batch.algorithm(), F, start => {
            let prefix = Prefix::none(start);
            // The length of a digest is a constant where it is copied.
            match self.batch.algorithm().digest_bytes() {
                16 => self.run::<F, L, 16>(prefix, layout, digests),
                20 => self.run::<F, L, 20>(prefix, layout, digests),
                28 => self.run::<F, L, 28>(prefix, layout, digests),
                32 => self.run::<F, L, 32>(prefix, layout, digests),
                48 => self.run::<F, L, 48>(prefix, layout, digests),
                _ => self.run::<F, L, 64>(prefix, layout, digests),
            }
        });
    }

    fn run<F: Planned, L: Layout, const N: usize>(self, prefix: Prefix<F>, layout: &L, digests: &mut [u8]) {
        let (rows, width) = (layout.rows(), self.encoding.width(self.batch.algorithm()));
        let cores = self.batch.cores(rows, rows.saturating_mul(F::BLOCK_BYTES));
        let task = if cores.count() == 1 { rows } else { (rows / cores.count() / TASKS).max(TASK) }.max(1);
        let tasks = digests.chunks_mut(task * width).enumerate().map(|(i, digests)| (i * task, digests));
        let tasks = Mutex::new(tasks);
        let long = Mutex::new(Vec::new());
        cores.run(|| {
            let mut shorts = Shorts::new(prefix);
            loop {
                let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((first, digests)) = task else { return };
                let longs = self.hash_shorts::<F, L, N>(layout, first, digests, &mut shorts);
                if !longs.is_empty() {
                    long.lock().unwrap_or_else(PoisonError::into_inner).extend(longs);
                }
            }
        });
        let long = long.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.hash_longs::<F, L, N>(prefix, layout, &long, digests);
    }

    /// Writes the digests of short messages, from row `first` on, and returns the rows of the others.
    fn hash_shorts<'m, F: Planned, L: Layout, const N: usize>(
        self,
        layout: &'m L,
        first: usize,
        digests: &mut [u8],
        shorts: &mut Shorts<'m, F, usize>,
    ) -> Vec<usize> {
        let mut longs = Vec::new();
        let mut places = Places::<N> { digests, encoding: self.encoding };
        for row in 0..places.len() {
            if self.validity.is_some_and(|validity| !validity.is_valid(first + row)) {
                places.at(row).fill(0);
            } else if shorts.push(layout.row(first + row), row, &mut places) == Err(TooLong) {
                longs.push(first + row);
            }
        }
        shorts.flush(&mut places);
        longs
    }

    /// Writes the digests of these rows.
    fn hash_longs<F: Planned, L: Layout, const N: usize>(
        self,
        prefix: Prefix<F>,
        layout: &L,
        rows: &[usize],
        digests: &mut [u8],
    ) {
        let messages: Vec<&[u8]> = rows.iter().map(|row| layout.row(*row)).collect();
        let mut states = vec![[0; MAX_DIGEST_BYTES]; rows.len()];
        self.batch.fill::<F, _, _>(prefix, &messages, &mut states, |state| *state);
        let mut places = Places::<N> { digests, encoding: self.encoding };
        rows.iter().zip(&states).for_each(|(row, state)| places.digest(*row, state));
    }
}

/// The places of digests of `N` bytes, side by side.
struct Places<'d, const N: usize> {
    digests: &'d mut [u8],
    encoding: Encoding,
}

impl<const N: usize> Places<'_, N> {
    fn width(&self) -> usize {
        match self.encoding {
            Encoding::Binary => N,
            Encoding::Hex => 2 * N,
        }
    }

    fn len(&self) -> usize {
        self.digests.len() / self.width()
    }

    #[inline]
    fn at(&mut self, row: usize) -> &mut [u8] {
        let width = self.width();
        &mut self.digests[row * width..][..width]
    }
}

impl<const N: usize> Done<usize> for Places<'_, N> {
    #[inline]
    fn digest(&mut self, row: usize, state: &[u8; MAX_DIGEST_BYTES]) {
        let encoding = self.encoding;
        let Some(digest) = state.first_chunk::<N>() else { return };
        match encoding {
            Encoding::Binary => self.at(row).copy_from_slice(digest),
            Encoding::Hex => {
                // There is room for two digits a byte, which is all that could be wrong.
                let _ = const_hex::encode_to_slice(digest, self.at(row));
            }
        }
    }
}
