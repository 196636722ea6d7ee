//! A bucket in memory that answers as S3 does, or as services do that know less, fail, or change meanwhile.

use crate::remote::*;
use bytes::Bytes;
use futures_util::stream;
use manyhash::Algorithm;
use manyhash_s3::checksum::{
    Checksum, ChecksumAlgorithm, ChecksumType, ObjectChecksum, composite, digest, full_object,
};
use manyhash_s3::etag::{self, ETag};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How an object was uploaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cuts {
    Whole,
    /// Into parts of these sizes.
    Sizes(Vec<usize>),
}

impl Cuts {
    /// Into parts of so many bytes.
    pub(crate) fn every(part_bytes: usize, size: usize) -> Cuts {
        let count = size.div_ceil(part_bytes).max(1);
        Cuts::Sizes((0..count).map(|i| part_bytes.min(size - i * part_bytes)).collect())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cuts: Cuts,
    pub(crate) checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
    pub(crate) encryption: Option<Encryption>,
}

impl Object {
    pub(crate) fn new(bytes: &[u8]) -> Object {
        Object { bytes: bytes.to_vec(), cuts: Cuts::Whole, checksum: None, encryption: None }
    }

    pub(crate) fn cut(mut self, cuts: Cuts) -> Object {
        self.cuts = cuts;
        self
    }

    pub(crate) fn every(self, part_bytes: usize) -> Object {
        let size = self.bytes.len();
        self.cut(Cuts::every(part_bytes, size))
    }

    pub(crate) fn checksum(mut self, algorithm: ChecksumAlgorithm, kind: ChecksumType) -> Object {
        self.checksum = Some((algorithm, kind));
        self
    }

    pub(crate) fn encrypted(mut self, encryption: Encryption) -> Object {
        self.encryption = Some(encryption);
        self
    }

    fn parts(&self) -> Vec<&[u8]> {
        let Cuts::Sizes(sizes) = &self.cuts else { return vec![&self.bytes] };
        let mut rest = &self.bytes[..];
        let parts = sizes.iter().map(|size| {
            let (part, after) = rest.split_at(*size);
            rest = after;
            part
        });
        let parts = parts.collect();
        assert!(rest.is_empty(), "the parts are the object");
        parts
    }

    pub(crate) fn etag(&self) -> ETag {
        let is_plain = matches!(self.encryption, None | Some(Encryption::S3));
        // A key of KMS leaves 32 digits that are no MD5.
        let salt: &[u8] = if is_plain { b"" } else { b"another" };
        let md5 = |part: &[u8]| -> [u8; 16] {
            let digest = manyhash::digest(Algorithm::Md5, [salt, part].concat());
            digest.as_bytes().try_into().expect("16 bytes")
        };
        let md5s: Vec<_> = self.parts().into_iter().map(md5).collect();
        match self.cuts {
            Cuts::Whole => ETag::new(etag::single(&md5s[0])),
            Cuts::Sizes(_) => ETag::new(etag::multipart(&md5s)),
        }
    }

    fn part_checksums(&self, algorithm: ChecksumAlgorithm) -> Vec<Checksum> {
        self.parts().into_iter().map(|part| digest(algorithm, part)).collect()
    }

