//! Tests of `manysum`: one program, which is linked once.

mod check;
mod cksum;
mod common;
mod console;
mod descriptors;
mod formats;
mod functions;
mod json;
mod limit;
mod lists;
mod output;
mod print;
mod progress;
mod select;
mod sums;
mod tools;
mod tree;

use std::path::Path;

/// `manysum`, as it was built for these tests.
fn manysum_path() -> &'static Path {
    assert_cmd::cargo::cargo_bin!("manysum")
}
