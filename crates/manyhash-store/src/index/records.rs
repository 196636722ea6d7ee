//! Values of the index's tables: a byte for the version, then postcard.

use crate::{Extent, ReadError};
use serde::{Deserialize, Serialize};
use std::io;

/// The version of every record.
const VERSION: u8 = 1;

/// A bucket.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BucketRecord<'a> {
    pub(crate) created: i64,
    pub(crate) attributes: &'a [u8],
}

/// An object. `E` is a slice when it is written, and a vector when it is read.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ObjectRecord<'a, E> {
    pub(crate) modified: i64,
    pub(crate) etag: &'a str,
    pub(crate) attributes: &'a [u8],
    pub(crate) extents: E,
}

/// An upload.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UploadRecord<'a> {
    pub(crate) serial: u64,
    pub(crate) started: i64,
    pub(crate) attributes: &'a [u8],
}

/// A part of an upload.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PartRecord<'a> {
    pub(crate) id: u64,
    pub(crate) modified: i64,
    pub(crate) etag: &'a str,
    pub(crate) attributes: &'a [u8],
    pub(crate) extent: Extent,
}

/// Where a blob is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Place {
    /// In a segment. The offset is that of the body, behind its head.
    Segment { segment: u32, offset: u64 },
    /// In a file of this generation.
    File { generation: u32 },
}

/// A blob.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BlobRecord {
    /// How many extents of objects and parts refer to it.
    pub(crate) references: u64,
    pub(crate) length: u64,
    pub(crate) place: Place,
    /// Whether a check has found it damaged. Content that is put again is then written again.
    pub(crate) damaged: bool,
}

/// A segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SegmentRecord {
    /// Where the last record ends that the index may refer to. Behind it there may be anything.
    pub(crate) end: u64,
    /// How many bytes of it belong to blobs, their heads included.
    pub(crate) live: u64,
    /// Whether nothing is appended to it any more.
    pub(crate) sealed: bool,
}

/// Where the writer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StateRecord {
    /// The number of the last batch.
    pub(crate) batch: u64,
    /// The number that the next blob, part or upload gets.
    pub(crate) next: u64,
    /// The number that the next segment gets.
    pub(crate) next_segment: u32,
    /// The generation of files that is being filled.
    pub(crate) generation: u32,
    /// How many files were linked into it.
    pub(crate) files: u64,
    /// How many bytes all blobs have.
    pub(crate) bytes: u64,
}

/// Writes a record.
pub(crate) fn encode(record: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(&(VERSION, record)).map_err(io::Error::other)
}

/// Reads a record. `what` names it in the error.
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8], what: &'static str) -> Result<T, ReadError> {
    match bytes.split_first() {
        Some((&VERSION, record)) => postcard::from_bytes(record).map_err(|_| ReadError::Damaged(what)),
        _ => Err(ReadError::Damaged(what)),
    }
}

#[cfg(test)]
mod tests {
    use super::{BlobRecord, ObjectRecord, Place, decode, encode};
    use crate::Extent;
    use proptest::prelude::*;

    #[test]
    fn records_are_small() {
        let place = Place::Segment { segment: 900, offset: 200 << 20 };
        let blob = encode(&BlobRecord { references: 1, length: 4096, place, damaged: false }).expect("it is encoded");
        assert!(blob.len() <= 12, "{}", blob.len());
        let extents = [Extent { sha256: [1; 32], length: 4096, id: 1 << 30 }];
        let etag = "d41d8cd98f00b204e9800998ecf8427e";
        let object = ObjectRecord { modified: 1_800_000_000_000, etag, attributes: &[], extents: &extents[..] };
        let object = encode(&object).expect("it is encoded");
        assert!(object.len() <= 84, "{}", object.len());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let with_version = [&[1], &bytes[..]].concat();
            for bytes in [&bytes, &with_version] {
                let _ = decode::<ObjectRecord<'_, Vec<Extent>>>(bytes, "an object");
                let _ = decode::<BlobRecord>(bytes, "a blob");
            }
        }

        #[test]
        fn objects_are_read_back(
            modified: i64,
            etag in ".{0,40}",
            attributes in proptest::collection::vec(any::<u8>(), 0..100),
            extents in proptest::collection::vec(any::<([u8; 32], u64, u64)>(), 0..5),
        ) {
            let extents: Vec<Extent> =
                extents.into_iter().map(|(sha256, length, id)| Extent { sha256, length, id }).collect();
            let record = ObjectRecord { modified, etag: &etag, attributes: &attributes, extents: &extents[..] };
            let bytes = encode(&record).expect("it is encoded");
            let read: ObjectRecord<'_, Vec<Extent>> = decode(&bytes, "an object").expect("it is read back");
            prop_assert_eq!((read.modified, read.etag, read.attributes), (modified, &*etag, &*attributes));
            prop_assert_eq!(read.extents, extents);
        }
    }
}
