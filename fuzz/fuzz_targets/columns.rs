//! Columns whose offsets, views and validity bits may be anything: an error, or the digests of the rows that `row` gives.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use manyhash::{Batch, Column, ColumnError, Encoding};
use manyhash_fuzz::{algorithm, reference};
use std::num::NonZeroUsize;

#[derive(Arbitrary, Debug)]
struct Input {
    algorithm: u8,
    is_hex: bool,
    is_on_two: bool,
    layout: Layout,
    /// Bits, and the first row's.
    validity: Option<(Vec<u8>, usize)>,
}

#[derive(Arbitrary, Debug)]
enum Layout {
    Binary(Vec<u8>, Vec<i32>),
    LargeBinary(Vec<u8>, Vec<i64>),
    /// Offsets that rise, so that most are rows.
    Rows(Vec<u8>, Vec<u8>),
    Fixed(Vec<u8>, usize),
    Views(Vec<[u8; 16]>, Vec<Vec<u8>>),
    /// Lengths and buffers and offsets that are small, so that most are rows.
    SmallViews(Vec<(u8, u8, u8)>, Vec<Vec<u8>>),
}

fuzz_target!(|input: Input| {
    // A column that is refused is an answer too.
    let _ = check(&input);
});

fn check(input: &Input) -> Result<(), ColumnError> {
    let with_validity = |column: Column| match &input.validity {
        Some((bits, offset)) => {
            digest(input, &column);
            Ok(digest(input, &column.with_validity(bits, *offset)?))
        }
        None => Ok(digest(input, &column)),
    };
    let views = |views: &[[u8; 16]], buffers: &[Vec<u8>]| {
        let buffers: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
        if let Some((bits, offset)) = &input.validity {
            digest(input, &Column::views_with_validity(views, &buffers, bits, *offset)?);
        }
        with_validity(Column::views(views, &buffers)?)
    };
    match &input.layout {
        Layout::Binary(values, offsets) => with_validity(Column::binary(values, offsets)?),
        Layout::LargeBinary(values, offsets) => with_validity(Column::binary(values, offsets)?),
        Layout::Rows(values, lengths) => {
            let ends = lengths.iter().scan(0, |end, length| {
                *end += i32::from(*length);
                Some(*end)
            });
            let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
            with_validity(Column::binary(values, &offsets)?)
        }
        Layout::Fixed(values, width) => with_validity(Column::fixed(values, *width)?),
        Layout::Views(words, buffers) => views(words, buffers),
        Layout::SmallViews(small, buffers) => {
            let words: Vec<[u8; 16]> = small
                .iter()
                .map(|(length, buffer, start)| {
                    let mut view = [0; 16];
                    (view[0], view[8], view[12]) = (*length, *buffer, *start);
                    view
                })
                .collect();
            views(&words, buffers)
        }
    }
}

fn digest(input: &Input, column: &Column) {
    let algorithm = algorithm(input.algorithm);
    let encoding = if input.is_hex { Encoding::Hex } else { Encoding::Binary };
    let threads = NonZeroUsize::new(1 + usize::from(input.is_on_two));
    let digests = Batch::new(algorithm).threads(threads).digest_column(column, encoding);
    let width = encoding.width(algorithm);
    assert_eq!(digests.len(), column.len() * width);
    for (row, found) in digests.chunks_exact(width).enumerate() {
        let due = column.row(row).map(|bytes| reference(algorithm, bytes));
        match (due, encoding) {
            (None, _) => assert!(found.iter().all(|byte| *byte == 0)),
            (Some(due), Encoding::Binary) => assert_eq!(found, due.as_bytes()),
            (Some(due), Encoding::Hex) => assert_eq!(found, due.to_hex().as_bytes()),
            (Some(_), encoding) => panic!("{encoding:?} is not compared yet"),
        }
    }
}
