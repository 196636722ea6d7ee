//! What runs that were stopped have left: files that they had set aside.

use super::aside::Aside;
use super::settle::settle_aside;
use super::stop::Stop;
use manysum::console::Console;
use manysum::name;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Says what is there, and how it comes back.
pub(super) fn report(console: &mut Console, directories: &BTreeSet<PathBuf>) {
    for directory in directories {
        let what = "holds files that a run set aside; after a kill, --delete, --hardlink or --reflink restores them";
        console.about(bytes(directory), what);
    }
}

/// Puts back what runs that are at work no more have set aside; how many files came back, and whether all was well.
pub(super) fn put_back(console: &mut Console, directories: &BTreeSet<PathBuf>) -> (usize, bool) {
    let (mut files, mut well) = (0, true);
    for directory in directories {
        let left = Aside::left(directory).unwrap_or_else(|error| {
            console.file_error(bytes(directory), &error);
            well = false;
            Vec::new()
        });
        for aside in left {
            match put_back_one(&aside) {
                Ok(what) => {
                    files += 1;
                    console.about(bytes(aside.name()), what);
                }
                Err(error) => {
                    console.file_error(bytes(aside.name()), &error);
                    well = false;
                }
            }
        }
    }
    (files, well)
}

fn bytes(path: &Path) -> &[u8] {
    name::bytes(path.as_os_str())
}

fn put_back_one(aside: &Aside) -> io::Result<&'static str> {
    match aside.put_back() {
        Ok(()) => Ok("put back; an interrupted run had set it aside"),
        // A run that replaces files by links may have been stopped when only the duplicate was to be removed.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match settle_aside(aside, &Stop::default()) {
            Ok(()) => Ok("intact; removed a duplicate that an interrupted run had set aside"),
            Err(_) => Err(error),
        },
        Err(error) => Err(error),
    }
}
