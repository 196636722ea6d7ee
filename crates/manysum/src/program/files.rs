//! The files that a list names, in runs that have digests of the same functions.
//!
//! Lines that name the same file, one after another, with digests of different functions, are one file here: it is read
//! once, as `manysum -a md5,sha256` did when it printed them.

use crate::lists::read::{Line, List};
use crate::lists::{Accepted, Entry, Parser};
use crate::{name, progress, standard};
use manyhash::HashFunction;
use manyhash::file::Source;
use std::ffi::OsString;
use std::path::Path;
use std::{io, mem};

/// The bytes in all files of these lists, if they can be known before they are read.
pub(super) fn total_bytes(lists: &[OsString], accepted: Accepted) -> Option<u64> {
    let mut parser = Parser::new(accepted);
    let mut total = 0;
    for name in lists {
        // What is no regular file would be read here, and then not there.
        if !Path::new(name).is_file() {
            return None;
        }
        let mut list = List::open(name, &mut parser).ok()?;
        let mut files = Files::new(&mut list);
        total += progress::total(std::iter::from_fn(|| files.take()).map(|(_, source)| source))?;
    }
    Some(total)
}

/// What a list says next.
pub(super) enum Item {
    File(Listed),
    /// The line of this number is improperly formatted, and it should be of this function, where that is one.
    Improper(u64, Option<HashFunction>),
}

impl Item {
    /// The name of the file, if it is one.
    pub(super) fn name(&self) -> &[u8] {
        match self {
            Item::File(file) => &file.name,
            Item::Improper(..) => b"",
        }
    }
}

/// A file.
pub(super) struct Listed {
    /// Its name, below the directory of its bag if it is in one.
    pub(super) name: Vec<u8>,
    /// The functions whose digests it is listed with, in their own order.
    pub(super) functions: Vec<HashFunction>,
    /// Each line's.
    pub(super) entries: Vec<Entry>,
    /// Whether the function is a guess by the number of digits.
    pub(super) is_guess: bool,
}

/// The files of a list.
pub(super) struct Files<'a, 'p> {
    list: &'a mut List<'p>,
    /// The line that comes next, if it was looked at.
    line: Option<Line>,
    /// The item that comes before it, if it was looked at.
    item: Option<Item>,
}

impl<'a, 'p> Files<'a, 'p> {
    pub(super) fn new(list: &'a mut List<'p>) -> Self {
        Files { list, line: None, item: None }
    }

    /// What comes next.
    pub(super) fn peek(&mut self) -> Option<&Item> {
        self.peek_if(true)
    }

    fn peek_if(&mut self, may_wait: bool) -> Option<&Item> {
        if self.item.is_none() {
            self.item = self.item(may_wait);
        }
        self.item.as_ref()
    }

    /// Takes what comes next, with its source; an improperly formatted line has one that fails.
    pub(super) fn take(&mut self) -> Option<(Item, Source)> {
        let item = self.item.take().or_else(|| self.item(true))?;
        let source = match &item {
            Item::File(file) => self.source(&file.name),
            Item::Improper(..) => Source::Failed(io::ErrorKind::InvalidData.into()),
        };
        Some((item, source))
    }

    /// All that comes before a file that is listed with other functions than these, as far as it is there already: who
    /// writes the list may wait for what becomes of its lines.
    pub(super) fn run<'r>(&'r mut self, functions: &'r [HashFunction]) -> Run<'r, 'a, 'p> {
        Run { files: self, functions }
    }

    fn item(&mut self, may_wait: bool) -> Option<Item> {
        // With digests of several functions, only the line after it says that a file has no more of them.
        if self.line.is_some() && !may_wait && !self.list.is_at_hand() {
            return None;
        }
        let next = |list: &mut List<'_>| if may_wait { list.next() } else { list.at_hand() };
        let Line { number, entry, is_guess } = self.line.take().or_else(|| next(self.list))?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(function) => return Some(Item::Improper(number, function)),
        };
        let mut functions: Vec<_> = entry.digests.iter().map(|(function, _)| *function).collect();
        let mut entries = vec![entry];
        // A tool's lines are of one function, and need not wait for the next one.
        while self.list.has_several_functions() {
            self.line = self.list.next();
            let Some(Line { entry: Ok(entry), .. }) = &mut self.line else { break };
            let is_new = |(function, _): &(HashFunction, _)| !functions.contains(function);
            if entry.name != entries[0].name || !entry.digests.iter().all(is_new) {
                break;
            }
            functions.extend(entry.digests.iter().map(|(function, _)| *function));
            let (name, size, digests) = (mem::take(&mut entry.name), entry.size, mem::take(&mut entry.digests));
            entries.push(Entry { name, size, digests });
        }
        functions.sort_unstable();
        functions.dedup();
        let name = match self.list.bag() {
            Some(bag) => below(bag, &entries[0].name),
            None => entries[0].name.clone(),
        };
        Some(Item::File(Listed { name, functions, entries, is_guess }))
    }

    /// Where the bytes of a file are.
    fn source(&self, name: &[u8]) -> Source {
        if name == b"-" && self.list.bag().is_none() {
            return standard::input_source();
        }
        match name::from_bytes(name.to_vec()) {
            Ok(name) => Source::Path(name.into()),
            Err(error) => Source::Failed(error),
        }
    }
}

/// The name of a file below a directory.
fn below(directory: &Path, file: &[u8]) -> Vec<u8> {
    let mut name = OsString::from(directory);
    if !name.is_empty() && !name::bytes(&name).ends_with(b"/") {
        name.push("/");
    }
    [name::bytes(&name), file].concat()
}

/// A part of the files of a list, each with its source.
pub(super) struct Run<'r, 'a, 'p> {
    files: &'r mut Files<'a, 'p>,
    functions: &'r [HashFunction],
}

impl Iterator for Run<'_, '_, '_> {
    type Item = (Item, Source);

    fn next(&mut self) -> Option<Self::Item> {
        match self.files.peek_if(false)? {
            Item::File(file) if file.functions != self.functions => return None,
            Item::File(_) | Item::Improper(..) => {}
        }
        self.files.take()
    }
}
