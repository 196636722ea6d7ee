//! One line of a list of checksums.
//!
//! Three forms are read, as GNU coreutils reads them:
//! - its own, `HEX  NAME` and `HEX *NAME`, the asterisk for files read as binary, which is the same here;
//! - BSD's, `SHA256 (NAME) = HEX`, if the tag is that of the algorithm in use;
//! - BSD's reversed, `HEX NAME`.
//!
//! Spaces and tabs before it do not count, and after them a backslash says that the name is escaped. A name ends at a
//! NUL, for no file's name has one.

use crate::escape::unescape;
use manyhash::{Digest, Function, Other};

/// What a function is called in BSD's form, and in messages. BSD and Perl's shasum write SHA512/256.
pub(super) fn tag(function: Function) -> String {
    match function {
        Function::Lanes(algorithm) => algorithm.name().to_ascii_uppercase().replace('-', "/"),
        // As b2sum and cksum write it.
        Function::Other(Other::Blake2b(_)) => function.to_string().replace("blake", "BLAKE"),
        other => other.to_string().to_ascii_uppercase(),
    }
}

/// Reads lines of lists for one function.
pub(super) struct Parser {
    tag: String,
    hex_length: usize,
    /// Whether lines have one separator before the name instead of two: not known before the first line.
    ///
    /// The two are not mixed: `HEX  NAME` would be the file ` NAME` to the one and `NAME` to the other, and whoever can
    /// name files could choose. So the first line decides, for all lists.
    one_separator: Option<bool>,
}

impl Parser {
    pub(super) fn new(function: Function) -> Self {
        Parser { tag: tag(function), hex_length: 2 * function.digest_bytes(), one_separator: None }
    }

    /// The digest and the name in a line, which has no newline; none if it is improperly formatted.
    pub(super) fn parse(&mut self, line: &[u8]) -> Option<(Digest, Vec<u8>)> {
        let line = skip_white(line);
        let (escaped, line) = match line.strip_prefix(b"\\") {
            Some(line) => (true, line),
            None => (false, line),
        };
        let (hex, name) = match line.strip_prefix(self.tag.as_bytes()) {
            Some(line) => tagged(line)?,
            None => self.untagged(line)?,
        };
        // All digits are needed: `from_hex` would take any even number.
        let digest = Digest::from_hex(hex).ok().filter(|_| hex.len() == self.hex_length)?;
        let name = if escaped { unescape(name)? } else { before_nul(name).to_vec() };
        Some((digest, name))
    }

    /// The digits and the name of a line without a tag.
    fn untagged<'a>(&mut self, line: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let (hex, rest) = line.split_at_checked(self.hex_length)?;
        let (b' ' | b'\t', name) = rest.split_first()? else { return None };
        // The shortest name has one byte. The line decides on the form only if it is a line at all.
        if name.is_empty() || !hex.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        match name {
            [b' ' | b'*', after @ ..] if !after.is_empty() => {
                let one_separator = *self.one_separator.get_or_insert(false);
                Some((hex, if one_separator { name } else { after }))
            }
            _ => (*self.one_separator.get_or_insert(true)).then_some((hex, name)),
        }
    }
}

/// The digits and the name of a line after its tag.
fn tagged(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_prefix(b" ").unwrap_or(line).strip_prefix(b"(")?;
    // A name may hold parentheses, but digits hold none.
    let (name, rest) = line.split_at(line.iter().rposition(|&byte| byte == b')')?);
    let hex = skip_white(skip_white(&rest[1..]).strip_prefix(b"=")?);
    Some((before_nul(hex), name))
}

fn skip_white(text: &[u8]) -> &[u8] {
    let white = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[white..]
}

fn before_nul(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyhash::Algorithm;

    const HEX: &str = "d41d8cd98f00b204e9800998ecf8427e";

    fn parsed(parser: &mut Parser, line: &str) -> Option<String> {
        let (digest, name) = parser.parse(line.replace("HEX", HEX).as_bytes())?;
        assert_eq!(digest.to_hex(), HEX);
        String::from_utf8(name).ok()
    }

    #[track_caller]
    fn check(line: &str, name: Option<&str>) {
        assert_eq!(parsed(&mut Parser::new(Algorithm::Md5.into()), line).as_deref(), name, "{line:?}");
    }

    #[test]
    fn forms() {
        for line in ["HEX  a b", "HEX *a b", " \tHEX\t a b", "MD5 (a b) = HEX", "MD5(a b)=HEX", "HEX a b"] {
            check(line, Some("a b"));
        }
        check("MD5 (a) = (b) = HEX", Some("a) = (b"));
        check("HEX  a\0b", Some("a"));
        check(r"\HEX  a\nb\\", Some("a\nb\\"));
        check(r"HEX  a\nb", Some("a\\nb"));
    }

    #[test]
    fn improper() {
        for line in
            ["", "HEX", "HEX ", "HEX0  a", "0HEX a", "MD5 (a) = HEX ", "MD5 (a) HEX", "MD5 a = HEX", "SHA1 (a) = HEX"]
        {
            check(line, None);
        }
        check(r"\HEX  a\tb", None);
        check("MD5 (a) = HEX00", None);
    }

    #[test]
    fn separators_are_not_mixed() {
        let mut parser = Parser::new(Algorithm::Md5.into());
        assert_eq!(parsed(&mut parser, "HEX a").as_deref(), Some("a"));
        assert_eq!(parsed(&mut parser, "HEX  a").as_deref(), Some(" a"));
        let mut parser = Parser::new(Algorithm::Md5.into());
        assert_eq!(parsed(&mut parser, "HEX  a").as_deref(), Some("a"));
        assert_eq!(parsed(&mut parser, "HEX a"), None);
    }

    #[test]
    fn tags() {
        let tag = |name: &str| tag(name.parse().expect("a function"));
        assert_eq!(
            Algorithm::ALL.map(|algorithm| tag(algorithm.name())),
            ["MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "SHA512/256"]
        );
        let names = ["blake3", "blake2b", "blake2b-256", "sha3-256", "sm3", "crc32c", "xxh128"];
        assert_eq!(names.map(tag), ["BLAKE3", "BLAKE2b", "BLAKE2b-256", "SHA3-256", "SM3", "CRC32C", "XXH128"]);
    }
}
