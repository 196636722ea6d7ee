//! Uploads in parts that were begun and not ended, which can be taken up again. What the service lists is the truth: no
//! file of ours has to be kept for it.

use super::error::Error;
use super::hashing::PartDigests;
use super::upload::{Uploader, kind};
use crate::http;
use crate::remote::RemoteErrorKind;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm};
use manyhash_s3::etag::{self, ETag};
use manyhash_s3::xml::{ListPartsResult, ListedPart, ListedUpload};
use std::collections::{BTreeMap, HashMap};
use tokio::sync::OnceCell;

/// The uploads below the prefix, once somebody has asked for them.
#[derive(Default)]
pub(super) struct Unfinished(OnceCell<HashMap<String, Vec<ListedUpload>>>);

/// A part that the service has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    size: u64,
    pub(super) etag: ETag,
    checksum: Option<Checksum>,
}

impl Unfinished {
    /// The upload of a key that was begun last with the same checksum, and its parts.
    pub(super) async fn find(
        &self,
        uploader: &Uploader,
        key: &str,
        algorithm: Option<ChecksumAlgorithm>,
    ) -> Result<Option<(String, BTreeMap<u32, Kept>)>, Error> {
        let uploads = self.0.get_or_try_init(|| list(uploader)).await?;
        let Some(of_key) = uploads.get(key) else { return Ok(None) };
        let is_alike = |upload: &&ListedUpload| upload.checksum_algorithm.is_none_or(|told| Some(told) == algorithm);
        let Some(upload) = of_key.iter().filter(is_alike).max_by_key(|upload| upload.initiated) else {
            return Ok(None);
        };
        let (mut parts, mut marker, mut told) = (BTreeMap::new(), None, upload.checksum_algorithm);
        loop {
            let page = match uploader.0.client.list_parts(key, &upload.upload_id, marker).await {
                Ok(page) => page,
                Err(error) if cannot_tell(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            told = told.or(page.checksum_algorithm);
            if !is_same_kind(&page, algorithm) {
                return Ok(None);
            }
            marker = page.next_part_number_marker.filter(|_| page.is_truncated);
            parts.extend(page.parts.into_iter().map(Kept::read));
            if marker.is_none() {
                break;
            }
        }
        // One that tells no algorithm was begun with one if its parts have it.
        let has_ours = || parts.values().any(|part| part.checksum.map(|own| own.algorithm()) == algorithm);
        let is_ours = told == algorithm || (told.is_none() && has_ours());
        Ok(is_ours.then(|| (upload.upload_id.clone(), parts)))
    }
}

async fn list(uploader: &Uploader) -> Result<HashMap<String, Vec<ListedUpload>>, Error> {
    let mut uploads = HashMap::<String, Vec<ListedUpload>>::new();
    let mut after: Option<(String, String)> = None;
    loop {
        let marker = after.as_ref().map(|(key, upload)| (&**key, &**upload));
        let page = match uploader.0.client.list_multipart_uploads(&uploader.0.settings.prefix, marker).await {
            Ok(page) => page,
            // Whoever may write need not have the right to list.
            Err(error) if cannot_tell(&error) => return Ok(HashMap::new()),
            Err(error) => return Err(error.into()),
        };
        for upload in page.uploads {
            uploads.entry(upload.key.clone()).or_default().push(upload);
        }
        let next = page.next_key_marker.filter(|_| page.is_truncated);
        let next = next.map(|key| (key, page.next_upload_id_marker.unwrap_or_default()));
        if next.is_none() || next == after {
            return Ok(uploads);
        }
        after = next;
    }
}

/// Whether a list cannot be had, without which everything is sent: whoever asks may not, or the service has no such list
/// or not below any prefix, as directory buckets have it.
fn cannot_tell(error: &http::Error) -> bool {
    error.refusal().is_some_and(|refusal| {
        let is_final = refusal.status.is_client_error() && refusal.kind() != RemoteErrorKind::NotFound;
        is_final || refusal.code == "NoSuchUpload" || refusal.kind() == RemoteErrorKind::Unsupported
    })
}

fn is_same_kind(page: &ListPartsResult, algorithm: Option<ChecksumAlgorithm>) -> bool {
    page.checksum_algorithm.is_none_or(|told| Some(told) == algorithm)
        && page.checksum_type.is_none_or(|told| Some(told) == algorithm.map(kind))
}

impl Kept {
    fn read(part: ListedPart) -> (u32, Kept) {
        let checksum = part.checksums.of_part().ok().flatten();
        (part.part_number, Kept { size: part.size, etag: part.etag, checksum })
    }

    /// Whether it is the file's part, as far as the service tells, and beyond accident.
    pub(super) fn is(&self, size: u64, known: &PartDigests) -> bool {
        let differs = known.checksum.is_some() && self.checksum != known.checksum;
        if self.size != size || differs {
            return false;
        }
        // The tag of an encrypted part is none of MD5s, and looks as if it were.
        let is_hash = known.checksum.is_some_and(|checksum| checksum.algorithm().lanes().is_some());
        is_hash || self.etag.as_str() == etag::single(&known.md5)
    }
}
