//! What happens between the steps.

use super::{Delete, Manner, settle};
use crate::dups::link::Link;
use crate::dups::scan::identity;
use crate::dups::stop::Stop;
use crate::dups::version::Opened;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Something that is done when both files are open and none of their bytes is read.
struct Meanwhile<F>(F);

impl<F: Fn()> Manner for Meanwhile<F> {
    fn allows(&self, _kept: &Opened, _other: &Opened) -> io::Result<()> {
        (self.0)();
        Ok(())
    }
}

/// Two files with the same content.
fn pair() -> (tempfile::TempDir, [PathBuf; 2]) {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = ["a", "b"].map(|name| directory.path().join(name));
    paths.iter().for_each(|path| fs::write(path, "same").expect("a file"));
    (directory, paths)
}

fn remove(kept: &Path, duplicate: &Path, manner: &impl Manner) -> io::Result<()> {
    let identity = identity(duplicate, &fs::metadata(duplicate).expect("a file"));
    settle(kept, &mut vec![duplicate.to_owned()], &identity, manner, &Stop::default())
}

/// Where the file is that was set aside.
fn aside(root: &Path) -> PathBuf {
    let entries = fs::read_dir(root).expect("a directory").map(|entry| entry.expect("an entry").path());
    let directories: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    let [directory] = &directories[..] else { panic!("{directories:?}") };
    directory.join("b")
}

/// Writes what is there already, and puts the modification time back.
fn touch(path: &Path) {
    // Longer than a tick of a kernel with a slow clock for change times.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let file = File::options().write(true).open(path).expect("a file");
    let modified = file.metadata().and_then(|there| there.modified()).expect("a time");
    file.write_all_at(b"s", 0).and_then(|()| file.set_modified(modified)).expect("it is written");
}

#[test]
fn what_happens_meanwhile_keeps_the_duplicate() {
    type Event = fn(&Path);
    let events: [(&str, Event); 6] = [
        ("changed since", |root| touch(&aside(root))),
        ("changed meanwhile", |root| touch(&root.join("a"))),
        ("no longer there", |root| fs::remove_file(root.join("a")).expect("it is there")),
        ("no longer there", |root| fs::rename(root.join("a"), root.join("c")).expect("it is there")),
        ("changed meanwhile", |root| {
            fs::write(root.join("c"), "same")
                .and_then(|()| fs::rename(root.join("c"), root.join("a")))
                .expect("a file");
        }),
        ("differs from", |root| fs::write(aside(root), "else").expect("a file")),
    ];
    for (said, event) in events {
        let (directory, [kept, duplicate]) = pair();
        let root = directory.path();
        let error = remove(&kept, &duplicate, &Meanwhile(|| event(root))).expect_err("it stays");
        assert!(error.to_string().contains(said), "{error}");
        let content: &[u8] = if said == "differs from" { b"else" } else { b"same" };
        assert_eq!(fs::read(&duplicate).expect("it is back"), content);
        let is_hidden = |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.path().is_dir());
        assert!(!fs::read_dir(root).expect("a directory").any(is_hidden));
    }
}

#[test]
fn what_has_come_to_its_place_is_not_replaced() {
    let (directory, [kept, duplicate]) = pair();
    let event = || fs::remove_file(&kept).and_then(|()| fs::write(&duplicate, "new")).expect("a file");
    let error = remove(&kept, &duplicate, &Meanwhile(event)).expect_err("it stays");
    let aside = aside(directory.path());
    assert!(error.to_string().contains("another file has taken its place; the original is now "), "{error}");
    assert!(error.to_string().contains(&*aside.to_string_lossy()), "{error}");
    assert_eq!(fs::read(&duplicate).expect("a file"), b"new");
    assert_eq!(fs::read(aside).expect("a file"), b"same");
}

#[test]
fn nothing_happens() {
    for hard in [false, true] {
        let (directory, [kept, duplicate]) = pair();
        if hard {
            let link = Link { kept: &kept, ignore_attributes: false };
            remove(&kept, &duplicate, &link).expect("it is replaced");
        } else {
            remove(&kept, &duplicate, &Delete).expect("it is deleted");
        }
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), if hard { 2 } else { 1 });
        assert_eq!(fs::read(&kept).expect("a file"), b"same");
    }
}

/// The kept file is not deleted as its own duplicate.
#[test]
fn a_further_name_stays() {
    let (_directory, [kept, duplicate]) = pair();
    fs::remove_file(&duplicate).and_then(|()| fs::hard_link(&kept, &duplicate)).expect("a link");
    let error = remove(&kept, &duplicate, &Delete).expect_err("it stays");
    assert!(error.to_string().contains("another name of the first file") && duplicate.exists(), "{error}");
}
