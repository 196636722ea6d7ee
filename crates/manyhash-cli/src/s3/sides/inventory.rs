//! S3 Inventory: a list of a bucket's objects that S3 writes every day or week, in CSV files and a `manifest.json` that
//! names them.
//!
//! The files are where they were downloaded to: under the keys of the manifest below any directory above it, or beside
//! it. Each is compared with the MD5 in the manifest. They are not sorted, and hold keys as URLs do.
//!
//! Source: Amazon S3 User Guide, "Locating your inventory list" and "Amazon S3 Inventory list".

use flate2::read::MultiGzDecoder;
use manyhash::Algorithm;
use manyhash_s3::etag::ETag;
use manyhash_s3_client::remote::Encryption;
use manyhash_s3_client::verify::Entry;
use percent_encoding::percent_decode;
use serde::Deserialize;
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
    #[error("the inventory is in {0}: configure it to be in CSV, which is read")]
    Format(String),
    #[error("the inventory has no column `{0}`: configure it to have one")]
    Column(&'static str),
    #[error("{key} is not there: download all files of the inventory, under their keys or beside the manifest")]
    NoFile { key: String },
    #[error("{path} is not the file that the manifest names: its MD5 is another; download it again", path = path.display())]
    Md5 { path: PathBuf },
    #[error("{path}: row {row} is improper: {what}", path = path.display())]
    Row { path: PathBuf, row: u64, what: String },
    #[error("{key} is listed more than once; it has versions, of which the current one is not marked")]
    Twice { key: String },
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

/// Where the columns are that are read.
struct Columns {
    key: usize,
    size: usize,
    etag: usize,
    encryption: Option<usize>,
    is_latest: Option<usize>,
    is_deleted: Option<usize>,
}

/// Whether a file is the manifest of an inventory, by its name.
pub(super) fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "manifest.json")
}

/// Reads an inventory: the objects whose keys begin with a prefix, which their names are without.
pub(super) fn read(path: &Path, prefix: &str) -> Result<Vec<Entry>, InventoryError> {
    let text = fs::read(path).map_err(|error| InventoryError::Io { path: path.to_owned(), error })?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(InventoryError::Manifest)?;
    if !manifest.file_format.eq_ignore_ascii_case("csv") {
        return Err(InventoryError::Format(manifest.file_format));
    }
    let columns = Columns::of(&manifest.file_schema)?;
    let mut entries = Vec::new();
    for DataFile { key, md5 } in &manifest.files {
        let file = find(path, key).ok_or_else(|| InventoryError::NoFile { key: key.clone() })?;
        let bytes = fs::read(&file).map_err(|error| InventoryError::Io { path: file.clone(), error })?;
        let is_as_listed = |due: &String| manyhash::digest(Algorithm::Md5, &bytes).to_hex().eq_ignore_ascii_case(due);
        if !md5.as_ref().is_none_or(is_as_listed) {
            return Err(InventoryError::Md5 { path: file });
        }
        columns.read(&file, &bytes, prefix, &mut entries)?;
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

impl Columns {
    fn of(schema: &str) -> Result<Columns, InventoryError> {
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

    fn read(&self, path: &Path, bytes: &[u8], prefix: &str, entries: &mut Vec<Entry>) -> Result<(), InventoryError> {
        let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
        let reader: Box<dyn io::Read + '_> =
            if is_gzip { Box::new(MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
        let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(reader);
        for (i, row) in rows.byte_records().enumerate() {
            let improper = |what: String| InventoryError::Row { path: path.to_owned(), row: i as u64 + 1, what };
            let row = row.map_err(|error| improper(error.to_string()))?;
            let text = |column: usize| {
                let field = row.get(column).ok_or_else(|| improper("too few columns".to_owned()))?;
                str::from_utf8(field).map_err(|_| improper("not UTF-8".to_owned()))
            };
            let is = |column: Option<usize>, due: &str| {
                column.map_or(Ok(false), |column| text(column).map(|text| text.eq_ignore_ascii_case(due)))
            };
            if is(self.is_latest, "false")? || is(self.is_deleted, "true")? {
                continue;
            }
            // As in the query of a URL, where a plus is a space.
            let key: Vec<u8> = percent_decode(text(self.key)?.replace('+', " ").as_bytes()).collect();
            let Some(name) = key.strip_prefix(prefix.as_bytes()) else { continue };
            let size = text(self.size)?;
            let size = size.parse().map_err(|_| improper(format!("`{size}` is no size")))?;
            let encryption = match self.encryption.map(text).transpose()? {
                None | Some("") => None,
                Some("SSE-S3" | "NOT-SSE") => Some(Encryption::S3),
                Some("SSE-KMS") => Some(Encryption::Kms),
                Some("DSSE-KMS") => Some(Encryption::DualKms),
                Some("SSE-C") => Some(Encryption::Customer),
                Some(_) => Some(Encryption::Other),
            };
            let entry = Entry::listed(name, Some(size));
            let is_folder = size == 0 && (name.is_empty() || name.ends_with(b"/"));
            if !is_folder {
                entries.push(match text(self.etag)? {
                    "" => entry,
                    etag => entry.with_etag(ETag::parse(etag), encryption),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const SCHEMA: &str = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, ETag, EncryptionStatus";

    /// A directory with a manifest and a file, gzipped, below its key.
    fn inventory(rows: &str, schema: &str, format: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let data = directory.path().join("to/bucket/daily/data");
        let at = directory.path().join("to/bucket/daily/2026-11-01T01-00Z");
        fs::create_dir_all(&data).expect("directories");
        fs::create_dir_all(&at).expect("directories");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(rows.as_bytes()).expect("memory");
        let bytes = gzip.finish().expect("memory");
        fs::write(data.join("a.csv.gz"), &bytes).expect("a file");
        let manifest = serde_json::json!({
            "sourceBucket": "bucket", "destinationBucket": "arn:aws:s3:::to", "version": "2016-11-30",
            "fileFormat": format, "fileSchema": schema,
            "files": [{
                "key": "to/bucket/daily/data/a.csv.gz", "size": bytes.len(),
                "MD5checksum": manyhash::digest(Algorithm::Md5, &bytes).to_hex(),
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
    fn what_is_no_inventory() {
        let of = |rows: &str, schema: &str, format: &str| {
            let (_directory, path) = inventory(rows, schema, format);
            read(&path, "").expect_err("an error")
        };
        assert!(matches!(of(ROWS, SCHEMA, "Parquet"), InventoryError::Format(_)));
        assert!(matches!(of(ROWS, "Bucket, Key, Size", "CSV"), InventoryError::Column("ETag")));
        assert!(matches!(of("\"b\",\"k\"\n", SCHEMA, "CSV"), InventoryError::Row { row: 1, .. }));
        assert!(matches!(of(&ROWS.replace("\"7\"", "\"x\""), SCHEMA, "CSV"), InventoryError::Row { row: 3, .. }));
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
