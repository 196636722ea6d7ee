//! Columns against the reference: layouts, nulls, slices, and offsets that lie.

use crate::common::{bytes, reference};
use manyhash::{Algorithm, Batch, Column, ColumnError, Encoding};
use proptest::prelude::*;
use std::num::NonZeroUsize;

/// What a column should come to.
fn due(algorithm: Algorithm, rows: &[Option<&[u8]>], encoding: Encoding) -> Vec<u8> {
    let width = encoding.width(algorithm);
    let digest = |row: &Option<&[u8]>| match row {
        None => vec![0; width],
        Some(row) if encoding == Encoding::Hex => reference(algorithm, row).to_hex().into_bytes(),
        Some(row) => reference(algorithm, row).as_bytes().to_vec(),
    };
    rows.iter().flat_map(digest).collect()
}

fn assert_column(algorithm: Algorithm, column: &Column, rows: &[Option<&[u8]>]) {
    assert_eq!((column.len(), column.is_empty()), (rows.len(), rows.is_empty()));
    for encoding in [Encoding::Binary, Encoding::Hex] {
        let due = due(algorithm, rows, encoding);
        for threads in [0, 1, 2] {
            let batch = Batch::new(algorithm).threads(NonZeroUsize::new(threads));
            assert!(batch.digest_column(column, encoding) == due, "{algorithm} {encoding:?}, {threads} threads");
            let mut room = vec![0xEE; due.len()];
            batch.digest_column_into(column, encoding, &mut room).expect("there is room for each row");
            assert!(room == due, "{algorithm} {encoding:?}, {threads} threads, into the caller's bytes");
        }
    }
}

#[test]
fn fixed_of_every_width() {
    for width in 1..=300 {
        let algorithm = Algorithm::ALL[width % Algorithm::ALL.len()];
        // More than are hashed at once, and some over.
        let values = bytes(width * 200);
        let rows: Vec<_> = values.chunks(width).map(Some).collect();
        assert_column(algorithm, &Column::fixed(&values, width).expect("whole rows"), &rows);
    }
}

/// Row lengths such that all kinds meet: none, short ones of every number of blocks, long ones.
fn lengths(count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(|i| match i % 50 {
        0 => 0,
        7 => i % 700,
        13 => 500 + i % 900,
        29 => 20_000,
        _ => 5 + i % 36,
    })
}

/// Offsets that begin at `first`.
fn offsets<O: TryFrom<usize, Error: std::fmt::Debug>>(first: usize, lengths: impl Iterator<Item = usize>) -> Vec<O> {
    let ends = lengths.scan(first, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(first).chain(ends).map(|offset| offset.try_into().expect("it is small")).collect()
}

/// Rows alike, of which some, or whole groups, are null: wherever the bits begin, and with none to spare.
#[test]
fn nulls_among_rows_alike() {
    const ROWS: usize = 700;
    let nulls: [fn(usize) -> bool; 5] =
        [|row| row == 130, |row| row % 3 == 0, |row| (100..400).contains(&row), |row| row != 555, |row| row < 128];
    let ragged: Vec<i32> = offsets(0, (0..ROWS).map(|row| 5 + row % 36));
    let values = bytes(ROWS * 64);
    for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha512] {
        for (is_null, offset) in nulls.into_iter().flat_map(|is_null| (0..9).map(move |offset| (is_null, offset))) {
            let mut bits = vec![0; (offset + ROWS).div_ceil(8)];
            for row in (0..ROWS).filter(|row| !is_null(*row)) {
                bits[(offset + row) / 8] |= 1 << ((offset + row) % 8);
            }
            let rows = |row: &dyn Fn(usize) -> std::ops::Range<usize>| -> Vec<Option<&[u8]>> {
                (0..ROWS).map(|i| (!is_null(i)).then(|| &values[row(i)])).collect()
            };
            let columns = [
                (Column::fixed(&values, 64), rows(&|i| i * 64..(i + 1) * 64)),
                (Column::binary(&values, &ragged), rows(&|i| ragged[i] as usize..ragged[i + 1] as usize)),
            ];
            for (column, rows) in columns {
                let column = column.and_then(|column| column.with_validity(&bits, offset)).expect("a bit a row");
                assert_column(algorithm, &column, &rows);
            }
        }
    }
}

