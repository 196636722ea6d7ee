//! The check: every blob is hashed again, and everything is counted again.

mod content;
mod references;
mod repair;

use crate::disk::{Access, Disk};
use crate::index::{BlobKey, BlobRecord, Place, SegmentRecord, Snapshot};
use crate::layout::{parse_blob, parse_number};
use crate::recovery::{self, Opened, on, read_error};
use crate::store::{Shared, StoreOptions};
use crate::{OpenError, ReadError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How far a check has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of blobs that were hashed.
    pub bytes: u64,
    /// Bytes of all blobs.
    pub total: u64,
}

/// What a check has found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// How many blobs there are.
    pub blobs: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// Blobs that are not as they were stored. An object whose content is put again is whole again after a repair.
    pub damage: Vec<Damage>,
    /// Blobs with a wrong count of references. A repair corrects it, and removes those that nothing refers to.
    pub miscounts: Vec<Miscount>,
    /// Segments for which the index has a wrong number of living bytes. A repair corrects it.
    pub segments: Vec<u32>,
    /// Files that the index does not know. A repair removes them.
    pub orphans: Vec<PathBuf>,
}

impl Report {
    /// Whether everything is as it should be.
    pub fn is_clean(&self) -> bool {
        self.damage.is_empty() && self.miscounts.is_empty() && self.segments.is_empty() && self.orphans.is_empty()
    }
}

/// A blob that is not as it was stored.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The SHA-256 that it had.
    pub sha256: [u8; 32],
    /// The file that it is in, if the index knows that.
    pub path: Option<PathBuf>,
    /// What is wrong with it.
    pub kind: DamageKind,
    /// The objects and parts that consist of it.
    pub holders: Vec<Holder>,
    key: BlobKey,
}

/// What is wrong with a blob.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DamageKind {
    /// Its bytes have another SHA-256.
    Digest,
    /// Its file is missing, or ends before it.
    Missing,
    /// It could not be read, for this reason.
    Unreadable(String),
    /// The index does not know where it is.
    Unknown,
}

/// What consists of a blob.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Holder {
    /// An object.
    Object {
        /// The bucket.
        bucket: String,
        /// The key.
        key: String,
    },
    /// A part of an upload.
    Part {
        /// The bucket.
        bucket: String,
        /// The key of the object that is to be.
        key: String,
        /// The upload's id.
        upload: String,
        /// The part's number.
        number: u16,
    },
}

/// A blob with a wrong count of references.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Miscount {
    /// Its SHA-256.
    pub sha256: [u8; 32],
    /// The count in the index.
    pub recorded: u64,
    /// How many extents refer to it.
    pub found: u64,
    key: BlobKey,
}

/// What is found before it is reported or repaired.
struct Findings {
    report: Report,
    /// What was found of each segment.
    segments: BTreeMap<u32, SegmentRecord>,
    /// Blobs that are marked as damaged and are not.
    sound: BTreeSet<BlobKey>,
}

/// Checks a directory, and repairs it.
pub(crate) fn check(
    directory: &Path,
    repair: bool,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Report, OpenError> {
    let options = StoreOptions::default();
    // Opening would create what is not there.
    let index = directory.join("index.redb");
    drop(on(&index, options.disk.open(&index, Access::Read))?);
    let Opened { shared, queue: _queue, lock: _lock } = recovery::prepare(directory, options, true)?;
    let read = |error| read_error(&shared.layout, error);
    let mut findings = find(&shared, &mut progress).map_err(read)?;
    findings.report.orphans = orphans(&shared, &findings)?;
    if repair {
        repair::repair(&shared, &findings)?;
    }
    shared.index.close();
    Ok(findings.report)
}

fn find(shared: &Shared, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<Findings, ReadError> {
    let snapshot = shared.index.snapshot()?;
    let mut report = Report { blobs: snapshot.count_blobs()?, ..Report::default() };
    let (mut segments, trash) = (BTreeMap::new(), snapshot.trash()?);
    for (number, record) in snapshot.segments()? {
        segments.insert(number, SegmentRecord { live: 0, ..record });
    }
    let mut count = |record: &BlobRecord| {
        if let Place::Segment { segment, .. } = record.place {
            let found: &mut SegmentRecord = segments.entry(segment).or_default();
            found.live = found.live.saturating_add(record.length).saturating_add(crate::segments::HEAD);
        }
    };
    trash.iter().for_each(|(_, record)| count(record));
    snapshot.scan_blobs(|_, record| {
        report.bytes = report.bytes.saturating_add(record.length);
        count(&record);
        Ok(())
    })?;
    for (number, record) in snapshot.segments()? {
        if segments.get(&number).is_none_or(|found| found.live != record.live) {
            report.segments.push(number);
        }
    }
    let mut done = Progress { bytes: 0, total: report.bytes };
    let mut advance = |bytes: u64| {
        done.bytes = done.bytes.saturating_add(bytes);
        progress(done);
    };
    let mut verdicts = content::Verdicts::default();
    content::check_segments(shared, &snapshot, &segments, &mut verdicts, &mut advance)?;
    content::check_files(shared, &snapshot, &mut verdicts, &mut advance)?;
    report.damage = verdicts.damage;
    references::count(&snapshot, &mut report)?;
    references::name_holders(&snapshot, &mut report.damage)?;
    Ok(Findings { report, segments, sound: verdicts.sound })
}

/// Files that the index does not know.
fn orphans(shared: &Shared, findings: &Findings) -> Result<Vec<PathBuf>, OpenError> {
    let Shared { disk, layout, .. } = shared;
    let snapshot = shared.index.snapshot().map_err(|error| read_error(layout, error))?;
    let mut orphans = Vec::new();
    for generation in numbers(&**disk, layout.blobs())? {
        let directory = layout.generation(generation);
        for name in on(&directory, disk.list(&directory))? {
            if !knows(&snapshot, generation, &name).map_err(|error| read_error(layout, error))? {
                orphans.push(directory.join(name));
            }
        }
    }
    for number in numbers(&**disk, layout.segments())? {
        if !findings.segments.contains_key(&number) {
            orphans.push(layout.segment(number));
        }
    }
    let new = on(layout.new_files(), disk.list(layout.new_files()))?;
    orphans.extend(new.into_iter().map(|name| layout.new_files().join(name)));
    orphans.sort_unstable();
    Ok(orphans)
}

/// Whether the index knows a file of a generation. What has no blob's name is nobody's and left alone.
fn knows(snapshot: &Snapshot, generation: u32, name: &str) -> Result<bool, ReadError> {
    let Some(key) = parse_blob(name) else {
        return Ok(true);
    };
    Ok(snapshot.blob_or_trash(&key)?.is_some_and(|blob| blob.place == Place::File { generation }))
}

fn numbers(disk: &dyn Disk, path: &Path) -> Result<Vec<u32>, OpenError> {
    Ok(on(path, disk.list(path))?.iter().filter_map(|name| parse_number(name)).collect())
}
