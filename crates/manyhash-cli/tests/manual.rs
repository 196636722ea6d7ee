//! `manyhash completions` and `manyhash man`.
#![cfg(unix)]

mod common;

use common::{Outcome, directory, run};
use std::fs;
use std::path::Path;

fn manyhash(directory: &Path, arguments: &[&str]) -> Outcome {
    run(assert_cmd::cargo::cargo_bin_cmd!("manyhash"), directory, arguments, b"")
}

#[test]
fn completions() {
    let directory = directory();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        for (arguments, option) in [(&[shell][..], "install-links"), (&[shell, "manysum"], "ignore-missing")] {
            let outcome = manyhash(directory.path(), &[&["completions"], arguments].concat());
            assert_eq!((outcome.status, outcome.stderr.len()), (Some(0), 0));
            let text = String::from_utf8(outcome.stdout).expect("UTF-8");
            assert!(text.contains(option), "{shell}: {option}");
        }
    }
    assert_eq!(manyhash(directory.path(), &["completions", "tcsh"]).status, Some(1));
    assert_eq!(manyhash(directory.path(), &["completions", "bash", "ls"]).status, Some(1));
}

#[test]
fn bash_takes_its_completions() {
    let directory = directory();
    let completions = manyhash(directory.path(), &["completions", "bash", "manysum"]).stdout;
    fs::write(directory.path().join("completions"), completions).expect("a file");
    let script = "source ./completions && COMP_WORDS=(manysum --ign) COMP_CWORD=1 && _manysum manysum --ign manysum && \
                  echo \"${COMPREPLY[@]}\"";
    let Ok(output) = std::process::Command::new("bash").args(["-c", script]).current_dir(&directory).output() else {
        eprintln!("skipped: the host has no bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--ignore-missing\n");
}

#[test]
fn manual_pages() {
    let directory = directory();
    let outcome = manyhash(directory.path(), &["man", "."]);
    assert_eq!((outcome.status, outcome.stdout, outcome.stderr), (Some(0), Vec::new(), Vec::new()));
    for (page, text) in [
        ("manysum.1", "ignore\\-missing"),
        ("manysum.1", "b2sum or cksum"),
        ("manyhash-install-links.1", "b2sum and cksum"),
        ("manyhash.1", "speed"),
        ("manyhash-dups.1", "manyhash\\-aside\\-XXXXXX"),
        ("manyhash-dups.1", "exit status is 0, or 1"),
        ("manyhash-speed.1", "seconds"),
        ("manyhash-simulate.1", "producers"),
        ("manyhash-install-links.1", "DIR"),
    ] {
        let page = fs::read_to_string(directory.path().join(page)).expect("a page");
        assert!(page.contains(".TH") && page.contains(text), "{page}");
    }
    let outcome = manyhash(directory.path(), &["man", "none"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.starts_with(b"manyhash: none: "));
}
