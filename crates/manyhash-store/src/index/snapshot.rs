//! The index as it was after a commit.

use super::records::{
    BlobRecord, BucketRecord, ObjectRecord, PartRecord, SegmentRecord, StateRecord, UploadRecord, decode,
};
use super::tables::{BLOBS, BUCKETS, FORMAT_ROW, META, OBJECTS, PARTS, SEGMENTS, STATE_ROW, TRASH, UPLOADS};
use super::{BlobKey, into_io, object_key, split_object_key};
use crate::{Bucket, Extent, Object, Part, ReadError, Upload};
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata};

type Bytes = &'static [u8];

/// The tables, opened once for all readers until the next commit.
pub(crate) struct Snapshot {
    meta: ReadOnlyTable<&'static str, Bytes>,
    buckets: ReadOnlyTable<&'static str, Bytes>,
    objects: ReadOnlyTable<Bytes, Bytes>,
    uploads: ReadOnlyTable<(&'static str, &'static str, &'static str), Bytes>,
    parts: ReadOnlyTable<(u64, u16), Bytes>,
    blobs: ReadOnlyTable<&'static [u8; 40], Bytes>,
    trash: ReadOnlyTable<&'static [u8; 40], Bytes>,
    segments: ReadOnlyTable<u32, Bytes>,
}

/// Names of records in errors.
const BUCKET: &str = "a bucket in the index";
const OBJECT: &str = "an object in the index";
const UPLOAD: &str = "an upload in the index";
const PART: &str = "a part in the index";
const BLOB: &str = "a blob in the index";
const SEGMENT: &str = "a segment in the index";

impl Snapshot {
    pub(super) fn new(database: &Database) -> Result<Self, ReadError> {
        let opened = || -> Result<Self, redb::Error> {
            let transaction = database.begin_read()?;
            Ok(Snapshot {
                meta: transaction.open_table(META)?,
                buckets: transaction.open_table(BUCKETS)?,
                objects: transaction.open_table(OBJECTS)?,
                uploads: transaction.open_table(UPLOADS)?,
                parts: transaction.open_table(PARTS)?,
                blobs: transaction.open_table(BLOBS)?,
                trash: transaction.open_table(TRASH)?,
                segments: transaction.open_table(SEGMENTS)?,
            })
        };
        opened().map_err(|error| match error {
            redb::Error::TableDoesNotExist(_) | redb::Error::TableTypeMismatch { .. } => {
                ReadError::Damaged("the list of tables in the index")
            }
            error => ReadError::Disk(into_io(error)),
        })
    }

