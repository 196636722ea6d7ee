//! `manyhash dups` where one file is seen through two file systems, and where files share blocks.
//!
//! Needs root, and what mounts; what this machine has not is said, and skipped.
#![cfg(target_os = "linux")]

use crate::common::{Outcome, content, directory, write};
use crate::toolbox::dups;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is mounted until it is dropped.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily: what is busy for a moment goes later.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Mounts something with this command; none if that cannot be done here.
fn mount(at: &Path, command: &[&str]) -> Option<Mounted> {
    fs::create_dir_all(at).expect("a directory");
    let [program, arguments @ ..] = command else { panic!("a program") };
    let output = Command::new(program).args(arguments).arg(at).output();
    match output {
        Ok(output) if output.status.success() => Some(Mounted(at.to_owned())),
        Ok(output) => {
            eprintln!("skipped: {command:?}: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("skipped: {program}: {error}");
            None
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A new file system in a file.
fn file_system(root: &Path, kind: &str) -> Option<Mounted> {
    let image = root.join("image");
    fs::File::create(&image).and_then(|file| file.set_len(400 << 20)).expect("a file");
    let make = format!("mkfs.{kind}");
    match Command::new(&make).arg("-q").arg(&image).output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            eprintln!("skipped: {make}: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Err(error) => {
            eprintln!("skipped: {make}: {error}");
            return None;
        }
    }
    mount(&root.join("disk"), &["mount", "-o", "loop", text(&image)])
}

/// Whether nothing was removed or replaced: each file is there, and nothing beside them.
#[track_caller]
fn assert_all_there(outcome: &Outcome, views: &[&Path], names: &[&str]) {
    for view in views {
        for name in names {
            assert_eq!(fs::read(view.join(name)).expect("it is there"), content(100_000), "{outcome:?}");
        }
        assert_eq!(fs::read_dir(view).expect("a directory").count(), names.len(), "{outcome:?}");
    }
}

/// In both orders, by each action that removes names, with the caches of the kernel cold and warm.
fn nothing_is_lost_by_two_views(root: &Path, views: [&str; 2]) {
    let [a, b] = views.map(|view| root.join(view));
    for option in ["--delete", "--hardlink"] {
        for order in [views, [views[1], views[0]]] {
            let outcome = dups(root, &["--no-cache", option, "--yes", order[0], order[1]]);
            assert_eq!(outcome.status, Some(i32::from(option == "--delete")), "{outcome:?}");
            assert_all_there(&outcome, &[&a, &b], &["f"]);
        }
    }
}

#[test]
fn a_directory_seen_through_fuse() {
    for options in [&["-o", "attr_timeout=0"][..], &["-o", "attr_timeout=60,entry_timeout=60,negative_timeout=60"]] {
        let directory = directory();
        let root = directory.path();
        write(root, "real/f", content(100_000));
        let real = root.join("real");
        let command = [&["bindfs"], options, &[text(&real)]].concat();
        let Some(_mounted) = mount(&root.join("fuse"), &command) else { return };
        nothing_is_lost_by_two_views(root, ["real", "fuse"]);
    }
}

#[test]
fn a_directory_seen_through_an_overlay() {
    let directory = directory();
    let root = directory.path();
    // An overlay's upper directory may not be on one.
    let Some(_disk) = mount(&root.join("disk"), &["mount", "-t", "tmpfs", "none"]) else { return };
    for option in ["--delete", "--hardlink"] {
        for (name, order) in [
            ("a", ["merged", "disk/upper"]),
            ("b", ["disk/upper", "merged"]),
            ("c", ["merged", "disk/lower"]),
            ("d", ["disk/lower", "merged"]),
        ] {
            for below in ["upper", "lower", "work"] {
                let _ = fs::remove_dir_all(root.join("disk").join(below));
                fs::create_dir(root.join("disk").join(below)).expect("a directory");
            }
            let layer = if name < "c" { "disk/upper" } else { "disk/lower" };
            write(root, &format!("{layer}/{name}"), content(100_000));
            let path = |name: &str| format!("{}/disk/{name}", root.display());
            let options = format!("lowerdir={},upperdir={},workdir={}", path("lower"), path("upper"), path("work"));
            let merged = root.join("merged");
            let command = ["mount", "-t", "overlay", "-o", &options, "overlay"];
            let Some(_mounted) = mount(&merged, &command) else { return };
            let outcome = dups(root, &["--no-cache", option, "--yes", order[0], order[1]]);
            let there = |view: &str| fs::read(root.join(view).join(name)).is_ok_and(|found| found == content(100_000));
            // A file of the lower layer may go from the merged view, and stays below.
            let kept = if name == "d" { there("disk/lower") } else { there("merged") && there(layer) };
            assert!(kept, "{option} {order:?}: {outcome:?}");
        }
    }
}

#[test]
fn blocks_are_shared() {
    for kind in ["btrfs", "xfs"] {
        let directory = directory();
        let Some(disk) = file_system(directory.path(), kind) else { continue };
        let root = &disk.0;
        let large = content(40_000_003);
        for name in ["a", "b", "c"] {
            write(root, name, &large);
        }
        fs::hard_link(root.join("b"), root.join("b2")).expect("a link");
        fs::set_permissions(root.join("b"), PermissionsExt::from_mode(0o600)).expect("permissions");
        let attribute = "user.comment";
        rustix::fs::setxattr(root.join("b"), attribute, b"important", rustix::fs::XattrFlags::empty())
            .expect("it is set");
        let before = fs::metadata(root.join("b")).expect("a file");

        let outcome = dups(root, &["--no-cache", "--reflink", "--yes", "."]);
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(said.contains("2 duplicates in 1 group, 80.00 MB wasted"), "{said}");
        assert!(said.ends_with("blocks of 2 files shared\n") && outcome.status == Some(0), "{said}");
        let after = fs::metadata(root.join("b")).expect("a file");
        let told = |there: &fs::Metadata| (there.ino(), there.nlink(), there.mode(), there.mtime(), there.mtime_nsec());
        assert_eq!(told(&after), told(&before), "{kind}");
        let mut value = [0; 9];
        rustix::fs::getxattr(root.join("b"), attribute, &mut value).expect("it is there");
        assert_eq!(&value, b"important");
        for name in ["a", "b", "b2", "c"] {
            assert!(fs::read(root.join(name)).expect("a file") == large);
        }
        // They are no waste any more, and there is nothing left to do.
        let outcome = dups(root, &["--no-cache", "--reflink", "--yes", "."]);
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(said.contains("2 duplicates in 1 group, 0 B wasted"), "{said}");
        assert!(said.ends_with("blocks of 0 files shared\n") && outcome.status == Some(0), "{said}");
        // One that is written to is.
        let mut changed = large.clone();
        changed[20_000_000] ^= 1;
        write(root, "c", &changed);
        write(root, "d", &changed);
        let outcome = dups(root, &["--no-cache", "."]);
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(said.contains("2 duplicates in 2 groups, 40.00 MB wasted"), "{kind}: {said}");

        // So small that Btrfs keeps them among its own records, where nothing is to be shared.
        for name in ["small/a", "small/b"] {
            write(root, name, "same");
            fs::File::open(root.join(name)).and_then(|file| file.sync_all()).expect("it is stored");
        }
        let share = || dups(root, &["--no-cache", "--reflink", "--yes", "small"]);
        assert_eq!(share().status, Some(0));
        let said = String::from_utf8_lossy(&share().stderr).into_owned();
        assert!(said.ends_with("blocks of 0 files shared\n"), "{kind}: {said}");
    }
}

/// ext4 has 65,000 links a file at most.
#[test]
fn more_files_than_a_file_can_have_links() {
    let directory = directory();
    let root = directory.path();
    let image = root.join("image");
    fs::File::create(&image).and_then(|file| file.set_len(600 << 20)).expect("a file");
    let made = Command::new("mkfs.ext4").args(["-q", "-N", "70000"]).arg(&image).output();
    if !made.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: mkfs.ext4");
        return;
    }
    let Some(disk) = mount(&root.join("disk"), &["mount", "-o", "loop", text(&image)]) else { return };
    let root = &disk.0;
    // All but a few are links already.
    write(root, "a", "same");
    for i in 1..64_998 {
        fs::hard_link(root.join("a"), root.join(format!("l{i:05}"))).expect("a link");
    }
    for name in ["m", "n", "o", "p", "q"] {
        write(root, name, "same");
    }
    let outcome = dups(root, &["--no-cache", "--hardlink", "--yes", "."]);
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(said.contains("./o: kept as the first of further links: "), "{said}");
    assert!(said.ends_with("4 files replaced by hard links, 1 skipped\n") && outcome.status == Some(0), "{said}");
    let inode = |name: &str| fs::metadata(root.join(name)).expect("a file").ino();
    assert_eq!([inode("m"), inode("n")], [inode("a"); 2]);
    assert_eq!([inode("p"), inode("q")], [inode("o"); 2]);
    assert_ne!(inode("a"), inode("o"));
}
