//! What `manysum` does when it cannot write, and with wrong arguments.
#![cfg(unix)]

use crate::common::{EMPTY, directory, manysum, run};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The status and the messages of `manysum` with this standard output.
fn with_stdout(directory: &Path, arguments: &[&str], stdout: impl Into<Stdio>) -> (Option<i32>, String) {
    let output = outcome(directory, arguments, stdout);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn outcome(directory: &Path, arguments: &[&str], stdout: impl Into<Stdio>) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("manysum"));
    let child =
        command.current_dir(directory).args(arguments).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
    child.spawn().and_then(std::process::Child::wait_with_output).expect("it runs")
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure() {
    let directory = directory();
    fs::write(directory.path().join("list"), format!("{EMPTY}  /dev/null\n")).expect("a list");
    let full = || File::options().write(true).open("/dev/full").expect("a device");
    for arguments in [&["/dev/null"][..], &["-c", "list"], &["-r", "."], &["-c", "list", "list"]] {
        let message = "manysum: write error: No space left on device\n".to_owned();
        assert_eq!(with_stdout(directory.path(), arguments, full()), (Some(1), message));
    }
    let message = "manysum: write error: No space left on device\n".to_owned();
    assert_eq!(with_stdout(directory.path(), &["--help"], full()), (Some(1), message));
}

#[test]
fn an_output_that_is_not_for_writing_is_a_failure() {
    let directory = directory();
    let read_only = File::open("/dev/null").expect("a device");
    let message = "manysum: write error: Bad file descriptor\n".to_owned();
    assert_eq!(with_stdout(directory.path(), &["-"], read_only), (Some(1), message));
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let directory = directory();
    let names: Vec<String> = (0..500).map(|i| format!("{i}")).collect();
    for name in &names {
        fs::write(directory.path().join(name), name).expect("a file");
    }
    let list = manysum(directory.path(), &names, b"").stdout;
    fs::write(directory.path().join("list"), list).expect("a list");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for arguments in [&["0"][..], &names, &["-c", "list"], &["-r", "."]] {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let output = outcome(directory.path(), arguments, writer);
        assert_eq!((output.status.signal(), output.stderr), (Some(13), Vec::new()), "{arguments:?}");
    }
}

#[test]
fn messages_come_between_the_lines_they_belong_to() {
    let directory = directory();
    fs::write(directory.path().join("e"), "").expect("a file");
    let path = directory.path().join("both");
    let both = File::create(&path).expect("a file");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("manysum"));
    command.current_dir(&directory).args(["e", "missing", "e"]);
    command.stdout(both.try_clone().expect("a file")).stderr(both);
    assert_eq!(command.status().expect("it runs").code(), Some(1));
    let expected = format!("{EMPTY}  e\nmanysum: missing: No such file or directory\n{EMPTY}  e\n");
    assert_eq!(fs::read_to_string(path).expect("UTF-8"), expected);
}

#[test]
fn wrong_arguments() {
    let directory = directory();
    for arguments in
        [&["--no-such-option"][..], &["-x"], &["-a", "md6"], &["-a"], &["-j", "many"], &["-j", "-1"], &["-rc"]]
    {
        let outcome = manysum(directory.path(), arguments, b"");
        assert_eq!((outcome.status, outcome.stdout), (Some(1), Vec::new()), "{arguments:?}");
        assert!(!outcome.stderr.is_empty());
    }
}

#[test]
fn help_and_version() {
    let directory = directory();
    for (argument, text) in
        [("--help", "sha512-256"), ("-h", "--recursive"), ("--version", "manysum "), ("-V", "manysum ")]
    {
        let outcome = manysum(directory.path(), &[argument], b"");
        assert_eq!((outcome.status, outcome.stderr), (Some(0), Vec::new()), "{argument}");
        assert!(String::from_utf8_lossy(&outcome.stdout).contains(text));
    }
}

#[test]
fn backends() {
    let directory = directory();
    let run = |backend: &str| {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("manysum");
        command.current_dir(&directory).env("MANYHASH_BACKEND", backend).output().expect("it runs")
    };
    let wrong = run("foo");
    assert_eq!((wrong.status.code(), wrong.stdout), (Some(1), Vec::new()));
    let message = String::from_utf8_lossy(&wrong.stderr);
    assert!(message.starts_with("manysum: MANYHASH_BACKEND=foo: ") && message.ends_with('\n'), "{message}");
    for backend in ["", "portable"] {
        assert_eq!(run(backend).stdout, format!("{EMPTY}  -\n").into_bytes());
    }
}

/// A descriptor that is not there is no empty file, and swallows nothing.
#[test]
#[cfg(target_os = "linux")]
fn closed_standard_input_and_output() {
    let directory = directory();
    std::fs::write(directory.path().join("file"), "x").expect("a file");
    let manysum = assert_cmd::cargo::cargo_bin!("manysum").to_str().expect("UTF-8");
    let shell = |script: &str| {
        let script = script.replace("manysum", manysum);
        run(assert_cmd::Command::new("sh"), directory.path(), &["-c", &script], b"")
    };
    for (script, message) in [
        ("manysum <&-", "manysum: -: Bad file descriptor\n"),
        ("manysum file - <&-", "manysum: -: Bad file descriptor\n"),
        ("manysum -c <&-", "manysum: -: Bad file descriptor\n"),
        ("manysum --files-from - <&-", "manysum: -: Bad file descriptor\n"),
        ("manysum file >&-", "manysum: write error: Bad file descriptor\n"),
        ("manysum --help >&-", "manysum: write error: Bad file descriptor\n"),
        (
            // The loop ends when nobody is left to read.
            "trap '' PIPE; { while printf x; do :; done 2>/dev/null; manysum file; echo $? >&3; } 3>status | true
            exit $(cat status)",
            "manysum: write error: Broken pipe\n",
        ),
    ] {
        let outcome = shell(script);
        assert_eq!(String::from_utf8_lossy(&outcome.stderr), message, "{script}");
        assert_eq!(outcome.status, Some(1), "{script}");
    }
    // Empty, or swallowed, because the user says so.
    let scripts = ["manysum </dev/null", "manysum file >/dev/null", "manysum file <&-"];
    // As Python's subprocess.DEVNULL, open for both.
    for script in scripts.into_iter().chain(["manysum <>/dev/null", "manysum file 1<>/dev/null"]) {
        assert_eq!((shell(script).status, shell(script).stderr), (Some(0), Vec::new()), "{script}");
    }
}
