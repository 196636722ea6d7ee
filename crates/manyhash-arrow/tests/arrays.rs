//! Arrays of `arrow-array`, in and out, against the reference.

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, Int32Array, LargeBinaryArray,
    LargeStringArray, NullArray, StringArray, StringViewArray, StructArray,
};
use arrow_schema::{ArrowError, DataType, Field};
use manyhash::{Algorithm, Batch, Encoding, digest};
use manyhash_arrow::{ArrayError, Output, digest_array, digest_chunks, in_type, with_column};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Rows of every length to 200, some null, in ASCII so that they are strings too.
fn rows() -> Vec<Option<String>> {
    (0..1000)
        .map(|i| (i % 7 != 3).then(|| (0..i % 201).map(|j| char::from(b'!' + ((i + j) % 90) as u8)).collect()))
        .collect()
}

/// The rows as an array of each type.
fn arrays(rows: &[Option<String>]) -> Vec<ArrayRef> {
    let strings = || rows.iter().map(|row| row.as_deref());
    let bytes = || rows.iter().map(|row| row.as_ref().map(|row| row.as_bytes()));
    vec![
        Arc::new(strings().collect::<StringArray>()),
        Arc::new(strings().collect::<LargeStringArray>()),
        Arc::new(strings().collect::<StringViewArray>()),
        Arc::new(bytes().collect::<BinaryArray>()),
        Arc::new(bytes().collect::<LargeBinaryArray>()),
        Arc::new(bytes().collect::<BinaryViewArray>()),
    ]
}

fn assert_digests(algorithm: Algorithm, array: &dyn Array, rows: &[Option<String>]) {
    let batch = Batch::new(algorithm);
    let binary = digest_array(&batch, array, Output::FixedSizeBinary).unwrap();
    assert_eq!(binary.data_type(), &DataType::FixedSizeBinary(algorithm.digest_bytes() as i32));
    let hex = digest_array(&batch, array, Output::Utf8).unwrap();
    let hex = hex.as_string::<i32>();
    let binary = binary.as_fixed_size_binary();
    assert_eq!((binary.len(), hex.len()), (rows.len(), rows.len()));
    for (i, row) in rows.iter().enumerate() {
        let due = row.as_ref().map(|row| digest(algorithm, row));
        let at = format!("{algorithm} of {}, row {i}", array.data_type());
        assert_eq!(binary.is_valid(i).then(|| binary.value(i)), due.as_ref().map(|due| due.as_bytes()), "{at}");
        assert_eq!(hex.is_valid(i).then(|| hex.value(i).to_string()), due.map(|due| due.to_hex()), "{at}");
    }
    // The others, checked in full by Arrow, have the same values.
    for (output, same) in [
        (Output::Binary, &binary as &dyn Array),
        (Output::BinaryView, &binary),
        (Output::Utf8, hex),
        (Output::Utf8View, hex),
    ] {
        for threads in [None, NonZeroUsize::new(1)] {
            let batch = batch.clone().threads(threads);
            let other = digest_array(&batch, array, output).unwrap();
            other.to_data().validate_full().unwrap();
            assert_eq!(values(&other), values(same), "{output:?} of {}", array.data_type());
        }
    }
}

/// The bytes of an array of digests.
fn values(array: &dyn Array) -> Vec<Option<Vec<u8>>> {
    with_column(array, |column| (0..column.len()).map(|row| column.row(row).map(<[u8]>::to_vec)).collect()).unwrap()
}

#[test]
fn arrays_of_every_type_and_slices_of_them() {
    let rows = rows();
    for array in arrays(&rows) {
        for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha384] {
            assert_digests(algorithm, &array, &rows);
            assert_digests(algorithm, &array.slice(13, 700), &rows[13..713]);
            assert_digests(algorithm, &array.slice(1000, 0), &[]);
        }
    }
}

#[test]
fn binary_of_a_fixed_size() {
    for width in [0, 1, 16, 64, 100] {
        let mut builder = FixedSizeBinaryBuilder::new(width);
        let rows: Vec<Option<String>> = (0..300)
            .map(|i| (i % 5 != 0).then(|| (0..width).map(|j| char::from(b'a' + ((i + j) % 26) as u8)).collect()))
            .collect();
        for row in &rows {
            match row {
                Some(row) => builder.append_value(row).unwrap(),
                None => builder.append_null(),
            }
        }
        let array: FixedSizeBinaryArray = builder.finish();
        assert_digests(Algorithm::Sha256, &array, &rows);
        assert_digests(Algorithm::Sha256, &array.slice(131, 150), &rows[131..281]);
    }
}

#[test]
fn bytes_left_over_behind_the_last_row() {
    let array = FixedSizeBinaryArray::try_new(4, b"abcdefgh--".to_vec().into(), None).unwrap();
    assert_digests(Algorithm::Md5, &array, &["abcd", "efgh"].map(|row| Some(row.to_owned())));
}

#[test]
fn nulls_of_no_type() {
    for rows in [0, 1, 300] {
        assert_digests(Algorithm::Sha1, &NullArray::new(rows), &vec![None; rows]);
    }
}

