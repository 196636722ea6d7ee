//! A list of checksums, read while its files are hashed.

use super::line::Parser;
use crate::name;
use manyhash::Digest;
use manyhash::file::Source;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// A file that a list names.
pub(super) struct Listed {
    /// The name's bytes.
    pub(super) name: Vec<u8>,
    /// The digest that it should have.
    pub(super) digest: Digest,
}

/// The lines of a list.
///
/// As an iterator it yields the files, and reads no further than it is asked; after the last of them, its fields say
/// what else was there.
pub(super) struct List<'a> {
    parser: &'a mut Parser,
    reader: BufReader<Box<dyn Read + Send>>,
    is_stdin: bool,
    line: Vec<u8>,
    /// Whether the list names any file.
    pub(super) any: bool,
    /// Improperly formatted lines.
    pub(super) improper: u64,
    /// Whether it could be read to its end.
    pub(super) read: io::Result<()>,
}

impl<'a> List<'a> {
    /// Opens the list of this name; `-` is standard input.
    pub(super) fn open(name: &OsStr, parser: &'a mut Parser) -> io::Result<Self> {
        let is_stdin = name == "-";
        let reader = if is_stdin { stdin()? } else { Box::new(File::open(name)?) };
        let reader = BufReader::with_capacity(64 * 1024, reader);
        Ok(List { parser, reader, is_stdin, line: Vec::new(), any: false, improper: 0, read: Ok(()) })
    }

    /// The file that the line just read names; none if there is no file in it.
    fn listed(&mut self) -> Option<(Listed, Source)> {
        // Only at the very beginning does `#` begin a comment: elsewhere it may belong to a name.
        if self.line.starts_with(b"#") {
            return None;
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        match self.parser.parse(line) {
            // A list on standard input cannot name standard input.
            Some((digest, name)) if !(self.is_stdin && name == b"-") => {
                self.any = true;
                let source = source(&name);
                Some((Listed { name, digest }, source))
            }
            _ => {
                self.improper += 1;
                None
            }
        }
    }
}

impl Iterator for List<'_> {
    type Item = (Listed, Source);

    fn next(&mut self) -> Option<Self::Item> {
        while self.read.is_ok() {
            self.line.clear();
            match self.reader.read_until(b'\n', &mut self.line) {
                Ok(0) => return None,
                Ok(_) => {
                    if let Some(listed) = self.listed() {
                        return Some(listed);
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
        return Source::Stdin;
    }
    match name::from_bytes(name.to_vec()) {
        Ok(name) => Source::Path(name.into()),
        Err(error) => Source::Failed(error),
    }
}

/// Standard input. The descriptor itself: the standard library's handle is shared and keeps what it has read ahead, and
/// takes a descriptor that was not opened for reading for an empty one.
#[cfg(unix)]
fn stdin() -> io::Result<Box<dyn Read + Send>> {
    use std::os::fd::AsFd;
    Ok(Box::new(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
}

#[cfg(not(unix))]
fn stdin() -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(io::stdin()))
}