#[test]
fn ragged_with_nulls_and_slices() {
    for algorithm in Algorithm::ALL.iter().copied() {
        for (count, first) in [(0, 0), (0, 5), (1, 3), (100, 0), (3000, 11)] {
            let offsets32: Vec<i32> = offsets(first, lengths(count));
            let offsets64: Vec<i64> = offsets(first, lengths(count));
            // There are more values than rows need.
            let values = bytes(offsets32[count] as usize + 9);
            let row = |i: usize| &values[offsets32[i] as usize..offsets32[i + 1] as usize];
            let bits = bytes(count / 8 + 2);
            let is_valid = |i: usize| bits[(i + 3) / 8] >> ((i + 3) % 8) & 1 == 1;
            let all: Vec<_> = (0..count).map(|i| Some(row(i))).collect();
            let some: Vec<_> = (0..count).map(|i| is_valid(i).then(|| row(i))).collect();
            let columns = [Column::binary(&values, &offsets32), Column::binary(&values, &offsets64)];
            for column in columns.map(|column| column.expect("the offsets are right")) {
                assert_column(algorithm, &column, &all);
                assert_column(algorithm, &column.with_validity(&bits, 3).expect("a bit a row"), &some);
            }
        }
    }
}

#[test]
fn salted_rows() {
    let offsets: Vec<i32> = offsets(0, lengths(3000));
    let values = bytes(offsets[3000] as usize);
    let bits = bytes(400);
    let column = Column::binary(&values, &offsets).expect("the offsets are right");
    for (prefix, suffix) in [(&b""[..], &b""[..]), (b"before ", b""), (b"", b" after"), (&bytes(70), &bytes(130))] {
        for algorithm in [Algorithm::Md5, Algorithm::Sha512] {
            for column in [column, column.with_validity(&bits, 5).expect("a bit a row")] {
                let rows: Vec<Option<Vec<u8>>> =
                    (0..3000).map(|i| Some([prefix, column.row(i)?, suffix].concat())).collect();
                let rows: Vec<Option<&[u8]>> = rows.iter().map(Option::as_deref).collect();
                for (encoding, threads) in [(Encoding::Binary, 1), (Encoding::Hex, 2)] {
                    let batch = Batch::new(algorithm).threads(NonZeroUsize::new(threads)).salt(prefix, suffix);
                    let due = due(algorithm, &rows, encoding);
                    assert!(batch.digest_column(&column, encoding) == due, "{algorithm} {encoding:?}");
                    let mut room = vec![3; due.len()];
                    batch.digest_column_into(&column, encoding, &mut room).expect("there is room");
                    assert!(room == due, "{algorithm} {encoding:?}, into the caller's bytes");
                    assert!(batch.digest_column_into(&column, encoding, &mut room[1..]).is_err());
                }
            }
        }
    }
}

/// A row too long to be copied, first, last, between others and beside nulls; under a key too.
#[test]
fn salted_rows_too_long_to_copy() {
    let lengths = [300_000, 3, 0, 300_000, 300_000, 40, 7, 300_000];
    let offsets: Vec<i32> = offsets(0, lengths.into_iter());
    let values = bytes(offsets[lengths.len()] as usize);
    let column = Column::binary(&values, &offsets).expect("the offsets are right");
    let column = column.with_validity(&[0b1110_1111], 0).expect("a bit a row");
    let salted: Vec<_> = (0..lengths.len()).map(|i| column.row(i).map(|row| [b"<", row, b">"].concat())).collect();
    let batch = Batch::new(Algorithm::Sha1);
    for plain in [batch.clone(), batch.key("a key")] {
        let digest =
            |row: &Option<Vec<u8>>| row.as_ref().map_or([0; 20].to_vec(), |row| plain.digest(row).as_bytes().to_vec());
        let due: Vec<u8> = salted.iter().flat_map(digest).collect();
        assert!(plain.clone().salt("<", ">").digest_column(&column, Encoding::Binary) == due, "{plain:?}");
    }
}

