//! What the server keeps with objects, parts and uploads, beside what the store knows.

use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, ChecksumType, ObjectChecksum};
use manyhash_s3::error::S3Error;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The form of these records. Another one gets another number.
const VERSION: u8 = 1;

/// What is kept with an object.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// Headers that are sent with it, in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The user's own, without `x-amz-meta-`.
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) checksum: Option<ObjectChecksum>,
    /// The parts of an object that was uploaded in parts, one for each of its extents.
    pub(crate) parts: Vec<KeptPart>,
    /// The upload in parts that it came from.
    pub(crate) upload: Option<String>,
}

/// What is kept of a part in its object.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct KeptPart {
    pub(crate) number: u16,
    pub(crate) length: u64,
    pub(crate) checksum: Option<Checksum>,
}

/// What is kept with an upload in progress.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct KeptUpload {
    /// What its object will have.
    pub(crate) object: Kept,
    pub(crate) checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
}

/// What is kept with a part before its object exists.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct KeptUploadedPart {
    pub(crate) md5: [u8; 16],
    pub(crate) checksum: Checksum,
    /// Whether the client asked for the checksum, with the part or the upload.
    pub(crate) shown: bool,
}

/// Writes a record.
pub(crate) fn encode(record: &impl Serialize) -> Result<Vec<u8>, S3Error> {
    postcard::to_extend(record, vec![VERSION]).map_err(crate::ingest::internal)
}

/// Reads a record.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, S3Error> {
    match bytes.split_first() {
        Some((&VERSION, record)) => postcard::from_bytes(record).map_err(crate::ingest::internal),
        _ => Err(crate::ingest::internal("a record of the index has a form that this version does not know")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_written() {
        let kept = Kept {
            headers: vec![("content-type".into(), "text/plain".into())],
            metadata: vec![("a".into(), "b".into())],
            checksum: Checksum::new(ChecksumAlgorithm::Crc32, &[1, 2, 3, 4]).ok().map(ObjectChecksum::of_body),
            parts: vec![KeptPart { number: 1, length: 5, checksum: None }],
            upload: Some("u".into()),
        };
        let bytes = encode(&kept).unwrap();
        assert_eq!(decode::<Kept>(&bytes).unwrap(), kept);
        assert!(decode::<Kept>(&[]).is_err() && decode::<Kept>(&[9, 0, 0]).is_err());
    }
}
