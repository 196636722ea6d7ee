//! What is known of one side of an object by now, and what was asked.

use super::claim::{Claim, Claims, Form, Layout, Origin};
use super::entry::{Entry, Place, has_plain_tag};
use super::function::{Function, value};
use crate::remote::{Attributes, Head};
use manyhash::Digest;
use manyhash_s3::checksum::{self, ChecksumAlgorithm, ChecksumType, ObjectChecksum};
use manyhash_s3::etag::{ETag, ETagKind};
use manyhash_s3::limits::MAX_PARTS;

/// One side of an object.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) place: Place,
    pub(super) size: Option<u64>,
    pub(super) etag: Option<ETag>,
    /// Whether the tag is made of MD5s. `None` if that is not known yet.
    has_plain_tag: Option<bool>,
    pub(super) claims: Vec<Claim>,
    pub(super) layout: Option<Layout>,
    /// The algorithms of its checksums, as its list says. None may mean that the list does not say.
    pub(super) algorithms: Vec<ChecksumAlgorithm>,
    pub(super) checksum_type: Option<ChecksumType>,
    pub(super) asked: Asked,
    /// Whether parts are known not to be of one size.
    pub(super) is_uneven: bool,
}

/// What was asked already, whatever the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Asked {
    pub(super) head: bool,
    pub(super) first_part: bool,
    pub(super) last_part: bool,
    pub(super) sizes: bool,
    pub(super) attributes: bool,
    pub(super) guess: bool,
}

/// An answer is of another object than the one that was listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Changed;

