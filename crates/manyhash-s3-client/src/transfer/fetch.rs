//! The bytes of an object, received in ranges side by side, hashed, and written where they belong.

use super::error::Error;
use super::place::write;
use crate::remote::{ReadRequest, Remote};
use crate::verify::{Function, Hashing, Value, value};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use manyhash::Digest;
use manyhash::engine::Engine;
use manyhash_s3::checksum::{self, Checksum, ChecksumType};
use manyhash_s3::etag::ETag;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes in a range, where nothing else says where to cut.
const RANGE: u64 = 16 << 20;

/// Ranges of an object that are received at a time.
const AT_ONCE: usize = 16;

/// Bytes that are written at a time.
const WRITTEN: usize = 1 << 20;

/// What is received, and where it goes.
pub(super) struct Fetch<'a, R> {
    pub(super) remote: &'a R,
    pub(super) engine: &'a Engine,
    pub(super) key: &'a str,
    pub(super) size: u64,
    /// The tag that every answer must have.
    pub(super) etag: Option<&'a ETag>,
    pub(super) file: Arc<File>,
    pub(super) counter: Option<&'a AtomicU64>,
}

impl<R: Remote> Fetch<'_, R> {
    /// Receives the object, and returns what was asked for of its bytes.
    pub(super) async fn fetch(&self, of: Option<&Value>) -> Result<Option<Digest>, Error> {
        let pieces = self.pieces(of);
        let ranges: Vec<Range<u64>> = pieces.iter().map(|(range, _)| range.clone()).collect();
        let digests = stream::iter(pieces).map(|(range, of)| self.piece(range, of));
        let digests: Vec<Option<Digest>> = digests.buffered(AT_ONCE).try_collect().await?;
        let digests: Option<Vec<Digest>> = digests.into_iter().collect();
        let (Some(of), Some(digests)) = (of, digests) else { return Ok(None) };
        Ok(combine(of, &digests, &ranges))
    }

    /// What is asked for at a time, and what is computed of each.
    fn pieces(&self, of: Option<&Value>) -> Vec<(Range<u64>, Option<Value>)> {
        let all = || vec![(0..self.size, of.cloned())];
        // Without a tag, ranges might be of different objects.
        if self.etag.is_none() {
            return all();
        }
        match of {
            Some(Value::Whole(function)) if !can_combine(*function) => all(),
            Some(Value::Parts(algorithm, layout)) => {
                let mut end = 0;
                let parts = layout.sizes(self.size).into_iter().map(|size| {
                    end += size;
                    (end - size..end, Some(Value::Whole((*algorithm).into())))
                });
                parts.collect()
            }
            _ => {
                let starts = (0..self.size).step_by(usize::try_from(RANGE).unwrap_or(usize::MAX));
                starts.map(|start| (start..self.size.min(start + RANGE), of.cloned())).collect()
            }
        }
    }

    /// Receives a range.
    async fn piece(&self, range: Range<u64>, of: Option<Value>) -> Result<Option<Digest>, Error> {
        let length = range.end - range.start;
        let mut hashing = match of {
            None => None,
            Some(of) => Some(Hashing::new(self.engine, &of, length).ok_or(Error::Unverifiable)?),
        };
        let is_all = range == (0..self.size);
        let request = ReadRequest { range: (!is_all).then(|| range.clone()), if_match: self.etag.cloned() };
        let mut body = self.remote.read(self.key, request).await?;
        let (mut held, mut held_bytes, mut received, mut written) = (Vec::new(), 0, 0, range.start);
        while let Some(bytes) = body.next().await {
            let bytes = bytes?;
            received += bytes.len() as u64;
            if received > length {
                break;
            }
            if let Some(hashing) = &mut hashing {
                hashing.update(bytes.clone()).await?;
            }
            held_bytes += bytes.len();
            held.push(bytes);
            if held_bytes >= WRITTEN {
                write(&self.file, std::mem::take(&mut held), written).await?;
                written += std::mem::take(&mut held_bytes) as u64;
            }
        }
        if received != length {
            let (what, found, due) = ("number of bytes".to_owned(), received.to_string(), length.to_string());
            return Err(Error::Damaged { what, found, due });
        }
        write(&self.file, held, written).await?;
        if let Some(counter) = self.counter {
            counter.fetch_add(length, Ordering::Relaxed);
        }
        match hashing {
            None => Ok(None),
            Some(hashing) => Ok(Some(hashing.finish().await?)),
        }
    }
}

/// Whether the value of all bytes follows from those of ranges.
fn can_combine(function: Function) -> bool {
    function.checksum_algorithm().is_some_and(|algorithm| algorithm.allows(ChecksumType::FullObject))
}

/// The value of all, from those of the pieces.
fn combine(of: &Value, digests: &[Digest], ranges: &[Range<u64>]) -> Option<Digest> {
    match (of, digests) {
        // That of all bytes, in one piece.
        (_, [digest]) if matches!(of, Value::Whole(_)) => Some(*digest),
        (Value::Whole(function), _) => {
            let algorithm = function.checksum_algorithm()?;
            let checksums = digests.iter().map(|digest| Checksum::new(algorithm, digest.as_bytes()).ok());
            let checksums = checksums.collect::<Option<Vec<_>>>()?;
            let lengths = ranges.iter().map(|range| range.end - range.start);
            let whole = checksum::full_object(algorithm, checksums.into_iter().zip(lengths)).ok()?;
            Some(value(&whole.checksum))
        }
        (Value::Parts(algorithm, _), digests) => {
            let bytes: Vec<u8> = digests.iter().flat_map(|digest| digest.as_bytes()).copied().collect();
            Some(value(&checksum::digest(*algorithm, &bytes)))
        }
    }
}
