//! Files narrowed down to those with the same content.
//!
//! Most files differ from all others in their size, and most of the rest at their beginning or end; only what is left is
//! read as a whole.

use super::blocks;
use super::scan::Candidate;
use crate::threads::on_all_cores;
use manyhash::file::Source;
use manyhash::{Algorithm, Digest, HashFunction};
use manysum::cache::{Cache, Stamp};
use manysum::name;
use manysum::progress::Progress;
use manysum::reading::Reading;
use rayon::prelude::*;
use std::collections::HashMap;
use std::fs::File;
use std::hash::Hash;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Bytes at the beginning and at the end of a file that are looked at before all of it.
const END: usize = 4096;

/// Files with the same content.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) size: u64,
    pub(super) function: HashFunction,
    pub(super) digest: Digest,
    /// Two or more, in the order of the scan.
    pub(super) files: Vec<Candidate>,
    /// How many of them take blocks of their own.
    pub(super) copies: usize,
}

impl Group {
    /// All files but the first, which stays.
    pub(super) fn duplicates(&self) -> &[Candidate] {
        &self.files[1..]
    }

    /// All names of these.
    pub(super) fn duplicate_names(&self) -> impl Iterator<Item = &PathBuf> {
        self.duplicates().iter().flat_map(Candidate::names)
    }

    /// Bytes that all copies but one take.
    pub(super) fn wasted(&self) -> u64 {
        self.size * (self.copies as u64 - 1)
    }
}

/// How files are compared.
pub(super) struct Search<'a> {
    pub(super) function: HashFunction,
    pub(super) reading: Reading,
    pub(super) cache: Option<&'a Cache>,
}

impl Search<'_> {
    /// Groups of two or more of the files, in the order of their first ones. What cannot be read goes to `failed`.
    pub(super) fn find(&self, files: Vec<Candidate>, mut failed: impl FnMut(&[u8], &io::Error) + Send) -> Vec<Group> {
        let alike = groups(files.into_iter().map(|file| (file.size, file))).into_iter().flat_map(|(_, files)| files);
        // Of files that are hardly longer than their ends all is read at once.
        let (long, short): (Vec<_>, Vec<_>) = alike.partition(|file| file.size > 2 * END as u64);
        let ends: Vec<io::Result<Digest>> = on_all_cores(|| long.par_iter().map(|file| ends(&file.path)).collect());
        let mut read = Vec::new();
        for (file, ends) in long.into_iter().zip(ends) {
            match ends {
                Ok(ends) => read.push(((file.size, ends), file)),
                Err(error) => failed(name::bytes(file.path.as_os_str()), &error),
            }
        }
        let mut left: Vec<Candidate> = groups(read.into_iter()).into_iter().flat_map(|(_, files)| files).collect();
        left.extend(short);
        left.sort_unstable_by_key(|file| file.number);

        let digests = self.digests(left, failed);
        groups(digests.into_iter())
            .into_par_iter()
            .map(|((size, digest), files)| {
                let copies = blocks::copies(&files);
                Group { size, function: self.function, digest, files, copies }
            })
            .collect()
    }

    /// The sizes and digests of all that can be read, in the order of the files.
    fn digests(
        &self,
        files: Vec<Candidate>,
        mut failed: impl FnMut(&[u8], &io::Error) + Send,
    ) -> Vec<((u64, Digest), Candidate)> {
        let functions = [self.function];
        let known = self.known(&files);
        let unknown = files.iter().zip(&known).filter(|(_, known)| known.is_none());
        let progress = Progress::new(self.reading.progress);
        progress.set_total(unknown.map(|(file, _)| file.size).sum());
        let mut digests = Vec::with_capacity(files.len());
        let sources = files.into_iter().zip(known).map(|(file, known)| {
            progress.begin(name::bytes(file.path.as_os_str()));
            let source = known.map_or_else(|| Source::Path(file.path.clone()), Source::Known);
            (file, source)
        });
        progress.count(self.reading.files(&functions)).digest(sources, |file, digested| {
            progress.done();
            match digested {
                Ok(read) => {
                    if let Some(cache) = self.cache {
                        cache.store(&functions, &file.path, &read);
                    }
                    digests.push(((file.size, read.digests[0]), file));
                }
                Err(error) => progress.aside(|| failed(name::bytes(file.path.as_os_str()), &error)),
            }
            ControlFlow::Continue(())
        });
        drop(progress);
        digests
    }

    /// What the cache has of each file, which is looked at once more for that: it may no longer be what was scanned.
    fn known(&self, files: &[Candidate]) -> Vec<Option<Vec<Digest>>> {
        let Some(cache) = self.cache else { return vec![None; files.len()] };
        let reader = cache.reader(&[self.function]);
        let known = |file: &Candidate| {
            let metadata = file.path.metadata().ok().filter(|metadata| metadata.len() == file.size)?;
            reader.find_at(&file.path, &Stamp::of(&metadata)?)
        };
        on_all_cores(|| files.par_iter().map(known).collect())
    }
}

