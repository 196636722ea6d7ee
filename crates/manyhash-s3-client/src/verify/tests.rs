//! Comparisons of trees, lists and buckets in memory.

mod changes;
mod forms;
pub(crate) mod memory;
mod properties;
mod sides;

use super::*;
use crate::remote::RemoteErrorKind;
use futures_util::StreamExt;
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use memory::{Cuts, Memory, Object};
use std::fs;
use std::path::Path;

/// The outcomes, and the error if there is one.
fn run(sides: [Side<Memory>; 2], settings: Settings) -> (Vec<Outcome>, Option<SideError>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut outcomes = Vec::new();
        let mut all = std::pin::pin!(verify(sides, LocalFiles::new(None), settings));
        while let Some(outcome) = all.next().await {
            match outcome {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => {
                    assert!(all.next().await.is_none(), "nothing comes after an error");
                    return (outcomes, Some(error));
                }
            }
        }
        (outcomes, None)
    })
}

fn outcomes(sides: [Side<Memory>; 2], settings: Settings) -> Vec<Outcome> {
    let (outcomes, error) = run(sides, settings);
    assert!(error.is_none(), "{error:?}");
    outcomes
}

/// What comes of the only name.
fn one(sides: [Side<Memory>; 2], download: bool) -> State {
    let mut all = outcomes(sides, Settings { download, ..Settings::default() });
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).state
}

fn bucket(memory: &Arc<Memory>) -> Side<Memory> {
    Side::Bucket { remote: memory.clone(), prefix: String::new() }
}

/// Writes a file and the directories that it is in.
fn write(root: &Path, name: &str, bytes: &[u8]) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
    fs::write(path, bytes).expect("a file");
}

/// A tree with a file `x`.
fn tree(bytes: &[u8]) -> (tempfile::TempDir, Side<Memory>) {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), "x", bytes);
    let side = Side::Tree(directory.path().to_owned());
    (directory, side)
}

/// Bytes that repeat nowhere near.
fn bytes(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// The same but for one bit.
fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    flipped[at] ^= 1;
    flipped
}

fn is_same(state: &State) -> bool {
    matches!(state, State::Same(_))
}

fn differs(state: &State) -> bool {
    matches!(state, State::Differs(_))
}
