//! A list, written.

use super::line::tag;
use super::style::Style;
use super::{Entry, bagit, bare, hashdeep, json, kept, sfv};
use manyhash::{Digest, HashFunction};
use std::ffi::OsStr;
use std::io;
use thiserror::Error;

/// A format that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Format {
    /// Lines of sha256sum and its siblings: HEX  NAME
    Gnu,
    /// Lines of BSD's tools: SHA256 (NAME) = HEX
    Bsd,
    /// Lists of hashdeep, with sizes and any number of algorithms
    Hashdeep,
    /// A JSON object for each file and algorithm, one per line
    Json,
    /// BagIt manifests (RFC 8493)
    Bagit,
}

impl Format {
    /// The one that is written where none is asked for, with digests of these functions, to a list of this name: lines of
    /// coreutils if those say whose digests they have.
    pub fn usual(functions: &[HashFunction], list: Option<&OsStr>) -> Self {
        let is_told = matches!(functions, [function] if is_told(*function, list));
        if is_told { Format::Gnu } else { Format::Bsd }
    }

    /// Whether its lists have comments, which begin with `#`.
    pub fn has_comments(self) -> bool {
        matches!(self, Format::Gnu | Format::Bsd | Format::Hashdeep)
    }
}

/// Whether bare digits of this function are taken for it, in a list of this name.
fn is_told(function: HashFunction, list: Option<&OsStr>) -> bool {
    bare::function(list.and_then(bare::named), 2 * function.digest_bytes()) == Some(function)
}

/// Writes entries as lines of a list.
#[derive(Clone, Debug)]
pub struct Writer {
    format: Format,
    functions: Vec<HashFunction>,
}

/// Why a list cannot be of some functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Unsuitable {
    /// It does not tell them apart.
    #[error("this format holds one algorithm; use bsd, hashdeep or json for several")]
    Several,
    /// It does not say whose digests it has, and they would be taken for another's or for nothing.
    #[error(
        "this format does not show that digests are of {0}; use bsd, hashdeep or json, or a file name that ends in .{0}"
    )]
    Untold(HashFunction),
    /// Its name says that it is of another format.
    #[error("a file of this name is read as {0}; use another name{1}")]
    Name(&'static str, &'static str),
}

/// Why a list cannot have an entry. Who says so names the file.
#[derive(Debug, Error)]
pub enum Unwritable {
    /// It would be read as another name.
    #[error("{0} cannot hold this name; use another format")]
    Name(&'static str),
    /// hashdeep's lines have sizes.
    #[error("size unknown, but hashdeep lists need it; use another format")]
    Size,
    /// One of the list's functions.
    #[error("no {0} digest, which every file in this list needs")]
    Digest(HashFunction),
    /// None that names or numbers could cause.
    #[error("{0}")]
    Json(#[from] io::Error),
}

impl Writer {
    /// Of a list with digests of these functions, which may have a name.
    ///
    /// # Errors
    /// If the format does not say whose digests they are, or the name would have it read as another format.
    pub fn new(format: Format, functions: Vec<HashFunction>, list: Option<&OsStr>) -> Result<Self, Unsuitable> {
        if list.is_some_and(sfv::is_named) {
            return Err(Unsuitable::Name("SFV", ""));
        }
        if format != Format::Bagit && list.and_then(bagit::function).is_some() {
            return Err(Unsuitable::Name("a BagIt manifest", " or --format bagit"));
        }
        match (format, &functions[..]) {
            (Format::Gnu, [function]) if !is_told(*function, list) => Err(Unsuitable::Untold(*function)),
            (Format::Gnu | Format::Bagit, [_]) | (Format::Bsd | Format::Hashdeep | Format::Json, _) => {
                Ok(Writer { format, functions })
            }
            (Format::Gnu | Format::Bagit, _) => Err(Unsuitable::Several),
        }
    }

    /// What comes before the first entry.
    pub fn header(&self) -> Vec<u8> {
        match self.format {
            Format::Hashdeep => hashdeep::header(&self.functions),
            Format::Gnu | Format::Bsd | Format::Json | Format::Bagit => Vec::new(),
        }
    }

    /// What a list without files has after its header.
    ///
    /// # Errors
    /// None that names of functions could cause.
    pub fn no_files(&self) -> io::Result<Vec<u8>> {
        kept::no_files(self.format, &self.functions)
    }

    /// The lines of an entry, with its digests of the list's functions in their order.
    ///
    /// # Errors
    /// If the format has no place for its name, or a digest or its size is missing.
    pub fn lines(&self, entry: &Entry) -> Result<Vec<u8>, Unwritable> {
        let digests = self.functions.iter().map(|function| {
            let digest = entry.digests.iter().find(|(of, _)| of == function);
            digest.copied().ok_or(Unwritable::Digest(*function))
        });
        let digests = digests.collect::<Result<Vec<_>, _>>()?;
        let name = &entry.name[..];
        match self.format {
            Format::Gnu => Ok(digests.iter().map(|(_, digest)| line(name, None, digest)).collect::<Vec<_>>().concat()),
            Format::Bsd => {
                let line = |(function, digest): &(HashFunction, Digest)| line(name, Some(&tag(*function)), digest);
                Ok(digests.iter().map(line).collect::<Vec<_>>().concat())
            }
            Format::Json => Ok(json::lines(name, entry.size, &digests)?),
            Format::Hashdeep => {
                let size = entry.size.ok_or(Unwritable::Size)?;
                if !hashdeep::can_hold(name) {
                    return Err(Unwritable::Name("a hashdeep list"));
                }
                let cells: String = digests.iter().map(|(_, digest)| format!("{digest},")).collect();
                Ok([format!("{size},{cells}").as_bytes(), name, b"\n"].concat())
            }
            Format::Bagit => {
                let mut lines: Vec<u8> =
                    digests.iter().flat_map(|(_, digest)| format!("{digest}  ").into_bytes()).collect();
                if !bagit::escape(name, &mut lines) {
                    return Err(Unwritable::Name("a BagIt manifest"));
                }
                lines.push(b'\n');
                Ok(lines)
            }
        }
    }
}

fn line(name: &[u8], tag: Option<&str>, digest: &Digest) -> Vec<u8> {
    Style { tag, binary: false, zero: false }.line(name, &digest.to_hex())
}