/// Those of one key together, if they are two or more, in the order of their first ones.
fn groups<K: Copy + Hash + Eq>(files: impl Iterator<Item = (K, Candidate)>) -> Vec<(K, Vec<Candidate>)> {
    let mut numbers = HashMap::new();
    let mut groups: Vec<(K, Vec<Candidate>)> = Vec::new();
    for (key, file) in files {
        let number = *numbers.entry(key).or_insert(groups.len());
        if number == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[number].1.push(file);
    }
    groups.retain(|(_, files)| files.len() > 1);
    groups
}

/// The digest of a file's beginning and end. Of what else there is it says nothing.
fn ends(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::with_capacity(2 * END);
    file.by_ref().take(END as u64).read_to_end(&mut bytes)?;
    // A file that has become shorter than its end differs from the others in what is read, or later in its digest.
    let end = file.metadata()?.len().saturating_sub(END as u64);
    file.seek(SeekFrom::Start(end))?;
    file.take(END as u64).read_to_end(&mut bytes)?;
    Ok(manyhash::digest(Algorithm::Sha256, &bytes))
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Group, Search};
    use crate::dups::scan::scan;
    use manyhash::{Algorithm, Digest, HashFunction};
    use manysum::cache::{Cache, Stamp};
    use manysum::reading::Reading;
    use std::time::Duration;

    const FUNCTION: HashFunction = HashFunction::Lanes(Algorithm::Sha1);

    #[test]
    fn what_the_cache_knows_is_not_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let content = b"same".repeat(10_000);
        let paths = ["a", "b", "c"].map(|name| root.join(name));
        paths.iter().for_each(|path| std::fs::write(path, &content).expect("a file"));
        let of = |path| Stamp::of(&std::fs::metadata(path).expect("a file"));
        if paths.iter().any(|path| of(path).is_none()) {
            eprintln!("skipped: the clock of this file system is coarse");
            return;
        }
        let groups = |cache: Option<&Cache>| {
            let files = scan(&[root.as_os_str().to_owned()], |_, error| panic!("{error}")).files;
            let search = Search { function: FUNCTION, reading: Reading::USUAL, cache };
            let groups = search.find(files, |_, error| panic!("{error}"));
            let paths = |group: Group| group.files.into_iter().map(|file| file.path).collect::<Vec<_>>();
            groups.into_iter().map(|group| (group.digest, paths(group))).collect::<Vec<_>>()
        };
        let home = tempfile::tempdir().expect("a directory");
        let open = || Cache::with_age(&home.path().join("digests"), Duration::from_secs(2)).expect("it opens");
        let digest = manyhash::digest(Algorithm::Sha1, &content);
        let all = vec![(digest, paths.to_vec())];
        let known = || open().reader(&[FUNCTION]).find(&of(&paths[0]).expect("a stamp"));

        // They are young, and not remembered.
        let cache = open();
        assert_eq!(groups(Some(&cache)), all);
        cache.finish().expect("it is stored");
        assert_eq!(known(), None);
        // Now they are, and a digest that is not theirs shows that it is taken.
        std::thread::sleep(Duration::from_millis(2100));
        let cache = open();
        assert_eq!(groups(Some(&cache)), all);
        let wrong = Digest::from_bytes(&[7; 20]).expect("a digest");
        cache.remember(&of(&paths[2]).expect("a stamp"), &[FUNCTION], &[wrong]);
        cache.finish().expect("it is stored");
        assert_eq!(known(), Some(vec![digest]));
        let cache = open();
        assert_eq!(groups(Some(&cache)), [(digest, paths[..2].to_vec())]);
        assert_eq!(groups(None), all);
        // Until it changes.
        std::fs::write(&paths[2], &content).expect("a file");
        assert_eq!(groups(Some(&cache)), all);
    }
}
