//! `manyhash dups` against other runs, against programs that write meanwhile, and killed: no content is ever lost.
#![cfg(unix)]

use crate::common::{directory, random, write};
use crate::toolbox::{dups, dups_program};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts it, silent.
fn start(root: &Path, arguments: &[&str]) -> Child {
    let mut program = Command::new(dups_program());
    program.current_dir(root).args(["dups", "--no-cache", "--yes"]).args(arguments);
    program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// All contents below a directory, under whatever name.
fn contents(root: &Path) -> BTreeSet<Vec<u8>> {
    let files = walkdir::WalkDir::new(root).into_iter().map(|entry| entry.expect("an entry"));
    files.filter(|entry| entry.file_type().is_file()).map(|entry| fs::read(entry.path()).expect("a file")).collect()
}

/// Two directories of so many files with the same contents each.
fn pairs(root: &Path, number: usize) -> BTreeSet<Vec<u8>> {
    for i in 0..number {
        for side in ["d1", "d2"] {
            write(root, &format!("{side}/{i:05}"), format!("{i:08}").repeat(4));
        }
    }
    contents(root)
}

#[test]
fn two_runs_against_each_other() {
    for option in ["--delete", "--hardlink"] {
        for _ in 0..4 {
            let directory = directory();
            let root = directory.path();
            let before = pairs(root, 600);
            let runs = [["d1", "d2"], ["d2", "d1"]].map(|order| start(root, &[option, order[0], order[1]]));
            for mut run in runs {
                run.wait().expect("it ends");
            }
            assert!(contents(root) == before, "{option}: a content is gone");
            // Nothing stays aside, and each file is at its name.
            for entry in walkdir::WalkDir::new(root).min_depth(2) {
                let entry = entry.expect("an entry");
                assert!(!entry.file_name().to_string_lossy().starts_with('.'), "{}", entry.path().display());
            }
        }
    }
}

/// As metadata editors do: a program that has the file open writes to it and puts its modification time back.
#[test]
fn a_file_that_is_changed_meanwhile_with_its_times_put_back() {
    let bytes = 3 << 20;
    let old = vec![7; bytes];
    let new = {
        let mut new = old.clone();
        new[0] = 8;
        new
    };
    let mut random = random();
    for option in ["--delete", "--hardlink"] {
        let mut full = Duration::from_millis(30);
        for round in 0..20 {
            let directory = directory();
            let root = directory.path();
            write(root, "a", &old);
            write(root, "b", &old);
            let begin = Instant::now();
            let mut run = start(root, &[option, "."]);
            if round > 0 {
                std::thread::sleep(full * u32::try_from(random(1000)).expect("a number") / 1000);
            }
            let mut changed = None;
            if round > 0
                && let Ok(file) = fs::File::options().write(true).open(root.join("b"))
            {
                let modified = file.metadata().and_then(|there| there.modified()).expect("a time");
                file.write_all_at(&[8], 0).expect("it is written");
                file.set_modified(modified).expect("the time is set");
                // If it has no name now, it was deleted before it was written to.
                let there = file.metadata().expect("a file");
                changed = (there.nlink() > 0).then_some(file);
            }
            run.wait().expect("it ends");
            if round == 0 {
                full = begin.elapsed();
            }
            let left = contents(root);
            // The old one is where it stays, or, if the one that was written to is a link of it by then, is the new one.
            if changed.is_some() {
                assert!(left.contains(&new), "{option}, round {round}: what was written is lost");
            } else {
                assert!(left.contains(&old), "{option}, round {round}: the content is lost");
            }
        }
    }
}

#[test]
fn a_file_that_is_open_for_writing_stays() {
    let directory = directory();
    let root = directory.path();
    write(root, "a", "same");
    write(root, "b", "same");
    for name in ["a", "b"] {
        let open = fs::File::options().append(true).open(root.join(name)).expect("a file");
        if manyhash_dedupe::is_open_for_writing(&fs::File::open(root.join(name)).expect("a file")).is_none() {
            eprintln!("skipped: no leases on this file system");
            return;
        }
        for option in ["--delete", "--hardlink"] {
            let outcome = dups(root, &["--no-cache", option, "--yes", "."]);
            let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
            assert!(said.contains("open for writing in another program"), "{said}");
            assert_eq!((outcome.status, fs::read_dir(root).expect("a directory").count()), (Some(1), 2));
        }
        drop(open);
    }
    let outcome = dups(root, &["--no-cache", "--delete", "--yes", "."]);
    assert_eq!((outcome.status, root.join("b").exists()), (Some(0), false));
}

/// A hundred times for each action, at random moments; then a run to the end mends what is left.
#[test]
fn killed_at_any_moment() {
    let mut random = random();
    for option in ["--delete", "--hardlink", "--reflink"] {
        let directory = directory();
        let root = directory.path();
        let (mut full, mut before) = (Duration::from_millis(100), BTreeSet::new());
        for kill in 0..101 {
            // Now and then from the start again: there has to be something to do.
            if kill == 0 || kill % 3 == 1 {
                let _ = fs::remove_dir_all(root.join("d1")).and(fs::remove_dir_all(root.join("d2")));
                before = pairs(root, 40);
            }
            let begin = Instant::now();
            let mut run = start(root, &[option, "d1", "d2"]);
            if kill == 0 {
                run.wait().expect("it ends");
                full = begin.elapsed();
                continue;
            }
            std::thread::sleep(full * u32::try_from(random(1000)).expect("a number") / 1000);
            let _ = run.kill();
            run.wait().expect("it ends");
            assert!(contents(root) == before, "{option}: a content is gone");
        }
        let outcome = dups(root, &["--no-cache", option, "--yes", "d1", "d2"]);
        assert!(contents(root) == before, "{option}: {outcome:?}");
        let names: BTreeSet<_> = fs::read_dir(root.join("d2"))
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert!(names.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{option}: {names:?}");
        assert_eq!(names.len(), if option == "--delete" { 0 } else { 40 });
    }
}

/// What a run that was killed has set aside is named, and comes back.
#[test]
fn what_was_set_aside_comes_back() {
    let directory = directory();
    let root = directory.path();
    write(root, "a", "same");
    write(root, "b", "same");
    write(root, "d/.manyhash-aside-AbCdEf/c", "same");
    write(root, "taken", "new");
    write(root, ".manyhash-aside-x/taken", "old");
    fs::create_dir(root.join(".manyhash-aside-empty")).expect("a directory");
    // It counts for nothing, and a run that changes nothing leaves it.
    let outcome = dups(root, &["--no-cache", "."]);
    assert_eq!(outcome.stdout, b"4 bytes each:\n./a\n./b\n");
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(said.contains("./d/.manyhash-aside-AbCdEf: holds files that a run set aside"), "{said}");
    // Named as an argument, it is refused.
    let outcome = dups(root, &["--no-cache", "--delete", "--yes", "a", "d/.manyhash-aside-AbCdEf/c"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(root.join("d/.manyhash-aside-AbCdEf/c").exists());

    let outcome = dups(root, &["--no-cache", "--delete", "--yes", "d", "."]);
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert_eq!(outcome.stdout, b"4 bytes each:\nd/c\n./a\n./b\n");
    assert!(said.contains("d/c: put back"), "{said}");
    assert!(
        said.contains("./taken: another file has taken its place; the original is now ./.manyhash-aside-x/taken"),
        "{said}"
    );
    assert_eq!(outcome.status, Some(1));
    assert!(!root.join(".manyhash-aside-empty").exists() && !root.join("d/.manyhash-aside-AbCdEf").exists());
    assert_eq!(contents(root), ["same", "new", "old"].map(|text| text.as_bytes().to_vec()).into());

    // A run that was to replace a file by a link, and was killed after that.
    fs::remove_dir_all(root.join(".manyhash-aside-x")).expect("it is there");
    write(root, ".manyhash-aside-y/c", "same");
    fs::hard_link(root.join("d/c"), root.join("c")).expect("a link");
    let outcome = dups(root, &["--no-cache", "--hardlink", "--yes", "c", "d"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(!root.join(".manyhash-aside-y").exists() && root.join("c").exists());
    // One that was killed between a link and the removal of what it was made of, where there is no other way.
    fs::create_dir(root.join(".manyhash-aside-z")).expect("a directory");
    fs::hard_link(root.join("taken"), root.join(".manyhash-aside-z/taken")).expect("a link");
    let outcome = dups(root, &["--no-cache", "--hardlink", "--yes", "."]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(!root.join(".manyhash-aside-z").exists() && root.join("taken").exists());
}

/// An interruption leaves nothing aside.
#[test]
fn interrupted() {
    let mut random = random();
    for _ in 0..20 {
        let directory = directory();
        let root = directory.path();
        let before = pairs(root, 50);
        let mut run = start(root, &["--delete", "d1", "d2"]);
        std::thread::sleep(Duration::from_millis(random(60) as u64));
        let pid = rustix::process::Pid::from_child(&run);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let status = run.wait().expect("it ends");
        assert!(status.success() || status.signal() == Some(15), "{status}");
        assert!(contents(root) == before);
        let aside =
            |entry: walkdir::DirEntry| entry.file_name().to_string_lossy().starts_with('.') && entry.depth() > 0;
        assert!(!walkdir::WalkDir::new(root.join("d2")).into_iter().any(|entry| aside(entry.expect("an entry"))));
    }
}
