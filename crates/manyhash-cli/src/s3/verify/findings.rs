//! What differs between two sides, and how that is said.

use manyhash_s3_client::verify::{Check, Difference, Form, Origin, Outcome, State};
use manysum::console::Console;
use manysum::escape;
use manysum::figures::count;
use manysum::lists::json::Name;
use serde::Serialize;
use std::io;

/// The words of states, and what they add to the exit status.
const STATES: [(&str, u8); 5] = [("same", 0), ("differs", 2), ("missing", 4), ("extra", 16), ("unverified", 32)];
const UNVERIFIED: usize = 4;

/// Says what was found, and counts it.
pub(super) struct Findings {
    json: bool,
    counts: [usize; 5],
}

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// What was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part_size: Option<u64>,
    /// Where what was compared is from, on each side.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<[&'static str; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sizes: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Findings {
    pub(super) fn new(json: bool) -> Self {
        Findings { json, counts: [0; 5] }
    }

    /// Says what came of a name, if it is worth a line.
    ///
    /// # Errors
    /// If the line cannot be written.
    pub(super) fn say(&mut self, console: &mut Console, outcome: &Outcome) -> io::Result<()> {
        let number = number(&outcome.state);
        self.counts[number] += 1;
        let line = match (self.json, &outcome.state) {
            (true, _) => json(outcome, STATES[number].0)?,
            (false, State::Same(_)) => return Ok(()),
            (false, state) => text(&outcome.name, state, STATES[number].0),
        };
        console.line(&line)
    }

    /// The exit status.
    pub(super) fn status(&self, allow_unverified: bool) -> u8 {
        let found = (0..STATES.len()).filter(|i| self.counts[*i] > 0 && !(allow_unverified && *i == UNVERIFIED));
        found.map(|i| STATES[i].1).sum()
    }

    /// How many names are what: `12 names: 10 same, 2 differ`.
    pub(super) fn summary(&self) -> String {
        let names = self.counts.iter().sum();
        let found = STATES.iter().zip(self.counts).filter(|((word, _), count)| *word == "same" || *count > 0);
        let parts: Vec<String> = found
            .map(|((word, _), count)| {
                format!("{count} {}", if *word == "differs" && count != 1 { "differ" } else { word })
            })
            .collect();
        format!("{}: {}", count(names, "name"), parts.join(", "))
    }
}

fn number(state: &State) -> usize {
    match state {
        State::Same(_) => 0,
        State::Differs(_) => 1,
        State::Missing => 2,
        State::Extra => 3,
        // What there may be later proves nothing that is known here.
        _ => UNVERIFIED,
    }
}

fn text(name: &[u8], state: &State, word: &str) -> Vec<u8> {
    let mut line = Vec::new();
    escape::begin(name, &mut line);
    line.extend_from_slice(format!(": {word}").as_bytes());
    if let State::Unverified(why) = state {
        // A service's own words could have lines.
        line.extend_from_slice(format!(": {why}").replace(['\n', '\r'], " ").as_bytes());
    }
    line.push(b'\n');
    line
}

fn json(outcome: &Outcome, status: &'static str) -> io::Result<Vec<u8>> {
    let mut record = Record {
        name: Name::of(&outcome.name),
        status,
        size: outcome.size,
        compared: None,
        parts: None,
        part_size: None,
        from: None,
        sizes: None,
        reason: None,
    };
    match &outcome.state {
        State::Same(Check::Value { form, part_bytes, origins }) => {
            record.compare(form, origins);
            record.part_size = *part_bytes;
        }
        State::Same(check) => record.compared = Some(check.to_string()),
        State::Differs(Difference::Value { form, origins }) => record.compare(form, origins),
        State::Differs(Difference::Size(sizes)) => {
            record.compared = Some("size".to_owned());
            record.sizes = Some(*sizes);
            record.size = None;
        }
        State::Unverified(why) => record.reason = Some(why.to_string()),
        _ => {}
    }
    let mut line = serde_json::to_vec(&record)?;
    line.push(b'\n');
    Ok(line)
}

impl Record<'_> {
    fn compare(&mut self, form: &Form, origins: &[Origin; 2]) {
        self.compared = Some(form.function().to_string());
        if let Form::Parts { parts, .. } = form {
            self.parts = Some(*parts);
        }
        self.from = Some(origins.map(|origin| match origin {
            Origin::ETag => "etag",
            Origin::Checksum => "checksum",
            Origin::List => "list",
            Origin::File => "file",
            Origin::Download => "download",
            _ => "other",
        }));
    }
}
