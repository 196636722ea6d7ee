//! A list of checksums, read while its files are hashed.

use super::line::{Listed, Parser};
use crate::{name, standard};
use manyhash::Function;
use manyhash::file::Source;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// What a line of a list says.
pub(crate) enum Entry {
    /// What the digest of a file should be.
    File(Listed),
    /// Nothing: the line of this number, the first being 1, is no properly formatted one of this function.
    Improper(u64, Function),
}

/// The lines of a list.
///
/// As an iterator it yields those of one function, with the source of each file, and reads no further than it is asked; an
/// improperly formatted line has a source that fails. After the last, `read` says whether there were more.
pub(crate) struct List<'a> {
    parser: &'a mut Parser,
    reader: BufReader<Box<dyn Read + Send>>,
    is_stdin: bool,
    line: Vec<u8>,
    /// Its number, the first being 1.
    number: u64,
    /// The function whose lines are yielded.
    function: Option<Function>,
    /// The first line of the function after.
    ahead: Option<(Entry, Source)>,
    /// Whether it could be read to its end.
    pub(crate) read: io::Result<()>,
}

impl<'a> List<'a> {
    /// Opens the list of this name; `-` is standard input.
    pub(crate) fn open(name: &OsStr, parser: &'a mut Parser) -> io::Result<Self> {
        let is_stdin = name == "-";
        let reader = if is_stdin { standard::input()? } else { Box::new(File::open(name)?) };
        let reader = BufReader::with_capacity(64 * 1024, reader);
        Ok(List { parser, reader, is_stdin, line: Vec::new(), number: 0, function: None, ahead: None, read: Ok(()) })
    }

    /// Goes on to the lines of the next function, which it returns; none if there are no more.
    pub(crate) fn next_function(&mut self) -> Option<Function> {
        self.ahead = self.next_entry();
        let (Entry::File(Listed { function, .. }) | Entry::Improper(_, function)) = &self.ahead.as_ref()?.0;
        self.function = Some(*function);
        self.function
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
            Some(listed) if !(self.is_stdin && listed.name == b"-") => {
                let source = source(&listed.name);
                (Entry::File(listed), source)
            }
            _ => (
                Entry::Improper(self.number, self.parser.function()),
                Source::Failed(io::ErrorKind::InvalidData.into()),
            ),
        })
    }
}

impl Iterator for List<'_> {
    type Item = (Entry, Source);

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_entry()?;
        // An improperly formatted line goes with any.
        if let Entry::File(listed) = &next.0
            && Some(listed.function) != self.function
        {
            self.ahead = Some(next);
            return None;
        }
        Some(next)
    }
}

impl List<'_> {
    /// The next line that says anything.
    fn next_entry(&mut self) -> Option<(Entry, Source)> {
        if let Some(ahead) = self.ahead.take() {
            return Some(ahead);
        }
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