#[test]
fn many_rows_on_several_cores() {
    let lengths: Vec<usize> = lengths(60_000).map(|length| length.min(600)).collect();
    let offsets: Vec<i32> = offsets(0, lengths.iter().copied());
    let values = bytes(offsets[lengths.len()] as usize);
    let rows: Vec<_> = offsets.windows(2).map(|pair| Some(&values[pair[0] as usize..pair[1] as usize])).collect();
    for algorithm in [Algorithm::Md5, Algorithm::Sha384] {
        assert_column(algorithm, &Column::binary(&values, &offsets).expect("the offsets are right"), &rows);
    }
}

/// A view, as Arrow has it.
fn view(length: u32, rest: [u8; 12]) -> [u8; 16] {
    let mut view = [0; 16];
    view[..4].copy_from_slice(&length.to_le_bytes());
    view[4..].copy_from_slice(&rest);
    view
}

/// A view of a row in a buffer.
fn view_of(length: u32, buffer: u32, offset: u32) -> [u8; 16] {
    let words = [[7; 4], buffer.to_le_bytes(), offset.to_le_bytes()];
    view(length, words.concat().try_into().expect("twelve bytes"))
}

#[test]
fn views_inline_and_in_buffers() {
    let buffers = [bytes(1000), bytes(70_000)];
    let buffers: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    let inline = *b"twelve bytes";
    let mut views = Vec::new();
    let mut rows = Vec::new();
    for i in 0..500_u32 {
        let (length, offset) = (13 + i % 200, 3 * i % 500);
        views.push(view_of(length, i % 2, offset));
        rows.push(Some(&buffers[i as usize % 2][offset as usize..(offset + length) as usize]));
        views.push(view(i % 13, inline));
        rows.push(Some(&inline[..i as usize % 13]));
    }
    views.push(view_of(60_000, 1, 10_000));
    rows.push(Some(&buffers[1][10_000..]));
    for algorithm in Algorithm::ALL.iter().copied() {
        assert_column(algorithm, &Column::views(&views, &buffers).expect("the views are right"), &rows);
    }
}

#[test]
fn views_of_nulls_may_say_anything() {
    let buffers: [&[u8]; 1] = [b"behind twelve bytes"];
    let views = [view_of(19, 0, 0), view_of(u32::MAX, 7, u32::MAX), view_of(14, 0, 10), view(1, *b"a           ")];
    assert_eq!(Column::views(&views, &buffers).unwrap_err(), ColumnError::Buffer { row: 1, buffer: 7, buffers: 1 });
    let column = Column::views_with_validity(&views, &buffers, &[0b1001 << 2], 2).unwrap();
    assert_column(Algorithm::Md5, &column, &[Some(buffers[0]), None, None, Some(b"a")]);
    let lies = Column::views_with_validity(&views, &buffers, &[0b1101 << 2], 2);
    assert_eq!(lies.unwrap_err(), ColumnError::Values { row: 2, bytes: 19 });
    let few = Column::views_with_validity(&views, &buffers, &[0xff], 5);
    assert_eq!(few.unwrap_err(), ColumnError::Validity { bits: 3, rows: 4 });
}

