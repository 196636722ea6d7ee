//! The files of a tree in their order, with what the digest cache has of them.
//!
//! To walk a tree takes as long as to look at its files, so a thread walks, others look at what it found and ask the
//! cache, and what comes of it is taken in the order of the walk. Some thirty thousand files are held at the most.

use crate::threads::{ahead, on_all_cores};
use manyhash::file::Source;
use manyhash::{Digest, HashFunction};
use manysum::cache::{Cache, Look, Stamp};
use manysum::console::Console;
use manysum::name;
use manysum::tree::Walk;
use manysum::whole_file::{PREFIX, SUFFIX};
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};
use std::{io, iter};

/// Files that are handed over at a time.
const BATCH: usize = 1024;

/// Batches that wait for whoever takes them.
const WAITING: usize = 16;

/// What a walk comes to.
pub(super) type Walked = Result<PathBuf, (OsString, io::Error)>;

/// What a walk comes to, so many at a time.
pub(super) type Walking<'a> = Box<dyn Iterator<Item = Vec<Walked>> + Send + 'a>;

/// A tree, and where digests of its files may be known from.
pub(super) struct Scan<'a> {
    /// Where it is walked from.
    pub(super) root: &'a Path,
    /// What is put before names: the directory of a bag's payload, below that of the bag.
    pub(super) prefix: &'static str,
    pub(super) functions: &'a [HashFunction],
    pub(super) cache: Option<&'a Cache>,
    /// The share of files that are hashed though the cache has them.
    pub(super) recheck: f64,
    /// Files that were left out.
    pub(super) left_over: LeftOver,
}

/// Files that programs of ours were about to write when they were stopped.
#[derive(Default)]
pub(super) struct LeftOver(Mutex<Vec<PathBuf>>);

impl LeftOver {
    /// Takes those out that have such names.
    fn take_from(&self, batch: &mut Vec<Walked>) {
        let is_left_over = |path: &Path| {
            // By bytes, since parts of paths are slow to find.
            let path = name::bytes(path.as_os_str());
            let name = &path[path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1)..];
            name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
        };
        let taken = batch.extract_if(.., |walked| walked.as_ref().is_ok_and(|path| is_left_over(path)));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(taken.flatten());
    }

    /// Says which they are.
    pub(super) fn say(self, console: &mut Console) {
        for path in self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let what = "left over from an interrupted program; skipped, and may be deleted";
            console.about(name::bytes(path.as_os_str()), what);
        }
    }
}

/// A file of a tree.
pub(super) struct Found {
    /// Its name below the directory.
    pub(super) name: Vec<u8>,
    /// Its size, if the cache has it.
    pub(super) size: Option<u64>,
    /// What it was when the cache got it, and the digests that it had, if it is hashed all the same.
    pub(super) expected: Option<Box<(Stamp, Vec<Digest>)>>,
}

/// Walks a tree on a thread of its own, ahead of whoever takes what it finds.
pub(super) fn walk<'scope>(
    scope: &'scope Scope<'scope, '_>,
    root: PathBuf,
    leave_out: Option<PathBuf>,
) -> Walking<'scope> {
    let walk = Walk { leave_out, ..Walk::default() };
    // Opened where it is walked.
    let mut paths = None;
    let batches = iter::from_fn(move || {
        let paths = paths.get_or_insert_with(|| walk.paths(root.clone().into_os_string()));
        let batch: Vec<_> = paths.take(BATCH).collect();
        (!batch.is_empty()).then_some(batch)
    });
    ahead(scope, WAITING, batches)
}

impl Scan<'_> {
    /// Hands the files that a [`walk`] comes to over to `take`, each with where its digests come from.
    pub(super) fn files<R>(
        &self,
        walked: Walking<'_>,
        take: impl FnOnce(&mut (dyn Iterator<Item = (Found, Source)> + Send)) -> R,
    ) -> R {
        let random = RandomState::new();
        thread::scope(|scope| {
            let random = &random;
            let looked_at = walked.map(move |batch| self.look_at(batch, random));
            take(&mut ahead(scope, WAITING, looked_at).flatten())
        })
    }

    fn look_at(&self, mut batch: Vec<Walked>, random: &RandomState) -> Vec<(Found, Source)> {
        self.left_over.take_from(&mut batch);
        let Some(cache) = self.cache else {
            return batch.into_iter().map(|walked| self.found(walked)).collect();
        };
        let batch = batch.into_par_iter().with_min_len(BATCH / 8);
        let looked_at = batch.map_init(
            || (cache.reader(self.functions), Look::default()),
            |(reader, look), walked| {
                let (mut found, source) = self.found(walked);
                let mut known = |path: &PathBuf| {
                    let stamp = look.at(path)?;
                    Some((stamp, reader.find_at(path, &stamp)?))
                };
                let known = if let Source::Path(path) = &source { known(path) } else { None };
                let Some((stamp, digests)) = known else { return (found, source) };
                // Out of 2^64 numbers, the share of those that are below.
                if (random.hash_one(&found.name) as f64) < self.recheck * 2f64.powi(64) {
                    found.expected = Some(Box::new((stamp, digests)));
                    return (found, source);
                }
                found.size = Some(stamp.size());
                (found, Source::Known(digests))
            },
        );
        on_all_cores(|| looked_at.collect())
    }

    fn found(&self, walked: Walked) -> (Found, Source) {
        let (name, source) = match walked {
            Ok(path) => (self.name(path.as_os_str()), Source::Path(path)),
            Err((path, error)) => (self.name(&path), Source::Failed(error)),
        };
        (Found { name, size: None, expected: None }, source)
    }

    /// The name below the directory of what has this path below its root.
    fn name(&self, path: &OsStr) -> Vec<u8> {
        // A walk puts names behind its root as it was given. To compare all parts would take as long as to look the file up.
        let below = name::bytes(path).get(name::bytes(self.root.as_os_str()).len()..).unwrap_or_default();
        let below = below.strip_prefix(b"/").unwrap_or(below);
        if self.prefix.is_empty() {
            return below.to_vec();
        }
        [self.prefix.as_bytes(), b"/", below].concat()
    }
}
