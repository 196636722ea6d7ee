//! Checks the checksums of lists.

use super::settings::{Policy, Report, Settings};
use crate::console::{Console, reason};
use crate::lists::json;
use crate::lists::line::{self, Listed, Parser};
use crate::lists::read::{Entry, List};
use crate::quote::quote;
use crate::{escape, name, reading};
use manyhash::{Digest, Function};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;

/// Prints a line for each file of the lists; whether every list has files, and all could be read and have the digests
/// listed.
///
/// # Errors
/// If a line cannot be written.
pub(super) fn check(console: &mut Console, settings: &Settings, policy: Policy) -> io::Result<bool> {
    let mut parser = Parser::new(settings.functions[0], settings.dialect);
    let mut well = true;
    for name in &settings.files {
        match List::open(name, &mut parser) {
            Ok(mut list) => {
                let name = if name == "-" { OsStr::new("standard input") } else { name };
                let outcome = Outcome::of(console, settings, policy, name, &mut list)?;
                well &= if list.read.is_err() {
                    console.about(name::bytes(name), "read error");
                    false
                } else {
                    outcome.conclude(console, policy, name)
                };
            }
            Err(error) => {
                well = false;
                console.file_error(name::bytes(name), &error);
            }
        }
    }
    Ok(well)
}

/// How many files and lines of a list were what.
#[derive(Default)]
struct Outcome {
    matched: u64,
    mismatched: u64,
    unread: u64,
    /// Missing files, where they do not count.
    ignored: u64,
    /// Lines that are improperly formatted.
    improper: u64,
}

impl Outcome {
    /// Of a list, whose files are printed as they are checked.
    fn of(
        console: &mut Console,
        settings: &Settings,
        policy: Policy,
        list_name: &OsStr,
        list: &mut List<'_>,
    ) -> io::Result<Self> {
        let mut outcome = Outcome::default();
        let mut written = Ok(());
        while written.is_ok()
            && let Some(function) = list.next_function()
        {
            reading::files(&[function], settings.threads).digest(&mut *list, |entry, digested| {
                let digest = digested.map(|digested| digested.digests[0]);
                match entry {
                    Entry::File(Listed { name, digest: listed, .. }) => {
                        if let Some(verdict) = outcome.judge(console, policy, &name, &listed, digest) {
                            let line = verdict.line(settings.json, &name, function);
                            written = line.and_then(|line| console.line(&line));
                        }
                    }
                    Entry::Improper(number, function) => {
                        outcome.improper += 1;
                        if policy.report == Report::Warn {
                            let tag = line::tag(function);
                            let what = format!(": {number}: improperly formatted {tag} checksum line");
                            console.message([&*quote(name::bytes(list_name)), what.as_bytes()].concat());
                        }
                    }
                }
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
        }
        written.map(|()| outcome)
    }

    /// Counts a file, and returns what to print for it, if anything.
    fn judge(
        &mut self,
        console: &mut Console,
        policy: Policy,
        name: &[u8],
        listed: &Digest,
        digest: io::Result<Digest>,
    ) -> Option<Verdict> {
        let verdict = match digest {
            Ok(digest) if digest == *listed => {
                self.matched += 1;
                Verdict::Matched(digest)
            }
            Ok(digest) => {
                self.mismatched += 1;
                Verdict::Mismatched(digest)
            }
            Err(error) if policy.ignore_missing && error.kind() == ErrorKind::NotFound => {
                self.ignored += 1;
                return None;
            }
            Err(error) => {
                self.unread += 1;
                let error = reason(&error);
                console.about(name, &error);
                Verdict::Unread(error)
            }
        };
        let said = match policy.report {
            Report::All | Report::Warn => true,
            Report::Quiet => !matches!(verdict, Verdict::Matched(_)),
            Report::Status => false,
        };
        said.then_some(verdict)
    }

    /// Says what counts of the whole list; whether it is good.
    fn conclude(&self, console: &mut Console, policy: Policy, list_name: &OsStr) -> bool {
        if self.matched + self.mismatched + self.unread + self.ignored == 0 {
            console.about(name::bytes(list_name), "no properly formatted checksum lines found");
            return false;
        }
        if policy.report != Report::Status {
            warn(console, self.improper, "line is improperly formatted", "lines are improperly formatted");
            warn(console, self.unread, "listed file could not be read", "listed files could not be read");
            warn(console, self.mismatched, "computed checksum did NOT match", "computed checksums did NOT match");
            if policy.ignore_missing && self.matched == 0 {
                console.about(name::bytes(list_name), "no file was verified");
            }
        }
        self.matched > 0 && self.mismatched == 0 && self.unread == 0 && !(policy.strict && self.improper > 0)
    }
}

fn warn(console: &mut Console, count: u64, one: &str, many: &str) {
    match count {
        0 => {}
        1 => console.message(format!("WARNING: 1 {one}")),
        _ => console.message(format!("WARNING: {count} {many}")),
    }
}

/// What came of a file.
enum Verdict {
    Matched(Digest),
    Mismatched(Digest),
    /// It could not be opened or read, for this reason.
    Unread(String),
}

impl Verdict {
    /// The line that says so.
    fn line(&self, as_json: bool, name: &[u8], function: Function) -> io::Result<Vec<u8>> {
        let (words, status, digest) = match self {
            Verdict::Matched(digest) => ("OK", "ok", Ok(digest)),
            Verdict::Mismatched(digest) => ("FAILED", "failed", Ok(digest)),
            Verdict::Unread(error) => ("FAILED open or read", "unreadable", Err(error.as_str())),
        };
        if as_json {
            return json::line(name, function, Some(status), digest);
        }
        let mut line = Vec::with_capacity(name.len() + words.len() + 4);
        // Only a newline makes coreutils 9.1 escape a name here; then all that has an escape is.
        if name.contains(&b'\n') {
            line.push(b'\\');
            escape::escape(name, &mut line);
        } else {
            line.extend_from_slice(name);
        }
        line.extend_from_slice(b": ");
        line.extend_from_slice(words.as_bytes());
        line.push(b'\n');
        Ok(line)
    }
}
