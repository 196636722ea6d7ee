//! What the programs do where no thread can be started: what they would do with threads, or say why not.
#![cfg(target_os = "linux")]

use crate::common::{EMPTY, Outcome, directory, run, touch};
use assert_cmd::Command;
use std::path::Path;

/// Runs `manyhash` or `manysum` without threads: each would have a stack of more memory than there are addresses.
fn alone(mut program: Command, directory: &Path, arguments: &[&str]) -> Outcome {
    program.env("RUST_MIN_STACK", (1_u64 << 50).to_string()).env("XDG_CACHE_HOME", directory.join("cache"));
    run(program, directory, arguments, b"")
}

fn manyhash() -> Command {
    assert_cmd::cargo::cargo_bin_cmd!("manyhash")
}

#[track_caller]
fn check(outcome: &Outcome, status: i32, stdout: &str) {
    let said = String::from_utf8_lossy(&outcome.stderr);
    assert!(!said.contains("panicked") && outcome.status == Some(status), "{outcome:?}");
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), stdout, "{said}");
}

#[test]
fn manifests() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/a", "t/b/c"]);
    std::fs::write(root.join("t/b/d"), vec![1; 1 << 20]).expect("a file");
    check(&alone(manyhash(), root, &["manifest", "create", "t", "-o", "list"]), 0, "");
    check(&alone(manyhash(), root, &["manifest", "verify", "t", "list"]), 0, "");
    touch(root, &["t/e"]);
    check(&alone(manyhash(), root, &["manifest", "update", "--no-cache", "t", "list"]), 0, "e: new\n");
    check(&alone(manyhash(), root, &["manifest", "diff", "list", "list"]), 0, "");
}

#[test]
fn files() {
    let directory = directory();
    let root = directory.path();
    touch(root, &["t/a", "t/b"]);
    ["t/same1", "t/same2"].iter().for_each(|name| std::fs::write(root.join(name), vec![1; 100_000]).expect("a file"));
    let sums = alone(Command::new(crate::manysum_path()), root, &["-r", "t", "--exclude", "same*"]);
    check(&sums, 0, &format!("{EMPTY}  t/a\n{EMPTY}  t/b\n"));
    std::fs::write(root.join("list"), &sums.stdout).expect("a list");
    check(&alone(Command::new(crate::manysum_path()), root, &["-c", "list", "--quiet"]), 0, "");
    let dups = alone(manyhash(), root, &["dups", "t", "--no-cache"]);
    assert!(dups.status == Some(0) && dups.stdout.ends_with(b"t/same1\nt/same2\n"), "{dups:?}");
    check(&alone(manyhash(), root, &["known", "build", "list", "-o", "set"]), 0, "");
    let matched = alone(manyhash(), root, &["known", "match", "set", "t"]);
    check(&matched, 0, "t/a: known\nt/b: known\nt/same1: unknown\nt/same2: unknown\n");
}

#[test]
fn measurements() {
    let directory = directory();
    let root = directory.path();
    let speed = alone(manyhash(), root, &["speed", "--seconds", "0.001", "md5"]);
    assert!(speed.status == Some(0) && speed.stderr.is_empty(), "{speed:?}");
    // It is about threads.
    let simulation = alone(manyhash(), root, &["simulate", "--total-size", "64K"]);
    let said = String::from_utf8_lossy(&simulation.stderr);
    assert_eq!(simulation.status, Some(1));
    assert!(said.starts_with("manyhash: ") && said.contains("start") && !said.contains("panicked"), "{said}");
}
