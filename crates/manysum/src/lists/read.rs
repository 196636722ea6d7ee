//! A list, read line by line.

use super::{Accepted, Entry, Parser, bagit, hashdeep, json, sfv};
use crate::incoming::Incoming;
use crate::standard;
use manyhash::HashFunction;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A line of a list that is neither empty nor a comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The first is 1.
    pub number: u64,
    /// What it says; if it is improperly formatted, the function that it should be of, where that is one.
    pub entry: Result<Entry, Option<HashFunction>>,
    /// Whether it does not say whose digest it has, nor does the name of the list: the function is the usual one with
    /// digests of that length.
    pub is_guess: bool,
}

/// The lines of a list.
///
/// An iterator that reads no further than it is asked. After the last line, [`end`](Self::end) says whether there were
/// more.
pub struct List<'a> {
    parser: &'a mut Parser,
    format: Format,
    lines: Incoming,
    is_stdin: bool,
    bag: Option<PathBuf>,
    line: Vec<u8>,
    number: u64,
    /// Whether no line yet says anything.
    is_beginning: bool,
    read: io::Result<()>,
}

/// What is known of the lines that follow.
enum Format {
    /// They are what they look like.
    Lines,
    /// The columns of the rows, once they are known.
    Hashdeep {
        columns: Option<hashdeep::Columns>,
        ends_in_crlf: bool,
    },
    Sfv,
    Bag(HashFunction),
}

impl Format {
    /// That of a list of this name.
    fn of(name: &OsStr) -> Self {
        if let Some(function) = bagit::function(name) {
            return Format::Bag(function);
        }
        if sfv::is_named(name) { Format::Sfv } else { Format::Lines }
    }
}

impl<'a> List<'a> {
    /// Opens the list of this name; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(name: &OsStr, parser: &'a mut Parser) -> io::Result<Self> {
        let is_stdin = name == "-";
        let lines = if is_stdin { standard::input_lines()? } else { Incoming::from_file(File::open(name)?)? };
        Ok(List { is_stdin, ..Self::of(name, lines, parser) })
    }

    /// The list of this name, which these are the bytes of.
    pub fn new(name: &OsStr, reader: Box<dyn Read + Send>, parser: &'a mut Parser) -> Self {
        Self::of(name, Incoming::new(reader), parser)
    }

    fn of(name: &OsStr, lines: Incoming, parser: &'a mut Parser) -> Self {
        let format = if parser.accepted.is_wide() { Format::of(name) } else { Format::Lines };
        parser.begin(name);
        let bag = match format {
            Format::Bag(_) => Some(Path::new(name).parent().unwrap_or(Path::new("")).to_owned()),
            _ => None,
        };
        let (line, number) = (Vec::new(), 0);
        List { parser, format, lines, is_stdin: false, bag, line, number, is_beginning: true, read: Ok(()) }
    }

    /// Whether lines may have digests of different functions.
    pub fn has_several_functions(&self) -> bool {
        matches!((self.parser.accepted, &self.format), (Accepted::Any, Format::Lines))
    }

    /// Whether the next line can be had without waiting for it.
    pub fn is_at_hand(&mut self) -> bool {
        self.lines.is_at_hand()
    }

    /// The next line that says something, if it can be had without waiting for it.
    pub fn at_hand(&mut self) -> Option<Line> {
        self.advance(false)
    }

    fn advance(&mut self, may_wait: bool) -> Option<Line> {
        while self.read.is_ok() && (may_wait || self.lines.is_at_hand()) {
            self.line.clear();
            match self.lines.read(&mut self.line) {
                Ok(false) => return None,
                Ok(true) => {
                    self.number += 1;
                    if let Some(entry) = self.parse() {
                        let entry = entry.ok_or_else(|| self.parser.function());
                        let is_guess = matches!(self.format, Format::Lines) && self.parser.is_guess();
                        return Some(Line { number: self.number, entry, is_guess });
                    }
                }
                Err(error) => self.read = Err(error),
            }
        }
        None
    }

    /// The directory of the bag, if it is the list of one: names are below it.
    pub fn bag(&self) -> Option<&Path> {
        self.bag.as_deref()
    }

    /// Whether it was read to its end, as far as that was asked for.
    ///
    /// # Errors
    /// If a line could not be read.
    pub fn end(self) -> io::Result<()> {
        self.read
    }

    /// What the line just read says, if it is no comment and not empty: an entry, or nothing.
    fn parse(&mut self) -> Option<Option<Entry>> {
        let whole = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let without_return = whole.strip_suffix(b"\r").unwrap_or(whole);
        let accepted = self.parser.accepted;
        if self.number == 1
            && without_return == hashdeep::FIRST
            && matches!(self.format, Format::Lines)
            && accepted.is_wide()
        {
            self.format = Format::Hashdeep { columns: None, ends_in_crlf: without_return != whole };
        }
        // A name of hashdeep's may end in a carriage return, and nothing says so but the ends of other lines.
        let line = if let Format::Hashdeep { ends_in_crlf: false, .. } = self.format { whole } else { without_return };
        if line.is_empty() {
            return None;
        }
        if self.is_beginning && matches!(self.format, Format::Lines) && accepted == Accepted::Only(sfv::FUNCTION) {
            let is_sfv = sfv::is_comment(line) || sfv::entry(line).is_some() && self.parser.parse(line).is_none();
            self.format = if is_sfv { Format::Sfv } else { Format::Lines };
        }
        if self.is_comment(line) {
            return None;
        }
        self.is_beginning = false;
        let entry = match &mut self.format {
            Format::Lines if accepted.is_wide() && json::is_object(line) => json::read(line)?,
            Format::Lines => self.parser.parse(line),
            Format::Sfv => sfv::entry(line),
            Format::Bag(function) => {
                let is_there = |name: &[u8]| {
                    let below = |bag: &PathBuf| Some(bag.join(crate::name::from_bytes(name.to_vec()).ok()?));
                    self.bag.as_ref().and_then(below).is_some_and(|path| path.symlink_metadata().is_ok())
                };
                bagit::entry(*function, line, is_there)
            }
            Format::Hashdeep { columns, .. } if line.starts_with(hashdeep::HEADER) => {
                // Lists that were put behind one another are good if they have the same columns. Others in the middle of a
                // list may be what the name of a file makes of it.
                let these = hashdeep::Columns::parse(line);
                let is_header = line == hashdeep::FIRST || these.is_some() && (columns.is_none() || *columns == these);
                if columns.is_none() {
                    *columns = these;
                }
                return if is_header { None } else { Some(None) };
            }
            Format::Hashdeep { columns, .. } => {
                columns.as_ref().and_then(|columns| columns.entry(line, |function| accepted.takes(function)))
            }
        };
        let taken = |entry: &Entry| entry.digests.iter().all(|(function, _)| accepted.takes(*function));
        // A list on standard input cannot name standard input.
        Some(entry.filter(|entry| taken(entry) && !(self.is_stdin && entry.name == b"-")))
    }

    fn is_comment(&self, line: &[u8]) -> bool {
        match self.format {
            // Only at the very beginning does `#` begin a comment: elsewhere it may belong to a name.
            Format::Lines | Format::Hashdeep { .. } => line.starts_with(b"#"),
            Format::Sfv => sfv::is_comment(line),
            Format::Bag(_) => false,
        }
    }
}

impl Iterator for List<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        self.advance(true)
    }
}
