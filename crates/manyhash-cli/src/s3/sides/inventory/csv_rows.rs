//! The rows of an inventory in CSV, gzipped. Keys are as in the query of a URL.

use super::{InventoryError, Row, RowsError};
use flate2::read::MultiGzDecoder;
use percent_encoding::percent_decode;
use std::borrow::Cow;
use std::io::Read;

/// Where the columns are that are read.
pub(super) struct Columns {
    key: usize,
    size: usize,
    etag: usize,
    encryption: Option<usize>,
    is_latest: Option<usize>,
    is_deleted: Option<usize>,
}

impl Columns {
    /// Those of a schema as the manifest has it, names with commas between.
    pub(super) fn of(schema: &str) -> Result<Columns, InventoryError> {
        let find = |name: &str| schema.split(',').position(|column| column.trim() == name);
        let need = |name| find(name).ok_or(InventoryError::Column(name));
        Ok(Columns {
            key: need("Key")?,
            size: need("Size")?,
            etag: need("ETag")?,
            encryption: find("EncryptionStatus"),
            is_latest: find("IsLatest"),
            is_deleted: find("IsDeleteMarker"),
        })
    }

    /// Hands on all rows of a file, until one is refused.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        mut each: impl FnMut(&Row<'_>) -> Result<(), String>,
    ) -> Result<(), RowsError> {
        let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
        let reader: Box<dyn Read + '_> = if is_gzip { Box::new(MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
        let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(reader);
        for (i, row) in rows.byte_records().enumerate() {
            let improper = |what| RowsError::Row { row: i as u64 + 1, what };
            let row = row.map_err(|error| improper(error.to_string()))?;
            self.row(&row).and_then(|row| each(&row)).map_err(improper)?;
        }
        Ok(())
    }

    fn row<'a>(&self, row: &'a csv::ByteRecord) -> Result<Row<'a>, String> {
        let text = |column: usize| {
            let field = row.get(column).ok_or_else(|| "too few columns".to_owned())?;
            str::from_utf8(field).map_err(|_| "not UTF-8".to_owned())
        };
        let optional = |column: Option<usize>| column.map_or(Ok(""), text);
        let size = text(self.size)?;
        Ok(Row {
            // A plus is a space.
            key: Cow::Owned(percent_decode(text(self.key)?.replace('+', " ").as_bytes()).collect()),
            size: match size {
                "" => None,
                size => Some(size.parse().map_err(|_| format!("`{size}` is no size"))?),
            },
            etag: text(self.etag)?.as_bytes(),
            encryption: optional(self.encryption)?.as_bytes(),
            is_latest: !optional(self.is_latest)?.eq_ignore_ascii_case("false"),
            is_deleted: optional(self.is_deleted)?.eq_ignore_ascii_case("true"),
        })
    }
}
