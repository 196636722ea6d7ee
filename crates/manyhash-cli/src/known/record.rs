//! One line of a list of digests.
//!
//! These are read:
//! - digits, and whatever follows them after a space, a tab, a comma, a semicolon or a quotation mark: bare lists, what
//!   md5sum and its siblings print, md5deep;
//! - BSD's form, `SHA256 (NAME) = DIGITS`, and OpenSSL's, `SHA2-256(NAME)= DIGITS`;
//! - columns with commas between them, below a line that names them: hashdeep's, and those of the NSRL,
//!   `"SHA-1","MD5","CRC32","FileName",...`.
//!
//! Columns are cut here and not by a reader of CSV: names, which come after the digests, have lone quotation marks in
//! lists of the NSRL, and to such a reader all lines up to the next of them are one field.

use manyhash::HashFunction;
use manysum::lists::bare;
use std::cmp::Reverse;
use std::ffi::OsStr;
use std::iter;

/// What a line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Record<'a> {
    /// The digits of a digest, as many as the function has.
    Digest(&'a [u8]),
    /// Nothing on any file: a comment, a line that names columns, an empty one.
    Nothing,
    /// Nothing that can be read.
    Unreadable,
    /// A digest of another function.
    Foreign(HashFunction),
}

/// Reads the lines of lists.
pub(super) struct Reader {
    /// What digests are of: as soon as that is known.
    function: Option<HashFunction>,
    /// Which column they are in, where the list names columns, if there is one for them.
    columns: Option<Option<usize>>,
    /// Whose digests bare digits are, by the name of the list.
    named: Option<HashFunction>,
    /// Whether the function was asked for, so that names of lists do not count.
    is_asked_for: bool,
    is_guess: bool,
}

impl Reader {
    /// For this function, or else the one that the first line is of.
    pub(super) fn new(function: Option<HashFunction>) -> Self {
        Reader { function, columns: None, named: None, is_asked_for: function.is_some(), is_guess: false }
    }

    /// What digests are of, if that is known.
    pub(super) fn function(&self) -> Option<HashFunction> {
        self.function
    }

    /// Whether nothing says what digests are of but the number of their digits.
    pub(super) fn is_guess(&self) -> bool {
        self.is_guess
    }

    /// Another list begins, of this name.
    pub(super) fn begin(&mut self, list: &OsStr) {
        (self.columns, self.named) = (None, bare::named(list).filter(|_| !self.is_asked_for));
    }

    /// What a line says, which has no newline.
    pub(super) fn read<'a>(&mut self, line: &'a [u8]) -> Record<'a> {
        let line = line.trim_ascii();
        if let Some(line) = line.strip_prefix(b"%%%% ") {
            return self.name_columns(line).unwrap_or(Record::Nothing);
        }
        if line.is_empty() || line.starts_with(b"#") {
            return Record::Nothing;
        }
        if let Some(column) = self.columns {
            let field = column.and_then(|column| fields(line).nth(column));
            return match field.map(|field| self.digest(field, None)) {
                // Lists that were put together have those lines in their midst.
                None | Some(Record::Unreadable) => self.name_columns(line).unwrap_or(Record::Unreadable),
                Some(record) => record,
            };
        }
        if let Some((function, digits)) = tagged(line) {
            return self.digest(digits, Some(function));
        }
        let digits = digits(line);
        match digits.is_empty() {
            true => self.name_columns(line).unwrap_or(Record::Unreadable),
            false => self.digest(digits, None),
        }
    }

    /// Takes a line for one that names columns, if any of them is of digests.
    fn name_columns(&mut self, line: &[u8]) -> Option<Record<'static>> {
        let named = |field: &[u8]| str::from_utf8(field).ok().and_then(|name| name.parse::<HashFunction>().ok());
        let columns = || fields(line).map(named).enumerate().filter_map(|(at, function)| Some((at, function?)));
        // Of several, the longest digests are the ones that fewest files have by chance or by design.
        let (_, longest) = columns().min_by_key(|(_, function)| Reverse(function.digest_bytes()))?;
        let function = *self.function.get_or_insert(longest);
        let column = columns().find(|column| column.1 == function);
        self.columns = Some(column.map(|(at, _)| at));
        Some(if column.is_some() { Record::Nothing } else { Record::Foreign(longest) })
    }

    /// The digest of these digits, by a list that says what it is of, or does not.
    fn digest<'a>(&mut self, digits: &'a [u8], tag: Option<HashFunction>) -> Record<'a> {
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return Record::Unreadable;
        }
        let fits = |function: HashFunction| digits.len() == 2 * function.digest_bytes();
        let function = match (tag.or_else(|| bare::told(self.named, digits.len())), self.function) {
            (Some(told), _) => Some(told),
            // Functions with digests of the same length are told apart by nothing else.
            (None, Some(function)) if fits(function) => Some(function),
            (None, None) => {
                let guess = bare::guess(digits.len());
                self.is_guess = guess.is_some();
                guess
            }
            (None, Some(_)) => bare::guess(digits.len()),
        };
        match function {
            Some(function) if fits(function) => match *self.function.get_or_insert(function) {
                known if known == function => Record::Digest(digits),
                _ => Record::Foreign(function),
            },
            _ => Record::Unreadable,
        }
    }
}

