//! What came of a line of a list.

use super::settings::Settings;
use crate::escape;
use crate::lists::{Entry, json};
use manyhash::{Digest, HashFunction};
use std::io;

/// What came of a line.
pub(super) enum Verdict<'a> {
    /// The file was read: for each digest of the line, that of the file, and whether it is as listed.
    Read(Vec<(HashFunction, Digest, bool)>),
    /// It could not be opened or read, for this reason; the line has digests of these functions.
    Unread(&'a str, Vec<HashFunction>),
}

impl<'a> Verdict<'a> {
    /// That of a line, by the digests of its file, which are of `functions`.
    pub(super) fn of(entry: &Entry, functions: &[HashFunction], digests: Result<&[Digest], &'a str>) -> Self {
        let digests = match digests {
            Ok(digests) => digests,
            Err(error) => return Verdict::Unread(error, entry.digests.iter().map(|(function, _)| *function).collect()),
        };
        let judge = |(function, listed): &(HashFunction, Digest)| {
            let computed = functions.iter().zip(digests).find(|(of, _)| *of == function);
            // Where there is none it cannot be as listed.
            computed.map_or((*function, *listed, false), |(_, digest)| (*function, *digest, digest == listed))
        };
        Verdict::Read(entry.digests.iter().map(judge).collect())
    }

    /// Whether all digests are as listed.
    pub(super) fn is_match(&self) -> bool {
        match self {
            Verdict::Read(digests) => digests.iter().all(|(_, _, matches)| *matches),
            Verdict::Unread(..) => false,
        }
    }

    /// The line that says so; in JSON, one for each digest.
    pub(super) fn line(&self, settings: &Settings, name: &[u8]) -> io::Result<Vec<u8>> {
        if settings.json {
            return self.json(name);
        }
        let words = match self {
            Verdict::Unread(..) => "FAILED open or read",
            Verdict::Read(_) if self.is_match() => "OK",
            Verdict::Read(_) => "FAILED",
        };
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

    fn json(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        let lines: io::Result<Vec<_>> = match self {
            Verdict::Read(digests) => {
                let status = |matches: &bool| Some(if *matches { "ok" } else { "failed" });
                let line = |(of, digest, matches): &_| json::line(name, *of, status(matches), Ok(digest));
                digests.iter().map(line).collect()
            }
            Verdict::Unread(error, functions) => {
                functions.iter().map(|of| json::line(name, *of, Some("unreadable"), Err(error))).collect()
            }
        };
        Ok(lines?.concat())
    }
}