#[test]
fn tags_and_whatever_takes_a_column() {
    let rows = rows();
    let array = StringViewArray::from_iter(rows.iter().map(|row| row.as_deref()));
    let hmac = Batch::new(Algorithm::Sha256).key("key");
    let tags = digest_array(&hmac, &array, Output::FixedSizeBinary).unwrap();
    let tags = tags.as_fixed_size_binary();
    let salted = Batch::new(Algorithm::Md5).salt("<", ">");
    let salted = with_column(&array, |column| salted.digest_column(column, Encoding::Binary)).unwrap();
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(tags.is_null(i), row.is_none());
        if let Some(row) = row {
            assert_eq!(tags.value(i), hmac.digest(row).as_bytes());
            let due = digest(Algorithm::Md5, format!("<{row}>"));
            assert_eq!(&salted[i * 16..][..16], due.as_bytes());
        }
    }
}

/// More rows than are put into views at once, by one thread and by all.
#[test]
fn many_rows() {
    let rows: Vec<_> = (0..300_000).map(|i| (i % 7 != 3).then(|| format!("{:1$}", i, i % 20))).collect();
    let array = StringViewArray::from_iter(rows.iter().map(|row| row.as_deref()));
    assert_digests(Algorithm::Md5, &array, &rows);
}

#[test]
fn tables_of_one_column() {
    let rows = rows();
    for column in arrays(&rows) {
        let field = Arc::new(Field::new("column", column.data_type().clone(), true));
        let table = StructArray::from(vec![(field.clone(), column.clone())]);
        assert_digests(Algorithm::Sha256, &table, &rows);
        assert_digests(Algorithm::Sha256, &table.slice(10, 100), &rows[10..110]);
        let nulls = Some(vec![false; rows.len()].into());
        let table = StructArray::new(vec![field.clone()].into(), vec![column.clone()], nulls);
        let error = digest_array(&Batch::new(Algorithm::Md5), &table, Output::Utf8).unwrap_err();
        assert!(matches!(error, ArrayError::NullRows));
        let table = StructArray::from(vec![(field.clone(), column.clone()), (field, column)]);
        let error = digest_array(&Batch::new(Algorithm::Md5), &table, Output::Utf8).unwrap_err();
        assert!(matches!(error, ArrayError::Type(DataType::Struct(_))));
    }
}

#[test]
fn chunks_are_of_one_type() {
    let (rows, batch) = (rows(), Batch::new(Algorithm::Md5));
    for (output, data_type) in [
        (Output::FixedSizeBinary, DataType::FixedSizeBinary(16)),
        (Output::Binary, DataType::Binary),
        (Output::BinaryView, DataType::BinaryView),
        (Output::Utf8, DataType::Utf8),
        (Output::Utf8View, DataType::Utf8View),
    ] {
        let chunks = digest_chunks(&batch, arrays(&rows).into_iter().map(Ok), output).unwrap();
        assert_eq!((&chunks.data_type, chunks.arrays.len()), (&data_type, 6));
        for array in &chunks.arrays {
            assert_eq!(array.data_type(), &data_type);
            assert_eq!(values(array), values(&chunks.arrays[0]));
        }
        let none = digest_chunks(&batch, [], output).unwrap();
        assert_eq!((none.data_type, none.arrays.len()), (data_type, 0));
        let failed = digest_chunks(&batch, [Err(ArrowError::CDataInterface("said before".to_owned()))], output);
        assert!(failed.unwrap_err().to_string().contains("said before"));
    }
}

#[test]
fn the_same_digests_in_other_types() {
    use DataType::*;
    let (rows, batch) = (rows(), Batch::new(Algorithm::Sha1));
    let array = &arrays(&rows)[0];
    for (output, types) in [
        (Output::FixedSizeBinary, vec![FixedSizeBinary(20), Binary, LargeBinary, BinaryView]),
        (Output::Utf8, vec![Utf8, LargeUtf8, Utf8View]),
    ] {
        let digests = digest_array(&batch, array, output).unwrap();
        for digests in [digests.clone(), digests.slice(13, 700), digests.slice(5, 0)] {
            for data_type in &types {
                let other = in_type(&digests, data_type).unwrap();
                other.to_data().validate_full().unwrap();
                assert_eq!((other.data_type(), values(&other)), (data_type, values(&digests)));
            }
            for data_type in [Int32, FixedSizeBinary(19), Null] {
                assert!(in_type(&digests, &data_type).is_none());
            }
        }
    }
}

/// Nothing but their number is known of nulls without a type.
#[test]
fn more_rows_than_there_is_memory_for() {
    for output in [Output::FixedSizeBinary, Output::Utf8, Output::BinaryView] {
        for rows in [1 << 50, isize::MAX as usize] {
            let error = digest_array(&Batch::new(Algorithm::Sha512), &NullArray::new(rows), output).unwrap_err();
            assert!(matches!(error, ArrayError::Memory { .. }));
        }
    }
}

#[test]
fn other_types_are_named() {
    let error =
        digest_array(&Batch::new(Algorithm::Md5), &Int32Array::from(vec![1]), Output::FixedSizeBinary).unwrap_err();
    assert!(matches!(error, ArrayError::Type(DataType::Int32)));
    assert_eq!(error.to_string(), "cannot hash a column of type Int32; cast it to binary or utf8");
}
