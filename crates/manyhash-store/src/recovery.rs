//! Opening a directory: what a crash may have left behind is removed.
//!
//! After a crash the index is as the last durable commit left it. What else is there, nobody was told of:
//!
//! - bytes behind the end of a segment, and segments that the index does not know;
//! - files in the generation that was being filled, or in the next, that the index does not know;
//! - files that were being received, where they need names.
//!
//! Older generations are not looked at: nothing is linked into them any more. So opening takes no longer than reading
//! the index, a directory of some 10,000 names, and the names of segments.

use crate::disk::{Access, Disk};
use crate::index::{FORMAT, Index, Place, Snapshot};
use crate::layout::{Layout, parse_blob, parse_number};
use crate::pins::Pins;
use crate::segments::Segments;
use crate::stats::Counters;
use crate::store::{Shared, StoreOptions};
use crate::writer::{Message, Writer};
use crate::{OpenError, ReadError};
use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

/// A directory that is locked, with its index.
pub(crate) struct Opened {
    pub(crate) shared: Arc<Shared>,
    pub(crate) queue: Receiver<Message>,
    pub(crate) lock: Box<dyn Any + Send + Sync>,
}

/// Opens a directory, removes what nobody was told of, and starts the writer.
pub(crate) fn open(directory: &Path, options: StoreOptions) -> Result<(Arc<Shared>, JoinHandle<()>), OpenError> {
    let Opened { shared, queue, lock } = prepare(directory, options, false)?;
    let snapshot = shared.index.snapshot().map_err(|error| read_error(&shared.layout, error))?;
    clean(&shared, &snapshot)?;
    drop(snapshot);
    let mut writer = Writer::new(shared.clone(), lock).map_err(|error| read_error(&shared.layout, error))?;
    writer.resume();
    let thread = thread::Builder::new().name("manyhash-store".to_owned()).spawn(move || writer.run(&queue));
    let writer = thread.map_err(|error| OpenError::Disk { path: directory.to_owned(), error })?;
    Ok((shared, writer))
}

/// Locks a directory and opens its index. Both are created if they are not there. With `verify`, all checksums of the
/// index are verified.
pub(crate) fn prepare(directory: &Path, options: StoreOptions, verify: bool) -> Result<Opened, OpenError> {
    let StoreOptions { dedupe, cache, disk, limits } = options;
    let layout = Layout::new(directory);
    create_directories(&*disk, &layout)?;
    let lock = on(&layout.lock(), disk.lock(&layout.lock()))?;
    let lock = lock.ok_or_else(|| OpenError::InUse(directory.to_owned()))?;
    let names = on(directory, disk.list(directory))?;
    if !names.iter().any(|name| name == "index.redb") {
        let bodies = [layout.segments(), layout.blobs()].map(|path| on(path, disk.list(path)));
        for names in bodies {
            if !names?.is_empty() {
                return Err(OpenError::IndexMissing(directory.to_owned()));
            }
        }
    }
    let index = Index::open(disk.clone(), &layout, cache, verify)?;
    // All names in it, whoever has given them.
    on(directory, disk.sync_directory(directory))?;
    let format = index.snapshot().and_then(|snapshot| snapshot.format());
    let found = format.map_err(|error| read_error(&layout, error))?;
    if found != FORMAT {
        return Err(OpenError::Format { path: layout.index(), found, known: FORMAT });
    }
    let segments = Segments::new(disk.clone(), layout.clone());
    let (sender, queue) = channel();
    let (pins, counters) = (Pins::default(), Counters::default());
    let shared = Shared { layout, disk, index, segments, pins, counters, dedupe, limits, queue: sender };
    Ok(Opened { shared: Arc::new(shared), queue, lock })
}

fn create_directories(disk: &dyn Disk, layout: &Layout) -> Result<(), OpenError> {
    let directory = layout.directory();
    for path in [directory, layout.segments(), layout.blobs(), layout.new_files()] {
        on(path, disk.create_directory(path))?;
    }
    let parent = match directory.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => directory,
    };
    // Even if it was there before: who has created it may not have lived to sync it.
    match disk.sync_directory(parent) {
        // Somebody else has created it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        result => on(parent, result),
    }
}

/// Removes what the index does not know.
fn clean(shared: &Shared, snapshot: &Snapshot) -> Result<(), OpenError> {
    let Shared { disk, layout, segments: files, .. } = shared;
    let read = |error| read_error(layout, error);
    let new_index = layout.new_index();
    on(&new_index, unlink(&**disk, &new_index))?;
    for name in on(layout.new_files(), disk.list(layout.new_files()))? {
        let path = layout.new_files().join(name);
        on(&path, unlink(&**disk, &path))?;
    }
    let current = snapshot.state().map_err(read)?.generation;
    for generation in on(layout.blobs(), disk.list(layout.blobs()))?.iter().filter_map(|name| parse_number(name)) {
        if generation >= current {
            clean_generation(shared, snapshot, generation)?;
        }
    }
    let known: BTreeMap<_, _> = snapshot.segments().map_err(read)?.into_iter().collect();
    for number in on(layout.segments(), disk.list(layout.segments()))?.iter().filter_map(|name| parse_number(name)) {
        let path = layout.segment(number);
        on(
            &path,
            match known.get(&number) {
                Some(record) => truncate(&**disk, &path, record.end),
                None => files.remove(number),
            },
        )?;
    }
    Ok(())
}

/// Removes files of a generation that the index does not know.
fn clean_generation(shared: &Shared, snapshot: &Snapshot, generation: u32) -> Result<(), OpenError> {
    let Shared { disk, layout, .. } = shared;
    let directory = layout.generation(generation);
    for key in on(&directory, disk.list(&directory))?.iter().filter_map(|name| parse_blob(name)) {
        let blob = snapshot.blob_or_trash(&key).map_err(|error| read_error(layout, error))?;
        if blob.is_none_or(|blob| blob.place != Place::File { generation }) {
            let path = layout.blob(generation, &key);
            on(&path, unlink(&**disk, &path))?;
        }
    }
    // Also what was removed before and not synced: once the next generation has begun, nobody looks for it here.
    on(&directory, disk.sync_directory(&directory))
}

/// Cuts off what is behind the end.
fn truncate(disk: &dyn Disk, path: &Path, end: u64) -> io::Result<()> {
    if disk.open(path, Access::Read)?.length()? > end {
        disk.open(path, Access::Write)?.set_length(end)?;
    }
    Ok(())
}

fn unlink(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.unlink(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Says what the disk failed on.
pub(crate) fn on<T>(path: &Path, result: io::Result<T>) -> Result<T, OpenError> {
    result.map_err(|error| OpenError::Disk { path: path.to_owned(), error })
}

/// What it means that the index cannot be read.
pub(crate) fn read_error(layout: &Layout, error: ReadError) -> OpenError {
    let path = layout.index();
    match error {
        ReadError::Disk(error) => OpenError::Disk { path, error },
        error => OpenError::Damaged { path, reason: error.to_string() },
    }
}
