//! An object in parts: begun or taken up again, its parts sent side by side, ended, and compared with what the service
//! says.

use super::error::Error;
use super::hashing::PartDigests;
use super::source::Source;
use super::stored::{Due, Match, Told};
use super::unfinished::Kept;
use super::upload::{Uploaded, Uploader, kind, memory_size, untold};
use crate::http::{Completion, Written};
use crate::local;
use bytes::Bytes;
use manyhash::Algorithm;
use manyhash::engine::HashStream;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, ObjectChecksum, composite, full_object};
use manyhash_s3::etag::{self, ETag};
use manyhash_s3::limits::MAX_PARTS;
use manyhash_s3::xml::{CompleteMultipartUploadResult, CompletedPart};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use tokio::task::JoinSet;

/// An object that is to be uploaded in parts.
pub(super) struct Multipart<'a> {
    uploader: &'a Uploader,
    key: &'a str,
    part_bytes: NonZeroU64,
    /// Bytes of all, if they are known.
    size: Option<u64>,
}

/// An upload in parts at the service.
struct Upload {
    uploader: Uploader,
    key: String,
    id: String,
    /// The algorithm that it was begun with.
    algorithm: Option<ChecksumAlgorithm>,
}

/// A part that is at the service.
struct Part {
    size: u64,
    md5: [u8; 16],
    checksum: Option<Checksum>,
    /// What the service calls it.
    etag: ETag,
    is_kept: bool,
}

type Tasks = JoinSet<Result<(u32, Part), Error>>;

impl<'a> Multipart<'a> {
    pub(super) fn new(uploader: &'a Uploader, key: &'a str, part_bytes: NonZeroU64, size: Option<u64>) -> Self {
        Multipart { uploader, key, part_bytes, size }
    }

    /// Uploads what a source has, after a first part that was read already, which may be the last.
    pub(super) async fn upload(&self, source: Source, first: Option<(Bytes, bool)>) -> Result<Uploaded, Error> {
        let (upload, mut kept) = self.begin().await?;
        let inner = &self.uploader.0;
        let mut whole = inner.settings.digest.map(|algorithm| inner.engine.stream(algorithm));
        let (mut tasks, mut parts) = (Tasks::new(), BTreeMap::new());
        let (mut source, mut first, mut offset, mut number) = (source, first, 0, 0);
        loop {
            number += 1;
            if number > MAX_PARTS {
                return Err(local::Error::TooManyParts { part_bytes: self.part_bytes.get() }.into());
            }
            let (bytes, is_last);
            (source, bytes, is_last) = match first.take() {
                Some((bytes, is_last)) => (source, bytes, is_last),
                None => self.read(source, offset).await?,
            };
            offset += bytes.len() as u64;
            if let Some(whole) = &mut whole {
                whole.write(bytes.clone()).await?;
            }
            // The first error ends it, and what is still on its way.
            while let Some(done) = tasks.try_join_next() {
                insert(&mut parts, done)?;
            }
            tasks.spawn(upload.clone().part(number, bytes, kept.remove(&number)));
            if is_last {
                break;
            }
        }
        while let Some(done) = tasks.join_next().await {
            insert(&mut parts, done)?;
        }
        source.settle().await?;
        self.end(&upload, &parts, whole).await
    }

    async fn begin(&self) -> Result<(Arc<Upload>, BTreeMap<u32, Kept>), Error> {
        let (uploader, key) = (self.uploader.clone(), self.key.to_owned());
        let client = &self.uploader.0.client;
        let mut algorithm = uploader.checksum();
        if let Some((id, parts)) = uploader.0.unfinished.find(&uploader, self.key, algorithm).await? {
            return Ok((Arc::new(Upload { uploader, key, id, algorithm }), parts));
        }
        let id = loop {
            let checksum = algorithm.map(|algorithm| (algorithm, kind(algorithm)));
            match client.create_multipart_upload(self.key, checksum, &Default::default()).await {
                Err(error) if uploader.falls_back(algorithm, &error) => algorithm = None,
                id => break id?,
            }
        };
        Ok((Arc::new(Upload { uploader, key, id, algorithm }), BTreeMap::new()))
    }

    /// Reads the part at an offset.
    async fn read(&self, source: Source, offset: u64) -> Result<(Source, Bytes, bool), Error> {
        let part_bytes = self.part_bytes.get();
        let left = self.size.map(|size| size - offset);
        let buffer = self.uploader.0.memory.take(memory_size(left.unwrap_or(part_bytes).min(part_bytes))?).await;
        let (source, buffer, is_end) = source.read(buffer).await?;
        Ok((source, buffer.freeze(), left.map_or(is_end, |left| left <= part_bytes)))
    }

