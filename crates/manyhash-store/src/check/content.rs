//! Hashing all blobs again.
//!
//! Small ones are read segment by segment, from head to head, so that the disk is read in order. If the heads do not
//! lead to all blobs that the index has there, the others are looked for one by one. Files are hashed by the library's
//! own way with files.

use super::{Damage, DamageKind};
use crate::ReadError;
use crate::disk::{DiskFile, read_exact_at};
use crate::index::{BlobKey, BlobRecord, Place, SegmentRecord, Snapshot};
use crate::segments::{HEAD, read_head};
use crate::store::Shared;
use manyhash::file::{Digested, Files, Source};
use manyhash::{Algorithm, HashFunction, digest_many};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// How many bytes of bodies are read before they are hashed together.
const CHUNK: usize = 8 << 20;

/// How many files are hashed together.
const FILES: usize = 1024;

/// What was found of blobs.
#[derive(Default)]
pub(super) struct Verdicts {
    pub(super) damage: Vec<Damage>,
    /// Blobs that are marked as damaged and are not.
    pub(super) sound: BTreeSet<BlobKey>,
}

/// A blob that was read.
struct Read {
    key: BlobKey,
    record: BlobRecord,
    body: io::Result<Vec<u8>>,
}

impl Verdicts {
    /// Takes note of a blob: `None` if it has its digest.
    fn add(&mut self, shared: &Shared, key: BlobKey, record: &BlobRecord, kind: Option<DamageKind>) {
        let Some(kind) = kind else {
            if record.damaged {
                self.sound.insert(key);
            }
            return;
        };
        let path = match record.place {
            Place::Segment { segment, .. } => shared.layout.segment(segment),
            Place::File { generation } => shared.layout.blob(generation, &key),
        };
        self.damage.push(Damage { sha256: key.sha256(), path: Some(path), kind, holders: Vec::new(), key });
    }
}

/// Hashes what is in segments.
pub(super) fn check_segments(
    shared: &Shared,
    snapshot: &Snapshot,
    segments: &BTreeMap<u32, SegmentRecord>,
    verdicts: &mut Verdicts,
    advance: &mut dyn FnMut(u64),
) -> Result<(), ReadError> {
    // One thread reads while the others hash.
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(2);
        let reader = scope.spawn(|| read_segments(shared, snapshot, segments, sender));
        hash(shared, &receiver, verdicts, advance);
        reader.join().unwrap_or_else(|_| Err(io::Error::other("the thread that reads has failed").into()))
    })
}

fn hash(shared: &Shared, chunks: &Receiver<Vec<Read>>, verdicts: &mut Verdicts, advance: &mut dyn FnMut(u64)) {
    for chunk in chunks {
        let bodies: Vec<&[u8]> = chunk.iter().map(|read| read.body.as_deref().unwrap_or_default()).collect();
        let digests = digest_many(Algorithm::Sha256, &bodies);
        let bytes = chunk.iter().fold(0, |sum: u64, read| sum.saturating_add(read.record.length));
        for (Read { key, record, body }, digest) in chunk.into_iter().zip(digests) {
            let kind = match body {
                Ok(_) => (digest.as_bytes() != key.sha256()).then_some(DamageKind::Digest),
                Err(error) => Some(damage_kind(&error)),
            };
            verdicts.add(shared, key, &record, kind);
        }
        advance(bytes);
    }
}

/// What it means that a blob could not be read.
fn damage_kind(error: &io::Error) -> DamageKind {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => DamageKind::Missing,
        _ => DamageKind::Unreadable(error.to_string()),
    }
}

/// Blobs that were read and are to be hashed together.
struct Chunk {
    reads: Vec<Read>,
    bytes: usize,
    sender: SyncSender<Vec<Read>>,
}

impl Chunk {
    fn read(&mut self, file: io::Result<&dyn DiskFile>, key: BlobKey, record: BlobRecord, offset: u64) {
        let body = file.and_then(|file| read_body(file, offset, record.length));
        self.bytes += body.as_ref().map_or(0, Vec::len);
        self.reads.push(Read { key, record, body });
        if self.bytes >= CHUNK || self.reads.len() >= CHUNK {
            self.send();
        }
    }

    fn send(&mut self) {
        self.bytes = 0;
        // If nobody receives, the thread that hashes has failed, and says so.
        let _ = self.sender.send(std::mem::take(&mut self.reads));
    }
}

