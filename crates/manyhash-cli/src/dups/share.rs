//! Duplicates that share the blocks of the file that stays.
//!
//! The system compares and shares, a range at a time, and lets no write come between; the duplicate stays the file that it
//! is, with its attributes, its other names, and the programs that have it open. Stopped anywhere, nothing is to be mended.

use super::scan::Candidate;
use super::settle::differs;
use super::stop::Stop;
use super::version::{Opened, Version, changed};
use manyhash_dedupe::{ShareResult, share};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Bytes a call. Some file systems take no more, and none holds up others for long over it.
const STEP: u64 = 16 << 20;

/// Has a duplicate share the blocks of the file at `kept`, a path without symbolic links.
pub(super) fn share_all(kept: &Path, duplicate: &Candidate, stop: &Stop) -> io::Result<()> {
    let there = Version::at(&duplicate.path)?;
    let (first, other) = (Opened::open(kept)?, Opened::open(&duplicate.path)?);
    if there.identity != duplicate.identity || other.version != there || there.size != first.version.size {
        return Err(changed());
    }
    let mut offset = 0;
    while offset < there.size {
        stop.check()?;
        let length = STEP.min(there.size - offset);
        offset += match share(&first.file, &other.file, offset, length).map_err(explained)? {
            ShareResult::Bytes(0) => return Err(io::Error::other(format!("shares no blocks from byte {offset} on"))),
            ShareResult::Bytes(bytes) => bytes,
            ShareResult::Differ => return Err(differs()),
        };
    }
    Ok(())
}

/// In words for those errors that mean something of their own here.
fn explained(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::Unsupported | ErrorKind::InvalidInput => {
            let text = "cannot share blocks: the file system does not support it (Btrfs and XFS do), or one of the \
                        files is not copied on write; skipped";
            io::Error::new(error.kind(), text)
        }
        _ => error,
    }
}