impl Evidence {
    /// What an entry says. The tags of directory buckets are no MD5s.
    pub(super) fn new(entry: &Entry, tags_are_opaque: bool) -> Evidence {
        let mut evidence = Evidence {
            place: entry.place.clone(),
            size: entry.size,
            etag: entry.etag.clone(),
            has_plain_tag: if tags_are_opaque { Some(false) } else { entry.has_plain_tag },
            claims: entry.claims(),
            layout: None,
            algorithms: entry.algorithms.clone(),
            checksum_type: entry.checksum_type,
            asked: Asked::default(),
            is_uneven: false,
        };
        evidence.claim_tag();
        evidence
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.place, Place::File(_))
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.place, Place::Object(_))
    }

    /// The number of parts, if the tag says it. Tags that are not made of MD5s say it too.
    pub(super) fn parts(&self) -> Option<u32> {
        match self.etag.as_ref()?.kind() {
            ETagKind::Multipart { parts, .. } => Some(parts.get()).filter(|parts| *parts <= MAX_PARTS),
            _ => None,
        }
    }

    /// What the tag says, unless it is known to say nothing.
    pub(super) fn tag_kind(&self) -> ETagKind {
        match &self.etag {
            Some(etag) if self.has_plain_tag != Some(false) && !etag.is_weak() => etag.kind(),
            _ => ETagKind::Opaque,
        }
    }

    /// Whether it is not known whether the tag is made of MD5s.
    pub(super) fn is_tag_unsure(&self) -> bool {
        self.has_plain_tag.is_none()
    }

    /// Whether the tag is known not to be made of MD5s.
    pub(super) fn is_tag_opaque(&self) -> bool {
        self.has_plain_tag == Some(false)
    }

    pub(super) fn as_claims(&self) -> Claims<'_> {
        Claims {
            claims: &self.claims,
            is_tag_sure: self.has_plain_tag == Some(true),
            layout: self.layout.as_ref(),
            size: self.size.unwrap_or(0),
        }
    }

    pub(super) fn has(&self, form: Form) -> bool {
        self.claims.iter().any(|claim| claim.form == form)
    }

    /// Whether a value was computed from the bytes.
    pub(super) fn has_computed(&self, form: Form) -> bool {
        self.claims.iter().any(|claim| claim.form == form && claim.is_computed())
    }

    pub(super) fn claim(&mut self, form: Form, value: Digest, origin: Origin) {
        // S3 tells the same thing more than once; what differs is kept, as a contradiction.
        let claim = Claim { form, value, origin };
        if !self.claims.contains(&claim) {
            self.claims.push(claim);
        }
    }

    /// Forgets what was computed of parts that were not so.
    pub(super) fn forget_parts(&mut self) {
        self.claims.retain(|claim| !(claim.is_computed() && matches!(claim.form, Form::Parts { .. })));
    }

    fn claim_tag(&mut self) {
        self.claims.retain(|claim| claim.origin != Origin::ETag);
        let (form, md5) = match self.tag_kind() {
            ETagKind::Md5(md5) => (Form::Whole(Function::MD5), md5),
            ETagKind::Multipart { md5, parts } => {
                (Form::Parts { algorithm: ChecksumAlgorithm::Md5, parts: parts.get() }, md5)
            }
            _ => return,
        };
        self.claim(form, Digest::from_bytes(&md5).unwrap_or_default(), Origin::ETag);
    }

    /// Takes in what HeadObject told of the object.
    pub(super) fn learn_head(&mut self, head: &Head) -> Result<(), Changed> {
        self.asked.head = true;
        self.check(head.etag.as_ref(), head.size)?;
        self.learn_encryption(head);
        self.learn_checksums(&head.checksums, head.checksum_type, None);
        Ok(())
    }

    /// Takes in what HeadObject told of a part.
    pub(super) fn learn_part(&mut self, number: u32, head: &Head) -> Result<(), Changed> {
        // Where the service does not tell the object's size, it tells the part's.
        self.check(head.etag.as_ref(), head.size.filter(|size| *size != head.content_length))?;
        self.learn_encryption(head);
        let (first, parts) = (number == 1, self.parts().or(head.parts_count));
        if first {
            self.asked.first_part = true;
        } else {
            self.asked.last_part = true;
        }
        let (Some(size), Some(parts)) = (self.size, parts) else { return Ok(()) };
        let part_bytes = head.content_length;
        // One that does not know parts answers for the whole object.
        let is_ignored = parts > 1 && part_bytes >= size;
        if is_ignored || head.parts_count.is_some_and(|count| count != parts) {
            return Ok(());
        }
        if first {
            self.layout = match parts {
                1 => Some(Layout::Equal { part_bytes: size.max(1), is_sure: true }),
                2 => Some(Layout::Sizes(vec![part_bytes, size - part_bytes])),
                _ => Some(Layout::Equal { part_bytes, is_sure: false }),
            };
            if self.layout.as_ref().and_then(|layout| layout.parts(size)) != Some(parts.into()) {
                self.layout = None;
                self.is_uneven = true;
            }
        } else if let Some(Layout::Equal { part_bytes: all, is_sure }) = &mut self.layout {
            let last = size - (u64::from(parts) - 1).saturating_mul(*all).min(size);
            *is_sure = last == part_bytes;
            if !*is_sure {
                self.layout = None;
                self.is_uneven = true;
            }
        }
        Ok(())
    }

    /// Takes in the sizes of all parts.
    pub(super) fn learn_sizes(&mut self, sizes: Option<Vec<u64>>) {
        self.asked.sizes = true;
        let (Some(sizes), Some(size)) = (sizes, self.size) else { return };
        let layout = Layout::Sizes(sizes);
        let parts = layout.parts(size);
        if parts.is_some() && self.parts().is_none_or(|due| parts == Some(due.into())) {
            self.layout = Some(layout);
        }
    }

    /// Takes in what GetObjectAttributes told, with all its parts.
    pub(super) fn learn_attributes(&mut self, attributes: &Attributes) -> Result<(), Changed> {
        self.asked.attributes = true;
        self.check(attributes.etag.as_ref(), attributes.size)?;
        let count = attributes.parts_count;
        self.learn_checksums(&attributes.checksums, attributes.checksum_type, count);
        let is_complete = count.is_some_and(|count| attributes.parts.len() == count as usize);
        if !is_complete {
            return Ok(());
        }
        let sizes: Vec<u64> = attributes.parts.iter().map(|part| part.size).collect();
        self.learn_sizes(Some(sizes));
        if self.layout.is_some() {
            self.combine(attributes);
        }
        Ok(())
    }

    /// The CRC of the bytes from those of the parts, if they are those of the composite.
    fn combine(&mut self, attributes: &Attributes) {
        use ChecksumAlgorithm::{Crc32, Crc32c};
        for algorithm in [Crc32, Crc32c] {
            let of_part = |part: &crate::remote::Part| {
                let checksum = part.checksums.iter().find(|checksum| checksum.algorithm() == algorithm)?;
                Some((*checksum, part.size))
            };
            let Some(parts) = attributes.parts.iter().map(of_part).collect::<Option<Vec<_>>>() else { continue };
            let checksums: Vec<_> = parts.iter().map(|(checksum, _)| *checksum).collect();
            let Ok(composite) = checksum::composite(algorithm, &checksums) else { continue };
            let form = Form::Parts { algorithm, parts: composite.parts.map_or(0, |parts| parts.get()) };
            let due = Claim { form, value: value(&composite.checksum), origin: Origin::Checksum };
            if let (true, Ok(whole)) = (self.claims.contains(&due), checksum::full_object(algorithm, parts)) {
                self.claim(Form::Whole(algorithm.into()), value(&whole.checksum), Origin::Checksum);
            }
        }
    }

    fn check(&self, etag: Option<&ETag>, size: Option<u64>) -> Result<(), Changed> {
        let is_other_tag = etag.zip(self.etag.as_ref()).is_some_and(|(told, listed)| told.as_str() != listed.as_str());
        let is_other_size = size.zip(self.size).is_some_and(|(told, listed)| told != listed);
        if is_other_tag || is_other_size { Err(Changed) } else { Ok(()) }
    }

    fn learn_encryption(&mut self, head: &Head) {
        if self.has_plain_tag.is_none() {
            self.has_plain_tag = Some(head.encryption.is_none_or(has_plain_tag));
            self.claim_tag();
        }
    }

    /// `count` is the number of parts that attributes tell.
    fn learn_checksums(&mut self, checksums: &[ObjectChecksum], kind: Option<ChecksumType>, count: Option<u32>) {
        let kind = kind.or(self.checksum_type);
        for ObjectChecksum { checksum, kind: own, parts } in checksums {
            let algorithm = checksum.algorithm();
            let parts = parts.map(|parts| parts.get());
            let in_parts = count.is_some_and(|count| count > 0) || !matches!(self.tag_kind(), ETagKind::Md5(_));
            let is_composite = match (own, kind) {
                (ChecksumType::Composite, _) | (_, Some(ChecksumType::Composite)) => true,
                (_, Some(ChecksumType::FullObject)) => false,
                // Not every service tells the type. What cannot be the other is the one.
                (_, None) if !in_parts || !algorithm.allows(ChecksumType::Composite) => false,
                (_, None) if !algorithm.allows(ChecksumType::FullObject) => true,
                (_, None) => continue,
            };
            let form = if is_composite {
                let parts = parts.or(count.filter(|count| *count > 0)).or(self.parts());
                let Some(parts) = parts.filter(|parts| (1..=MAX_PARTS).contains(parts)) else { continue };
                Form::Parts { algorithm, parts }
            } else {
                Form::Whole(algorithm.into())
            };
            self.claim(form, value(checksum), Origin::Checksum);
        }
    }
}
