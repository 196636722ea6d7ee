//! Files to objects.

use super::error::Error;
use super::hashing::{PartDigests, digests};
use super::memory::Memory;
use super::multipart::Multipart;
use super::source::Source;
use super::stored::{Due, Match, Told};
use super::unfinished::Unfinished;
use crate::http::{self, ChecksumCalculation, Client};
use crate::local::{self, Cut, Files, Wanted};
use crate::remote::{Head, HeadRequest, RemoteErrorKind};
use ::http::{HeaderMap, HeaderValue, header};
use bytes::Bytes;
use manyhash::engine::{BuildError, Engine};
use manyhash::{Algorithm, Digest};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType, ObjectChecksum};
use manyhash_s3::etag::{self, ETag};
use manyhash_s3::limits::MAX_PARTS;
use std::fmt;
use std::io::Read;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Memory for what is on its way, unless the caller says otherwise: 32 parts of 8 MiB, which fill the lanes of any CPU.
const MEMORY: u64 = 256 << 20;

/// Which checksum objects are uploaded with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum ChecksumChoice {
    /// CRC64NVME, as S3 itself adds where there is none: that of the whole object, also for one in parts. Where a service
    /// refuses checksums, or AWS's settings say that they are sent only when required, `Content-MD5` takes its place.
    #[default]
    Auto,
    /// None. Requests have a `Content-MD5`.
    None,
    /// This one. Of an object in parts, it is that of the whole object if the algorithm has such, and else a composite.
    Algorithm(ChecksumAlgorithm),
}

/// How files are uploaded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UploadSettings {
    /// The checksum.
    pub checksum: ChecksumChoice,
    /// Bytes in a part: smaller files are uploaded at once. As aws-cli has it, if it is not given ([`Cut::by_default`]).
    pub part_bytes: Option<NonZeroU64>,
    /// Whether there must be no object of the key yet.
    pub if_none_match: bool,
    /// A digest of each whole file, computed from the same reading. That of a large file is as slow as a single message.
    pub digest: Option<Algorithm>,
    /// What all keys begin with. Unfinished uploads are looked for below it.
    pub prefix: String,
    /// Bytes of memory for what is on its way. There is room for a part at least.
    pub memory: u64,
    /// Counts bytes that are at the service.
    pub counter: Option<Arc<AtomicU64>>,
}

impl Default for UploadSettings {
    fn default() -> Self {
        UploadSettings {
            checksum: ChecksumChoice::Auto,
            part_bytes: None,
            if_none_match: false,
            digest: None,
            prefix: String::new(),
            memory: MEMORY,
            counter: None,
        }
    }
}

/// What was uploaded, as it was computed from the file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Uploaded {
    /// The key.
    pub key: String,
    /// Bytes.
    pub size: u64,
    /// The entity tag that an object of these bytes and parts has, if it is not encrypted by another key than S3's.
    pub etag: ETag,
    /// The checksum that it was uploaded with.
    pub checksum: Option<ObjectChecksum>,
    /// The digest of the whole, if that is wanted.
    pub digest: Option<Digest>,
    /// The number of parts, of an object in parts.
    pub parts: Option<u32>,
    /// Parts that the service had from an earlier attempt, and that were not sent again.
    pub kept_parts: u32,
    /// Whether the object was there already, with the same bytes.
    pub was_there: bool,
}

/// Uploads files to a bucket. A clone is the same uploader, with the same memory and lanes.
///
/// Files that are uploaded at the same time share lanes, so that callers should have many going on, each in a task of its
/// own.
#[derive(Clone)]
pub struct Uploader(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) client: Client,
    pub(super) engine: Engine,
    pub(super) memory: Arc<Memory>,
    pub(super) settings: UploadSettings,
    pub(super) unfinished: Unfinished,
    /// The service was seen to refuse checksums.
    refuses_checksums: AtomicBool,
}

impl Uploader {
    /// Creates an uploader to a bucket. No request is sent.
    ///
    /// # Errors
    /// Returns an error if no threads can be started.
    pub fn new(client: Client, settings: UploadSettings) -> Result<Uploader, BuildError> {
        Ok(Uploader(Arc::new(Inner {
            client,
            engine: Engine::builder().build()?,
            memory: Memory::new(settings.memory),
            unfinished: Unfinished::default(),
            refuses_checksums: AtomicBool::new(false),
            settings,
        })))
    }

    /// Returns the bucket's client.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// Uploads a file, in parts if it is large enough.
    ///
    /// An upload in parts that an earlier attempt did not finish is continued: what the service lists of it and what is
    /// the same as the file's part is not sent again. After an error, its parts stay at the service for the next attempt.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or changes meanwhile, if the service refuses or cannot be reached, and
    /// if what it says that it has is not what was sent. Only in the last case is there a new object.
    pub async fn file(&self, path: impl AsRef<Path>, key: &str) -> Result<Uploaded, Error> {
        let path = path.as_ref();
        let source = Source::open(path).await?;
        let size = source.size().unwrap_or(0);
        match cut(self.0.settings.part_bytes, size) {
            Cut::Every(part_bytes) => {
                if size.div_ceil(part_bytes.get()) > MAX_PARTS.into() {
                    return Err(local::Error::TooManyParts { part_bytes: part_bytes.get() }.into());
                }
                if self.0.settings.if_none_match
                    && let Some(there) = self.is_there(path, key, part_bytes).await?
                {
                    return Ok(there);
                }
                Multipart::new(self, key, part_bytes, Some(size)).upload(source, None).await
            }
            _ => {
                let buffer = self.0.memory.take(memory_size(size)?).await;
                let (source, buffer, _) = source.read(buffer).await?;
                source.settle().await?;
                self.at_once(key, buffer.freeze()).await
            }
        }
    }

