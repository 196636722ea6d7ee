//! Checks the checksums of lists.

use super::files::{Files, Item, Listed, total_bytes};
use super::settings::{Policy, Report, Settings};
use super::summary::{self, Summary};
use super::verdict::Verdict;
use crate::console::{Console, reason};
use crate::guess::{self, LARGEST, MOST, Witness};
use crate::lists::line::{self, tag};
use crate::lists::read::List;
use crate::lists::{Entry, Parser};
use crate::name;
use crate::progress::Progress;
use crate::quote::quote;
use crate::reading::Reading;
use manyhash::HashFunction;
use manyhash::file::Digested;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;

/// What messages call the list `-`.
const INPUT: &str = "standard input";

/// Prints a line for each file of the lists; whether every list has files, and all could be read and have the digests
/// listed.
///
/// # Errors
/// If a line cannot be written.
pub(super) fn check(console: &mut Console, settings: &Settings, policy: Policy) -> io::Result<bool> {
    let mut parser = Parser::new(settings.accepted);
    let mut summary = Summary::start();
    let progress = Progress::new(settings.reading.progress);
    console.share_with(progress.bar());
    if progress.is_shown() {
        let (lists, accepted) = (settings.files.clone(), settings.accepted);
        progress.find_total(move || total_bytes(&lists, accepted));
    }
    let is_tool = settings.accepted.is_tool();
    let mut well = true;
    for name in &settings.files {
        match List::open(name, &mut parser) {
            Ok(mut list) => {
                let name = if name == "-" { OsStr::new(INPUT) } else { name };
                let (counts, guessed) = (Counts::default(), Guessed::default());
                let mut outcome = CheckedList { settings, policy, progress: &progress, list: name, counts, guessed };
                outcome.take(console, &mut summary, &mut list)?;
                well &= if list.end().is_err() {
                    console.about(name::bytes(name), "read error");
                    false
                } else {
                    outcome.conclude(console)
                };
            }
            // Coreutils find out as they read it.
            Err(_) if is_tool && name == "-" => {
                well = false;
                console.about(INPUT.as_bytes(), "read error");
            }
            Err(error) => {
                well = false;
                console.file_error(name::bytes(name), &error);
            }
        }
    }
    drop(progress);
    // The tools of coreutils have no such line.
    if let (false, Report::All | Report::Warn, Some(line)) = (is_tool, policy.report, summary.line()) {
        console.flush()?;
        console.message(line);
    }
    Ok(well)
}

/// What came of a list.
struct CheckedList<'a> {
    settings: &'a Settings,
    policy: Policy,
    progress: &'a Progress,
    /// Its name in messages.
    list: &'a OsStr,
    counts: Counts,
    guessed: Guessed,
}

/// What came of files whose lines do not say whose digests they have.
#[derive(Default)]
struct Guessed {
    matched: bool,
    /// Some that did not match: the function that was taken for granted, and who may tell the right one.
    mismatched: Vec<(HashFunction, Witness<Vec<u8>>)>,
}

/// How many lines of a list were what.
#[derive(Default)]
struct Counts {
    matched: u64,
    mismatched: u64,
    unread: u64,
    /// Of missing files, where they do not count.
    ignored: u64,
    improper: u64,
}

