//! What the bytes of an object are compared with.

use super::error::Error;
use super::stored::is_opaque;
use crate::remote::{Head, HeadRequest, Part, Remote, RemoteErrorKind};
use crate::verify::{Function, Layout, Origin, Strength, Value, is_directory_bucket, value};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use manyhash::Digest;
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType, ObjectChecksum};
use manyhash_s3::etag::ETagKind;
use manyhash_s3::limits::MAX_PARTS;

/// Parts that are asked for at a time.
const PARTS_AT_ONCE: usize = 16;

/// A value that the bytes of an object must have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Proof {
    pub(super) value: Value,
    pub(super) due: Digest,
    pub(super) origin: Origin,
}

/// A value before it is known where the object was cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Candidate {
    algorithm: ChecksumAlgorithm,
    /// The number of parts whose values it is of. `None` for one of the bytes.
    parts: Option<u32>,
    due: Digest,
    origin: Origin,
}

/// Finds the value that proves most: one of the bytes before one of parts, which needs more requests, unless it has 32
/// bits only; of several the strongest. `None` if there is none.
pub(super) async fn find<R: Remote>(remote: &R, key: &str, head: &Head, size: u64) -> Result<Option<Proof>, Error> {
    let mut candidates = candidates(head, is_directory_bucket(remote));
    candidates.sort_by_key(|candidate| {
        let function = Function::from(candidate.algorithm);
        (function.strength() > Strength::Weak, candidate.parts.is_none(), function.rank())
    });
    let mut layout = None;
    for Candidate { algorithm, parts, due, origin } in candidates.into_iter().rev() {
        let Some(parts) = parts else {
            return Ok(Some(Proof { value: Value::Whole(algorithm.into()), due, origin }));
        };
        if layout.is_none() {
            layout = sizes(remote, key, head, size, parts).await?;
        }
        let of_parts = layout.clone().filter(|sizes| sizes.len() == parts as usize);
        if let Some(sizes) = of_parts {
            let value = Value::Parts(algorithm, Layout::Sizes(sizes));
            return Ok(Some(Proof { value, due, origin }));
        }
    }
    Ok(None)
}

/// All values that are told of an object.
fn candidates(head: &Head, has_opaque_tags: bool) -> Vec<Candidate> {
    let tag = match &head.etag {
        Some(etag) if !has_opaque_tags && !is_opaque(head.encryption) => etag.kind(),
        _ => ETagKind::Opaque,
    };
    let of_tag = |md5: [u8; 16], parts| {
        let due = Digest::from_bytes(&md5).ok()?;
        Some(Candidate { algorithm: ChecksumAlgorithm::Md5, parts, due, origin: Origin::ETag })
    };
    let mut candidates = Vec::new();
    candidates.extend(match tag {
        ETagKind::Md5(md5) => of_tag(md5, None),
        ETagKind::Multipart { md5, parts } => of_tag(md5, Some(parts.get())),
        _ => None,
    });
    let of_tag = match head.etag.as_ref().map(|etag| etag.kind()) {
        Some(ETagKind::Multipart { parts, .. }) => Some(parts.get()),
        _ => None,
    };
    for ObjectChecksum { checksum, kind, parts } in &head.checksums {
        let algorithm = checksum.algorithm();
        let is_composite = match (kind, head.checksum_type) {
            (ChecksumType::Composite, _) | (_, Some(ChecksumType::Composite)) => true,
            (_, Some(ChecksumType::FullObject)) => false,
            // Not every service tells the type. What cannot be the other is the one.
            (_, None) if of_tag.is_none() || !algorithm.allows(ChecksumType::Composite) => false,
            (_, None) if !algorithm.allows(ChecksumType::FullObject) => true,
            (_, None) => continue,
        };
        let parts = match (is_composite, parts.map(|parts| parts.get()).or(of_tag)) {
            (false, _) => None,
            (true, Some(parts)) => Some(parts),
            (true, None) => continue,
        };
        candidates.push(Candidate { algorithm, parts, due: value(checksum), origin: Origin::Checksum });
    }
    candidates.retain(|candidate| candidate.parts.is_none_or(|parts| parts <= MAX_PARTS));
    candidates
}

/// The sizes of so many parts of an object: from GetObjectAttributes, which lists parts that have checksums, or from
/// HeadObject for the first and the last, and if these are not of equal parts, for all. `None` if they cannot be had.
async fn sizes<R: Remote>(
    remote: &R,
    key: &str,
    head: &Head,
    size: u64,
    parts: u32,
) -> Result<Option<Vec<u64>>, Error> {
    if parts == 1 {
        return Ok(Some(vec![size]));
    }
    if !head.checksums.is_empty()
        && let Some(listed) = listed_parts(remote, key, head).await?
        && let Some(sizes) = fitting(listed.iter().map(|part| part.size).collect(), size, parts)
    {
        return Ok(Some(sizes));
    }
    let Some(first) = part_size(remote, key, head, parts, 1).await? else { return Ok(None) };
    let before = first.saturating_mul(u64::from(parts) - 1);
    if before < size && part_size(remote, key, head, parts, parts).await? == Some(size - before) {
        let mut sizes = vec![first; parts as usize];
        sizes.pop();
        sizes.push(size - before);
        return Ok(Some(sizes));
    }
    let sizes = stream::iter(1..=parts).map(|number| part_size(remote, key, head, parts, number));
    let sizes: Option<Vec<u64>> = sizes.buffered(PARTS_AT_ONCE).try_collect::<Vec<_>>().await?.into_iter().collect();
    Ok(sizes.and_then(|sizes| fitting(sizes, size, parts)))
}

fn fitting(sizes: Vec<u64>, size: u64, parts: u32) -> Option<Vec<u64>> {
    (Layout::Sizes(sizes.clone()).parts(size) == Some(parts.into())).then_some(sizes)
}

/// The parts that GetObjectAttributes lists, if the service knows it and whoever asks may.
async fn listed_parts<R: Remote>(remote: &R, key: &str, head: &Head) -> Result<Option<Vec<Part>>, Error> {
    let (mut parts, mut marker) = (Vec::new(), None);
    loop {
        let page = match remote.attributes(key, marker).await {
            Ok(page) => page,
            Err(error) if matches!(error.kind(), RemoteErrorKind::Unsupported | RemoteErrorKind::Denied) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        // Another object by now, which the download will find out.
        if page.etag.as_ref().zip(head.etag.as_ref()).is_some_and(|(told, due)| told.as_str() != due.as_str()) {
            return Ok(None);
        }
        parts.extend(page.parts);
        let Some(next) = page.next_part_marker.filter(|next| Some(*next) > marker) else { return Ok(Some(parts)) };
        marker = Some(next);
    }
}

/// The size of a part, if the service tells of parts.
async fn part_size<R: Remote>(
    remote: &R,
    key: &str,
    head: &Head,
    parts: u32,
    number: u32,
) -> Result<Option<u64>, Error> {
    let part = match remote.head(key, HeadRequest { part_number: Some(number), checksums: false }).await {
        Ok(part) => part,
        Err(error) if matches!(error.kind(), RemoteErrorKind::Unsupported | RemoteErrorKind::NotFound) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let is_same = part.etag.as_ref().map(|etag| etag.as_str()) == head.etag.as_ref().map(|etag| etag.as_str());
    // One that does not know parts answers for the whole object.
    let is_part = part.parts_count.is_none_or(|count| count == parts) && part.content_length < head.content_length;
    Ok((is_same && is_part).then_some(part.content_length))
}
