//! Whose digests are in a list that does not say it: files that it lists tell.
//!
//! Bare digits are taken for those of the usual function with as many of them, as [`lists::bare`](crate::lists) has it.
//! Where no file fits, some are hashed with all other functions that it may be.

use crate::lists::bare;
use crate::reading::Reading;
use manyhash::file::Source;
use manyhash::{Digest, HashFunction};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Files that are read at most, as long as none fits.
pub const MOST: usize = 8;

/// Bytes in the largest of them.
pub const LARGEST: u64 = 64 << 20;

/// A file that tells, by what it is called, its digest in the list, and where it is.
pub type Witness<Name> = (Name, Digest, PathBuf);

/// The function that listed digests are of, which are as long as those of `guess`, and the first file that shows it; none
/// if no file does.
pub fn function<Name: Send>(
    guess: HashFunction,
    witnesses: impl Iterator<Item = Witness<Name>> + Send,
    reading: Reading,
) -> Option<(HashFunction, Name)> {
    let mut functions = vec![guess];
    functions.extend(bare::as_long(guess));
    let mut found = None;
    let files = witnesses.take(MOST).map(|(name, listed, path)| ((name, listed), Source::Path(path)));
    reading.files(&functions).digest(files, |(name, listed), digested| {
        let digests = digested.map(|digested| digested.digests).unwrap_or_default();
        match digests.iter().position(|digest| *digest == listed) {
            Some(place) => {
                found = Some((functions[place], name));
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    });
    found
}
