//! Arrow's layouts: where the rows of a column are.

use super::{ColumnError, Offset};
use std::ops::Range;

/// Arrow's layouts, checked: every row is inside the values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rows<'a> {
    Binary(Offsets<'a, i32>),
    LargeBinary(Offsets<'a, i64>),
    Fixed(Fixed<'a>),
    Views(Views<'a>),
}

/// Row `i` is `values[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets<'a, O> {
    values: &'a [u8],
    offsets: &'a [O],
}

/// Row `i` is `values[i * width..(i + 1) * width]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed<'a> {
    pub(super) values: &'a [u8],
    pub(super) width: usize,
    pub(super) rows: usize,
}

/// A row of up to 12 bytes stands in its view, any other in a buffer that the view names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Views<'a> {
    views: &'a [[u8; 16]],
    buffers: &'a [&'a [u8]],
}

/// A bit a row, the lowest of a byte first; null where it is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Validity<'a> {
    pub(super) bits: &'a [u8],
    /// The first row's bit.
    pub(super) offset: usize,
}

impl<'a> Validity<'a> {
    pub(super) fn new(bits: &'a [u8], offset: usize, rows: usize) -> Result<Self, ColumnError> {
        let there = bits.len().saturating_mul(8).saturating_sub(offset);
        if there < rows {
            return Err(ColumnError::Validity { bits: there, rows });
        }
        Ok(Validity { bits, offset })
    }

    pub(super) fn is_valid(&self, row: usize) -> bool {
        let bit = self.offset + row;
        self.bits[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// A bit for each of 128 rows from `first` on, the lowest for the first, 1 where it is null.
    pub(super) fn nulls(&self, first: usize) -> u128 {
        let (byte, bit) = ((self.offset + first) / 8, (self.offset + first) % 8);
        let mut bytes = [0; 32];
        let there = &self.bits[byte..self.bits.len().min(byte + 17)];
        bytes[..there.len()].copy_from_slice(there);
        let [low, high] = [0, 16].map(|at| u128::from_le_bytes(std::array::from_fn(|i| bytes[at + i])));
        !(low >> bit | (high << 1) << (127 - bit))
    }
}

impl<'a, O: Offset> Offsets<'a, O> {
    pub(super) fn new(values: &'a [u8], offsets: &'a [O]) -> Result<Self, ColumnError> {
        let (first, last) = (offsets.first().ok_or(ColumnError::NoOffsets)?, offsets[offsets.len() - 1]);
        first.to_usize().ok_or(ColumnError::Offset { row: 0 })?;
        // All of them without a branch, which takes a fraction of the time; which one it is only matters if there is one.
        if !offsets.windows(2).fold(true, |grows, pair| grows & (pair[0] <= pair[1])) {
            let row = offsets.windows(2).position(|pair| pair[0] > pair[1]).map_or(0, |row| row + 1);
            return Err(ColumnError::Offset { row });
        }
        // Of no rows nothing is read: Arrow has libraries that cut the values off then.
        if offsets.len() > 1 && last.to_usize().is_none_or(|last| last > values.len()) {
            let is_inside = |offset: &O| offset.to_usize().is_some_and(|offset| offset <= values.len());
            let row = offsets.iter().position(|offset| !is_inside(offset)).unwrap_or(0).saturating_sub(1);
            return Err(ColumnError::Values { row, bytes: values.len() });
        }
        Ok(Offsets { values, offsets })
    }
}

/// Maximum length of a row that is stored in its view.
const INLINE: usize = 12;

impl<'a> Views<'a> {
    /// Word `i` of a view. Arrow's columnar format, Variable-size Binary View: 4 bytes each of the length, the first bytes
    /// of the row, the buffer, and the offset in it, least significant first.
    fn word(view: &[u8; 16], i: usize) -> usize {
        let (words, _) = view.as_chunks::<4>();
        u32::from_le_bytes(words[i]) as usize
    }

    /// What the view of a null says does not matter.
    pub(super) fn new(
        views: &'a [[u8; 16]],
        buffers: &'a [&'a [u8]],
        validity: Option<Validity>,
    ) -> Result<Self, ColumnError> {
        let check = |row: usize, view: &[u8; 16]| {
            let [length, _, buffer, start] = [0, 1, 2, 3].map(|i| Self::word(view, i));
            if length <= INLINE {
                return Ok(());
            }
            let bytes = buffers.get(buffer).map(|buffer| buffer.len());
            let bytes = bytes.ok_or(ColumnError::Buffer { row, buffer, buffers: buffers.len() })?;
            let is_inside = start.checked_add(length).is_some_and(|end| end <= bytes);
            if is_inside { Ok(()) } else { Err(ColumnError::Values { row, bytes }) }
        };
        let is_null = |row: usize| validity.is_some_and(|validity| !validity.is_valid(row));
        for (row, view) in views.iter().enumerate() {
            check(row, view).or_else(|error| if is_null(row) { Ok(()) } else { Err(error) })?;
        }
        Ok(Views { views, buffers })
    }
}

/// How rows are found; each layout's loop is compiled for itself.
pub(super) trait Layout: Copy + Sync {
    fn rows(&self) -> usize;

