//! Whose digests a manifest has that does not say it: files of the tree tell.
//!
//! Where it is taken for one of the wrong function, every file would seem to have changed, and an update would put digests
//! of a function that nobody chose in place of all that were there. So some small files are hashed with all functions that
//! it may be of before anything is said or written.

use super::index::Index;
use super::update::look;
use manyhash::{Digest, HashFunction};
use manysum::console::Console;
use manysum::guess::{LARGEST, function};
use manysum::name;
use manysum::quote::quote;
use manysum::reading::Reading;
use std::ffi::OsStr;
use std::path::Path;

/// Entries whose files are looked at, for the smallest of them.
const LOOKED_AT: usize = 256;

/// Whether files of the tree show that the manifest is of another function than the one that it is taken for, which is
/// said.
pub(super) fn is_refuted(
    console: &mut Console,
    manifest: &OsStr,
    directory: &Path,
    index: &Index,
    reading: Reading,
) -> bool {
    for guess in &index.guesses {
        if let Some((function, file)) = refutation(directory, index, *guess, reading) {
            let file = String::from_utf8_lossy(&quote(&file)).into_owned();
            let what = format!(
                "does not name its algorithm, which is {function}, not {guess}, as {file} shows; use --algorithm \
                 {function}"
            );
            console.about(name::bytes(manifest), &what);
            return true;
        }
    }
    false
}

/// What to say of a manifest that no file is as listed in, if it does not say whose digests it has.
pub(super) fn doubt(index: &Index) -> Option<String> {
    let names: Vec<_> = index.guesses.iter().map(HashFunction::to_string).collect();
    let what = "no file is as listed, and it does not name its algorithm, which was taken to be";
    (!names.is_empty()).then(|| format!("{what} {}; name the right one with --algorithm", names.join(", ")))
}

/// A function that digests are of which were guessed to be of another, and the name of a file that shows it.
fn refutation(
    directory: &Path,
    index: &Index,
    guess: HashFunction,
    reading: Reading,
) -> Option<(HashFunction, Vec<u8>)> {
    let listed = |i: usize| index.digests(i).find_map(|(function, digest)| (function == guess).then_some(digest));
    let small = |(i, listed): (usize, Digest)| {
        let there = look(directory, index.name(i)).ok().filter(|there| there.is_file() && there.len() <= LARGEST)?;
        Some((there.len(), i, listed))
    };
    let candidates = (0..index.len()).filter_map(|i| Some((i, listed(i)?))).take(LOOKED_AT);
    let mut files: Vec<_> = candidates.filter_map(small).collect();
    files.sort_unstable_by_key(|(size, i, _)| (*size, *i));
    let witnesses = files.into_iter().filter_map(|(_, i, listed)| {
        let name = index.name(i).to_vec();
        Some((name.clone(), listed, directory.join(name::from_bytes(name).ok()?)))
    });
    function(guess, witnesses, reading).filter(|(function, _)| *function != guess)
}
