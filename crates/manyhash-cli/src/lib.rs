//! What the programs `manysum` and `manyhash` are made of.
//!
//! The programs only read arguments, name files and write lines: the hashing is the library's. Nothing here is meant
//! for other crates, and all of it may change with any release.
#![forbid(unsafe_code)]

pub mod arguments;
mod cache;
pub mod completions;
pub mod console;
pub mod dups;
pub mod escape;
mod figures;
mod guess;
mod incoming;
pub mod known;
#[cfg(unix)]
pub mod links;
pub mod lists;
pub mod manifest;
pub mod manual;
pub mod manysum;
pub mod name;
mod noise;
pub mod output;
pub mod progress;
pub mod quote;
mod reading;
pub mod simulate;
pub mod speed;
mod standard;
mod threads;
mod tree;
mod whole_file;

/// What fuzz targets call of formats that are private: with the feature `fuzzing`.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::cache::cached_record;
    pub use crate::known::fuzzing::{known_file, known_set};
}
