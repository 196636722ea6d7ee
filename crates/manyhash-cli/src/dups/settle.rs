//! Removing the names of a duplicate, so that its content is never lost.
//!
//! What two runs at work against each other, another view of the same directory (an overlay, FUSE, a network file
//! system) or a program that writes meanwhile could do is seen in this order of steps:
//!
//! 1. Each name of the duplicate is set aside ([`Aside`]): from here on nobody opens it by its name.
//! 2. The file that stays is opened by its name. It is as it was before step 1, and another file than the one set aside.
//!    If the duplicate was its other view, it is gone now, or its change time is a new one, or a directory made beside the
//!    one is to be seen beside the other, whatever either view has in a cache.
//! 3. No program has either file open for writing, where the system tells.
//! 4. The bytes are the same.
//! 5. Both are what they were in step 2, and still where they were.
//! 6. What was set aside is removed. If anything was otherwise, it is moved back instead.
//!
//! No number of runs at once removes all copies of a content. A copy is removed only after another one was seen by its
//! name, and that after the copy was set aside. Suppose that all were removed. The copy that was seen by one removal fell to
//! another removal, which set it aside after it was seen, hence later than the first removal had set aside its own. The
//! same holds of that one and of the removal of what it saw, and so on, each later than the one before. But there are only
//! so many removals: one of them comes again, and would be later than itself. What is below a directory of files set
//! aside counts for nothing in this: no scan takes it for a file that stays.
//!
//! Killed anywhere, a run leaves the duplicate under its name or aside. Nothing is removed before step 6.

use super::aside::{Aside, are_views_of_one};
use super::scan::{Identity, may_have_links, parent};
use super::stop::Stop;
use super::version::{Opened, Version, changed};
use manysum::console::reason;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// How many names are set aside at once, each with a directory that is open: a comparison serves them all.
const BATCH: usize = 32;

/// What is done about a duplicate, beyond removing it.
pub(super) trait Manner {
    /// Whether the second of two opened files may go.
    fn allows(&self, _kept: &Opened, _other: &Opened) -> io::Result<()> {
        Ok(())
    }

    /// Puts something where the duplicate was, which is set aside and will be removed.
    fn replace(&self, _kept: &Opened, _name: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Removes it, and nothing else.
pub(super) struct Delete;

impl Manner for Delete {}

/// Removes what a run that was stopped has set aside, if the file that has come to its place has the same content.
pub(super) fn settle_aside(aside: &Aside, stop: &Stop) -> io::Result<()> {
    let (first, other) = (Version::at(aside.name())?, Version::at(&aside.path())?);
    if first.identity == other.identity && may_have_links(&aside.path().symlink_metadata()?) {
        // Stopped between the two steps that a file system without renames that replace nothing needs.
        return aside.remove();
    }
    examine(aside.name(), &first, std::slice::from_ref(aside), &other.identity, &Delete, stop)?;
    aside.remove()
}

/// Removes the file of these names, of which there is one at least and which become fewer as they are settled, if its
/// content is that of the file at `kept`, a path without symbolic links.
pub(super) fn settle(
    kept: &Path,
    names: &mut Vec<PathBuf>,
    identity: &Identity,
    manner: &impl Manner,
    stop: &Stop,
) -> io::Result<()> {
    while !names.is_empty() {
        let first = Version::at(kept).map_err(|error| about(kept, &error))?;
        if first.identity == *identity {
            return Err(io::Error::other("has become another name of the first file; skipped"));
        }
        let mut asides = Vec::new();
        let set = names.iter().take(BATCH).try_for_each(|name| {
            if Version::at(name)?.identity != *identity {
                return Err(changed());
            }
            asides.push(Aside::set(name)?);
            Ok(())
        });
        let mut examined = set.and_then(|()| examine(kept, &first, &asides, identity, manner, stop));
        let mut removed = 0;
        for aside in asides {
            let outcome = examined.and_then(|kept| {
                manner.replace(&kept, aside.name())?;
                aside.remove()?;
                Ok(kept)
            });
            examined = match outcome {
                Ok(kept) => {
                    removed += 1;
                    Ok(kept)
                }
                Err(error) => Err(aside.put_back().err().unwrap_or(error)),
            };
        }
        names.drain(..removed);
        examined?;
    }
    Ok(())
}

/// Steps 2 to 5; the file that stays.
fn examine(
    kept: &Path,
    before: &Version,
    asides: &[Aside],
    identity: &Identity,
    manner: &impl Manner,
    stop: &Stop,
) -> io::Result<Opened> {
    let first = Opened::open(kept).map_err(|error| about(kept, &error))?;
    // One directory is looked at for all names in it.
    let mut seen = HashSet::new();
    let mut is_view = |aside: &Aside| seen.insert(parent(aside.name())) && are_views_of_one(aside, kept);
    if first.version != *before || asides.iter().any(&mut is_view) {
        return Err(seen_change(kept));
    }
    let Some(aside) = asides.first() else { return Err(changed()) };
    let other = Opened::open(&aside.path())?;
    if other.version.identity != *identity || other.version.identity == first.version.identity {
        return Err(changed());
    }
    manner.allows(&first, &other)?;
    if other.has_writers() {
        return Err(io::Error::other("open for writing in another program; skipped"));
    }
    if first.has_writers() {
        return Err(about(kept, &io::Error::other("open for writing in another program")));
    }
    if !same_content(&first.file, &other.file, stop)? {
        return Err(differs());
    }
    if !first.is_still(kept).map_err(|error| about(kept, &error))? {
        return Err(seen_change(kept));
    }
    for aside in asides {
        if !other.is_still(&aside.path())? {
            return Err(changed());
        }
    }
    Ok(first)
}

fn same_content(mut a: &File, mut b: &File, stop: &Stop) -> io::Result<bool> {
    let mut chunks = [vec![0; 1 << 16], vec![0; 1 << 16]];
    let [ours, theirs] = &mut chunks;
    loop {
        stop.check()?;
        let (read, as_much) = (fill(&mut a, ours)?, fill(&mut b, theirs)?);
        if ours[..read] != theirs[..as_much] {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the chunk is full or the file ends.
fn fill(file: &mut &File, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match file.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Why a file stays, where the reason is the one that was to stay in any case.
fn about(kept: &Path, error: &io::Error) -> io::Error {
    let what = match error.kind() {
        ErrorKind::NotFound => {
            "no longer there: another run is active, or it is the same file seen through another file system".to_owned()
        }
        _ => reason(error),
    };
    io::Error::other(format!("skipped because of {}: {what}", kept.display()))
}

/// That moving the duplicate has done something to the one that stays, or another program has.
fn seen_change(kept: &Path) -> io::Error {
    let what = "changed meanwhile, or is the same file seen through another file system";
    about(kept, &io::Error::other(what))
}

/// That the bytes are not the same.
pub(super) fn differs() -> io::Error {
    io::Error::other("differs from the first of its group; skipped")
}

#[cfg(all(test, unix))]
mod tests;
