//! What a side says of an object before anything is asked.

use super::claim::{Claim, Form, Origin};
use super::function::Function;
use crate::remote::{Encryption, Listed};
use manyhash::{Algorithm, Digest, Hasher};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use manyhash_s3::etag::ETag;
use std::fs::Metadata;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// An object of one side: a file, an object of a bucket, or a line of a list.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) size: Option<u64>,
    pub(super) place: Place,
    /// What a list has.
    pub(super) digests: Vec<(Function, Digest)>,
    pub(super) etag: Option<ETag>,
    /// Whether the tag is made of MD5s. `None` if that is not known.
    pub(super) has_plain_tag: Option<bool>,
    pub(super) algorithms: Vec<ChecksumAlgorithm>,
    pub(super) checksum_type: Option<ChecksumType>,
    /// What changes if what it is changes.
    stamp: Option<Vec<u8>>,
}

/// Where more is to be learned of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Nowhere,
    File(PathBuf),
    Object(String),
}

/// Two sides of one name, as they were when they were listed: equal only if nothing that was listed has changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PairStamp(pub [u8; 16]);

/// How long ago a file must have been written for its times to tell the next change.
const SETTLED: Duration = Duration::from_secs(2);

impl Entry {
    fn new(name: Vec<u8>, size: Option<u64>, place: Place) -> Entry {
        Entry {
            name,
            size,
            place,
            digests: Vec::new(),
            etag: None,
            has_plain_tag: None,
            algorithms: Vec::new(),
            checksum_type: None,
            stamp: None,
        }
    }

    /// Creates an entry from a line of a list, by its name below the list's directory.
    pub fn listed(name: impl Into<Vec<u8>>, size: Option<u64>) -> Entry {
        let mut entry = Entry::new(name.into(), size, Place::Nowhere);
        entry.stamp = Some(Vec::new());
        entry
    }

    /// Adds a digest that the list has.
    #[must_use]
    pub fn with_digest(mut self, function: impl Into<Function>, digest: Digest) -> Entry {
        self.digests.push((function.into(), digest));
        self
    }

    /// Adds an entity tag that the list has, and how the list says the object is encrypted. `None` if the list does not
    /// say; what is not encrypted is as [`Encryption::S3`] here, since both have plain tags.
    #[must_use]
    pub fn with_etag(mut self, etag: ETag, encryption: Option<Encryption>) -> Entry {
        self.etag = Some(etag);
        self.has_plain_tag = encryption.map(has_plain_tag);
        self
    }

    /// Creates an entry from a file and what the system says of it.
    pub fn file(name: impl Into<Vec<u8>>, path: PathBuf, metadata: &Metadata) -> Entry {
        let mut entry = Entry::new(name.into(), Some(metadata.len()), Place::File(path));
        entry.stamp = file_stamp(metadata, SystemTime::now());
        entry
    }

    /// Creates an entry from an object in a bucket's list.
    pub fn object(name: impl Into<Vec<u8>>, listed: Listed) -> Entry {
        let Listed { key, size, etag, modified, checksum_algorithms, checksum_type, .. } = listed;
        let mut entry = Entry::new(name.into(), Some(size), Place::Object(key));
        // Without a tag, an object that is written within the second of its time would not be told.
        entry.stamp = etag.as_ref().zip(modified).map(|(etag, modified)| format!("{etag} {modified}").into_bytes());
        entry.etag = etag;
        entry.algorithms = checksum_algorithms;
        entry.checksum_type = checksum_type;
        entry
    }

    /// Returns the name below the side's root.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns the number of bytes, where it is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Whether it stands for a directory and has no bytes, as consoles make them.
    pub(super) fn is_folder(&self) -> bool {
        self.size == Some(0) && (self.name.is_empty() || self.name.ends_with(b"/"))
    }

    /// The name, path and bytes of a file.
    #[cfg(feature = "http")]
    pub(super) fn into_file(self) -> Option<(Vec<u8>, PathBuf, u64)> {
        let Entry { name, size, place: Place::File(path), .. } = self else { return None };
        Some((name, path, size?))
    }

    /// What is claimed of its bytes.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let claim = |(function, value): &(Function, Digest)| Claim {
            form: Form::Whole(*function),
            value: *value,
            origin: Origin::List,
        };
        self.digests.iter().map(claim).collect()
    }

    /// The stamp of two sides; none if one of them could change without its stamp.
    pub(super) fn pair_stamp(&self, other: &Entry) -> Option<PairStamp> {
        let mut hasher = Hasher::new(Algorithm::Sha256);
        for entry in [self, other] {
            let mut part = |bytes: &[u8]| {
                hasher.update((bytes.len() as u64).to_le_bytes());
                hasher.update(bytes);
            };
            part(&entry.name);
            part(format!("{:?} {:?}", entry.size, entry.place).as_bytes());
            part(entry.stamp.as_ref()?);
            part(format!("{:?} {:?}", entry.etag, entry.has_plain_tag).as_bytes());
            for (function, digest) in &entry.digests {
                part(function.to_string().as_bytes());
                part(digest.as_bytes());
            }
            part(b"");
        }
        let digest = hasher.finalize();
        digest.as_bytes().first_chunk().copied().map(PairStamp)
    }
}

/// Whether the tag of an object that is so encrypted is made of MD5s.
pub(super) fn has_plain_tag(encryption: Encryption) -> bool {
    matches!(encryption, Encryption::S3)
}

/// What changes if a file does, unless it was written a moment ago.
fn file_stamp(metadata: &Metadata, now: SystemTime) -> Option<Vec<u8>> {
    let modified = metadata.modified().ok()?;
    if now.duration_since(modified).ok()? < SETTLED {
        return None;
    }
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt;
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        let recently = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs().saturating_sub(SETTLED.as_secs());
        // Times can be set, but not that of the last change of what the system knows.
        if u64::try_from(changed.0).ok()? >= recently {
            return None;
        }
        (metadata.dev(), metadata.ino(), changed)
    };
    #[cfg(not(unix))]
    let identity = ();
    Some(format!("{since:?} {identity:?}").into_bytes())
}