    fn object_checksum(&self) -> Option<(ObjectChecksum, ChecksumType)> {
        let (algorithm, kind) = self.checksum?;
        let parts = self.part_checksums(algorithm);
        Some(match (&self.cuts, kind) {
            (Cuts::Whole, _) => (ObjectChecksum::of_body(parts[0]), ChecksumType::FullObject),
            (_, ChecksumType::Composite) => (composite(algorithm, &parts).expect("a composite"), kind),
            (_, ChecksumType::FullObject) => {
                let sizes = self.parts().into_iter().map(|part| part.len() as u64);
                (full_object(algorithm, parts.into_iter().zip(sizes)).expect("a CRC"), kind)
            }
        })
    }
}

/// What a service does not do as S3 does.
#[derive(Clone, Debug)]
pub(crate) struct Quirks {
    pub(crate) page: usize,
    pub(crate) knows_part_numbers: bool,
    pub(crate) knows_attributes: bool,
    pub(crate) lists_algorithms: bool,
    pub(crate) tells_types: bool,
    pub(crate) attribute_parts_page: usize,
}

impl Default for Quirks {
    fn default() -> Self {
        Quirks {
            page: 1000,
            knows_part_numbers: true,
            knows_attributes: true,
            lists_algorithms: true,
            tells_types: true,
            attribute_parts_page: 1000,
        }
    }
}

/// What becomes of a key at its n-th request.
pub(crate) type Event = (String, u64, Option<Object>);

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) name: String,
    pub(crate) quirks: Quirks,
    pub(crate) objects: Mutex<BTreeMap<String, Object>>,
    /// Requests of objects that are still to change something, and how many of a key there were.
    pub(crate) events: Mutex<Vec<Event>>,
    seen: Mutex<BTreeMap<String, u64>>,
    /// The number of the request that fails, and how.
    pub(crate) fails: Mutex<Option<(u64, RemoteErrorKind)>>,
    requests: AtomicU64,
    /// Whether bodies break off after so many bytes.
    pub(crate) breaks: Mutex<Option<usize>>,
    pub(crate) is_reversed: AtomicBool,
    pub(crate) lists: AtomicU64,
    pub(crate) heads: AtomicU64,
    pub(crate) part_heads: AtomicU64,
    pub(crate) attributes: AtomicU64,
    pub(crate) reads: AtomicU64,
    pub(crate) read_bytes: AtomicU64,
}

impl Memory {
    pub(crate) fn new(objects: impl IntoIterator<Item = (&'static str, Object)>) -> Memory {
        let objects = objects.into_iter().map(|(key, object)| (key.to_owned(), object)).collect();
        Memory { name: "bucket".to_owned(), objects: Mutex::new(objects), ..Memory::default() }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Quirks)) -> Memory {
        change(&mut self.quirks);
        self
    }

    /// Requests so far: HEAD of objects, HEAD of parts, attributes, reads.
    pub(crate) fn asked(&self) -> [u64; 4] {
        [&self.heads, &self.part_heads, &self.attributes, &self.reads].map(|count| count.load(Ordering::SeqCst))
    }

    fn request(&self, count: &AtomicU64) -> Result<(), RemoteError> {
        count.fetch_add(1, Ordering::SeqCst);
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        match *self.fails.lock().expect("not poisoned") {
            Some((due, kind)) if due == number => Err(RemoteError::new(kind, format!("request {number} fails"))),
            _ => Ok(()),
        }
    }

    fn object(&self, key: &str) -> Result<Object, RemoteError> {
        let mut seen = self.seen.lock().expect("not poisoned");
        let number = seen.entry(key.to_owned()).or_default();
        let mut objects = self.objects.lock().expect("not poisoned");
        for (_, _, object) in
            self.events.lock().expect("not poisoned").extract_if(.., |(of, due, _)| of == key && due == number)
        {
            match object {
                Some(object) => objects.insert(key.to_owned(), object),
                None => objects.remove(key),
            };
        }
        *number += 1;
        objects.get(key).cloned().ok_or_else(|| RemoteError::new(RemoteErrorKind::NotFound, "NoSuchKey"))
    }
}

impl Remote for Memory {
    fn bucket(&self) -> &str {
        &self.name
    }

    async fn list(&self, prefix: &str, continuation: Option<&str>) -> Result<Page, RemoteError> {
        self.request(&self.lists)?;
        let objects = self.objects.lock().expect("not poisoned");
        let listed = objects.iter().filter(|(key, _)| key.starts_with(prefix));
        let after = listed.filter(|(key, _)| continuation.is_none_or(|last| key.as_str() > last));
        let mut page: Vec<_> = after.take(self.quirks.page + 1).collect();
        let is_more = page.len() > self.quirks.page;
        page.truncate(self.quirks.page);
        let continuation = page.last().filter(|_| is_more).map(|(key, _)| (*key).clone());
        let mut objects: Vec<_> = page.into_iter().map(|(key, object)| self.listed(key, object)).collect();
        if self.is_reversed.load(Ordering::SeqCst) {
            objects.reverse();
        }
        Ok(Page { objects, continuation })
    }

