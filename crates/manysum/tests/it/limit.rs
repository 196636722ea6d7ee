//! How many files may be open.
#![cfg(target_os = "linux")]

use assert_cmd::cargo::cargo_bin;
use std::process::Command;

/// The digest of what the system says of the limits of `manysum` itself, started with this one.
fn limits(open: &str) -> Vec<u8> {
    let script = format!("ulimit -S -n {open} && exec \"$0\" -a sha256 /proc/self/limits");
    let output = Command::new("sh").args(["-c", &script]).arg(cargo_bin!("manysum")).output().expect("a shell");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", output.stderr.escape_ascii());
    output.stdout
}

#[test]
fn a_low_limit_is_raised_as_far_as_it_may_be() {
    let hard = Command::new("sh").args(["-c", "ulimit -H -n"]).output().expect("a shell").stdout;
    let hard = String::from_utf8(hard).expect("a number").trim().parse().unwrap_or(u64::MAX);
    assert_eq!(limits("64"), limits(&hard.min(4096).to_string()));
    if hard > 4097 {
        assert_ne!(limits("64"), limits("4097"), "what is higher already is left alone");
    }
}