#[test]
fn what_lies_is_refused() {
    use ColumnError::{Buffer, NoOffsets, Offset, Validity, Values, Width};
    let values = bytes(10);
    let error = |offsets: &[i32]| Column::binary(&values, offsets).expect_err("it is wrong");
    assert_eq!(error(&[]), NoOffsets);
    assert_eq!(error(&[0, 5, 4, 10]), Offset { row: 2 });
    assert_eq!(error(&[-1, 5]), Offset { row: 0 });
    assert_eq!(error(&[0, -5]), Offset { row: 1 });
    assert_eq!(error(&[0, 5, 11]), Values { row: 1, bytes: 10 });
    assert!(Column::binary(&values, &[11]).is_ok_and(|column| column.is_empty()));
    assert_eq!(error(&[i32::MIN, i32::MAX]), Offset { row: 0 });
    let large = |offsets: &[i64]| Column::binary(&values, offsets).expect_err("it is wrong");
    assert_eq!(large(&[0, i64::MAX]), Values { row: 0, bytes: 10 });
    assert_eq!(large(&[3, 2]), Offset { row: 1 });
    assert_eq!(Column::fixed(&values, 3).err(), Some(Width { bytes: 10, width: 3 }));
    assert_eq!(Column::fixed(&values, 0).err(), Some(Width { bytes: 10, width: 0 }));
    assert!(Column::fixed(&[], 0).is_ok_and(|column| column.is_empty()));
    let views = |view| Column::views(&[view], &[&values[..]]).map(drop);
    assert_eq!(views(view_of(13, 1, 0)), Err(Buffer { row: 0, buffer: 1, buffers: 1 }));
    assert_eq!(views(view_of(13, 0, 0)), Err(Values { row: 0, bytes: 10 }));
    assert_eq!(views(view_of(u32::MAX, 0, u32::MAX)), Err(Values { row: 0, bytes: 10 }));
    let column = Column::fixed(&values, 1).expect("ten rows");
    assert_eq!(column.with_validity(&[0xFF], 0).err(), Some(Validity { bits: 8, rows: 10 }));
    assert_eq!(column.with_validity(&[0xFF; 2], 7).err(), Some(Validity { bits: 9, rows: 10 }));
    assert_eq!(column.with_validity(&[], usize::MAX).err(), Some(Validity { bits: 0, rows: 10 }));
    assert!(column.with_validity(&[0xFF; 2], 6).is_ok());
    // Room for no other number of digests.
    let batch = Batch::new(Algorithm::Md5);
    for room in [0, 159, 161, 176] {
        assert!(batch.digest_column_into(&column, Encoding::Binary, &mut vec![0; room]).is_err(), "{room} bytes");
    }
}

proptest! {
    #[test]
    fn any_ragged_column(
        lengths in prop::collection::vec(prop_oneof![20 => 0..90_usize, 3 => 0..1200_usize], 0..400),
        first in 0..100_usize,
        nulls in prop::option::of(any::<u64>()),
        algorithm in prop::sample::select(Algorithm::ALL),
    ) {
        let offsets: Vec<i32> = offsets(first, lengths.iter().copied());
        let values = bytes(offsets[lengths.len()] as usize);
        let bits: Vec<u8> = nulls.unwrap_or(0).to_le_bytes().repeat(lengths.len() / 64 + 1);
        let mut column = Column::binary(&values, &offsets).expect("the offsets are right");
        if nulls.is_some() {
            column = column.with_validity(&bits, 0).expect("a bit a row");
        }
        let row = |i: usize| &values[offsets[i] as usize..offsets[i + 1] as usize];
        let is_valid = |i: usize| nulls.is_none() || bits[i / 8] >> (i % 8) & 1 == 1;
        let rows: Vec<_> = (0..lengths.len()).map(|i| is_valid(i).then(|| row(i))).collect();
        prop_assert!(Batch::new(algorithm).digest_column(&column, Encoding::Binary) == due(algorithm, &rows, Encoding::Binary));
    }

    /// Whatever the buffers say, nothing is read outside, and nothing panics.
    #[test]
    fn any_offsets_and_views(
        offsets in prop::collection::vec(any::<i32>(), 0..20),
        views in prop::collection::vec(any::<[u8; 16]>(), 0..5),
        small in prop::collection::vec(0..40_i64, 0..20),
    ) {
        let values = bytes(30);
        let batch = Batch::new(Algorithm::Sha1);
        for column in [
            Column::binary(&values, &offsets),
            Column::binary(&values, &small),
            Column::views(&views, &[&values, &values]),
        ].into_iter().flatten() {
            prop_assert_eq!(batch.digest_column(&column, Encoding::Hex).len(), 40 * column.len());
        }
    }
}