    /// The format of the directory.
    pub(crate) fn format(&self) -> Result<u64, ReadError> {
        let row = self.meta.get(FORMAT_ROW)?.ok_or(ReadError::Damaged("the format in the index"))?;
        let bytes = row.value().try_into().map_err(|_| ReadError::Damaged("the format in the index"))?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(crate) fn state(&self) -> Result<StateRecord, ReadError> {
        let row = self.meta.get(STATE_ROW)?.ok_or(ReadError::Damaged("the state in the index"))?;
        decode(row.value(), "the state in the index")
    }

    pub(crate) fn bucket(&self, name: &str) -> Result<Option<Bucket>, ReadError> {
        self.buckets.get(name)?.map(|row| bucket(name, row.value())).transpose()
    }

    pub(crate) fn buckets(&self) -> Result<Vec<Bucket>, ReadError> {
        let mut buckets = Vec::new();
        for row in self.buckets.range::<&str>(..)? {
            let (name, record) = row?;
            buckets.push(bucket(name.value(), record.value())?);
        }
        Ok(buckets)
    }

    pub(crate) fn object(&self, bucket: &str, key: &str) -> Result<Option<Object>, ReadError> {
        if bucket.contains('\0') {
            // No bucket has such a name, and the table's key would be another's.
            return Ok(None);
        }
        self.objects.get(&*object_key(bucket, key))?.map(|row| object(row.value())).transpose()
    }

    /// The objects from a key of the table on, as far as `next` asks for them. It returns where to go on: at the next,
    /// or at a key that is further ahead.
    pub(crate) fn scan_objects(
        &self,
        from: &[u8],
        mut next: impl FnMut(&[u8], &[u8]) -> Result<Step, ReadError>,
    ) -> Result<(), ReadError> {
        let mut rows = self.objects.range::<&[u8]>(from..)?;
        while let Some(row) = rows.next() {
            let (key, record) = row?;
            match next(key.value(), record.value())? {
                Step::Next => {}
                Step::Seek(key) => rows = self.objects.range::<&[u8]>(&*key..)?,
                Step::Stop => break,
            }
        }
        Ok(())
    }

    pub(crate) fn upload(&self, bucket: &str, key: &str, id: &str) -> Result<Option<Upload>, ReadError> {
        let row = self.uploads.get((bucket, key, id))?;
        row.map(|row| upload((bucket, key, id), row.value())).transpose()
    }

    /// The uploads from a key of the table on, as far as `next` asks for them.
    pub(crate) fn scan_uploads(
        &self,
        from: (&str, &str, &str),
        mut next: impl FnMut(Upload) -> Result<Step<(String, String, String)>, ReadError>,
    ) -> Result<(), ReadError> {
        let mut rows = self.uploads.range(from..)?;
        while let Some(row) = rows.next() {
            let (key, record) = row?;
            match next(upload(key.value(), record.value())?)? {
                Step::Next => {}
                Step::Seek((bucket, key, id)) => rows = self.uploads.range((&*bucket, &*key, &*id)..)?,
                Step::Stop => break,
            }
        }
        Ok(())
    }

    pub(crate) fn uploads_before(&self, time: i64, max: usize) -> Result<Vec<Upload>, ReadError> {
        let mut uploads = Vec::new();
        self.scan_uploads(("", "", ""), |upload| {
            if uploads.len() >= max {
                return Ok(Step::Stop);
            }
            if upload.started < time {
                uploads.push(upload);
            }
            Ok(Step::Next)
        })?;
        Ok(uploads)
    }

    pub(crate) fn parts(&self, serial: u64, after: u16, max: usize) -> Result<Vec<Part>, ReadError> {
        let mut parts = Vec::new();
        let Some(first) = after.checked_add(1) else {
            return Ok(parts);
        };
        for row in self.parts.range((serial, first)..=(serial, u16::MAX))?.take(max) {
            let (key, record) = row?;
            parts.push(part(key.value().1, record.value())?);
        }
        Ok(parts)
    }

    /// All parts, with the serials of their uploads.
    pub(crate) fn scan_parts(&self, mut each: impl FnMut(u64, Part) -> Result<(), ReadError>) -> Result<(), ReadError> {
        for row in self.parts.range::<(u64, u16)>(..)? {
            let (key, record) = row?;
            let (serial, number) = key.value();
            each(serial, part(number, record.value())?)?;
        }
        Ok(())
    }

    pub(crate) fn blob(&self, key: &BlobKey) -> Result<Option<BlobRecord>, ReadError> {
        self.blobs.get(&key.0)?.map(|row| blob(row.value())).transpose()
    }

    /// A blob, or what is left of one that is pinned.
    pub(crate) fn blob_or_trash(&self, key: &BlobKey) -> Result<Option<BlobRecord>, ReadError> {
        match self.blob(key)? {
            Some(blob) => Ok(Some(blob)),
            None => self.trash.get(&key.0)?.map(|row| blob(row.value())).transpose(),
        }
    }

    /// A blob with this digest that is not known to be damaged.
    pub(crate) fn find_blob(&self, sha256: &[u8; 32]) -> Result<Option<(BlobKey, BlobRecord)>, ReadError> {
        let (first, last) = (BlobKey::new(sha256, 0), BlobKey::new(sha256, u64::MAX));
        for row in self.blobs.range::<&[u8; 40]>(&first.0..=&last.0)? {
            let (key, record) = row?;
            let record = blob(record.value())?;
            if !record.damaged {
                return Ok(Some((BlobKey(*key.value()), record)));
            }
        }
        Ok(None)
    }

    /// How many blobs there are.
    pub(crate) fn count_blobs(&self) -> Result<u64, ReadError> {
        Ok(self.blobs.len()?)
    }

    /// All blobs.
    pub(crate) fn scan_blobs(
        &self,
        mut each: impl FnMut(BlobKey, BlobRecord) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        for row in self.blobs.range::<&[u8; 40]>(..)? {
            let (key, record) = row?;
            each(BlobKey(*key.value()), blob(record.value())?)?;
        }
        Ok(())
    }

    /// All that is in the trash.
    pub(crate) fn trash(&self) -> Result<Vec<(BlobKey, BlobRecord)>, ReadError> {
        let mut trash = Vec::new();
        for row in self.trash.range::<&[u8; 40]>(..)? {
            let (key, record) = row?;
            trash.push((BlobKey(*key.value()), blob(record.value())?));
        }
        Ok(trash)
    }

    /// All segments.
    pub(crate) fn segments(&self) -> Result<Vec<(u32, SegmentRecord)>, ReadError> {
        let mut segments = Vec::new();
        for row in self.segments.range::<u32>(..)? {
            let (number, record) = row?;
            segments.push((number.value(), decode(record.value(), SEGMENT)?));
        }
        Ok(segments)
    }
}

/// How a scan goes on.
pub(crate) enum Step<K = Vec<u8>> {
    /// With the next row.
    Next,
    /// With the first row that is not before this key.
    Seek(K),
    /// Not at all.
    Stop,
}

fn bucket(name: &str, record: &[u8]) -> Result<Bucket, ReadError> {
    let record: BucketRecord<'_> = decode(record, BUCKET)?;
    Ok(Bucket { name: name.to_owned(), created: record.created, attributes: record.attributes.to_vec() })
}

/// Reads an object.
pub(crate) fn object(record: &[u8]) -> Result<Object, ReadError> {
    let record: ObjectRecord<'_, Vec<Extent>> = decode(record, OBJECT)?;
    let ObjectRecord { modified, etag, attributes, extents } = record;
    Ok(Object { modified, etag: etag.to_owned(), extents, attributes: attributes.to_vec() })
}

/// Reads the key of an object.
pub(crate) fn object_name(key: &[u8]) -> Result<(&str, &str), ReadError> {
    split_object_key(key).ok_or(ReadError::Damaged("the key of an object in the index"))
}

fn upload((bucket, key, id): (&str, &str, &str), record: &[u8]) -> Result<Upload, ReadError> {
    let UploadRecord { serial, started, attributes } = decode(record, UPLOAD)?;
    let (bucket, key, id) = (bucket.to_owned(), key.to_owned(), id.to_owned());
    Ok(Upload { bucket, key, id, started, attributes: attributes.to_vec(), serial })
}

/// Reads a part.
pub(crate) fn part(number: u16, record: &[u8]) -> Result<Part, ReadError> {
    let PartRecord { id, modified, etag, attributes, extent } = decode(record, PART)?;
    Ok(Part { number, modified, etag: etag.to_owned(), extent, attributes: attributes.to_vec(), id })
}

/// Reads a blob.
pub(crate) fn blob(record: &[u8]) -> Result<BlobRecord, ReadError> {
    decode(record, BLOB)
}
