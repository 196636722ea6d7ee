//! S3 Inventory: a list of a bucket's objects that S3 writes every day or week, in files of CSV or Parquet and a
//! `manifest.json` that names them. ORC, which it writes too, is not read.
//!
//! The files are where they were downloaded to: under the keys of the manifest below any directory above it, or beside
//! it. Each is compared with the MD5 in the manifest. They are not sorted.
//!
//! Source: Amazon S3 User Guide, "Locating your inventory list" and "Amazon S3 Inventory list".

mod csv_rows;
mod parquet_rows;

use bytes::Bytes;
use csv_rows::Columns;
use manyhash::Algorithm;
use manyhash_s3::etag::ETag;
use manyhash_s3_client::remote::Encryption;
use manyhash_s3_client::verify::Entry;
use serde::Deserialize;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why an inventory cannot be read.
#[derive(Debug, thiserror::Error)]
pub(in crate::s3) enum InventoryError {
    #[error("{path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("no manifest of an inventory: {0}")]
    Manifest(serde_json::Error),
    #[error("the inventory is in {0}: configure it to be in CSV or Parquet, which are read")]
    Format(String),
    #[error("the inventory has no column `{0}`: configure it to have one")]
    Column(&'static str),
    #[error("{key} is not there: download all files of the inventory, under their keys or beside the manifest")]
    NoFile { key: String },
    #[error("{path} is not the file that the manifest names: its MD5 is another; download it again", path = path.display())]
    Md5 { path: PathBuf },
    #[error("{path}: {error}", path = path.display())]
    Rows { path: PathBuf, error: RowsError },
    #[error("{key} is listed more than once; it has versions, of which the current one is not marked")]
    Twice { key: String },
}

/// Why the rows of a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(in crate::s3) enum RowsError {
    #[error("row {row} is improper: {what}")]
    Row { row: u64, what: String },
    #[error("no proper Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    #[error("no proper Parquet: {0}")]
    ParquetPanic(String),
    #[error("no column `{0}`: configure the inventory to have one")]
    NoColumn(&'static str),
    #[error("column `{0}` is not of the type that S3 writes")]
    Type(&'static str),
    #[error("column `{0}` has another number of rows than the keys")]
    Uneven(&'static str),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    file_format: String,
    file_schema: String,
    files: Vec<DataFile>,
}

#[derive(Deserialize)]
struct DataFile {
    key: String,
    #[serde(rename = "MD5checksum")]
    md5: Option<String>,
}

/// What is read of a row.
struct Row<'a> {
    /// The key, decoded.
    key: Cow<'a, [u8]>,
    size: Option<u64>,
    /// The ETag, or nothing.
    etag: &'a [u8],
    /// The word for how the object is encrypted, or nothing.
    encryption: &'a [u8],
    is_latest: bool,
    is_deleted: bool,
}

/// How the files of an inventory are read.
enum Format {
    Csv(Columns),
    Parquet,
}

/// Whether a file is the manifest of an inventory, by its name.
pub(super) fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "manifest.json")
}

/// Reads an inventory: the objects whose keys begin with a prefix, which their names are without.
pub(super) fn read(path: &Path, prefix: &str) -> Result<Vec<Entry>, InventoryError> {
    let text = fs::read(path).map_err(|error| InventoryError::Io { path: path.to_owned(), error })?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(InventoryError::Manifest)?;
    let format = Format::of(&manifest)?;
    let mut entries = Vec::new();
    for DataFile { key, md5 } in &manifest.files {
        let file = find(path, key).ok_or_else(|| InventoryError::NoFile { key: key.clone() })?;
        let bytes = fs::read(&file).map_err(|error| InventoryError::Io { path: file.clone(), error })?;
        let is_as_listed = |due: &String| manyhash::digest(Algorithm::Md5, &bytes).to_hex().eq_ignore_ascii_case(due);
        if !md5.as_ref().is_none_or(is_as_listed) {
            return Err(InventoryError::Md5 { path: file });
        }
        let push = |row: &Row<'_>| {
            entries.extend(row.entry(prefix)?);
            Ok(())
        };
        let read = match &format {
            Format::Csv(columns) => columns.read(&bytes, push),
            Format::Parquet => parquet_rows::read(Bytes::from(bytes), push),
        };
        read.map_err(|error| InventoryError::Rows { path: file, error })?;
    }
    entries.sort_by(|one: &Entry, other| one.name().cmp(other.name()));
    match entries.windows(2).find(|pair| pair[0].name() == pair[1].name()) {
        Some(pair) => Err(InventoryError::Twice { key: String::from_utf8_lossy(pair[0].name()).into_owned() }),
        None => Ok(entries),
    }
}

