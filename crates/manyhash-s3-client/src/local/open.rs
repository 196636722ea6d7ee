//! A file that is open, and what was computed of it so far.

use super::plan::Plan;
use super::sweep::{Done, Sweep};
use super::{Digested, Error, Wanted};
use manyhash_s3::checksum::Checksum;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes asked for ahead of those that are read, at each place of a file that is not in memory.
const AHEAD: u64 = 2 << 20;

/// A regular file, whose segments may be in several hands.
pub(super) struct OpenFile {
    file: File,
    /// What the system said when it was opened.
    metadata: Metadata,
    plan: Arc<Plan>,
    /// The checksums of each series by the numbers of their parts.
    found: Mutex<Vec<BTreeMap<u64, Checksum>>>,
    /// Segments that nobody is done with.
    left: AtomicUsize,
    failed: AtomicBool,
    /// Whether the file system cannot tell what is in memory.
    is_mute: AtomicBool,
}

/// Where a sweep reads, and up to where its bytes were asked for if they were not in memory.
#[derive(Default)]
pub(super) struct Place {
    asked: Option<u64>,
}

impl OpenFile {
    /// Opens a file, and returns it with its segments.
    pub(super) fn open(path: &Path, wanted: &Wanted) -> Result<(OpenFile, Vec<Sweep>), Error> {
        // Opening a pipe would wait for its writer.
        if !std::fs::metadata(path)?.is_file() {
            return Err(Error::NotAFile);
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(Error::NotAFile);
        }
        let plan = Arc::new(Plan::new(wanted, Some(metadata.len()))?);
        let sweeps: Vec<_> =
            plan.segments().into_iter().map(|segment| Sweep::new(Arc::clone(&plan), segment)).collect();
        let file = OpenFile {
            file,
            metadata,
            found: Mutex::new(vec![BTreeMap::new(); plan.series().len()]),
            plan,
            left: AtomicUsize::new(sweeps.len()),
            failed: AtomicBool::new(false),
            is_mute: AtomicBool::new(false),
        };
        if file.metadata.len() == 0 && file.read_some(&mut [0], 0, &mut Place::default())? != 0 {
            // Files of /proc say that they are empty, and would never have settled.
            return Err(Error::Changed);
        }
        Ok((file, sweeps))
    }

    /// Fills the buffer from an offset on.
    ///
    /// # Errors
    /// If the file cannot be read, or has not so many bytes any more.
    pub(super) fn read(&self, mut buffer: &mut [u8], mut offset: u64, place: &mut Place) -> Result<(), Error> {
        while !buffer.is_empty() {
            match self.read_some(buffer, offset, place) {
                Ok(0) => return Err(Error::Changed),
                Ok(read) => {
                    buffer = buffer.get_mut(read..).unwrap_or_default();
                    offset += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn read_some(&self, buffer: &mut [u8], offset: u64, place: &mut Place) -> io::Result<usize> {
        use rustix::fs::{Advice, fadvise};
        use rustix::io::{Errno, ReadWriteFlags, preadv2};
        use std::io::IoSliceMut;
        use std::num::NonZeroU64;
        use std::os::unix::fs::FileExt;

        if place.asked.is_none() && !self.is_mute.load(Ordering::Relaxed) {
            match preadv2(&self.file, &mut [IoSliceMut::new(buffer)], offset, ReadWriteFlags::NOWAIT) {
                // Linux 5.9 and 5.10 say 0 also of bytes that are not in memory: preadv2(2), BUGS.
                Ok(read) if read > 0 => return Ok(read),
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.is_mute.store(true, Ordering::Relaxed),
                Ok(_) | Err(_) => {}
            }
        }
        // Many places of a file are read at once, which defeats the system's own reading ahead.
        let asked = place.asked.get_or_insert(offset);
        if *asked < self.metadata.len() && *asked < offset + AHEAD / 2 {
            let _ = fadvise(&self.file, *asked, NonZeroU64::new(AHEAD), Advice::WillNeed);
            *asked += AHEAD;
        }
        self.file.read_at(buffer, offset)
    }

    #[cfg(all(unix, not(target_os = "linux")))]
    fn read_some(&self, buffer: &mut [u8], offset: u64, _: &mut Place) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_some(&self, buffer: &mut [u8], offset: u64, _: &mut Place) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)
    }

    #[cfg(not(any(unix, windows)))]
    fn read_some(&self, buffer: &mut [u8], offset: u64, _: &mut Place) -> io::Result<usize> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }

    /// Takes the checksums of a segment, and returns whether it was the last.
    pub(super) fn finished(&self, done: Vec<Done>) -> bool {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for Done { series, part, checksum } in done {
            if let Some(found) = found.get_mut(series) {
                found.insert(part, checksum);
            }
        }
        drop(found);
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Its other segments are of no use any more. Returns whether this is the first of them to fail.
    pub(super) fn is_first_failure(&self) -> bool {
        !self.failed.swap(true, Ordering::Relaxed)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// What was computed, after all segments are finished.
    ///
    /// # Errors
    /// If the file is not as it was when it was opened.
    pub(super) fn digested(&self) -> Result<Digested, Error> {
        let metadata = self.file.metadata()?;
        if !is_same(&self.metadata, &metadata) {
            return Err(Error::Changed);
        }
        let found = std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner));
        let size = metadata.len();
        Ok(self.plan.digested(size, Some(metadata), in_order(found)))
    }
}

/// The checksums of each series, in the order of their parts.
pub(super) fn in_order(found: Vec<BTreeMap<u64, Checksum>>) -> Vec<Vec<Checksum>> {
    found.into_iter().map(|parts| parts.into_values().collect()).collect()
}

/// Whether both say that the file is the same, and was not written in between.
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let changed = |file: &Metadata| (file.ctime(), file.ctime_nsec());
        if changed(one) != changed(other) {
            return false;
        }
    }
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}
