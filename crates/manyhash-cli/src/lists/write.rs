//! A list, written.

use super::line::tag;
use super::style::Style;
use super::{Entry, bagit, hashdeep, json};
use manyhash::{Digest, Function};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use thiserror::Error;

/// A format that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Format {
    /// Lines of sha256sum and its siblings, HEX  NAME
    Gnu,
    /// Lines of BSD's tools, SHA256 (NAME) = HEX
    Bsd,
    /// hashdeep's, with sizes and any number of algorithms
    Hashdeep,
    /// A JSON object a line for each file and algorithm
    Json,
    /// The manifest of a bag, RFC 8493
    Bagit,
}

impl Format {
    /// That of a list that is there, by its name and its first line; a list of no format that is written is as one of
    /// coreutils.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of_list(path: &Path) -> io::Result<Self> {
        if bagit::function(path.as_os_str()).is_some() {
            return Ok(Format::Bagit);
        }
        let mut line = Vec::new();
        // No name is as long.
        BufReader::new(File::open(path)?.take(1 << 16)).read_until(b'\n', &mut line)?;
        let is_bsd = |line: &[u8]| {
            let begins = line.first().is_some_and(u8::is_ascii_uppercase) && line.windows(2).any(|text| text == b" (");
            begins && line.windows(4).any(|text| text == b") = ")
        };
        Ok(match line.strip_prefix(b"\\").unwrap_or(&line) {
            line if line.starts_with(hashdeep::FIRST) => Format::Hashdeep,
            [b'{', ..] => Format::Json,
            line if is_bsd(line) => Format::Bsd,
            _ => Format::Gnu,
        })
    }
}

/// Writes entries as lines of a list.
#[derive(Clone, Debug)]
pub struct Writer {
    format: Format,
    functions: Vec<Function>,
}

/// Why a list cannot be of several functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a list of this format has one algorithm; take bsd, hashdeep or json for several")]
pub struct OneFunction;

/// Why a list cannot have an entry. Who says so names the file.
#[derive(Debug, Error)]
pub enum Unwritable {
    /// It would be read as another name.
    #[error("{0} cannot hold this name; take another format")]
    Name(&'static str),
    /// hashdeep's lines have sizes.
    #[error("its size is not known, and lists of hashdeep need it; take another format")]
    Size,
    /// One of the list's functions.
    #[error("it has no {0} digest, and all files of this list need one")]
    Digest(Function),
    /// None that names or numbers could cause.
    #[error("{0}")]
    Json(#[from] io::Error),
}

impl Writer {
    /// Of a list with digests of these functions.
    ///
    /// # Errors
    /// If there are several, and the format tells them not apart.
    pub fn new(format: Format, functions: Vec<Function>) -> Result<Self, OneFunction> {
        match format {
            Format::Gnu | Format::Bagit if functions.len() != 1 => Err(OneFunction),
            _ => Ok(Writer { format, functions }),
        }
    }

    /// What comes before the first entry.
    pub fn header(&self) -> Vec<u8> {
        match self.format {
            Format::Hashdeep => hashdeep::header(&self.functions),
            Format::Gnu | Format::Bsd | Format::Json | Format::Bagit => Vec::new(),
        }
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
                let line = |(function, digest): &(Function, Digest)| line(name, Some(&tag(*function)), digest);
                Ok(digests.iter().map(line).collect::<Vec<_>>().concat())
            }
            Format::Json => Ok(json::lines(name, entry.size, &digests)?),
            Format::Hashdeep => {
                let size = entry.size.ok_or(Unwritable::Size)?;
                if !hashdeep::can_hold(name) {
                    return Err(Unwritable::Name("a list of hashdeep"));
                }
                let cells: String = digests.iter().map(|(_, digest)| format!("{digest},")).collect();
                Ok([format!("{size},{cells}").as_bytes(), name, b"\n"].concat())
            }
            Format::Bagit => {
                let mut lines: Vec<u8> =
                    digests.iter().flat_map(|(_, digest)| format!("{digest}  ").into_bytes()).collect();
                if !bagit::escape(name, &mut lines) {
                    return Err(Unwritable::Name("the manifest of a bag"));
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
