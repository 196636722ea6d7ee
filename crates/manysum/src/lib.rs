//! What the programs `manysum` and `manyhash` are made of.
//!
//! `program` is `manysum` itself; the rest both programs share. They only read arguments, name files and write lines: the
//! hashing is the library's. Nothing here is meant for other crates, and all of it may change with any release.
#![forbid(unsafe_code)]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on the programs")]

pub mod arguments;
pub mod cache;
pub mod console;
pub mod escape;
pub mod figures;
pub mod guess;
mod incoming;
pub mod lists;
pub mod name;
pub mod output;
pub mod program;
pub mod progress;
pub mod quote;
pub mod reading;
pub mod standard;
pub mod tree;
pub mod whole_file;