/// The file of a key: below a directory above the manifest, the nearest first, or beside it.
fn find(manifest: &Path, key: &str) -> Option<PathBuf> {
    let is_plain = Path::new(key).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let name = Path::new(key).file_name()?;
    let beside = manifest.with_file_name(name);
    let above = manifest.parent()?.ancestors().map(|directory| directory.join(key));
    std::iter::once(beside).chain(above.filter(|_| is_plain)).find(|path| path.is_file())
}

impl Format {
    fn of(manifest: &Manifest) -> Result<Format, InventoryError> {
        match manifest.file_format.to_ascii_lowercase().as_str() {
            "csv" => Columns::of(&manifest.file_schema).map(Format::Csv),
            // Each file has its own schema.
            "parquet" => Ok(Format::Parquet),
            _ => Err(InventoryError::Format(manifest.file_format.clone())),
        }
    }
}

impl Row<'_> {
    /// The object, if there is one that counts and its key begins with the prefix. If not, what is wrong with the row.
    fn entry(&self, prefix: &str) -> Result<Option<Entry>, String> {
        if !self.is_latest || self.is_deleted {
            return Ok(None);
        }
        let Some(name) = self.key.strip_prefix(prefix.as_bytes()) else { return Ok(None) };
        let size = self.size.ok_or("it has no size")?;
        if size == 0 && (name.is_empty() || name.ends_with(b"/")) {
            return Ok(None);
        }
        let encryption = match self.encryption {
            b"" => None,
            b"SSE-S3" | b"NOT-SSE" => Some(Encryption::S3),
            b"SSE-KMS" => Some(Encryption::Kms),
            b"DSSE-KMS" => Some(Encryption::DualKms),
            b"SSE-C" => Some(Encryption::Customer),
            _ => Some(Encryption::Other),
        };
        let entry = Entry::listed(name, Some(size));
        Ok(Some(match str::from_utf8(self.etag).map_err(|_| "its ETag is not UTF-8")? {
            "" => entry,
            etag => entry.with_etag(ETag::parse(etag), encryption),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const SCHEMA: &str = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, ETag, EncryptionStatus";

    /// A directory with a manifest and a file, gzipped, below its key.
    fn inventory(rows: &str, schema: &str, format: &str) -> (tempfile::TempDir, PathBuf) {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(rows.as_bytes()).expect("memory");
        made("a.csv.gz", &gzip.finish().expect("memory"), schema, format)
    }

    /// A directory with a manifest and a file below its key.
    fn made(name: &str, bytes: &[u8], schema: &str, format: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let data = directory.path().join("to/bucket/daily/data");
        let at = directory.path().join("to/bucket/daily/2026-11-01T01-00Z");
        fs::create_dir_all(&data).expect("directories");
        fs::create_dir_all(&at).expect("directories");
        fs::write(data.join(name), bytes).expect("a file");
        let manifest = serde_json::json!({
            "sourceBucket": "bucket", "destinationBucket": "arn:aws:s3:::to", "version": "2016-11-30",
            "fileFormat": format, "fileSchema": schema,
            "files": [{
                "key": format!("to/bucket/daily/data/{name}"), "size": bytes.len(),
                "MD5checksum": manyhash::digest(Algorithm::Md5, bytes).to_hex(),
            }],
        });
        let path = at.join("manifest.json");
        fs::write(&path, manifest.to_string()).expect("a file");
        (directory, path)
    }

    const ROWS: &str = concat!(
        "\"b\",\"p/z%2Cy+x%C3%A9\",\"v2\",\"true\",\"false\",\"5\",\"5d41402abc4b2a76b9719d911017c592\",\"SSE-S3\"\n",
        "\"b\",\"p/a\",\"v1\",\"false\",\"false\",\"6\",\"00000000000000000000000000000000\",\"SSE-S3\"\n",
        "\"b\",\"p/a\",\"v2\",\"true\",\"false\",\"7\",\"11111111111111111111111111111111\",\"SSE-KMS\"\n",
        "\"b\",\"p/gone\",\"v2\",\"true\",\"true\",\"\",\"\",\"\"\n",
        "\"b\",\"p/d/\",\"\",\"true\",\"false\",\"0\",\"d41d8cd98f00b204e9800998ecf8427e\",\"SSE-S3\"\n",
        "\"b\",\"q\",\"\",\"true\",\"false\",\"1\",\"d41d8cd98f00b204e9800998ecf8427e\",\"SSE-S3\"\n",
    );

    #[test]
    fn rows_become_entries() {
        let (_directory, path) = inventory(ROWS, SCHEMA, "CSV");
        let entries = read(&path, "p/").expect("an inventory");
        let found: Vec<_> = entries.iter().map(|entry| (entry.name(), entry.size())).collect();
        assert_eq!(found, [(&b"a"[..], Some(7)), ("z,y xé".as_bytes(), Some(5))]);
        let all = read(&path, "").expect("an inventory");
        assert_eq!(all.iter().map(Entry::name).collect::<Vec<_>>(), [&b"p/a"[..], "p/z,y xé".as_bytes(), b"q"]);
    }

    #[test]
    fn parquet_is_read_as_csv_is() {
        let (_directory, path) = inventory(ROWS, SCHEMA, "CSV");
        let (_other, parquet) = made("a.parquet", &parquet_rows::tests::file(), "message s3.inventory {}", "Parquet");
        for prefix in ["", "p/"] {
            let entries = |path| read(path, prefix).expect("an inventory");
            assert_eq!(format!("{:?}", entries(&parquet)), format!("{:?}", entries(&path)));
        }
        let (_directory, path) = made("a.parquet", b"PAR1", "message s3.inventory {}", "Parquet");
        let error = read(&path, "").expect_err("an error").to_string();
        assert!(error.contains("a.parquet: no proper Parquet: "), "{error}");
    }

    #[test]
    fn what_is_no_inventory() {
        let of = |rows: &str, schema: &str, format: &str| {
            let (_directory, path) = inventory(rows, schema, format);
            read(&path, "").expect_err("an error")
        };
        let orc = of(ROWS, SCHEMA, "ORC").to_string();
        assert!(orc.contains("is in ORC: configure it to be in CSV or Parquet"), "{orc}");
        let row = |error: InventoryError| match error {
            InventoryError::Rows { error: RowsError::Row { row, .. }, .. } => Some(row),
            _ => None,
        };
        assert!(matches!(of(ROWS, "Bucket, Key, Size", "CSV"), InventoryError::Column("ETag")));
        assert_eq!(row(of("\"b\",\"k\"\n", SCHEMA, "CSV")), Some(1));
        assert_eq!(row(of(&ROWS.replace("\"7\"", "\"x\""), SCHEMA, "CSV")), Some(3));
        assert_eq!(row(of(&ROWS.replace("\"7\"", "\"\""), SCHEMA, "CSV")), Some(3));
        let twice = ROWS.replace("\"v1\",\"false\"", "\"v1\",\"true\"");
        assert!(matches!(of(&twice, SCHEMA, "CSV"), InventoryError::Twice { .. }));
        let (directory, path) = inventory(ROWS, SCHEMA, "CSV");
        let data = directory.path().join("to/bucket/daily/data/a.csv.gz");
        fs::write(&data, "other").expect("a file");
        assert!(matches!(read(&path, ""), Err(InventoryError::Md5 { .. })));
        fs::remove_file(&data).expect("a file");
        assert!(matches!(read(&path, ""), Err(InventoryError::NoFile { .. })));
        fs::write(&path, "{}").expect("a file");
        assert!(matches!(read(&path, ""), Err(InventoryError::Manifest(_))));
    }
}