    /// The bytes of a row below [`rows`](Self::rows).
    fn row(&self, row: usize) -> &[u8];

    /// Some of the rows, from `first` on, which must be there: a slice for each.
    #[inline]
    fn fill<'m>(&'m self, first: usize, rows: &mut [&'m [u8]]) {
        for (i, row) in rows.iter_mut().enumerate() {
            *row = self.row(first + i);
        }
    }

    /// Where rows that are there stand side by side, if they do.
    fn span(&self, rows: Range<usize>) -> &[u8];

    /// Some of the rows, which must be there.
    fn slice(self, rows: Range<usize>) -> Self;
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

    #[inline]
    fn fill<'m>(&'m self, first: usize, rows: &mut [&'m [u8]]) {
        // The values are walked along: what is left of them begins with the next row.
        let offsets = &self.offsets[first..=first + rows.len()];
        let begin = offsets[0].to_usize().unwrap_or(usize::MAX);
        let (mut left, mut begin) = (self.values.get(begin..).unwrap_or(&[]), begin);
        for (row, end) in rows.iter_mut().zip(&offsets[1..]) {
            let end = end.to_usize().unwrap_or(usize::MAX);
            (*row, left) = left.split_at_checked(end.wrapping_sub(begin)).unwrap_or_default();
            begin = end;
        }
    }

    fn span(&self, rows: Range<usize>) -> &[u8] {
        let end = |i: usize| self.offsets[i].to_usize().unwrap_or(usize::MAX);
        self.values.get(end(rows.start)..end(rows.end)).unwrap_or(&[])
    }

    fn slice(self, rows: Range<usize>) -> Self {
        Offsets { offsets: &self.offsets[rows.start..=rows.end], ..self }
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

    #[inline]
    fn fill<'m>(&'m self, first: usize, rows: &mut [&'m [u8]]) {
        let values = self.values[first * self.width..].chunks_exact(self.width.max(1));
        rows.iter_mut().zip(values).for_each(|(row, value)| *row = value);
    }

    fn span(&self, rows: Range<usize>) -> &[u8] {
        &self.values[rows.start * self.width..rows.end * self.width]
    }

    fn slice(self, rows: Range<usize>) -> Self {
        let values = &self.values[rows.start * self.width..rows.end * self.width];
        Fixed { values, rows: rows.len(), ..self }
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
        bytes.get(start..).and_then(|bytes| bytes.get(..length)).unwrap_or(&[])
    }

    fn span(&self, _rows: Range<usize>) -> &[u8] {
        &[]
    }

    fn slice(self, rows: Range<usize>) -> Self {
        Views { views: &self.views[rows], ..self }
    }
}
