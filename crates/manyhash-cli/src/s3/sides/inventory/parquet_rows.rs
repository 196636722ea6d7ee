//! The rows of an inventory in Parquet. Keys are as they are.
//!
//! Columns are read side by side, some rows at a time, by the crate's own readers of columns: no rows as the crate has
//! them, which must be UTF-8, and no Arrow.

use super::{Row, RowsError};
use bytes::Bytes;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// Rows that are read at a time.
const ROWS: usize = 4096;

/// Hands on all rows of a file, until one is refused.
pub(super) fn read(bytes: Bytes, each: impl FnMut(&Row<'_>) -> Result<(), String>) -> Result<(), RowsError> {
    caught(|| read_groups(bytes, each))
}

fn read_groups(bytes: Bytes, mut each: impl FnMut(&Row<'_>) -> Result<(), String>) -> Result<(), RowsError> {
    let reader = SerializedFileReader::new(bytes)?;
    let mut number = 0;
    for i in 0..reader.num_row_groups() {
        let mut columns = Columns::of(&*reader.get_row_group(i)?)?;
        loop {
            let rows = columns.next()?;
            if rows == 0 {
                break;
            }
            for row in 0..rows {
                number += 1;
                each(&columns.row(row)).map_err(|what| RowsError::Row { row: number, what })?;
            }
        }
    }
    Ok(())
}

/// Does what may panic: the crate does at some damaged files, such as those with negative lengths. What it says then is
/// an error like others.
fn caught(work: impl FnOnce() -> Result<(), RowsError>) -> Result<(), RowsError> {
    thread_local!(static IS_CAUGHT: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() {
                usual(info);
            }
        }));
    });
    let before = IS_CAUGHT.replace(true);
    // What has seen some of the rows is dropped by whoever sees the error.
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(before);
    done.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(RowsError::ParquetPanic(text.unwrap_or_else(|| "it is damaged".to_owned())))
    })
}

/// The columns that are read, of a group of rows.
struct Columns {
    key: Column<ByteArrayType>,
    size: Column<Int64Type>,
    etag: Column<ByteArrayType>,
    encryption: Option<Column<ByteArrayType>>,
    is_latest: Option<Column<BoolType>>,
    is_deleted: Option<Column<BoolType>>,
}

impl Columns {
    fn of(group: &dyn RowGroupReader) -> Result<Columns, RowsError> {
        Ok(Columns {
            key: Column::need(group, "key")?,
            size: Column::need(group, "size")?,
            etag: Column::need(group, "e_tag")?,
            encryption: Column::find(group, "encryption_status")?,
            is_latest: Column::find(group, "is_latest")?,
            is_deleted: Column::find(group, "is_delete_marker")?,
        })
    }

    /// Reads the next rows, and returns how many they are: none at the end.
    fn next(&mut self) -> Result<usize, RowsError> {
        let Columns { key, size, etag, encryption, is_latest, is_deleted } = self;
        key.next()?;
        let rows = key.values.len();
        size.next_of(rows)?;
        etag.next_of(rows)?;
        encryption.as_mut().map_or(Ok(()), |column| column.next_of(rows))?;
        is_latest.as_mut().map_or(Ok(()), |column| column.next_of(rows))?;
        is_deleted.as_mut().map_or(Ok(()), |column| column.next_of(rows))?;
        Ok(rows)
    }

    fn row(&self, row: usize) -> Row<'_> {
        fn text(column: &Column<ByteArrayType>, row: usize) -> &[u8] {
            column.values[row].as_ref().map_or(&[], ByteArray::data)
        }
        Row {
            key: Cow::Borrowed(text(&self.key, row)),
            // What is no size is none.
            size: self.size.values[row].and_then(|size| u64::try_from(size).ok()),
            etag: text(&self.etag, row),
            encryption: self.encryption.as_ref().map_or(&[], |column| text(column, row)),
            is_latest: self.is_latest.as_ref().is_none_or(|column| column.values[row] != Some(false)),
            is_deleted: self.is_deleted.as_ref().is_some_and(|column| column.values[row] == Some(true)),
        }
    }
}

/// A column of a group, of which some rows were read.
struct Column<T: DataType> {
    name: &'static str,
    reader: ColumnReaderImpl<T>,
    /// What each row has. Some types have rows without a value.
    values: Vec<Option<T::T>>,
}

impl<T: DataType> Column<T> {
    fn need(group: &dyn RowGroupReader, name: &'static str) -> Result<Self, RowsError> {
        Self::find(group, name)?.ok_or(RowsError::NoColumn(name))
    }

