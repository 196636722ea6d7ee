//! Tools whose standard descriptors are closed, full or of no use to anybody, against those of GNU coreutils.
#![cfg(target_os = "linux")]

use crate::common::{EMPTY, directory, has_coreutils, run};
use assert_cmd::Command;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const TOOLS: [&str; 3] = ["sha256sum", "b2sum", "cksum"];

/// A directory with a file and a list, and links to `manysum` in another one.
fn tree() -> TempDir {
    let directory = directory();
    let root = directory.path();
    fs::create_dir(root.join("links")).expect("a directory");
    for tool in TOOLS {
        symlink(assert_cmd::cargo::cargo_bin!("manysum"), root.join("links").join(tool)).expect("a link");
    }
    fs::write(root.join("e"), "").expect("a file");
    fs::write(root.join("list"), format!("bad\n{EMPTY}  e\n")).expect("a list");
    fs::write(root.join("itself"), format!("{EMPTY}  -\n")).expect("a list");
    directory
}

/// Compares what a script does with the tools of the host and with the links: all that it says, and its status.
#[track_caller]
fn compare(root: &Path, script: &str) {
    let [ours, theirs] = ["PATH=$PWD/links:$PATH; ", ""]
        .map(|path| run(Command::new("bash"), root, &["-c", &format!("set -o pipefail; {path}{script}")], b"input"));
    assert_eq!(ours, theirs, "{script}");
}

#[test]
fn the_same_words_and_statuses() {
    if !TOOLS.into_iter().all(has_coreutils) {
        return;
    }
    let directory = tree();
    for script in [
        "sha256sum <&-",
        "b2sum - e - <&-",
        "cksum -a md5 <&-",
        "sha256sum e <&-",
        "sha256sum -c <&-",
        "sha256sum -c - list <&-",
        "cksum -c <&-",
        "sha256sum -c itself <&-",
        "sha256sum e >&-",
        "cksum e >&-",
        "sha256sum e >/dev/full",
        "sha256sum -c list >/dev/full",
        "cksum e >/dev/full",
        "sha256sum e 1</dev/null",
        "sha256sum -c --status list >&-",
        "sha256sum gone >&-",
        "sha256sum --foo >&-",
        "sha256sum --help >&-",
        "cksum --help >/dev/full",
        "b2sum --version >&-",
        "sha256sum gone 2>&-",
        "sha256sum gone 2>/dev/full",
        "sha256sum -cw list 2>/dev/full",
        "sha256sum - - <&- >&-",
        "sha256sum $(yes e | head -9999) | head -1",
        "trap '' PIPE; sha256sum $(yes e | head -9999) | head -1",
        "sha256sum --help | true; true",
    ] {
        compare(directory.path(), script);
    }
}

/// Whoever writes a list may wait for what becomes of each line.
#[test]
fn lines_are_judged_as_they_come() {
    let directory = tree();
    for arguments in [&["-c"][..], &["-c", "-"], &["-c", "/dev/stdin"]] {
        let mut command = std::process::Command::new(directory.path().join("links/sha256sum"));
        let pipes = command.current_dir(&directory).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut tool = pipes.spawn().expect("it starts");
        let (mut list, said) = (tool.stdin.take().expect("a pipe"), tool.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        let reader = thread::spawn(move || {
            BufReader::new(said).lines().for_each(|line| sender.send(line.expect("UTF-8")).expect("it is taken"));
        });
        // With more after a line than the whole next one: a comment, or how it begins.
        for after in ["", "# a comment\n", "\n", &EMPTY[..10]] {
            list.write_all(format!("{EMPTY}  e\n{after}").as_bytes()).expect("a reader");
            assert_eq!(lines.recv_timeout(Duration::from_secs(60)).as_deref(), Ok("e: OK"), "{after}");
        }
        list.write_all(format!("{}  e\n", &EMPTY[10..]).as_bytes()).expect("a reader");
        assert_eq!(lines.recv_timeout(Duration::from_secs(60)).as_deref(), Ok("e: OK"));
        drop(list);
        assert!(tool.wait().expect("it ends").success());
        reader.join().expect("it ends");
    }
}
