//! Doing away with duplicates: the first file of each group stays, and the others are deleted or replaced.

use super::anchor::Anchor;
use super::blocks;
use super::find::Group;
use super::link::Link;
use super::scan::Candidate;
use super::settle::{Delete, settle};
use super::share::share_all;
use super::stop::Stop;
use manysum::console::Console;
use manysum::figures::count;
use manysum::name;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

/// What becomes of a duplicate.
#[derive(Clone, Copy)]
pub(super) enum Replacement {
    Nothing,
    HardLink { ignore_attributes: bool },
    Reflink,
}

impl Replacement {
    fn question(self, files: &str) -> String {
        match self {
            Replacement::Nothing => format!("Delete {files}?"),
            Replacement::HardLink { .. } => format!("Replace {files} by hard links?"),
            Replacement::Reflink => format!("Let {files} share blocks?"),
        }
    }

    fn summary(self, done: usize) -> String {
        let files = count(done, "file");
        match self {
            Replacement::Nothing => format!("{files} deleted"),
            Replacement::HardLink { .. } => format!("{files} replaced by hard links"),
            Replacement::Reflink => format!("blocks of {files} shared"),
        }
    }
}

/// What came of the question whether it shall be done.
pub(super) enum Answer {
    Yes,
    No,
    /// There is nobody to ask.
    None,
}

/// Asks whether it shall be done.
///
/// # Errors
/// If standard input or standard error fails.
pub(super) fn ask(console: &mut Console, groups: &[Group], replacement: Replacement) -> io::Result<Answer> {
    if !io::stdin().is_terminal() {
        console.message("no duplicate was changed: standard input is not a terminal, so --yes is needed");
        return Ok(Answer::None);
    }
    let files: usize = groups.iter().map(|group| group.duplicates().len()).sum();
    let names = groups.iter().flat_map(Group::duplicate_names).count();
    let names = if names == files { String::new() } else { format!(" ({names} names)") };
    eprint!("{} [y/N] ", replacement.question(&(count(files, "file") + &names)));
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(Answer::Yes);
    }
    console.message("no duplicate was changed");
    Ok(Answer::No)
}

/// What came of a duplicate.
enum DuplicateOutcome {
    Done,
    /// It shares all blocks already.
    Already,
    /// It stays, and others may be joined with it.
    Left(String),
}

/// Replaces all files but the first of each group, and says how many; whether nothing went wrong.
pub(super) fn replace(console: &mut Console, groups: &[Group], replacement: Replacement, stop: &Stop) -> bool {
    let (mut done, mut left, mut failed) = (0, 0, 0);
    for group in groups {
        let (first, duplicates) = (&group.files[0].path, group.duplicates());
        let mut anchors = match Anchor::new(first, replacement) {
            Ok(anchor) => vec![anchor],
            Err(error) => {
                console.file_error(name::bytes(first.as_os_str()), &error);
                failed += duplicates.len();
                continue;
            }
        };
        for duplicate in duplicates {
            if stop.is_requested() {
                break;
            }
            match replace_one(&mut anchors, duplicate, replacement, stop) {
                Ok(DuplicateOutcome::Done) => done += 1,
                Ok(DuplicateOutcome::Already) => {}
                Ok(DuplicateOutcome::Left(why)) => {
                    console.about(name::bytes(duplicate.path.as_os_str()), &why);
                    left += 1;
                }
                Err(error) => {
                    console.file_error(name::bytes(duplicate.path.as_os_str()), &error);
                    failed += 1;
                }
            }
        }
    }
    let and_left = if left == 0 { String::new() } else { format!(", {left} skipped") };
    console.message(replacement.summary(done) + &and_left);
    failed == 0 && !stop.is_requested()
}

/// Does away with a duplicate of the anchors, or makes it one more.
fn replace_one(
    anchors: &mut Vec<Anchor>,
    duplicate: &Candidate,
    replacement: Replacement,
    stop: &Stop,
) -> io::Result<DuplicateOutcome> {
    let mut names: Vec<PathBuf> = duplicate.names().cloned().collect();
    if matches!(replacement, Replacement::Nothing) {
        return settle(&anchors[0].path, &mut names, &duplicate.identity, &Delete, stop)
            .map(|()| DuplicateOutcome::Done);
    }
    let mut own = Anchor::new(&duplicate.path, replacement)?;
    let mut why = None;
    for anchor in anchors.iter_mut() {
        let outcome = match replacement {
            Replacement::Reflink if blocks::are_shared(&anchor.path, &duplicate.path) => {
                return Ok(DuplicateOutcome::Already);
            }
            Replacement::HardLink { ignore_attributes } => match anchor.obstacle(&own) {
                Some(obstacle) => Err(obstacle),
                None => {
                    let manner = Link { kept: &anchor.path, ignore_attributes };
                    let settled = settle(&anchor.path, &mut names, &duplicate.identity, &manner, stop);
                    anchor.judge(settled)?
                }
            },
            _ => anchor.judge(share_all(&anchor.path, duplicate, stop))?,
        };
        match outcome {
            Ok(()) => return Ok(DuplicateOutcome::Done),
            Err(obstacle) => why = why.or(Some(obstacle)),
        }
    }
    // If some of its names are links of an anchor by now, the last is not.
    if names.len() <= duplicate.links.len()
        && let Some(name) = names.pop()
    {
        own.path = name;
    }
    anchors.push(own);
    Ok(DuplicateOutcome::Left(why.unwrap_or_default()))
}
