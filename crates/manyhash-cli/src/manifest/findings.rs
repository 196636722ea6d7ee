//! What differs between a manifest and a tree or another manifest, and how that is said.

use manyhash::{Digest, HashFunction};
use manysum::console::Console;
use manysum::escape;
use manysum::figures::count;
use manysum::lists::json::Name;
use serde::Serialize;
use std::collections::HashMap;
use std::io;

/// What became of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// Its content is another.
    Changed,
    /// It is listed, and not there.
    Missing,
    /// It is not listed, and has the content of one that is missing.
    Moved,
    /// It is not listed.
    New,
    /// It is there, and cannot be read.
    Unreadable,
}

impl Status {
    const ALL: [Status; 5] = [Status::Changed, Status::Missing, Status::Moved, Status::New, Status::Unreadable];

    fn word(self) -> &'static str {
        match self {
            Status::Changed => "changed",
            Status::Missing => "missing",
            Status::Moved => "moved",
            Status::New => "new",
            Status::Unreadable => "unreadable",
        }
    }

    /// What it adds to the exit status of `verify`.
    pub(super) fn bit(self) -> u8 {
        match self {
            Status::Unreadable => 1,
            Status::Changed => 2,
            Status::Missing => 4,
            Status::Moved => 8,
            Status::New => 16,
        }
    }
}

/// Says what was found, a line for each file, and counts it.
pub(super) struct Findings {
    json: bool,
    counts: [usize; 5],
    /// Files that are as listed.
    pub(super) as_listed: usize,
}

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Name<'a>>,
}

impl Findings {
    pub(super) fn new(json: bool) -> Self {
        Findings { json, counts: [0; 5], as_listed: 0 }
    }

    /// Says what became of a file; of one that was moved, also from where.
    ///
    /// # Errors
    /// If the line cannot be written.
    pub(super) fn say(
        &mut self,
        console: &mut Console,
        name: &[u8],
        status: Status,
        from: Option<&[u8]>,
    ) -> io::Result<()> {
        self.count(status);
        if self.json {
            let record = Record { name: Name::of(name), status, from: from.map(Name::of) };
            let mut line = serde_json::to_vec(&record)?;
            line.push(b'\n');
            return console.line(&line);
        }
        // One that has to be escaped makes both escaped.
        let is_escaped = escape::is_needed(name) || from.is_some_and(escape::is_needed);
        let mut line = if is_escaped { vec![b'\\'] } else { Vec::new() };
        let mut append = |name: &[u8], before: &str| {
            line.extend_from_slice(before.as_bytes());
            if is_escaped {
                escape::escape(name, &mut line);
            } else {
                line.extend_from_slice(name);
            }
        };
        append(name, "");
        match from {
            Some(from) => append(from, ": moved from "),
            None => append(b"", &format!(": {}", status.word())),
        }
        line.push(b'\n');
        console.line(&line)
    }

    /// Counts what is not said.
    pub(super) fn count(&mut self, status: Status) {
        self.counts[status as usize] += 1;
    }

    /// How many files this became of.
    pub(super) fn of(&self, status: Status) -> usize {
        self.counts[status as usize]
    }

    /// Whether no file that is listed has the content that it should have, and some have another or none.
    pub(super) fn nothing_fits(&self) -> bool {
        let lost = self.of(Status::Changed) + self.of(Status::Missing);
        self.as_listed + self.of(Status::Moved) == 0 && lost > 0
    }

    /// The exit status of `verify`.
    pub(super) fn status(&self) -> u8 {
        Status::ALL.into_iter().filter(|status| self.counts[*status as usize] > 0).map(Status::bit).sum()
    }

    /// Whether there is any difference.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// How many files are what: `12 files: 10 as listed, 2 changed`.
    pub(super) fn summary(&self) -> String {
        let files = self.as_listed + self.counts.iter().sum::<usize>();
        let mut parts = vec![format!("{} as listed", self.as_listed)];
        let found = Status::ALL.into_iter().filter(|status| self.counts[*status as usize] > 0);
        parts.extend(found.map(|status| format!("{} {}", self.counts[status as usize], status.word())));
        format!("{}: {}", count(files, "file"), parts.join(", "))
    }
}

/// A name, and the digests of the file that it is of.
type Named<Name> = (Name, Vec<(HashFunction, Digest)>);

/// Files that are not listed.
#[derive(Default)]
pub(super) struct Unlisted(Vec<Named<Vec<u8>>>);

impl Unlisted {
    pub(super) fn push(&mut self, name: &[u8], digests: impl Iterator<Item = (HashFunction, Digest)>) {
        self.0.push((name.to_vec(), digests.collect()));
    }

    /// Says which of them are moved and which are new, and then which of the missing files are missing and not moved.
    ///
    /// # Errors
    /// If a line cannot be written.
    pub(super) fn say<'a>(
        self,
        console: &mut Console,
        findings: &mut Findings,
        missing: impl Iterator<Item = Named<&'a [u8]>>,
    ) -> io::Result<()> {
        let missing: Vec<Named<&[u8]>> = missing.collect();
        // By the first digest of each; all that both have are compared. The last of a content is the first in the list.
        let mut by_digest: HashMap<(HashFunction, Digest), Vec<usize>> = HashMap::new();
        for (i, (_, digests)) in missing.iter().enumerate().rev() {
            if let Some(first) = digests.first() {
                by_digest.entry(*first).or_default().push(i);
            }
        }
        let mut is_moved = vec![false; missing.len()];
        for (name, digests) in &self.0 {
            let is_same = |i: &usize| {
                missing[*i]
                    .1
                    .iter()
                    .all(|listed| digests.iter().all(|(function, digest)| *function != listed.0 || *digest == listed.1))
            };
            let from = digests.iter().find_map(|digest| {
                let candidates = by_digest.get_mut(digest)?;
                let place = candidates.iter().rposition(is_same)?;
                Some(candidates.remove(place))
            });
            match from {
                Some(i) => {
                    is_moved[i] = true;
                    findings.say(console, name, Status::Moved, Some(missing[i].0))?;
                }
                None => findings.say(console, name, Status::New, None)?,
            }
        }
        for ((name, _), is_moved) in missing.iter().zip(is_moved) {
            if !is_moved {
                findings.say(console, name, Status::Missing, None)?;
            }
        }
        Ok(())
    }
}