    async fn head(&self, key: &str, request: HeadRequest) -> Result<Head, RemoteError> {
        let count = if request.part_number.is_some() { &self.part_heads } else { &self.heads };
        self.request(count)?;
        let object = self.object(key)?;
        let size = object.bytes.len() as u64;
        let mut head = Head {
            content_length: size,
            size: Some(size),
            etag: Some(object.etag()),
            encryption: object.encryption,
            ..Head::default()
        };
        if let (true, Some((checksum, kind))) = (request.checksums, object.object_checksum()) {
            head.checksums.push(checksum);
            head.checksum_type = self.quirks.tells_types.then_some(kind);
        }
        if let Some(number) = request.part_number.filter(|_| self.quirks.knows_part_numbers) {
            let parts = object.parts();
            let invalid = || RemoteError::new(RemoteErrorKind::NotFound, "no such part");
            head.content_length = parts.get(number as usize - 1).ok_or_else(invalid)?.len() as u64;
            head.parts_count = (object.cuts != Cuts::Whole).then_some(parts.len() as u32);
        }
        Ok(head)
    }

    async fn attributes(&self, key: &str, part_marker: Option<u32>) -> Result<Attributes, RemoteError> {
        self.request(&self.attributes)?;
        if !self.quirks.knows_attributes {
            return Err(RemoteError::new(RemoteErrorKind::Unsupported, "NotImplemented"));
        }
        let object = self.object(key)?;
        let mut attributes =
            Attributes { etag: Some(object.etag()), size: Some(object.bytes.len() as u64), ..Attributes::default() };
        if let Some((mut checksum, kind)) = object.object_checksum() {
            // As S3 tells it.
            checksum.parts = None;
            attributes.checksums.push(checksum);
            attributes.checksum_type = self.quirks.tells_types.then_some(kind);
        }
        if object.cuts != Cuts::Whole {
            let parts = object.parts();
            attributes.parts_count = Some(parts.len() as u32);
            if let Some((algorithm, ChecksumType::Composite)) = object.checksum {
                let from = part_marker.unwrap_or(0) as usize;
                let checksums = object.part_checksums(algorithm);
                let all = parts.iter().zip(checksums).enumerate().skip(from).take(self.quirks.attribute_parts_page);
                attributes.parts = all
                    .map(|(i, (part, checksum))| Part {
                        number: i as u32 + 1,
                        size: part.len() as u64,
                        checksums: vec![checksum],
                    })
                    .collect();
                let last = from + attributes.parts.len();
                attributes.next_part_marker = (last < parts.len()).then_some(last as u32);
            }
        }
        Ok(attributes)
    }

    async fn read(&self, key: &str, request: ReadRequest) -> Result<Body, RemoteError> {
        self.request(&self.reads)?;
        let object = self.object(key)?;
        if request.if_match.as_ref().is_some_and(|tag| *tag != object.etag()) {
            return Err(RemoteError::new(RemoteErrorKind::Changed, "PreconditionFailed"));
        }
        let range = request.range.map_or(0..object.bytes.len(), |range| range.start as usize..range.end as usize);
        let body = object.bytes[range].to_vec();
        self.read_bytes.fetch_add(body.len() as u64, Ordering::SeqCst);
        let breaks = self.breaks.lock().expect("not poisoned").filter(|at| *at < body.len());
        let whole = &body[..breaks.unwrap_or(body.len())];
        let mut pieces: Vec<_> = whole.chunks(700).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        if breaks.is_some() {
            pieces.push(Err(RemoteError::new(RemoteErrorKind::Other, "connection reset")));
        }
        Ok(Box::pin(stream::iter(pieces)))
    }
}

impl Memory {
    fn listed(&self, key: &str, object: &Object) -> Listed {
        let checksum = object.object_checksum().filter(|_| self.quirks.lists_algorithms);
        Listed {
            key: key.to_owned(),
            size: object.bytes.len() as u64,
            etag: Some(object.etag()),
            modified: Some(jiff::Timestamp::UNIX_EPOCH),
            checksum_algorithms: checksum.iter().map(|(checksum, _)| checksum.checksum.algorithm()).collect(),
            checksum_type: checksum.map(|(_, kind)| kind).filter(|_| self.quirks.tells_types),
            storage_class: None,
        }
    }
}
