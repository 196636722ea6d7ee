//! Keeps the compiler's version and the target for the lines that state what was measured.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version =
        Command::new(rustc).arg("--version").output().ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=BENCH_COMPILER={}, {target}", version.as_deref().unwrap_or("rustc").trim());
    println!("cargo::rerun-if-changed=build.rs");
}
