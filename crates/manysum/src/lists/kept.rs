//! What is kept of a list when it is written anew: its format and its comments, and whose digests it is to have if it has
//! no file yet.
//!
//! A list without files says that in a line of its own, which every tool passes over that passes over comments:
//!
//! ```text
//! # manyhash: no files yet; bsd of md5, sha256
//! ```
//!
//! and in JSON `{"files":0,"algorithms":["md5","sha256"]}`. hashdeep has a header, and a bag the name of its manifest.

use super::write::Format;
use super::{bagit, hashdeep, json};
use clap::ValueEnum;
use manyhash::HashFunction;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// What is kept of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// A list of no format that is written is as one of coreutils.
    pub format: Format,
    /// Whose digests files have that the list is to have, where it says so without any.
    pub functions: Vec<HashFunction>,
    /// Lines that begin with `#`, in their order, without their ends.
    pub comments: Vec<Vec<u8>>,
}

impl Kept {
    /// That of the list in this file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        let list = BufReader::with_capacity(1 << 16, File::open(path)?);
        if bagit::function(path.as_os_str()).is_some() {
            return Ok(Kept { format: Format::Bagit, functions: Vec::new(), comments: Vec::new() });
        }
        Self::of_lines(list)
    }

    fn of_lines(mut list: impl BufRead) -> io::Result<Self> {
        let mut kept = Kept { format: Format::Gnu, functions: Vec::new(), comments: Vec::new() };
        let mut is_known = false;
        let mut line = Vec::new();
        while list.read_until(b'\n', &mut line)? > 0 {
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if let Some((format, functions)) = parse(text) {
                (kept.format, kept.functions, is_known) = (format, functions, true);
            } else if text.starts_with(b"#") {
                kept.comments.push(text.to_vec());
            } else if !is_known && !text.is_empty() {
                (kept.format, is_known) = (Format::of_line(text), true);
            } else if let (Format::Hashdeep, [], Some(columns)) =
                (kept.format, &kept.functions[..], hashdeep::Columns::parse(text))
            {
                kept.functions = columns.functions();
            }
            line.clear();
        }
        Ok(kept)
    }
}

impl Format {
    /// That of a list with this first line.
    fn of_line(line: &[u8]) -> Self {
        let is_bsd = |line: &[u8]| {
            let begins = line.first().is_some_and(u8::is_ascii_uppercase) && line.contains(&b'(');
            begins && line.iter().rposition(|byte| *byte == b')').is_some_and(|end| line[end..].contains(&b'='))
        };
        match line.strip_prefix(b"\\").unwrap_or(line) {
            line if line.starts_with(hashdeep::FIRST) => Format::Hashdeep,
            line if json::is_object(line) => Format::Json,
            line if is_bsd(line) => Format::Bsd,
            _ => Format::Gnu,
        }
    }
}

const WORDS: &str = "# manyhash: no files yet; ";

/// What stands in a list of this format without files.
///
/// # Errors
/// As [`json::line`].
pub(super) fn no_files(format: Format, functions: &[HashFunction]) -> io::Result<Vec<u8>> {
    match format {
        Format::Hashdeep | Format::Bagit => Ok(Vec::new()),
        Format::Json => json::no_files(functions),
        Format::Gnu | Format::Bsd => {
            let name = format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            let functions: Vec<_> = functions.iter().map(HashFunction::to_string).collect();
            Ok(format!("{WORDS}{name} of {}\n", functions.join(", ")).into_bytes())
        }
    }
}

/// The format and the functions that a line of a list without files says.
fn parse(line: &[u8]) -> Option<(Format, Vec<HashFunction>)> {
    if json::is_object(line) {
        return Some((Format::Json, json::functions_without_files(line)?));
    }
    let (format, functions) = str::from_utf8(line).ok()?.strip_prefix(WORDS)?.split_once(" of ")?;
    let functions: Option<Vec<HashFunction>> = functions.split(", ").map(|name| name.parse().ok()).collect();
    Some((Format::from_str(format, false).ok()?, functions?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyhash::{Algorithm, HashFunction};

    fn kept(list: &[u8]) -> Kept {
        Kept::of_lines(list).expect("bytes can be read")
    }

    #[test]
    fn formats() {
        for (line, format) in [
            ("d41d8cd98f00b204e9800998ecf8427e  a", Format::Gnu),
            ("\\d41d8cd98f00b204e9800998ecf8427e  (a) = \\n", Format::Gnu),
            ("MD5 (a) = d41d8cd98f00b204e9800998ecf8427e", Format::Bsd),
            ("MD5   (a)= d41d8cd98f00b204e9800998ecf8427e", Format::Bsd),
            ("%%%% HASHDEEP-1.0", Format::Hashdeep),
            ("{\"name\": \"a\"}", Format::Json),
        ] {
            for before in ["", "# c\n", "\r\n"] {
                assert_eq!(kept(format!("{before}{line}\r\nMD5 (b) = 0\n").as_bytes()).format, format, "{line}");
            }
        }
        assert_eq!(kept(b"").format, Format::Gnu);
    }

    #[test]
    fn comments() {
        assert_eq!(kept(b"# a\r\nx\n#b\n # c\n##").comments, [&b"# a"[..], b"#b", b"##"]);
    }

    #[test]
    fn lists_without_files() {
        let functions = [Algorithm::Md5.into(), HashFunction::Blake3];
        for format in [Format::Gnu, Format::Bsd, Format::Json] {
            let list = no_files(format, &functions).expect("a line");
            let expected = Kept { format, functions: functions.to_vec(), comments: Vec::new() };
            assert_eq!(kept(&list), expected);
        }
        assert_eq!(
            no_files(Format::Bsd, &functions).expect("a line"),
            b"# manyhash: no files yet; bsd of md5, blake3\n"
        );
        let other = b"# manyhash: no files yet; bsd of md6\n";
        assert_eq!((kept(other).functions.len(), kept(other).comments.len()), (0, 1));
    }
}