    /// Uploads bytes that can only be read once, such as those of a pipe: in parts, if they are more than fit in one.
    ///
    /// # Errors
    /// Returns an error as [`file`](Self::file) does, and if there are more than 10,000 parts.
    pub async fn reader(&self, reader: impl Read + Send + 'static, key: &str) -> Result<Uploaded, Error> {
        let part_bytes = self.0.settings.part_bytes.or(NonZeroU64::new(Cut::DEFAULT_PART_BYTES));
        let part_bytes = part_bytes.unwrap_or(NonZeroU64::MIN);
        let buffer = self.0.memory.take(memory_size(part_bytes.get())?).await;
        let (source, first, is_all) = Source::of_reader(reader).read(buffer).await?;
        let first = first.freeze();
        if is_all && (first.len() as u64) < part_bytes.get() {
            return self.at_once(key, first).await;
        }
        Multipart::new(self, key, part_bytes, None).upload(source, Some((first, is_all))).await
    }

    /// Asks the service what it has of an object, and compares that with what was uploaded.
    ///
    /// # Errors
    /// Returns an error if the service cannot be asked, or has something else.
    pub async fn check(&self, uploaded: &Uploaded) -> Result<(), Error> {
        let head = self.head(&uploaded.key).await?;
        Told::head(&head, self.has_opaque_tags()).compare(uploaded.into()).map(|_| ())
    }

    /// Uploads an object at once.
    async fn at_once(&self, key: &str, bytes: Bytes) -> Result<Uploaded, Error> {
        let size = bytes.len() as u64;
        let (sent, known) = loop {
            let known = self.hash(&bytes, self.checksum(), self.0.settings.digest).await?;
            let content = known.content(&bytes);
            let sent = self.0.client.put_object(key, &content, known.proof(), &self.conditions()).await;
            if let Err(error) = &sent
                && self.falls_back(known.checksum, error)
            {
                continue;
            }
            break (sent, known);
        };
        let uploaded = Uploaded {
            key: key.to_owned(),
            size,
            etag: ETag::new(etag::single(&known.md5)),
            checksum: known.checksum.map(ObjectChecksum::of_body),
            digest: known.digest,
            parts: None,
            kept_parts: 0,
            was_there: false,
        };
        let uploaded = match sent {
            Ok(written) => {
                let told = Told::written(&written, self.has_opaque_tags());
                // Only an answer that says all of it needs no question.
                if told.compare(Due::from(&uploaded)).or_else(untold)? != Match::Full {
                    self.check(&uploaded).await?;
                }
                uploaded
            }
            Err(error) => self.may_be_ours(uploaded, error).await?,
        };
        self.count(size);
        Ok(uploaded)
    }

    /// What came of an upload that was refused: the answer to an attempt before may have been lost, after the object was
    /// made. If what is there is what was sent, all is well.
    pub(super) async fn may_be_ours(&self, uploaded: Uploaded, error: http::Error) -> Result<Uploaded, Error> {
        let status = error.refusal().map(|refusal| refusal.status.as_u16());
        let is_condition = self.0.settings.if_none_match && matches!(status, Some(409 | 412));
        // An upload in parts that is over is not known any more.
        let is_over = uploaded.parts.is_some() && status == Some(404);
        if !is_condition && !is_over && error.refusal().is_some() {
            return Err(error.into());
        }
        let head = match self.head(&uploaded.key).await {
            Ok(head) => head,
            Err(_) => return Err(error.into()),
        };
        match Told::head(&head, self.has_opaque_tags()).compare(Due::from(&uploaded)) {
            Ok(Match::Full | Match::Proved) => Ok(Uploaded { was_there: is_condition, ..uploaded }),
            _ if is_condition => Err(Error::ObjectExists),
            _ => Err(error.into()),
        }
    }

