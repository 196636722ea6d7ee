//! What is asked of a file, and the answer.

use super::Cut;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, ChecksumType, ObjectChecksum, composite, full_object};
use manyhash_s3::etag::{self, ETag};
use std::fs::Metadata;

/// What to compute of a file: for each way to cut it, the algorithms of its parts' checksums.
///
/// However much is asked for, the file is read once.
///
/// ```
/// use manyhash_s3::checksum::ChecksumAlgorithm;
/// use manyhash_s3_client::local::{Cut, Wanted};
///
/// let mut wanted = Wanted::new();
/// wanted.etag(Cut::every(8 << 20).expect("not 0"));
/// wanted.checksum(Cut::Whole, ChecksumAlgorithm::Crc64Nvme);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    cuts: Vec<(Cut, Vec<ChecksumAlgorithm>)>,
}

impl Wanted {
    /// Creates a `Wanted` that asks for nothing.
    pub fn new() -> Wanted {
        Wanted::default()
    }

    /// Asks for the ETag of an object that is cut like this.
    pub fn etag(&mut self, cut: Cut) -> &mut Wanted {
        self.checksum(cut, ChecksumAlgorithm::Md5)
    }

    /// Asks for the checksums of an object that is cut like this: those of its parts, their composite, and if the
    /// algorithm is a CRC that of the full object. CRCs of full objects do not depend on how an object is cut, so that
    /// [`Cut::Whole`] stands for all of them.
    pub fn checksum(&mut self, cut: Cut, algorithm: ChecksumAlgorithm) -> &mut Wanted {
        match self.cuts.iter_mut().find(|(other, _)| *other == cut) {
            Some((_, algorithms)) if algorithms.contains(&algorithm) => {}
            Some((_, algorithms)) => algorithms.push(algorithm),
            None => self.cuts.push((cut, vec![algorithm])),
        }
        self
    }

    /// Asks for what another asks for, too.
    pub fn and(&mut self, other: &Wanted) -> &mut Wanted {
        for (cut, algorithms) in &other.cuts {
            for algorithm in algorithms {
                self.checksum(cut.clone(), *algorithm);
            }
        }
        self
    }

    /// Returns whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    pub(super) fn cuts(&self) -> &[(Cut, Vec<ChecksumAlgorithm>)] {
        &self.cuts
    }
}

/// The checksums of the parts of a cut with an algorithm.
#[derive(Clone, Debug)]
pub(super) struct PartChecksums {
    pub(super) cut: Cut,
    pub(super) algorithm: ChecksumAlgorithm,
    pub(super) checksums: Vec<Checksum>,
}

/// What was computed of a file.
///
/// Each method returns `None` for what was not asked for, and for what objects do not have.
#[derive(Clone, Debug)]
pub struct Digested {
    pub(super) size: u64,
    pub(super) metadata: Option<Metadata>,
    pub(super) parts: Vec<PartChecksums>,
}

impl Digested {
    /// Returns the number of bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns what the system said of the file after it was read, which is the same as before. `None` for bytes that
    /// are not a file's.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// Returns the checksums of the parts, in their order.
    pub fn parts(&self, cut: &Cut, algorithm: ChecksumAlgorithm) -> Option<&[Checksum]> {
        let found = self.parts.iter().find(|parts| parts.algorithm == algorithm && parts.cut == *cut)?;
        Some(&found.checksums)
    }

    /// Returns the ETag of an object that was cut like this and is not encrypted.
    pub fn etag(&self, cut: &Cut) -> Option<ETag> {
        let md5 = |checksum: &Checksum| checksum.as_bytes().try_into().ok();
        let md5s: Vec<[u8; 16]> = self.parts(cut, ChecksumAlgorithm::Md5)?.iter().map(md5).collect::<Option<_>>()?;
        match (cut, &md5s[..]) {
            (Cut::Whole, [md5]) => Some(ETag::new(etag::single(md5))),
            (Cut::Whole, _) => None,
            _ => Some(ETag::new(etag::multipart(&md5s))),
        }
    }

    /// Returns the checksum of an object that was cut like this. That of an object in one upload is always one of the
    /// full object.
    pub fn checksum(&self, cut: &Cut, algorithm: ChecksumAlgorithm, kind: ChecksumType) -> Option<ObjectChecksum> {
        let parts = self.parts(cut, algorithm)?;
        match (cut, kind) {
            (Cut::Whole, ChecksumType::FullObject) => Some(ObjectChecksum::of_body(*parts.first()?)),
            (Cut::Whole, ChecksumType::Composite) => None,
            (_, ChecksumType::Composite) => composite(algorithm, parts).ok(),
            (_, ChecksumType::FullObject) => {
                full_object(algorithm, parts.iter().copied().zip(cut.part_sizes(self.size))).ok()
            }
        }
    }
}
