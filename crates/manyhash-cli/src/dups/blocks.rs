//! How many copies of a content are on the disk: files may share their blocks.

use super::scan::Candidate;
use std::collections::HashSet;
use std::path::Path;

/// Where a file's bytes are.
#[derive(PartialEq, Eq, Hash)]
enum Place {
    /// On a device, as (offset, place, length), all in blocks that are shared with another file.
    Shared(u64, Vec<(u64, u64, u64)>),
    /// In the file system's own records: there are no blocks to share.
    Inline,
}

/// How many of these files with the same content take room of their own, one at least.
pub(super) fn copies(files: &[Candidate]) -> usize {
    let mut shared = HashSet::new();
    let own = files.iter().filter(|file| match place(&file.path) {
        Some(place @ Place::Shared(..)) => shared.insert(place),
        Some(Place::Inline) | None => true,
    });
    own.count().max(1)
}

/// Whether a file has no blocks that it could share with another one of the same content, but does not.
pub(super) fn are_shared(kept: &Path, duplicate: &Path) -> bool {
    match place(duplicate) {
        Some(Place::Inline) => true,
        Some(shared) => place(kept) == Some(shared),
        None => false,
    }
}

/// None if any of its blocks are its own, or nobody knows. The system says so without looking at the blocks.
#[cfg(target_os = "linux")]
fn place(path: &Path) -> Option<Place> {
    use super::version::Opened;
    use fiemap::{Fiemap, FiemapExtentFlags as Flags};
    let opened = Opened::open(path).ok()?;
    let mut pieces: Vec<(u64, u64, u64)> = Vec::new();
    for extent in Fiemap::new(&opened.file) {
        let extent = extent.ok()?;
        if extent.fe_flags.contains(Flags::DATA_INLINE) {
            return Some(Place::Inline);
        }
        if !extent.fe_flags.contains(Flags::SHARED) || extent.fe_flags.contains(Flags::UNKNOWN) {
            return None;
        }
        let (offset, place, length) = (extent.fe_logical, extent.fe_physical, extent.fe_length);
        match pieces.last_mut() {
            // The same blocks may be told in more or fewer pieces, but for those that are compressed.
            Some(last)
                if last.0 + last.2 == offset
                    && last.1 + last.2 == place
                    && !extent.fe_flags.contains(Flags::ENCODED) =>
            {
                last.2 += length;
            }
            _ => pieces.push((offset, place, length)),
        }
    }
    let device = opened.version.identity.0;
    // Subvolumes of one Btrfs share blocks, and each has a device of its own. None of these is a real one.
    let device = if rustix::fs::major(device) == 0 { 0 } else { device };
    (!pieces.is_empty()).then_some(Place::Shared(device, pieces))
}

#[cfg(not(target_os = "linux"))]
fn place(_path: &Path) -> Option<Place> {
    None
}
