//! Arrays of `arrow-array`, in and out, against the reference.
#![cfg(feature = "arrow")]

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, Int32Array, LargeBinaryArray,
    LargeStringArray, NullArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;
use manyhash::arrow::{ArrayError, with_column};
use manyhash::{Algorithm, Batch, Encoding, digest};
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
    let binary = batch.digest_array(array, Encoding::Binary).unwrap();
    assert_eq!(binary.data_type(), &DataType::FixedSizeBinary(algorithm.digest_bytes() as i32));
    let hex = batch.digest_array(array, Encoding::Hex).unwrap();
    let hex = hex.as_string::<i32>();
    let binary = binary.as_fixed_size_binary();
    assert_eq!((binary.len(), hex.len()), (rows.len(), rows.len()));
    for (i, row) in rows.iter().enumerate() {
        let due = row.as_ref().map(|row| digest(algorithm, row));
        let at = format!("{algorithm} of {}, row {i}", array.data_type());
        assert_eq!(binary.is_valid(i).then(|| binary.value(i)), due.as_ref().map(|due| due.as_bytes()), "{at}");
        assert_eq!(hex.is_valid(i).then(|| hex.value(i).to_string()), due.map(|due| due.to_hex()), "{at}");
    }
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
    let tags = hmac.digest_array(&array, Encoding::Binary).unwrap();
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

#[test]
fn other_types_are_named() {
    let error = Batch::new(Algorithm::Md5).digest_array(&Int32Array::from(vec![1]), Encoding::Binary).unwrap_err();
    assert!(matches!(error, ArrayError::Type(DataType::Int32)));
    assert_eq!(error.to_string(), "cannot hash a column of type Int32; cast it to binary or utf8");
}
