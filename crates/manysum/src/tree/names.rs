//! The names of files: arguments, or read from a file.

use crate::{name, standard};
use manyhash::file::Source;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::vec;

/// Names, each with what it stands for.
pub enum Names {
    /// Arguments, where `-` is standard input.
    Arguments(vec::IntoIter<OsString>),
    /// The lines of a file.
    Listed(Listed),
}

/// A file that names files.
#[derive(Clone)]
pub struct FilesFrom {
    /// Its name; `-` is standard input.
    pub name: OsString,
    /// Whether NUL ends a name in it, not a newline.
    pub zero: bool,
}

/// What such a file names, as `find` prints them: all bytes before the end of a name belong to it, and `-` is a file.
pub struct Listed {
    list: FilesFrom,
    state: NamesState,
}

enum NamesState {
    Unopened,
    Open(BufReader<Box<dyn Read + Send>>),
    Ended,
}

impl Iterator for Names {
    type Item = (OsString, Source);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Names::Arguments(arguments) => {
                let argument = arguments.next()?;
                let source =
                    if argument == "-" { standard::input_source() } else { Source::Path(argument.clone().into()) };
                Some((argument, source))
            }
            Names::Listed(listed) => match listed.next() {
                Ok(name) => name.map(|name| (name.clone(), Source::Path(name.into()))),
                Err(error) => {
                    listed.state = NamesState::Ended;
                    Some((listed.list.name.clone(), Source::Failed(error)))
                }
            },
        }
    }
}

impl Listed {
    pub(crate) fn new(list: FilesFrom) -> Self {
        Listed { list, state: NamesState::Unopened }
    }

    fn next(&mut self) -> io::Result<Option<OsString>> {
        if matches!(self.state, NamesState::Unopened) {
            let name = &self.list.name;
            let reader = if name == "-" { standard::input()? } else { Box::new(File::open(name)?) };
            self.state = NamesState::Open(BufReader::new(reader));
        }
        let NamesState::Open(reader) = &mut self.state else { return Ok(None) };
        let end = if self.list.zero { 0 } else { b'\n' };
        let mut name = Vec::new();
        if reader.read_until(end, &mut name)? == 0 {
            return Ok(None);
        }
        name.pop_if(|last| *last == end);
        name::from_bytes(name).map(Some)
    }
}
