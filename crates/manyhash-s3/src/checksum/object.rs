//! Checksums of objects in parts.

use super::combine::Combination;
use super::running::of_integer;
use super::{Checksum, ChecksumAlgorithm, ChecksumType, InvalidChecksumError, digest};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;

/// The checksum of an object, and what it covers.
///
/// `Display` writes base64, and for a composite a dash and the number of parts, as headers have it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ObjectChecksum {
    /// The checksum.
    pub checksum: Checksum,
    /// What it covers.
    pub kind: ChecksumType,
    /// The number of parts of a composite. It may be unknown, as in the answer to GetObjectAttributes.
    pub parts: Option<NonZeroU32>,
}

impl ObjectChecksum {
    /// Creates the checksum of an object in one upload.
    pub const fn of_body(checksum: Checksum) -> ObjectChecksum {
        ObjectChecksum { checksum, kind: ChecksumType::FullObject, parts: None }
    }

    /// Reads base64 of a full object, or base64, a dash and a number of parts of a composite.
    ///
    /// # Errors
    /// Returns an error if `text` is neither, or if objects have no composites of the algorithm.
    pub fn parse(algorithm: ChecksumAlgorithm, text: &str) -> Result<ObjectChecksum, InvalidChecksumError> {
        // There is no dash in base64.
        let Some((base64, parts)) = text.split_once('-') else {
            return Ok(ObjectChecksum::of_body(Checksum::parse(algorithm, text)?));
        };
        if !algorithm.allows(ChecksumType::Composite) {
            return Err(InvalidChecksumError::NoComposite { algorithm });
        }
        let parts = crate::etag::parse_parts(parts).ok_or(InvalidChecksumError::Parts { algorithm })?;
        let checksum = Checksum::parse(algorithm, base64)?;
        Ok(ObjectChecksum { checksum, kind: ChecksumType::Composite, parts: Some(parts) })
    }
}

impl fmt::Display for ObjectChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts {
            Some(parts) => f.pad(&format!("{}-{parts}", self.checksum)),
            None => self.checksum.fmt(f),
        }
    }
}

/// Why checksums of parts give none of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CombineError {
    /// An object has at least one part.
    #[error("no parts: an object has at least one")]
    NoParts,
    /// There are more parts than can be counted.
    #[error("too many parts: an object has at most 10,000")]
    TooManyParts,
    /// The algorithm cannot do it.
    #[error("an object in parts has no {kind} checksum of {algorithm}")]
    NotAllowed {
        /// The algorithm.
        algorithm: ChecksumAlgorithm,
        /// What was to be made.
        kind: ChecksumType,
    },
    /// A part's checksum is of another algorithm.
    #[error("part {part} has a {found} checksum among {expected}")]
    Mixed {
        /// The part's place in the list, from 1.
        part: usize,
        /// The algorithm of the object.
        expected: ChecksumAlgorithm,
        /// The part's own.
        found: ChecksumAlgorithm,
    },
}

/// Makes the composite of parts in their order: the checksum of their checksums, one after another.
///
/// # Errors
/// Returns an error if there are no parts, if one has another algorithm, or if the algorithm has no composites.
pub fn composite(algorithm: ChecksumAlgorithm, parts: &[Checksum]) -> Result<ObjectChecksum, CombineError> {
    let kind = ChecksumType::Composite;
    if !algorithm.allows(kind) {
        return Err(CombineError::NotAllowed { algorithm, kind });
    }
    let count = u32::try_from(parts.len()).map_err(|_| CombineError::TooManyParts)?;
    let count = NonZeroU32::new(count).ok_or(CombineError::NoParts)?;
    let mut digests = Vec::with_capacity(parts.len().saturating_mul(algorithm.digest_bytes()));
    for (i, part) in parts.iter().enumerate() {
        same_algorithm(i, algorithm, part)?;
        digests.extend_from_slice(part.as_bytes());
    }
    Ok(ObjectChecksum { checksum: digest(algorithm, &digests), kind, parts: Some(count) })
}

/// Makes the checksum of a full object from the CRCs and lengths of its parts in their order.
///
/// ```
/// use manyhash_s3::checksum::{ChecksumAlgorithm::Crc64Nvme, digest, full_object};
///
/// let parts = [(digest(Crc64Nvme, b"1234"), 4), (digest(Crc64Nvme, b"56789"), 5)];
/// assert_eq!(full_object(Crc64Nvme, parts)?.checksum, digest(Crc64Nvme, b"123456789"));
/// # Ok::<(), manyhash_s3::checksum::CombineError>(())
/// ```
///
/// # Errors
/// Returns an error if there are no parts, if one has another algorithm, or if the algorithm is not a CRC.
pub fn full_object(
    algorithm: ChecksumAlgorithm,
    parts: impl IntoIterator<Item = (Checksum, u64)>,
) -> Result<ObjectChecksum, CombineError> {
    let kind = ChecksumType::FullObject;
    let mut object = Combination::new(algorithm).ok_or(CombineError::NotAllowed { algorithm, kind })?;
    let mut none = true;
    for (i, (part, length)) in parts.into_iter().enumerate() {
        same_algorithm(i, algorithm, &part)?;
        let crc = part.as_bytes().iter().fold(0, |crc, byte| crc << 8 | u64::from(*byte));
        object.append(crc, length);
        none = false;
    }
    if none {
        return Err(CombineError::NoParts);
    }
    Ok(ObjectChecksum::of_body(of_integer(algorithm, object.finish().into())))
}

fn same_algorithm(i: usize, expected: ChecksumAlgorithm, part: &Checksum) -> Result<(), CombineError> {
    let found = part.algorithm();
    if found == expected { Ok(()) } else { Err(CombineError::Mixed { part: i + 1, expected, found }) }
}
