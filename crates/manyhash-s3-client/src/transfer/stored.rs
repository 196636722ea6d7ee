//! Whether what a service says that it has is what was sent.

use super::error::Error;
use super::upload::Uploaded;
use crate::http::Written;
use crate::remote::{Encryption, Head};
use manyhash_s3::checksum::ObjectChecksum;
use manyhash_s3::etag::{ETag, ETagKind};

/// What a service says of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a> {
    pub(super) size: Option<u64>,
    pub(super) etag: Option<&'a ETag>,
    pub(super) checksums: &'a [ObjectChecksum],
    /// Whether its tags are never made of MD5s.
    pub(super) is_opaque: bool,
}

/// What is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due<'a> {
    pub(super) size: u64,
    pub(super) etag: &'a ETag,
    pub(super) checksum: Option<&'a ObjectChecksum>,
}

/// How much of what is due was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Match {
    /// All of it.
    Full,
    /// A value that proves it.
    Proved,
    /// Nothing that proves anything, as is right of an object that is encrypted: what was sent was compared when it came.
    Encrypted,
}

/// Whether tags are made of something else than MD5s where objects are encrypted like this.
pub(super) fn is_opaque(encryption: Option<Encryption>) -> bool {
    !matches!(encryption, None | Some(Encryption::S3))
}

impl<'a> Told<'a> {
    pub(super) fn written(written: &'a Written, has_opaque_tags: bool) -> Told<'a> {
        let is_opaque = has_opaque_tags || is_opaque(written.encryption);
        Told { size: None, etag: written.etag.as_ref(), checksums: &written.checksums, is_opaque }
    }

    pub(super) fn head(head: &'a Head, has_opaque_tags: bool) -> Told<'a> {
        let is_opaque = has_opaque_tags || is_opaque(head.encryption);
        let size = Some(head.size.unwrap_or(head.content_length));
        Told { size, etag: head.etag.as_ref(), checksums: &head.checksums, is_opaque }
    }

    /// Compares it with what is due.
    ///
    /// # Errors
    /// If anything differs that can be compared, or if there is nothing though there should be.
    pub(super) fn compare(&self, due: Due<'_>) -> Result<Match, Error> {
        let differs = |what: &str, told: &dyn std::fmt::Display, due: &dyn std::fmt::Display| {
            Err(Error::Stored { reason: format!("its {what} is {told}, not {due}") })
        };
        if let Some(size) = self.size.filter(|size| *size != due.size) {
            return differs("size", &size, &due.size);
        }
        let has_tag = match self.etag {
            Some(etag) if etag.as_str() == due.etag.as_str() => true,
            // A tag of another form may be of the service's own kind, but says that it is no other object's.
            Some(etag) if !self.is_opaque && etag.kind() != ETagKind::Opaque => return differs("ETag", etag, due.etag),
            _ => false,
        };
        let mut has_checksum = false;
        if let Some(due) = due.checksum {
            // Not one of other parts, or of none: some services keep their own beside.
            let is_alike = |told: &&ObjectChecksum| {
                told.checksum.algorithm() == due.checksum.algorithm() && told.parts == due.parts
            };
            if let Some(told) = self.checksums.iter().find(is_alike) {
                if told.checksum != due.checksum {
                    return differs(due.checksum.algorithm().name(), told, due);
                }
                has_checksum = true;
            }
        }
        match (has_tag, has_checksum) {
            (true, true) => Ok(Match::Full),
            (true, false) if due.checksum.is_none() => Ok(Match::Full),
            (true, _) | (_, true) => Ok(Match::Proved),
            (false, false) if self.is_opaque => Ok(Match::Encrypted),
            (false, false) => Err(Error::Untold),
        }
    }
}

impl<'a> From<&'a Uploaded> for Due<'a> {
    fn from(uploaded: &'a Uploaded) -> Due<'a> {
        Due { size: uploaded.size, etag: &uploaded.etag, checksum: uploaded.checksum.as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyhash_s3::checksum::{ChecksumAlgorithm, composite, digest};

    #[test]
    fn what_is_told_is_believed_as_far_as_it_goes() {
        let md5 = ETag::new("d41d8cd98f00b204e9800998ecf8427e");
        let other = ETag::new("c4ca4238a0b923820dcc509a6f75849b");
        let own = ETag::new("abc");
        let whole = |bytes: &[u8]| ObjectChecksum::of_body(digest(ChecksumAlgorithm::Crc32, bytes));
        let parts = composite(ChecksumAlgorithm::Crc32, &[digest(ChecksumAlgorithm::Crc32, b"")]).unwrap();
        let (right, wrong, parts) = ([whole(b"")], [whole(b"1")], [parts]);
        let told = |size, etag, checksums, is_opaque| Told { size, etag, checksums, is_opaque };
        let due = Due { size: 0, etag: &md5, checksum: Some(&right[0]) };
        let plain = Due { checksum: None, ..due };
        let result = |told: Told<'_>, due| match told.compare(due) {
            Ok(found) => format!("{found:?}"),
            Err(Error::Untold) => "untold".to_owned(),
            Err(error) => error.to_string(),
        };
        for (told, due, expected) in [
            (told(Some(0), Some(&md5), &right[..], false), due, "Full"),
            (told(None, Some(&md5), &[][..], false), due, "Proved"),
            (told(None, Some(&md5), &[][..], false), plain, "Full"),
            (told(None, Some(&md5), &parts[..], false), due, "Proved"),
            (told(None, Some(&own), &right[..], false), due, "Proved"),
            (told(None, Some(&other), &right[..], true), due, "Proved"),
            (told(None, Some(&other), &[][..], true), due, "Encrypted"),
            (told(None, None, &right[..], false), due, "Proved"),
            (told(None, Some(&own), &[][..], false), due, "untold"),
            (told(None, None, &[][..], false), plain, "untold"),
        ] {
            assert_eq!(result(told, due), expected, "{told:?}");
        }
        for (told, words) in [
            (told(Some(1), Some(&md5), &right[..], false), "its size is 1, not 0"),
            (told(None, Some(&other), &right[..], false), "its ETag is \"c4ca"),
            (told(None, Some(&md5), &wrong[..], false), "its CRC32 is g9zvtw==, not AAAAAA=="),
            (told(None, Some(&own), &wrong[..], true), "its CRC32 is "),
        ] {
            let said = result(told, due);
            assert!(said.contains(words), "{said}");
        }
    }
}
