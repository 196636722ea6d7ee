//! What tools that move bytes have in common: how far they are, what they say of each object, and how they end.

mod records;
mod shown;

pub(super) use records::Record;
pub(super) use shown::Shown;

use super::connection::requests;
use manyhash_s3_client::http::Client;
use manysum::console::Console;
use manysum::figures::count;
use manysum::name;
use manysum::progress::When;
use std::ffi::OsStr;
use std::io;

/// Files or objects that are moved at a time. Requests at once, and memory, are bounded by themselves.
pub(super) const AT_ONCE: usize = 128;

/// How tools that move bytes say what they do.
#[derive(clap::Args)]
pub(super) struct SayingArguments {
    /// Print a JSON object for each object, one per line, with its status
    #[arg(long)]
    pub(super) json: bool,

    /// Show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(super) progress: When,
}

/// What came of objects, by the words for it.
pub(super) struct Results {
    json: bool,
    counts: Vec<(&'static str, usize)>,
    failed: bool,
}

impl Results {
    /// Of a run whose objects can come to these ends; those that none came to are not spoken of, but for the first.
    pub(super) fn new(json: bool, words: &[&'static str]) -> Results {
        Results { json, counts: words.iter().map(|word| (*word, 0)).collect(), failed: false }
    }

    /// Counts an object that came to an end that is well, and says so where each is spoken of.
    ///
    /// # Errors
    /// If standard output fails.
    pub(super) fn well(&mut self, console: &mut Console, record: Record<'_>) -> io::Result<()> {
        self.add(record.status);
        self.line(console, &record)
    }

    /// Says why an object came to no good end.
    ///
    /// # Errors
    /// If standard output fails.
    pub(super) fn failed(&mut self, console: &mut Console, name: &[u8], why: &str) -> io::Result<()> {
        self.add(FAILED);
        // A service's own words could have lines.
        let why = why.replace(['\n', '\r'], " ");
        console.about(name, &why);
        self.line(console, &Record::failed(name, why))
    }

    /// Notes that something went wrong that is not about one object.
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    /// Whether all went well so far.
    pub(super) fn is_well(&self) -> bool {
        !self.failed && self.counts.iter().all(|(word, count)| *word != FAILED || *count == 0)
    }

    fn add(&mut self, word: &'static str) {
        match self.counts.iter_mut().find(|(other, _)| *other == word) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((word, 1)),
        }
    }

    fn line(&self, console: &mut Console, record: &Record<'_>) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        console.line(&line)
    }

    /// Says what came of all: `3 objects: 2 uploaded, 1 failed`, and how many requests it took.
    ///
    /// # Errors
    /// If standard output fails.
    pub(super) fn finish(self, console: &mut Console, client: &Client) -> io::Result<bool> {
        console.flush()?;
        let objects = self.counts.iter().map(|(_, count)| count).sum();
        let of_note = self.counts.iter().enumerate().filter(|(i, (_, count))| *i == 0 || *count > 0);
        let parts: Vec<String> = of_note.map(|(_, (word, count))| format!("{count} {word}")).collect();
        console.message(format!("{}: {}", count(objects, "object"), parts.join(", ")));
        console.message(requests(client));
        Ok(self.is_well())
    }
}

/// The word for what went wrong.
const FAILED: &str = "failed";

/// Says why nothing at all is done; that it did not go well.
pub(super) fn refuse(console: &mut Console, about: &OsStr, why: &str) -> bool {
    console.about(name::bytes(about), why);
    false
}