/// The function and the digits of a line with a tag.
fn tagged(line: &[u8]) -> Option<(HashFunction, &[u8])> {
    let line = line.strip_prefix(b"\\").unwrap_or(line);
    let tag = line[..line.iter().position(|&byte| byte == b'(')?].trim_ascii_end();
    let function = str::from_utf8(tag).ok()?.parse().ok()?;
    // A name may hold parentheses, but digits hold none.
    let rest = &line[line.iter().rposition(|&byte| byte == b')')? + 1..];
    Some((function, rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start()))
}

/// The digits that a line begins with; none if more of a word follows them.
fn digits(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\\").or(line.strip_prefix(b"\"")).unwrap_or(line);
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    match line.get(end) {
        None | Some(b' ' | b'\t' | b',' | b';' | b'"') => &line[..end],
        Some(_) => b"",
    }
}

/// The columns of a line, without their quotation marks.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(line);
    iter::from_fn(move || {
        let line = rest?.trim_ascii_start();
        let quoted = line.strip_prefix(b"\"");
        let (text, end) = quoted.map_or((line, &b","[..]), |text| (text, b"\","));
        let at = text.windows(end.len()).position(|window| window == end);
        rest = at.map(|at| &text[at + end.len()..]);
        let field = at.map_or(text.trim_ascii_end(), |at| &text[..at]);
        // The last column of a line has its mark still.
        Some(if quoted.is_some() && at.is_none() { field.strip_suffix(b"\"").unwrap_or(field) } else { field })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "d41d8cd98f00b204e9800998ecf8427e";
    const SHA1: &str = "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709";
    const SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn function(name: &str) -> HashFunction {
        name.parse().expect("a function")
    }

    /// What a line says to a new reader for these functions or any, as the name of the function that it is of.
    fn read(named: Option<&str>, line: &str) -> String {
        let line = line.replace("<md5>", MD5).replace("<sha1>", SHA1).replace("<sha256>", SHA256);
        let mut reader = Reader::new(named.map(function));
        match reader.read(line.as_bytes()) {
            Record::Digest(digits) => {
                assert!([MD5, SHA1, SHA256].map(str::as_bytes).contains(&digits));
                reader.function().expect("it is known").to_string()
            }
            Record::Foreign(function) => format!("not {function}"),
            Record::Nothing => "nothing".into(),
            Record::Unreadable => "unreadable".into(),
        }
    }

    #[test]
    fn lines_without_a_tag() {
        for line in
            ["<md5>", "<md5>\r", "<md5>  a", "<md5> *a", "\\<md5>  a\\n", " <md5>\ta", "<md5>,a", "\"<md5>\",\"a\""]
        {
            assert_eq!(read(None, line), "md5", "{line:?}");
        }
        assert_eq!(read(None, "<sha1>"), "sha1");
        assert_eq!(read(None, "<sha256>  a"), "sha256");
        assert_eq!(read(Some("blake3"), "<sha256>  a"), "blake3");
        assert_eq!(read(Some("sha256"), "<md5>"), "not md5");
        for line in ["<md5>0", "<md5>x", "<md5>:a", "a <md5>", "x", "12345678", "é"] {
            assert_eq!(read(None, line), "unreadable", "{line:?}");
        }
        for line in ["", " ", "\r", "# <md5>", "%%%% HASHDEEP-1.0"] {
            assert_eq!(read(None, line), "nothing", "{line:?}");
        }
    }

    #[test]
    fn what_is_guessed() {
        for (list, line, expected) in [
            ("list", SHA256, ("sha256", true)),
            ("B3SUMS", SHA256, ("blake3", false)),
            ("B3SUMS", MD5, ("md5", true)),
            ("list", &format!("SHA256 (a) = {SHA256}"), ("sha256", false)),
        ] {
            let mut reader = Reader::new(None);
            reader.begin(list.as_ref());
            assert!(matches!(reader.read(line.as_bytes()), Record::Digest(_)));
            let function = reader.function().expect("it is known").to_string();
            assert_eq!((function.as_str(), reader.is_guess()), expected);
        }
        let mut reader = Reader::new(Some(function("sm3")));
        reader.begin("x.b3".as_ref());
        assert_eq!((reader.read(SHA256.as_bytes()), reader.is_guess()), (Record::Digest(SHA256.as_bytes()), false));
        // A list that says more than the first one did.
        let mut reader = Reader::new(None);
        reader.begin("list".as_ref());
        assert_eq!(reader.read(SHA256.as_bytes()), Record::Digest(SHA256.as_bytes()));
        reader.begin("x.b3".as_ref());
        assert_eq!(reader.read(SHA256.as_bytes()), Record::Foreign(function("blake3")));
    }

    #[test]
    fn lines_with_a_tag() {
        assert_eq!(read(None, "MD5 (a) = <md5>"), "md5");
        assert_eq!(read(None, "SHA2-256(a)= <sha256>"), "sha256");
        assert_eq!(read(None, "\\BLAKE2b-256 (a) = (\\n)) = <sha256>"), "blake2b-256");
        assert_eq!(read(Some("md5"), "SHA1 (a) = <sha1>"), "not sha1");
        for line in ["MD5 (a) = <sha1>", "MD6 (a) = <md5>", "MD5 (a) <md5>", "MD5 (a = <md5>", "MD5 (a) =", "("] {
            assert_eq!(read(None, line), "unreadable", "{line:?}");
        }
    }

    /// The digits that the lines have for a reader, by the first bytes.
    fn columns(named: Option<&str>, lines: &[&str]) -> Vec<String> {
        let mut reader = Reader::new(named.map(function));
        let records = lines.iter().map(|line| match reader.read(line.as_bytes()) {
            Record::Digest(digits) => String::from_utf8_lossy(&digits[..2]).into_owned(),
            other => format!("{other:?}"),
        });
        records.collect()
    }

    #[test]
    fn columns_by_their_names() {
        let header = "\"SHA-1\",\"MD5\",\"CRC32\",\"FileName\",\"FileSize\"";
        let line = &format!("\"{SHA1}\",\"{MD5}\",\"00000000\",\"a \"lone\" mark\",0");
        assert_eq!(
            columns(None, &[header, line, header, line, "\"x\""]),
            ["Nothing", "DA", "Nothing", "DA", "Unreadable"]
        );
        assert_eq!(columns(Some("md5"), &[header, line]), ["Nothing", "d4"]);
        assert_eq!(columns(Some("sha256"), &[header, line])[1], "Unreadable");
        let line = &format!("\"a,b\", \"{SHA1}\"");
        assert_eq!(columns(None, &["name,SHA1", line]), ["Nothing", "DA"]);
    }

    #[test]
    fn columns_of_hashdeep() {
        let header = "%%%% size,md5,sha256,filename";
        let line = &format!("0,{MD5},{SHA256},a,b");
        assert_eq!(
            columns(None, &["%%%% HASHDEEP-1.0", header, "## x", line]),
            ["Nothing", "Nothing", "Nothing", "e3"]
        );
        assert_eq!(columns(Some("md5"), &[header, line]), ["Nothing", "d4"]);
    }

    #[test]
    fn the_first_line_decides() {
        let mut reader = Reader::new(None);
        assert_eq!(reader.read(MD5.as_bytes()), Record::Digest(MD5.as_bytes()));
        assert_eq!(reader.read(SHA1.as_bytes()), Record::Foreign(function("sha1")));
        assert_eq!(reader.read(b"%%%% size,sha1,filename"), Record::Foreign(function("sha1")));
        reader.begin("list".as_ref());
        assert_eq!(reader.read(b"sha1,md5"), Record::Nothing);
        assert_eq!(reader.read(format!("{SHA1},{MD5}").as_bytes()), Record::Digest(MD5.as_bytes()));
    }
}