fn read_segments(
    shared: &Shared,
    snapshot: &Snapshot,
    segments: &BTreeMap<u32, SegmentRecord>,
    sender: SyncSender<Vec<Read>>,
) -> Result<(), ReadError> {
    let mut chunk = Chunk { reads: Vec::new(), bytes: 0, sender };
    // By segment, where the heads have led to, if not to everything.
    let mut incomplete: BTreeMap<u32, HashSet<u64>> = BTreeMap::new();
    let mut trash: BTreeMap<u32, u64> = BTreeMap::new();
    for (_, record) in snapshot.trash()? {
        if let Place::Segment { segment, .. } = record.place {
            let bytes = trash.entry(segment).or_default();
            *bytes = bytes.saturating_add(record.length).saturating_add(HEAD);
        }
    }
    for (number, record) in segments {
        let mut visited = HashSet::new();
        let live = walk(shared, snapshot, *number, record.end, &mut visited, &mut chunk)?;
        if live.saturating_add(trash.get(number).copied().unwrap_or_default()) != record.live {
            incomplete.insert(*number, visited);
        }
    }
    if !incomplete.is_empty() {
        snapshot.scan_blobs(|key, record| {
            if let Place::Segment { segment, offset } = record.place
                && incomplete.get(&segment).is_some_and(|visited| !visited.contains(&offset))
            {
                let file = shared.segments.file(segment);
                chunk.read(file.as_deref().map_err(copy_error), key, record, offset);
            }
            Ok(())
        })?;
    }
    chunk.send();
    Ok(())
}

/// Reads the blobs of a segment as far as its heads lead. Returns how many bytes they and their heads have.
fn walk(
    shared: &Shared,
    snapshot: &Snapshot,
    number: u32,
    end: u64,
    visited: &mut HashSet<u64>,
    chunk: &mut Chunk,
) -> Result<u64, ReadError> {
    let Ok(file) = shared.segments.file(number) else {
        return Ok(0);
    };
    let (mut offset, mut live) = (0u64, 0u64);
    while offset < end {
        let Ok(Some(head)) = read_head(&*file, offset) else {
            break;
        };
        let (body, record) = (offset.saturating_add(HEAD), head.record());
        let Some(next) = record.and_then(|length| offset.checked_add(length)).filter(|next| *next <= end) else {
            break;
        };
        let place = Place::Segment { segment: number, offset: body };
        if let Some(record) = snapshot.blob(&head.key)?
            && record.place == place
            && record.length == head.length
        {
            chunk.read(Ok(&*file), head.key, record, body);
            visited.insert(body);
            live = live.saturating_add(next - offset);
        }
        offset = next;
    }
    Ok(live)
}

fn read_body(file: &dyn DiskFile, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    // Before memory is asked for: the index may say anything.
    if offset.checked_add(length).is_none_or(|end| file.length().is_ok_and(|length| length < end)) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut body = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    read_exact_at(file, &mut body, offset)?;
    Ok(body)
}

fn copy_error(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// Hashes blobs that are files.
pub(super) fn check_files(
    shared: &Shared,
    snapshot: &Snapshot,
    verdicts: &mut Verdicts,
    advance: &mut (dyn FnMut(u64) + Send),
) -> Result<(), ReadError> {
    let mut files = Vec::with_capacity(FILES);
    snapshot.scan_blobs(|key, record| {
        if let Place::File { generation } = record.place {
            files.push(((key, record), Source::Path(shared.layout.blob(generation, &key))));
            if files.len() >= FILES {
                hash_files(shared, std::mem::take(&mut files), verdicts, advance);
            }
        }
        Ok(())
    })?;
    hash_files(shared, files, verdicts, advance);
    Ok(())
}

fn hash_files(
    shared: &Shared,
    files: Vec<((BlobKey, BlobRecord), Source)>,
    verdicts: &mut Verdicts,
    advance: &mut (dyn FnMut(u64) + Send),
) {
    let functions = [HashFunction::Lanes(Algorithm::Sha256)];
    Files::new(&functions).digest(files.into_iter(), |(key, record), digested: io::Result<Digested>| {
        let kind = match digested {
            Ok(digested) => {
                let is_right = digested.digests.first().is_some_and(|digest| digest.as_bytes() == key.sha256());
                (!is_right).then_some(DamageKind::Digest)
            }
            Err(error) => Some(damage_kind(&error)),
        };
        verdicts.add(shared, key, &record, kind);
        advance(record.length);
        ControlFlow::Continue(())
    });
}
