//! `manyhash install-links`.
#![cfg(unix)]

use crate::common::{ALGORITHMS, EMPTY, Outcome, directory, run};
use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Runs a copy of `manyhash` that has `manysum` beside it, in `directory`.
fn install_links(programs: &Path, directory: &Path, argument: &str) -> Outcome {
    run(Command::new(programs.join("manyhash")), directory, &["install-links", argument], b"")
}

/// A directory `bin` with both programs.
fn programs(directory: &Path) -> PathBuf {
    let bin = directory.canonicalize().expect("a directory").join("bin");
    fs::create_dir(&bin).expect("a directory");
    for program in [assert_cmd::cargo::cargo_bin!("manyhash"), &crate::manysum_path()] {
        fs::copy(program, bin.join(program.file_name().expect("a name"))).expect("a copy");
    }
    bin
}

/// The lines for all links, each with `after` at its end.
fn lines(directory: &str, target: &str, after: &str) -> String {
    let sums = ALGORITHMS.map(|algorithm| format!("{algorithm}sum"));
    let tools = sums.iter().map(String::as_str).chain(["b2sum", "cksum"]);
    tools.map(|tool| format!("{directory}/{tool} -> {target}{after}\n")).collect()
}

#[track_caller]
fn check(outcome: &Outcome, stdout: &str, stderr: &str) {
    let said = (String::from_utf8_lossy(&outcome.stdout), String::from_utf8_lossy(&outcome.stderr));
    assert_eq!(said, (stdout.into(), stderr.into()));
    assert_eq!(outcome.status, Some(i32::from(!stderr.is_empty())));
}

#[test]
fn links_elsewhere_hold_the_whole_path() {
    let directory = directory();
    let bin = programs(directory.path());
    fs::create_dir(directory.path().join("links")).expect("a directory");
    let target = bin.join("manysum").display().to_string();
    check(&install_links(&bin, directory.path(), "links"), &lines("links", &target, ""), "");
    check(&install_links(&bin, directory.path(), "links"), &lines("links", &target, " (already there)"), "");
    let outcome = run(Command::new(directory.path().join("links/sha256sum")), directory.path(), &["-b"], b"");
    check(&outcome, &format!("{EMPTY} *-\n"), "");
}

#[test]
fn links_beside_the_program_move_with_it() {
    let directory = directory();
    let bin = programs(directory.path());
    check(&install_links(&bin, directory.path(), "bin"), &lines("bin", "manysum", ""), "");
    let moved = directory.path().join("moved");
    fs::rename(bin, &moved).expect("it is moved");
    assert_eq!(run(Command::new(moved.join("md5sum")), directory.path(), &["-z"], b"").status, Some(0));
}

#[test]
fn only_links_of_ours_are_replaced() {
    let directory = directory();
    let bin = programs(directory.path());
    let links = directory.path().join("links");
    fs::create_dir(&links).expect("a directory");
    fs::write(links.join("md5sum"), "theirs").expect("a file");
    symlink("/usr/bin/busybox", links.join("sha1sum")).expect("a link");
    symlink("/gone/manysum", links.join("sha224sum")).expect("a link");
    fs::create_dir(links.join("sha512sum")).expect("a directory");
    let target = bin.join("manysum").display().to_string();
    let stdout = format!(
        "links/sha224sum -> {target} (replaced)\nlinks/sha256sum -> {target}\nlinks/sha384sum -> {target}\n\
             links/b2sum -> {target}\nlinks/cksum -> {target}\n"
    );
    let stderr = "manyhash: links/md5sum: exists and is not a link; left unchanged\n\
                  manyhash: links/sha1sum: exists and points to /usr/bin/busybox; left unchanged\n\
                  manyhash: links/sha512sum: exists and is not a link; left unchanged\n";
    check(&install_links(&bin, directory.path(), "links"), &stdout, stderr);
    assert_eq!(fs::read(links.join("md5sum")).expect("a file"), b"theirs");
    assert_eq!(fs::read_link(links.join("sha1sum")).expect("a link"), Path::new("/usr/bin/busybox"));
    assert_eq!(fs::read_link(links.join("sha224sum")).expect("a link"), Path::new(&target));
    assert_eq!(fs::read_dir(&links).expect("a directory").count(), 8);
}

#[test]
fn without_a_directory_or_a_program() {
    let directory = directory();
    let bin = programs(directory.path());
    fs::write(directory.path().join("file"), "").expect("a file");
    let message = "manyhash: nowhere: No such file or directory\n";
    check(&install_links(&bin, directory.path(), "nowhere"), "", message);
    assert_eq!(install_links(&bin, directory.path(), "file").status, Some(1));
    fs::remove_file(bin.join("manysum")).expect("it is removed");
    let message = format!("manyhash: {}: No such file or directory\n", bin.join("manysum").display());
    check(&install_links(&bin, directory.path(), "bin"), "", &message);
}