    /// What is at a key before a large file is sent on condition that there is nothing, which is known only at the end.
    async fn is_there(&self, path: &Path, key: &str, part_bytes: NonZeroU64) -> Result<Option<Uploaded>, Error> {
        let head = match self.head(key).await {
            Ok(head) => head,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let cut = Cut::Every(part_bytes);
        let (checksum, digest) = (self.checksum(), self.0.settings.digest);
        let of_digest = digest.and_then(|of| ChecksumAlgorithm::ALL.into_iter().find(|own| own.lanes() == Some(of)));
        if digest.is_some() && of_digest.is_none() {
            // S3 has no such checksum, so that files are not read for it here.
            return Err(Error::ObjectExists);
        }
        let mut wanted = Wanted::new();
        wanted.etag(cut.clone());
        if let Some(algorithm) = checksum {
            wanted.checksum(cut.clone(), algorithm);
        }
        if let Some(algorithm) = of_digest {
            wanted.checksum(Cut::Whole, algorithm);
        }
        let path = path.to_owned();
        let digested = super::error::blocking(move || Files::new().digest_one(path, wanted)).await;
        let digested = digested.map_err(Error::read)??;
        let whole = of_digest.and_then(|algorithm| {
            let checksum = digested.checksum(&Cut::Whole, algorithm, ChecksumType::FullObject)?;
            Digest::from_bytes(checksum.checksum.as_bytes()).ok()
        });
        let uploaded = Uploaded {
            key: key.to_owned(),
            size: digested.size(),
            etag: digested.etag(&cut).unwrap_or_default(),
            checksum: checksum.and_then(|algorithm| digested.checksum(&cut, algorithm, kind(algorithm))),
            digest: whole,
            parts: u32::try_from(digested.size().div_ceil(part_bytes.get())).ok(),
            kept_parts: 0,
            was_there: true,
        };
        match Told::head(&head, self.has_opaque_tags()).compare(Due::from(&uploaded)) {
            Ok(Match::Full | Match::Proved) => {
                self.count(uploaded.size);
                Ok(Some(uploaded))
            }
            _ => Err(Error::ObjectExists),
        }
    }

    pub(super) async fn head(&self, key: &str) -> Result<Head, Error> {
        Ok(self.0.client.head_object(key, HeadRequest { part_number: None, checksums: true }).await?)
    }

    pub(super) async fn hash(
        &self,
        bytes: &Bytes,
        checksum: Option<ChecksumAlgorithm>,
        also: Option<Algorithm>,
    ) -> Result<PartDigests, Error> {
        digests(&self.0.engine, bytes, checksum, self.0.client.signs_content(), also).await
    }

    /// The algorithm of checksums, if there are any.
    pub(super) fn checksum(&self) -> Option<ChecksumAlgorithm> {
        let is_required = self.0.client.config().checksum_calculation() == ChecksumCalculation::WhenRequired;
        match self.0.settings.checksum {
            ChecksumChoice::Algorithm(algorithm) => Some(algorithm),
            ChecksumChoice::None => None,
            ChecksumChoice::Auto if is_required || self.0.refuses_checksums.load(Ordering::Relaxed) => None,
            ChecksumChoice::Auto => Some(ChecksumAlgorithm::Crc64Nvme),
        }
    }

    /// Whether a request that was refused is worth another try without its checksum, or that of its upload: where nobody
    /// asked for one, and the service may not know it.
    pub(super) fn falls_back<C>(&self, checksum: Option<C>, error: &http::Error) -> bool {
        let is_ours = self.0.settings.checksum == ChecksumChoice::Auto && checksum.is_some();
        let is_unknown = error.refusal().is_some_and(|refusal| {
            refusal.status.as_u16() == 501
                || matches!(&*refusal.code, "NotImplemented" | "InvalidRequest" | "InvalidArgument" | "BadRequest")
        });
        let falls_back = is_ours && is_unknown;
        if falls_back {
            self.0.refuses_checksums.store(true, Ordering::Relaxed);
        }
        falls_back
    }

    /// The headers of what makes an object visible.
    pub(super) fn conditions(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.0.settings.if_none_match {
            headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("*"));
        }
        headers
    }

    pub(super) fn has_opaque_tags(&self) -> bool {
        crate::verify::is_directory_bucket(&self.0.client)
    }

    pub(super) fn count(&self, bytes: u64) {
        if let Some(counter) = &self.0.settings.counter {
            counter.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Uploader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { client, settings, .. } = &*self.0;
        f.debug_struct("Uploader").field("client", client).field("settings", settings).finish_non_exhaustive()
    }
}

/// What the checksum of an object in parts covers.
pub(super) fn kind(algorithm: ChecksumAlgorithm) -> ChecksumType {
    match algorithm.allows(ChecksumType::FullObject) {
        true => ChecksumType::FullObject,
        false => ChecksumType::Composite,
    }
}

/// An answer that tells nothing is no error yet: HeadObject may tell.
pub(super) fn untold(error: Error) -> Result<Match, Error> {
    if matches!(error, Error::Untold) { Ok(Match::Encrypted) } else { Err(error) }
}

pub(super) fn memory_size(bytes: u64) -> Result<usize, Error> {
    usize::try_from(bytes).map_err(|_| Error::read(std::io::ErrorKind::OutOfMemory.into()))
}

fn is_absence(error: &Error) -> bool {
    let Error::Request(error) = error else { return false };
    error.refusal().is_some_and(|refusal| refusal.kind() == RemoteErrorKind::NotFound)
}

/// How a file of so many bytes is uploaded.
fn cut(part_bytes: Option<NonZeroU64>, size: u64) -> Cut {
    match part_bytes {
        Some(part_bytes) if part_bytes.get() > size => Cut::Whole,
        Some(part_bytes) => Cut::Every(part_bytes),
        None => Cut::by_default(size),
    }
}