    /// Makes the object of its parts.
    async fn end(
        &self,
        upload: &Upload,
        parts: &BTreeMap<u32, Part>,
        whole: Option<HashStream<Algorithm>>,
    ) -> Result<Uploaded, Error> {
        let digest = match whole {
            Some(whole) => Some(whole.finish().await?),
            None => None,
        };
        let md5s: Vec<[u8; 16]> = parts.values().map(|part| part.md5).collect();
        let uploaded = Uploaded {
            key: self.key.to_owned(),
            size: parts.values().map(|part| part.size).sum(),
            etag: ETag::new(etag::multipart(&md5s)),
            checksum: upload.algorithm.and_then(|algorithm| of_parts(algorithm, parts)),
            digest,
            parts: u32::try_from(parts.len()).ok(),
            kept_parts: parts.values().map(|part| u32::from(part.is_kept)).sum(),
            was_there: false,
        };
        let part = |(number, part): (&u32, &Part)| CompletedPart {
            part_number: number.cast_signed(),
            etag: part.etag.clone(),
            checksums: part.checksum.filter(|_| uploaded.checksum.is_some()).into(),
        };
        let completion = Completion {
            parts: parts.iter().map(part).collect(),
            checksum: uploaded.checksum,
            size: Some(uploaded.size),
            headers: self.uploader.conditions(),
        };
        let client = &self.uploader.0.client;
        match client.complete_multipart_upload(self.key, &upload.id, completion).await {
            Ok(result) => {
                self.compare(result, &uploaded).await?;
                Ok(uploaded)
            }
            Err(error) => self.uploader.may_be_ours(uploaded, error).await,
        }
    }

    /// Compares what the service says that it made with what is due.
    async fn compare(&self, result: CompleteMultipartUploadResult, uploaded: &Uploaded) -> Result<(), Error> {
        // What is of no use is as good as none: HeadObject tells.
        let checksums: Vec<ObjectChecksum> = result.checksums.checksums().filter_map(Result::ok).collect();
        let has_opaque_tags = self.uploader.has_opaque_tags();
        let told = |is_opaque| Told { size: None, etag: Some(&result.etag), checksums: &checksums, is_opaque };
        if matches!(told(has_opaque_tags).compare(Due::from(uploaded)), Ok(Match::Full)) {
            return Ok(());
        }
        // The answer does not tell whether the object is encrypted, and so what its tag is.
        let head = self.uploader.head(self.key).await?;
        let of_head = Told::head(&head, has_opaque_tags);
        of_head.compare(Due::from(uploaded))?;
        told(of_head.is_opaque).compare(Due::from(uploaded)).or_else(untold)?;
        Ok(())
    }
}

fn insert(
    parts: &mut BTreeMap<u32, Part>,
    done: Result<Result<(u32, Part), Error>, tokio::task::JoinError>,
) -> Result<(), Error> {
    let (number, part) = done.map_err(|error| Error::read(std::io::Error::other(error)))??;
    parts.insert(number, part);
    Ok(())
}

/// The checksum of an object, if all its parts have one.
fn of_parts(algorithm: ChecksumAlgorithm, parts: &BTreeMap<u32, Part>) -> Option<ObjectChecksum> {
    let checksums = parts.values().map(|part| part.checksum).collect::<Option<Vec<_>>>()?;
    let sizes = parts.values().map(|part| part.size);
    full_object(algorithm, checksums.iter().copied().zip(sizes)).or_else(|_| composite(algorithm, &checksums)).ok()
}

impl Upload {
    /// Hashes a part and sends it, unless the service has it.
    async fn part(self: Arc<Self>, number: u32, bytes: Bytes, kept: Option<Kept>) -> Result<(u32, Part), Error> {
        let size = bytes.len() as u64;
        let uploader = &self.uploader;
        // Whatever was refused meanwhile, the upload was begun with this.
        let mut algorithm = self.algorithm.filter(|_| uploader.checksum().is_some());
        let (written, known) = loop {
            let known = uploader.hash(&bytes, algorithm, None).await?;
            if let Some(kept) = kept.as_ref().filter(|kept| kept.is(size, &known)) {
                uploader.count(size);
                return Ok((number, Part::new(size, &known, kept.etag.clone(), true)));
            }
            let content = known.content(&bytes);
            match uploader.0.client.upload_part(&self.key, &self.id, number, &content, known.proof()).await {
                Err(error) if uploader.falls_back(known.checksum, &error) => algorithm = None,
                written => break (written?, known),
            }
        };
        let etag = self.compare(&written, size, &known)?;
        uploader.count(size);
        Ok((number, Part::new(size, &known, etag, false)))
    }

    /// Compares what the service says of a part with what was sent, and returns its tag.
    fn compare(&self, written: &Written, size: u64, known: &PartDigests) -> Result<ETag, Error> {
        let due = ETag::new(etag::single(&known.md5));
        let checksum = known.checksum.map(ObjectChecksum::of_body);
        let told = Told::written(written, self.uploader.has_opaque_tags());
        // One that tells nothing compared what was sent when it came.
        told.compare(Due { size, etag: &due, checksum: checksum.as_ref() }).or_else(untold)?;
        Ok(written.etag.clone().unwrap_or(due))
    }
}

impl Part {
    fn new(size: u64, known: &PartDigests, etag: ETag, is_kept: bool) -> Part {
        Part { size, md5: known.md5, checksum: known.checksum, etag, is_kept }
    }
}
