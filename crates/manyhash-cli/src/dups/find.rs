//! Files narrowed down to those with the same content.
//!
//! Most files differ from all others in their size, and most of the rest at their beginning or end; only what is left is
//! read as a whole.

use super::scan::Candidate;
use crate::progress::{Progress, When};
use crate::{name, reading};
use manyhash::file::Source;
use manyhash::{Algorithm, Digest, Function};
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
    pub(super) function: Function,
    pub(super) digest: Digest,
    /// Two or more, in the order of the scan.
    pub(super) files: Vec<PathBuf>,
}

impl Group {
    /// Bytes that all files but one take.
    pub(super) fn wasted(&self) -> u64 {
        self.size * (self.files.len() as u64 - 1)
    }
}

/// Groups of two or more of the files, in the order of their first ones. What cannot be read goes to `failed`.
pub(super) fn find(
    files: Vec<Candidate>,
    function: Function,
    threads: usize,
    progress: When,
    mut failed: impl FnMut(&[u8], &io::Error) + Send,
) -> Vec<Group> {
    let alike = groups(files.into_iter().map(|file| (file.size, file))).into_iter().flat_map(|(_, files)| files);
    // Of files that are hardly longer than their ends all is read at once.
    let (long, short): (Vec<_>, Vec<_>) = alike.partition(|file| file.size > 2 * END as u64);
    let ends: Vec<io::Result<Digest>> = long.par_iter().map(|file| ends(&file.path)).collect();
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

    let progress = Progress::new(progress);
    progress.set_total(left.iter().map(|file| file.size).sum());
    let mut digests = Vec::with_capacity(left.len());
    let sources = left.into_iter().map(|file| {
        progress.begin(name::bytes(file.path.as_os_str()));
        let source = Source::Path(file.path.clone());
        (file, source)
    });
    progress.count(reading::files(&[function], threads)).digest(sources, |file, digested| {
        progress.done();
        match digested {
            Ok(read) => digests.push(((file.size, read.digests[0]), file)),
            Err(error) => progress.aside(|| failed(name::bytes(file.path.as_os_str()), &error)),
        }
        ControlFlow::Continue(())
    });
    drop(progress);
    groups(digests.into_iter())
        .into_iter()
        .map(|(key, files)| Group {
            size: key.0,
            function,
            digest: key.1,
            files: files.into_iter().map(|file| file.path).collect(),
        })
        .collect()
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
