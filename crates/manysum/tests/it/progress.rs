//! `--progress`.
#![cfg(unix)]

use crate::common::{Outcome, directory, fifo, manysum, manysum_as, run};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Runs `manysum` on a pipe `pipe` that gives a MiB, and the end of it half a second later.
fn while_a_pipe_is_read(root: &Path, arguments: &[&str]) -> Outcome {
    let pipe = fifo(root, "pipe");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = OpenOptions::new().write(true).open(&pipe).expect("a pipe");
            pipe.write_all(&vec![0; 1 << 20]).expect("a reader");
            thread::sleep(Duration::from_millis(500));
        });
        manysum(root, arguments, b"")
    })
}

/// What was drawn: lines, each after the sequence that clears one.
fn drawn(stderr: &[u8]) -> Vec<String> {
    let text = String::from_utf8(stderr.to_vec()).expect("UTF-8");
    let lines = text.split("\x1b[2K").map(|line| line.trim_matches(['\r', ' ', '\n']).to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// SHA-256 of a MiB of zeros.
const ZEROS: &str = "30e14955ebf1352266dc2ff8067e68104607e750abb9d3b36582b8af909fcb58";

#[test]
fn a_file_as_it_is_read() {
    let directory = directory();
    let outcome = while_a_pipe_is_read(directory.path(), &["--progress", "always", "pipe"]);
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), format!("{ZEROS}  pipe\n"));
    let drawn = drawn(&outcome.stderr);
    assert!(drawn.iter().any(|line| line.starts_with("1.00 MiB, ") && line.ends_with("/s: pipe")), "{drawn:?}");
    // It is gone at the end.
    assert!(outcome.stderr.ends_with(b"\x1b[2K"), "{}", outcome.stderr.escape_ascii());
}

#[test]
fn the_files_of_a_list() {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("zeros"), vec![0; 1 << 20]).expect("a file");
    fs::write(root.join("list"), format!("bad\n{ZEROS}  zeros\n{ZEROS}  pipe\n{ZEROS}  gone\n")).expect("a list");
    let outcome = while_a_pipe_is_read(root, &["-c", "--progress=always", "list"]);
    let stdout = "zeros: OK\npipe: OK\ngone: FAILED open or read\n";
    assert_eq!((String::from_utf8_lossy(&outcome.stdout).as_ref(), outcome.status), (stdout, Some(1)));
    let drawn = drawn(&outcome.stderr);
    assert!(drawn.iter().any(|line| line.starts_with("2.00 MiB, ") && line.ends_with("/s: pipe")), "{drawn:?}");
    // Messages have lines of their own.
    let messages = String::from_utf8(outcome.stderr).expect("UTF-8");
    assert!(messages.contains("\x1b[2Kmanysum: WARNING: 1 line is improperly formatted\n"), "{messages}");
}

#[test]
fn a_total_where_there_is_one() {
    let directory = directory();
    let root = directory.path();
    // It takes a moment, and no space, for nothing is written.
    fs::File::create(root.join("long")).and_then(|file| file.set_len(96 << 20)).expect("a file");
    fs::write(root.join("short"), "abc").expect("a file");
    let outcome = manysum(root, &["-a", "sm3", "--progress", "always", "-r", "."], b"");
    assert_eq!(outcome.status, Some(0));
    let drawn = drawn(&outcome.stderr);
    let is_whole = |line: &String| line.contains(" of 96.00 MiB ") && line.contains(" left: ./long");
    assert!(drawn.iter().any(is_whole), "{drawn:?}");
}

/// The terminal is one that `script` makes.
#[test]
fn narrow_terminals() {
    let directory = directory();
    let root = directory.path();
    fs::File::create(root.join("a file with a long name")).and_then(|file| file.set_len(96 << 20)).expect("a file");
    let manysum = assert_cmd::cargo::cargo_bin!("manysum").display().to_string();
    for columns in [10, 30, 60] {
        let command =
            format!("stty cols {columns} rows 24 && '{manysum}' -a sm3 'a file with a long name' 2>&1 >/dev/null");
        let Ok(output) = std::process::Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(root)
            .stdin(std::process::Stdio::null())
            .output()
        else {
            eprintln!("skipped: the host has no script");
            return;
        };
        let drawn = drawn(&output.stdout);
        assert!(drawn.iter().any(|line| line.contains("MiB")), "{columns}: {drawn:?}");
        assert!(drawn.iter().all(|line| line.chars().count() <= columns), "{columns}: {drawn:?}");
    }
}

#[test]
fn no_time_is_left_that_nobody_knows() {
    let directory = directory();
    let root = directory.path();
    fs::File::create(root.join("long")).and_then(|file| file.set_len(96 << 20)).expect("a file");
    // The pipe comes first, and holds up what would be counted.
    let pipe = fifo(root, "list");
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = OpenOptions::new().write(true).open(&pipe).expect("a pipe");
            thread::sleep(Duration::from_millis(300));
            pipe.write_all(b"long\n").expect("a reader");
        });
        manysum(root, &["-a", "sm3", "--progress", "always", "--files-from", "list"], b"")
    });
    let drawn = drawn(&outcome.stderr);
    assert!(!drawn.is_empty() && drawn.iter().all(|line| !line.contains(" 0s left")), "{drawn:?}");
}

#[test]
fn nothing_where_it_is_not_wanted() {
    let directory = directory();
    for arguments in [&["pipe"][..], &["--progress", "auto", "pipe"], &["--progress", "never", "pipe"]] {
        let outcome = while_a_pipe_is_read(directory.path(), arguments);
        assert_eq!((outcome.stderr.len(), outcome.status), (0, Some(0)), "{arguments:?}");
        fs::remove_file(directory.path().join("pipe")).expect("a pipe");
    }
    let outcome = manysum(directory.path(), &["--progress", "often"], b"");
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("[possible values: auto, always, never]"));
    assert_eq!(outcome.status, Some(1));
    // The tools of coreutils know no such thing.
    let outcome = run(manysum_as("md5sum"), directory.path(), &["--progress=always"], b"");
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("unrecognized option '--progress=always'"));
}
