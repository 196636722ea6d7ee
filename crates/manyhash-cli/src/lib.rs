//! What the program `manyhash` is made of, beside what it shares with `manysum`.
//!
//! Nothing here is meant for other crates, and all of it may change with any release.
#![forbid(unsafe_code)]

pub mod completions;
pub mod dups;
pub mod known;
#[cfg(unix)]
pub mod links;
pub mod manifest;
pub mod manual;
mod noise;
#[cfg(feature = "s3")]
pub mod s3;
#[cfg(unix)]
pub mod serve;
pub mod simulate;
mod size;
pub mod speed;
#[cfg(unix)]
pub mod store;
mod threads;

/// What fuzz targets call of formats that are private: with the feature `fuzzing`.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::known::fuzzing::{known_file, known_set};
}
