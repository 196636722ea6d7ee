//! `manysum FILE...` against the tools of GNU coreutils.
#![cfg(unix)]

use crate::common::{ALGORITHMS, compare, directory, fifo, hostile_files, hostile_names, manysum};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::thread;

#[test]
fn hostile_names_are_escaped() {
    let directory = directory();
    let files = hostile_files(directory.path());
    for algorithm in ALGORITHMS {
        compare(algorithm, directory.path(), &files, b"");
    }
}

#[test]
fn hostile_names_are_quoted_in_messages() {
    let directory = directory();
    let mut names = vec![OsString::from("--")];
    names.extend(hostile_names());
    names.push("".into());
    compare("sha256", directory.path(), &names, b"");
}

#[test]
fn one_failure_does_not_stop_the_others() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("good"), "good").expect("a file");
    fs::write(path("locked"), "locked").expect("a file");
    fs::set_permissions(path("locked"), fs::Permissions::from_mode(0o000)).expect("a mode");
    fs::create_dir(path("directory")).expect("a directory");
    symlink("nowhere", path("dangling")).expect("a link");
    symlink("good", path("link")).expect("a link");
    symlink("loop", path("loop")).expect("a link");
    let long = "x".repeat(300);
    let names =
        ["good", "missing", "directory", "directory/", "locked", "dangling", "link", "loop", "good/x", &long, "good"];
    for algorithm in ALGORITHMS {
        compare(algorithm, directory.path(), &names, b"");
    }
}

#[test]
fn lengths() {
    let directory = directory();
    let mut names = Vec::new();
    // Around the blocks of all algorithms and the buffers of any reader, and a few megabytes.
    for length in [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 4095, 65_536, 65_537, 1 << 20, (5 << 20) + 3] {
        let name = format!("{length}");
        let bytes: Vec<u8> = (0..length).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        fs::write(directory.path().join(&name), bytes).expect("a file");
        names.push(name);
    }
    for algorithm in ALGORITHMS {
        compare(algorithm, directory.path(), &names, b"");
    }
}

#[test]
fn many_files_in_order_with_any_number_of_threads() {
    let directory = directory();
    let names: Vec<String> = (0..2000).map(|i| format!("{i}")).collect();
    for name in &names {
        fs::write(directory.path().join(name), name.repeat(name.len())).expect("a file");
    }
    compare("sha256", directory.path(), &names, b"");
    let expected = manysum(directory.path(), &names, b"");
    for threads in ["-j1", "-j2", "--threads=7"] {
        let mut arguments = vec![threads.to_owned()];
        arguments.extend_from_slice(&names);
        assert_eq!(manysum(directory.path(), &arguments, b""), expected);
    }
}

#[test]
fn standard_input() {
    let directory = directory();
    fs::write(directory.path().join("file"), "file").expect("a file");
    for arguments in [&[][..], &["-"], &["-", "-"], &["file", "-", "file", "-"], &["./-"]] {
        compare("sha256", directory.path(), arguments, b"some input\n");
    }
}

#[test]
fn options_may_follow_files() {
    let directory = directory();
    fs::write(directory.path().join("file"), "file").expect("a file");
    let expected = manysum(directory.path(), &["-a", "md5", "file"], b"");
    for arguments in [&["file", "-a", "md5"][..], &["--algorithm=md5", "file"], &["-a", "md5", "--algo", "MD5", "file"]]
    {
        assert_eq!(manysum(directory.path(), arguments, b""), expected);
    }
    // Two of them are two functions, wherever they stand.
    let both = manysum(directory.path(), &["-a", "sha1,md5", "file"], b"");
    assert_eq!(manysum(directory.path(), &["-a", "sha1", "file", "--algo", "MD5"], b""), both);
}

#[test]
fn a_fifo_is_read() {
    let directory = directory();
    let path = fifo(directory.path(), "fifo");
    let writer = thread::spawn(move || fs::write(path, "through a pipe").expect("a reader"));
    let outcome = manysum(directory.path(), &["fifo"], b"");
    writer.join().expect("it is written");

    fs::remove_file(directory.path().join("fifo")).expect("a FIFO");
    fs::write(directory.path().join("fifo"), "through a pipe").expect("a file");
    assert_eq!(outcome, manysum(directory.path(), &["fifo"], b""));
    compare("sha256", directory.path(), &["fifo"], b"");
}

#[test]
#[cfg(target_os = "linux")]
fn files_that_pretend_to_be_empty() {
    compare("sha256", "/proc".as_ref(), &["version", "cpuinfo_of_no_such_name"], b"");
}

#[test]
#[cfg(target_os = "linux")]
fn read_errors_of_open_files() {
    // Reading one's memory at address 0 fails, and opening it does not.
    compare("sha256", "/proc/self".as_ref(), &["mem"], b"");
}

#[test]
fn lines_do_not_wait_for_a_slow_file() {
    use std::io::{BufRead, BufReader};
    let directory = directory();
    fs::write(directory.path().join("fast"), "").expect("a file");
    let slow = fifo(directory.path(), "slow");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("manysum"));
    let mut child =
        command.current_dir(&directory).args(["fast", "slow"]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (sender, receiver) = std::sync::mpsc::channel();
    let reader = thread::spawn(move || {
        // Nobody receives after the time is up.
        lines.by_ref().for_each(|line| sender.send(line.expect("a line")).unwrap_or_default());
    });
    let first = receiver.recv_timeout(std::time::Duration::from_secs(20));
    fs::write(slow, "slow").expect("a reader");
    assert!(child.wait().expect("it ends").success());
    assert!(first.is_ok_and(|line| line.ends_with("  fast")), "the first line comes before the slow file is written");
    reader.join().expect("lines");
    assert!(receiver.recv().is_ok_and(|line| line.ends_with("  slow")));
}
