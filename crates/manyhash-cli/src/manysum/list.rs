//! A list of checksums, read while its files are hashed.

use super::line::Parser;
use crate::{name, standard};
use manyhash::Digest;
use manyhash::file::Source;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// What a line of a list says.
pub(super) enum Entry {
    /// That the file of this name, in bytes, should have this digest.
    File { name: Vec<u8>, digest: Digest },
    /// Nothing: the line of this number, the first being 1, is improperly formatted.
    Improper(u64),
}

/// The lines of a list.
///
/// As an iterator it yields them, with the source of each file, and reads no further than it is asked; an improperly
/// formatted line has a source that fails. After the last, `read` says whether there were more.
pub(super) struct List<'a> {
    parser: &'a mut Parser,
    reader: BufReader<Box<dyn Read + Send>>,
    is_stdin: bool,
    line: Vec<u8>,
    /// Its number, the first being 1.
    number: u64,
    /// Whether it could be read to its end.
    pub(super) read: io::Result<()>,
}

impl<'a> List<'a> {
    /// Opens the list of this name; `-` is standard input.
    pub(super) fn open(name: &OsStr, parser: &'a mut Parser) -> io::Result<Self> {
        let is_stdin = name == "-";
        let reader = if is_stdin { standard::input()? } else { Box::new(File::open(name)?) };
        let reader = BufReader::with_capacity(64 * 1024, reader);
        Ok(List { parser, reader, is_stdin, line: Vec::new(), number: 0, read: Ok(()) })
    }

    /// What the line just read says; none if it is a comment or empty.
    fn entry(&mut self) -> Option<(Entry, Source)> {
        // Only at the very beginning does `#` begin a comment: elsewhere it may belong to a name.
        if self.line.starts_with(b"#") {
            return None;
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        Some(match self.parser.parse(line) {
            // A list on standard input cannot name standard input.
            Some((digest, name)) if !(self.is_stdin && name == b"-") => {
                let source = source(&name);
                (Entry::File { name, digest }, source)
            }
            _ => (Entry::Improper(self.number), Source::Failed(io::ErrorKind::InvalidData.into())),
        })
    }
}

impl Iterator for List<'_> {
    type Item = (Entry, Source);

    fn next(&mut self) -> Option<Self::Item> {
        while self.read.is_ok() {
            self.line.clear();
            match self.reader.read_until(b'\n', &mut self.line) {
                Ok(0) => return None,
                Ok(_) => {
                    self.number += 1;
                    if let Some(entry) = self.entry() {
                        return Some(entry);
                    }
                }
                Err(error) => self.read = Err(error),
            }
        }
        None
    }
}

fn source(name: &[u8]) -> Source {
    if name == b"-" {
        return standard::input_source();
    }
    match name::from_bytes(name.to_vec()) {
        Ok(name) => Source::Path(name.into()),
        Err(error) => Source::Failed(error),
    }
}