impl CheckedList<'_> {
    /// Of a list, whose files are printed as they are checked.
    fn take(&mut self, console: &mut Console, summary: &mut Summary, list: &mut List<'_>) -> io::Result<()> {
        let mut files = Files::new(list);
        let mut written = Ok(());
        while written.is_ok() {
            let functions = match files.peek() {
                Some(Item::File(file)) => file.functions.clone(),
                Some(Item::Improper(number, function)) => {
                    self.improper(console, *number, *function);
                    files.take();
                    continue;
                }
                None => break,
            };
            let progress = self.progress;
            let run = files.run(&functions).inspect(|(item, _)| progress.begin(item.name()));
            progress.count(self.settings.reading.files(&functions)).digest(run, |item, digested| {
                progress.done();
                match item {
                    Item::File(file) => written = self.file(console, summary, &file, digested),
                    Item::Improper(number, function) => self.improper(console, number, function),
                }
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
        }
        written
    }

    fn improper(&mut self, console: &mut Console, number: u64, function: Option<HashFunction>) {
        self.counts.improper += 1;
        if self.policy.report == Report::Warn {
            let tag = function.map_or_else(String::new, |function| tag(function) + " ");
            let what = format!(": {number}: improperly formatted {tag}checksum line");
            console.message([&*quote(name::bytes(self.list)), what.as_bytes()].concat());
        }
    }

    /// Counts a file, and prints what is to be said of it.
    fn file(
        &mut self,
        console: &mut Console,
        summary: &mut Summary,
        file: &Listed,
        digested: io::Result<Digested>,
    ) -> io::Result<()> {
        let digested = match digested {
            Err(error) if error.kind() == ErrorKind::NotFound && self.policy.ignore_missing => {
                self.counts.ignored += file.entries.len() as u64;
                summary.add(summary::FileOutcome::Missing, 0);
                return Ok(());
            }
            Err(error) => {
                let missing = error.kind() == ErrorKind::NotFound;
                summary.add(if missing { summary::FileOutcome::Missing } else { summary::FileOutcome::Unreadable }, 0);
                let error = reason(&error);
                console.about(&file.name, &error);
                Err(error)
            }
            Ok(file) => Ok(file),
        };
        let digests = digested.as_ref().map(|file| &file.digests[..]).map_err(String::as_str);
        let mut all_match = true;
        for entry in &file.entries {
            let verdict = Verdict::of(entry, &file.functions, digests);
            all_match &= verdict.is_match();
            if file.is_guess {
                self.guessed.add(entry, &file.name, digested.as_ref().ok(), verdict.is_match());
            }
            *match verdict {
                Verdict::Unread(..) => &mut self.counts.unread,
                Verdict::Read(_) if verdict.is_match() => &mut self.counts.matched,
                Verdict::Read(_) => &mut self.counts.mismatched,
            } += 1;
            let is_said = match self.policy.report {
                Report::All | Report::Warn => true,
                Report::Quiet => !verdict.is_match(),
                Report::Status => false,
            };
            if is_said {
                console.line(&verdict.line(self.settings, &file.name)?)?;
            }
        }
        if let Ok(read) = &digested {
            summary
                .add(if all_match { summary::FileOutcome::Matched } else { summary::FileOutcome::Failed }, read.bytes);
        }
        Ok(())
    }

    /// Says what counts of the whole list; whether it is good.
    fn conclude(&self, console: &mut Console) -> bool {
        let Counts { matched, mismatched, unread, ignored, improper } = self.counts;
        if matched + mismatched + unread + ignored == 0 {
            console.about(name::bytes(self.list), "no properly formatted checksum lines found");
            return false;
        }
        if self.policy.report != Report::Status {
            warn(console, improper, "line is improperly formatted", "lines are improperly formatted");
            warn(console, unread, "listed file could not be read", "listed files could not be read");
            warn(console, mismatched, "computed checksum did NOT match", "computed checksums did NOT match");
            if self.policy.ignore_missing && matched == 0 {
                console.about(name::bytes(self.list), "no file was verified");
            }
            if let Some(doubt) = self.guessed.doubt(self.settings.reading) {
                console.about(name::bytes(self.list), &doubt);
            }
        }
        matched > 0 && mismatched == 0 && unread == 0 && !(self.policy.strict && improper > 0)
    }
}

impl Guessed {
    fn add(&mut self, entry: &Entry, name: &[u8], digested: Option<&Digested>, is_match: bool) {
        self.matched |= is_match;
        // What was no regular file cannot be read again.
        let is_small = digested.is_some_and(|read| read.settled.is_some() && read.bytes <= LARGEST);
        if let (false, true, true, [(function, listed)], Ok(path)) =
            (is_match, is_small, self.mismatched.len() < MOST, &entry.digests[..], name::from_bytes(name.to_vec()))
        {
            self.mismatched.push((*function, (name.to_vec(), *listed, path.into())));
        }
    }

    /// What to say of a list where none matched.
    fn doubt(&self, reading: Reading) -> Option<String> {
        let (guess, _) = self.mismatched.first().filter(|_| !self.matched)?;
        let witnesses = self.mismatched.iter().filter(|(function, _)| function == guess).map(|(_, of)| of.clone());
        let tag = tag(*guess);
        Some(match guess::function(*guess, witnesses, reading) {
            Some((function, name)) => {
                let name = String::from_utf8_lossy(&quote(&name)).into_owned();
                format!(
                    "its digests are {}, not {tag}, as {name} shows; check it with -a {function}",
                    line::tag(function)
                )
            }
            None => format!("does not name its algorithm, which was taken to be {tag}; name the right one with -a"),
        })
    }
}

fn warn(console: &mut Console, count: u64, one: &str, many: &str) {
    match count {
        0 => {}
        1 => console.message(format!("WARNING: 1 {one}")),
        _ => console.message(format!("WARNING: {count} {many}")),
    }
}