    fn find(group: &dyn RowGroupReader, name: &'static str) -> Result<Option<Self>, RowsError> {
        let schema = group.metadata().schema_descr();
        let Some(i) = schema.columns().iter().position(|column| column.path().parts() == [name]) else {
            return Ok(None);
        };
        // A list in each row, or other columns within.
        if schema.column(i).max_rep_level() > 0 || schema.column(i).max_def_level() > 1 {
            return Err(RowsError::Type(name));
        }
        let reader = T::get_column_reader(group.get_column_reader(i)?).ok_or(RowsError::Type(name))?;
        Ok(Some(Column { name, reader, values: Vec::new() }))
    }

    fn next(&mut self) -> Result<(), RowsError> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let (rows, ..) = self.reader.read_records(ROWS, Some(&mut levels), None, &mut values)?;
        let mut values = values.into_iter();
        self.values.clear();
        // Where each row must have a value there are no levels.
        self.values.extend((0..rows).map(|row| match levels.get(row) {
            Some(0) => None,
            _ => values.next(),
        }));
        Ok(())
    }

    fn next_of(&mut self, rows: usize) -> Result<(), RowsError> {
        self.next()?;
        if self.values.len() == rows { Ok(()) } else { Err(RowsError::Uneven(self.name)) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use parquet::basic::{Compression, Repetition};
    use parquet::column::writer::ColumnWriter;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    /// As S3's documentation has it, in part.
    const SCHEMA: &str = "message s3.inventory { required binary bucket (UTF8); required binary key (UTF8); \
        optional binary version_id (UTF8); optional boolean is_latest; optional boolean is_delete_marker; \
        optional int64 size; optional int64 last_modified_date (TIMESTAMP_MILLIS); optional binary e_tag (UTF8); \
        optional binary storage_class (UTF8); optional boolean is_multipart_uploaded; \
        optional binary replication_status (UTF8); optional binary encryption_status (UTF8); \
        optional int64 object_lock_retain_until_date (TIMESTAMP_MILLIS); optional binary checksum_algorithm (UTF8); }";

    type Listed = (&'static str, bool, bool, Option<i64>, &'static str, &'static str);

    /// Key, latest, deleted, size, ETag, encryption: those of the test of CSV.
    const ROWS: [Listed; 6] = [
        ("p/z,y xé", true, false, Some(5), "5d41402abc4b2a76b9719d911017c592", "SSE-S3"),
        ("p/a", false, false, Some(6), "00000000000000000000000000000000", "SSE-S3"),
        ("p/a", true, false, Some(7), "11111111111111111111111111111111", "SSE-KMS"),
        ("p/gone", true, true, None, "", ""),
        ("p/d/", true, false, Some(0), "d41d8cd98f00b204e9800998ecf8427e", "SSE-S3"),
        ("q", true, false, Some(1), "d41d8cd98f00b204e9800998ecf8427e", "SSE-S3"),
    ];

    /// More than are read at a time.
    const MANY: usize = 2 * super::ROWS + 7;

    /// An inventory of the rows.
    pub(in super::super) fn file() -> Vec<u8> {
        written(SCHEMA, &ROWS, 4, WriterProperties::builder().set_compression(Compression::SNAPPY).build())
    }

    /// A file with so many rows in a group.
    fn written(schema: &str, rows: &[Listed], in_group: usize, properties: WriterProperties) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let mut writer = SerializedFileWriter::new(Vec::new(), schema.clone(), properties.into()).expect("a file");
        for rows in rows.chunks(in_group) {
            let mut group = writer.next_row_group().expect("a group");
            for field in schema.get_fields() {
                let mut column = group.next_column().expect("a column").expect("a column");
                let texts = |of: fn(&Listed) -> &'static str| rows.iter().map(of).collect::<Vec<_>>();
                let levels = |has: fn(&Listed) -> bool| rows.iter().map(|row| i16::from(has(row))).collect::<Vec<_>>();
                let (texts, levels) = match field.name() {
                    "key" => (texts(|row| row.0), levels(|_| true)),
                    "e_tag" => (texts(|row| row.4), levels(|row| !row.4.is_empty())),
                    "encryption_status" => (texts(|row| row.5), levels(|row| !row.5.is_empty())),
                    "size" => (texts(|_| "a size"), levels(|row| row.3.is_some())),
                    _ => (texts(|_| "other"), levels(|_| true)),
                };
                let is_there = (0..rows.len()).filter(|i| levels[*i] > 0);
                let is_list = field.get_basic_info().repetition() == Repetition::REPEATED;
                let lists = is_list.then(|| vec![0; rows.len()]);
                let lists = lists.as_deref();
                let wrote = match column.untyped() {
                    ColumnWriter::ByteArrayColumnWriter(writer) => {
                        let values: Vec<ByteArray> = is_there.map(|i| texts[i].into()).collect();
                        writer.write_batch(&values, Some(&levels), lists)
                    }
                    ColumnWriter::BoolColumnWriter(writer) => {
                        let is_deleted = field.name() == "is_delete_marker";
                        let values: Vec<bool> = rows.iter().map(|row| if is_deleted { row.2 } else { row.1 }).collect();
                        writer.write_batch(&values, Some(&levels), lists)
                    }
                    ColumnWriter::Int64ColumnWriter(writer) => {
                        let values: Vec<i64> = is_there.map(|i| rows[i].3.unwrap_or(0)).collect();
                        writer.write_batch(&values, Some(&levels), lists)
                    }
                    ColumnWriter::Int32ColumnWriter(writer) => {
                        writer.write_batch(&is_there.map(|_| 1).collect::<Vec<_>>(), Some(&levels), lists)
                    }
                    _ => unreachable!("the schemas here have no other types"),
                };
                wrote.expect("memory");
                column.close().expect("memory");
            }
            group.close().expect("memory");
        }
        writer.into_inner().expect("memory")
    }

    /// The rows of a file.
    fn found(bytes: Vec<u8>) -> Result<Vec<String>, RowsError> {
        let mut found = Vec::new();
        read(bytes.into(), |row| {
            let [key, etag, encryption] = [&*row.key, row.etag, row.encryption].map(String::from_utf8_lossy);
            found.push(format!("{key} {} {} {:?} {etag} {encryption}", row.is_latest, row.is_deleted, row.size));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn rows_are_as_they_were_written() {
        let due: Vec<String> = ROWS
            .iter()
            .map(|(key, is_latest, is_deleted, size, etag, encryption)| {
                format!("{key} {is_latest} {is_deleted} {size:?} {etag} {encryption}")
            })
            .collect();
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (compression, has_dictionary) in [(Compression::SNAPPY, true), (Compression::UNCOMPRESSED, false)] {
                let properties = WriterProperties::builder().set_writer_version(version);
                let properties = properties.set_compression(compression).set_dictionary_enabled(has_dictionary);
                assert_eq!(found(written(SCHEMA, &ROWS, 4, properties.build())).expect("rows"), due);
            }
        }
        // In two groups.
        let many: Vec<Listed> = ROWS.iter().cycle().take(2 * MANY - 5).copied().collect();
        let rows = found(written(SCHEMA, &many, MANY, WriterProperties::default())).expect("rows");
        assert!(rows.iter().eq(due.iter().cycle().take(many.len())));
    }

    #[test]
    fn columns_that_are_not_there_or_others() {
        let of = |schema: &str| found(written(schema, &ROWS, 4, WriterProperties::default()));
        let least = "message s3.inventory { required binary key; required int64 size; required binary e_tag; }";
        let without_sizes = |row: &Listed| row.3.is_some();
        let rows: Vec<Listed> = ROWS.into_iter().filter(without_sizes).collect();
        let rows = found(written(least, &rows, 9, WriterProperties::default())).expect("rows");
        assert_eq!(rows[1], "p/a true false Some(6) 00000000000000000000000000000000 ");
        for name in ["key", "size", "e_tag"] {
            let error = of(&SCHEMA.replace(&format!(" {name}"), " other")).expect_err("an error");
            assert!(matches!(&error, RowsError::NoColumn(missing) if *missing == name), "{name}: {error}");
        }
        for (name, due, other) in [
            ("size", "int64 size", "binary size"),
            ("size", "int64 size", "int32 size"),
            ("e_tag", "binary e_tag (UTF8)", "int64 e_tag"),
            ("is_latest", "boolean is_latest", "binary is_latest"),
            ("encryption_status", "optional binary encryption_status", "repeated binary encryption_status"),
        ] {
            let error = of(&SCHEMA.replace(due, other)).expect_err("an error");
            assert!(matches!(&error, RowsError::Type(wrong) if *wrong == name), "{name}: {error}");
        }
    }

    #[test]
    fn damaged_files_are_refused_or_read() {
        let good = file();
        for length in 0..good.len() {
            let error = found(good[..length].to_vec()).expect_err("an error");
            assert!(matches!(error, RowsError::Parquet(_) | RowsError::ParquetPanic(_)), "{length}: {error}");
        }
        for at in 0..good.len() {
            for change in [1, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[at] ^= change;
                let _ = found(bytes);
            }
        }
    }
}
