//! What the tests of `manyhash` share beside what they share with those of `manysum`.

use crate::common::{Outcome, directory, run};
use assert_cmd::Command;
use std::path::Path;

/// Runs `manyhash manifest` in a directory, where the cache is too.
pub(crate) fn manifest(root: &Path, arguments: &[&str]) -> Outcome {
    let arguments: Vec<&str> = ["manifest"].into_iter().chain(arguments.iter().copied()).collect();
    let mut program = assert_cmd::cargo::cargo_bin_cmd!("manyhash");
    program.env("XDG_CACHE_HOME", root.join("cache"));
    run(program, root, &arguments, b"")
}

/// Runs `manyhash dups` with a cache of its own.
#[cfg(unix)]
pub(crate) fn dups(root: &Path, arguments: &[&str]) -> Outcome {
    dups_with_home(directory().path(), root, arguments)
}

/// Runs `manyhash dups` with the cache below another directory.
#[cfg(unix)]
pub(crate) fn dups_with_home(home: &Path, root: &Path, arguments: &[&str]) -> Outcome {
    let arguments: Vec<&str> = ["dups"].into_iter().chain(arguments.iter().copied()).collect();
    let mut program = Command::new(dups_program());
    program.env("XDG_CACHE_HOME", home);
    run(program, root, &arguments, b"")
}

/// The program that `dups` is a tool of.
#[cfg(unix)]
pub(crate) fn dups_program() -> &'static Path {
    assert_cmd::cargo::cargo_bin!("manyhash")
}
