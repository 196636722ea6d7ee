//! Tests of `manyhash`: one program, which is linked once.

mod cache;
#[path = "../../../manysum/tests/it/common.rs"]
mod common;
mod dups;
mod dups_mounts;
mod dups_races;
mod guess;
mod known;
mod links;
mod manifest;
mod manual;
mod no_threads;
mod s3;
#[cfg(unix)]
mod s3_bucket;
#[cfg(unix)]
mod s3_like;
#[cfg(unix)]
mod s3_transfer;
#[cfg(unix)]
mod s3_verify;
mod serve;
mod simulate;
mod speed;
mod toolbox;
mod update;

use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;

/// `manysum`, which is an example here: Cargo builds no program of another package for tests.
fn manysum_path() -> PathBuf {
    let path =
        assert_cmd::cargo::cargo_bin!("manyhash").with_file_name("examples").join(format!("manysum{EXE_SUFFIX}"));
    assert!(path.is_file(), "{} is missing: cargo build -p manyhash-cli --examples", path.display());
    path
}
