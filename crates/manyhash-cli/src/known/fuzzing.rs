//! What fuzz targets do with sets of known digests.

use super::layout::Sorted;
use super::pages::{PAGE, Writer, seal};
use super::set::Set;
use super::set_file::SetFile;
use manyhash::{Algorithm, Digest};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;
use std::{env, fs, process};

const WIDTH: usize = 32;

/// Looks a digest up in a file of these bytes, whose checksums are put right: what is in it may be anything else.
pub fn known_file(mut bytes: Vec<u8>, digest: &[u8; WIDTH]) {
    let (pages, _) = bytes.as_chunks_mut::<PAGE>();
    for (number, page) in (0..).zip(pages) {
        *page = seal(*page, number);
    }
    let path = write(&bytes);
    if let Ok(mut set) = SetFile::open(&path) {
        let digest = Digest::from_bytes(&digest[..set.function().digest_bytes().min(WIDTH)]).unwrap_or_default();
        for _ in 0..2 {
            let _ = set.contains(&digest);
        }
    }
}

/// Digests of these bytes, every other one in a set: in memory, and in a file.
pub fn known_set(bytes: &[u8]) {
    let (all, _) = bytes.as_chunks::<WIDTH>();
    let known: BTreeSet<[u8; WIDTH]> = all.iter().copied().step_by(2).collect();
    let sorted: Vec<[u8; WIDTH]> = known.iter().copied().collect();
    let set = Set::of_sorted(&sorted);
    let mut file = Vec::new();
    let sorted = Sorted { cells: sorted.as_flattened(), cell: WIDTH };
    Writer::new(Algorithm::Sha256.into(), sorted).read_to_end(&mut file).expect("it reads memory");
    let mut set_file = SetFile::open(&write(&file)).expect("a set");
    for digest in all {
        let is_known = known.contains(digest);
        assert_eq!(set.contains(digest), is_known);
        let digest = Digest::from_bytes(digest).expect("a digest");
        assert_eq!(set_file.contains(&digest).expect("an answer"), is_known);
    }
}

/// A file with these bytes; the process has one.
fn write(bytes: &[u8]) -> PathBuf {
    let path = env::temp_dir().join(format!("manyhash-fuzz-{}", process::id()));
    fs::write(&path, bytes).expect("a file");
    path
}
