//! Lines with digits and a name, in all forms.
//!
//! Beside those that the tools of coreutils read, which [`line`](super::line) describes, there are
//! - md5deep's with sizes, `   SIZE  HEX  NAME`, and with commas, `HEX,NAME` and `   SIZE, HEX,NAME`;
//! - rclone's in base64, of either alphabet;
//! - tags of all functions here, also as `openssl dgst` and RHash spell them;
//! - those of `cksum` without options, `CRC SIZE NAME`, both numbers decimal and the name as it is.

use super::cksum::{is_base64, is_legacy};
use super::line::{Separators, before_nul, digest_or_base64, skip_white, tag, tagged};
use super::{Entry, bare, digest, split_hex};
use crate::escape::unescape;
use manyhash::{Digest, HashFunction};
use std::ffi::OsStr;

/// Reads lines of lists.
#[derive(Clone, Debug)]
pub(super) struct Parser {
    /// Whose digests are read, if not those of all functions.
    only: Option<HashFunction>,
    /// Whose digests bare digits are, by the name of the list.
    named: Option<HashFunction>,
    separators: Separators,
    /// Whether the function of the last line is a guess by the number of its digits.
    is_guess: bool,
}

/// What a line says, as it stands there.
struct Listed<'a> {
    function: HashFunction,
    digest: Digest,
    name: &'a [u8],
    size: Option<u64>,
    is_guess: bool,
}

impl Parser {
    pub(super) fn new(only: Option<HashFunction>) -> Self {
        Parser { only, named: None, separators: Separators::default(), is_guess: false }
    }

    /// A list of this name begins.
    pub(super) fn begin(&mut self, list: &OsStr) {
        self.named = bare::named(list);
    }

    /// Whether the function of the last line is a guess.
    pub(super) fn is_guess(&self) -> bool {
        self.is_guess
    }

    /// What a line says, which has no newline; none if it is improperly formatted.
    pub(super) fn parse(&mut self, line: &[u8]) -> Option<Entry> {
        self.is_guess = false;
        if let Some(entry) = self.crc(line) {
            return Some(entry);
        }
        let line = skip_white(line);
        let (escaped, line) = match line.strip_prefix(b"\\") {
            Some(line) => (true, line),
            None => (false, line),
        };
        let Listed { function, digest, name, size, is_guess } = match function_of_tag(line) {
            Some((function, rest)) => {
                let (digits, name) = tagged(rest)?;
                Listed { function, digest: digest_or_base64(function, digits)?, name, size: None, is_guess: false }
            }
            None => self.untagged(line).or_else(|| self.sized(line))?,
        };
        self.is_guess = is_guess;
        let name = if escaped { unescape(name)? } else { before_nul(name).to_vec() };
        Some(Entry { name, size, digests: vec![(function, digest)] })
    }

    /// What a line without a tag says.
    fn untagged<'a>(&mut self, line: &'a [u8]) -> Option<Listed<'a>> {
        let (hex, rest) = split_hex(line);
        let Some((b' ' | b'\t', name)) = rest.split_first() else {
            return self.with_comma(line).or_else(|| self.in_base64(line));
        };
        let (function, is_guess) = self.bare(hex.len() / 2)?;
        let (digest, name) = (digest(function, hex)?, self.separators.name(name)?);
        Some(Listed { function, digest, name, size: None, is_guess })
    }

    /// What a line says that has a comma between digits and name.
    fn with_comma<'a>(&self, line: &'a [u8]) -> Option<Listed<'a>> {
        let (hex, rest) = split_hex(line);
        let name = rest.strip_prefix(b",").filter(|name| !name.is_empty())?;
        let (function, is_guess) = self.bare(hex.len() / 2)?;
        Some(Listed { function, digest: digest(function, hex)?, name, size: None, is_guess })
    }

    /// What a line without a tag says whose digits are base64.
    fn in_base64<'a>(&mut self, line: &'a [u8]) -> Option<Listed<'a>> {
        let (digits, rest) = line.split_at(line.iter().position(|byte| matches!(byte, b' ' | b'\t'))?);
        let padding = digits.iter().rev().take_while(|byte| **byte == b'=').count();
        let bytes = (digits.len() / 4 * 3).checked_sub(padding)?;
        // rclone has the alphabet for URLs.
        let usual = |byte: &u8| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => *byte,
        };
        let digits: Vec<u8> = digits.iter().map(usual).collect();
        let (function, is_guess) = self.bare(bytes).filter(|_| is_base64(&digits, bytes))?;
        let digest = Digest::from_base64(&digits).ok()?;
        Some(Listed { function, digest, name: self.separators.name(&rest[1..])?, size: None, is_guess })
    }

    /// What a line without a tag says that begins with the size of the file.
    fn sized<'a>(&mut self, line: &'a [u8]) -> Option<Listed<'a>> {
        let (size, rest) = number(line)?;
        let listed = match rest.strip_prefix(b"  ") {
            Some(rest) => self.untagged(rest)?,
            None => self.with_comma(rest.strip_prefix(b", ")?)?,
        };
        Some(Listed { size: Some(size), ..listed })
    }

    /// What a line of `cksum` says, whose numbers have too few digits to be anything else, unless a function of short
    /// digests was asked for.
    fn crc(&self, line: &[u8]) -> Option<Entry> {
        let function = HashFunction::Crc;
        if self.only.is_some_and(|only| only != function) {
            return None;
        }
        let (crc, rest) = number(line)?;
        let (size, rest) = number(rest.strip_prefix(b" ")?)?;
        let name = rest.strip_prefix(b" ").filter(|name| !name.is_empty() && !name.contains(&0))?;
        let digest = Digest::from_bytes(&u32::try_from(crc).ok()?.to_be_bytes()).ok()?;
        Some(Entry { name: name.to_vec(), size: Some(size), digests: vec![(function, digest)] })
    }

    /// Whose digest so many bytes are, where the line does not say it, and whether that is a guess. The sums of old have
    /// no such lines.
    fn bare(&self, bytes: usize) -> Option<(HashFunction, bool)> {
        let told = match self.only {
            Some(function) => {
                return (function.digest_bytes() == bytes && !is_legacy(function)).then_some((function, false));
            }
            None => bare::told(self.named, 2 * bytes),
        };
        told.map(|function| (function, false)).or_else(|| Some((bare::guess(2 * bytes)?, true)))
    }
}

/// The function whose tag a line begins with, and the rest of the line.
fn function_of_tag(line: &[u8]) -> Option<(HashFunction, &[u8])> {
    let end = line.iter().position(|&byte| byte == b'(')?;
    // RHash makes tags the same length.
    let head = line[..end].trim_ascii_end();
    let function: HashFunction = str::from_utf8(head).ok()?.parse().ok()?;
    // Tags are in capitals, whoever spells them, but for the one letter that b2sum and cksum leave small.
    let is_tag = head == tag(function).as_bytes() || !head.iter().any(u8::is_ascii_lowercase);
    is_tag.then(|| (function, skip_white(&line[head.len()..])))
}

/// The decimal number that a line begins with, and the rest of it.
fn number(line: &[u8]) -> Option<(u64, &[u8])> {
    let (digits, rest) = line.split_at(line.iter().take_while(|byte| byte.is_ascii_digit()).count());
    Some((str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "d41d8cd98f00b204e9800998ecf8427e";

    #[test]
    fn sizes() {
        let mut parser = Parser::new(None);
        let size = |parser: &mut Parser, line: &str| parser.parse(line.replace("HEX", HEX).as_bytes())?.size;
        assert_eq!(size(&mut parser, "         3  HEX  a"), Some(3));
        assert_eq!(size(&mut parser, "18446744073709551615  HEX  a"), Some(u64::MAX));
        for line in ["18446744073709551616  HEX  a", "3 HEX  a", "3  HEX a", "  HEX  a", "-3  HEX  a", "3  3  HEX  a"] {
            assert_eq!(size(&mut parser, line), None, "{line}");
        }
    }

    #[test]
    fn guesses() {
        let mut parser = Parser::new(None);
        let mut guess = |list: &str, line: &str| {
            parser.begin(list.as_ref());
            let entry = parser.parse(line.replace("HEX", HEX).as_bytes()).expect("a line");
            (entry.digests[0].0.to_string(), parser.is_guess())
        };
        assert_eq!(guess("list", "HEXHEX  a"), ("sha256".into(), true));
        assert_eq!(guess("list", "HEX,a"), ("md5".into(), true));
        assert_eq!(guess("list", "lcsL_Sl3x2EpjZYk5LTUxyo5l0o=  a"), ("sha1".into(), true));
        assert_eq!(guess("list", "MD5 (a) = HEX"), ("md5".into(), false));
        assert_eq!(guess("list", "1219131554 3 a"), ("crc".into(), false));
        assert_eq!(guess("B3SUMS", "HEXHEX  a"), ("blake3".into(), false));
        assert_eq!(guess("B3SUMS", "HEX  a"), ("md5".into(), true));
    }

    #[test]
    fn crc() {
        let name = |only, line: &str| Some(Parser::new(only).parse(line.as_bytes())?.name.escape_ascii().to_string());
        let crc = Some(HashFunction::Crc);
        for only in [None, crc] {
            // The name is what is there, whatever it begins with.
            assert_eq!(name(only, "1219131554 3   a").as_deref(), Some("  a"));
            assert_eq!(name(only, "12345678 0 3 a").as_deref(), Some("3 a"));
        }
        // Eight digits may be anything else than a decimal number.
        assert_eq!(name(Some(HashFunction::Crc32), "12345678 3 a").as_deref(), Some("3 a"));
        assert_eq!(name(crc, "1234567a 3 a"), None);
        assert_eq!(name(Some(HashFunction::Bsd), "1234 3 a"), None);
    }

    #[test]
    fn functions() {
        let mut parser = Parser::new(None);
        let mut function = |line: &str| {
            let entry = parser.parse(line.replace("HEX", HEX).as_bytes())?;
            Some(entry.digests[0].0.to_string())
        };
        for (line, expected) in [
            ("MD5 (a) = HEX", "md5"),
            ("BLAKE2b-128 (a) = HEX", "blake2b-128"),
            ("MD5 (a) = 1B2M2Y8AsgTpgAmY7PhCfg==", "md5"),
            ("1219131554 3 a", "crc"),
            ("CRC (a) = 48aa78a2", "crc"),
            ("XXH128 (a) = HEX", "xxh128"),
            ("SHA2-256(a)= HEXHEX", "sha256"),
            ("SHA512/256 (a) = HEXHEX", "sha512-256"),
            ("HEX  md5 (a) = HEX", "md5"),
            ("HEXHEX  a", "sha256"),
            ("HEXHEXHEX  a", "sha384"),
            ("MD5   (a) = HEX", "md5"),
            ("HEX,a", "md5"),
            ("  3, HEX,a", "md5"),
            ("1B2M2Y8AsgTpgAmY7PhCfg==  a", "md5"),
            ("lcsL_Sl3x2EpjZYk5LTUxyo5l0o=  a", "sha1"),
            ("lcsL/Sl3x2EpjZYk5LTUxyo5l0o=  a", "sha1"),
        ] {
            assert_eq!(function(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "md5 (a) = HEX",
            "MD6 (a) = HEX",
            "SHA256 (a) = HEX",
            "(a) = HEX",
            "HEXff  a",
            "352441C2  a",
            "4294967296 3 a",
            "1 3 ",
            "HEX,",
            "1B2M2Y8AsgTpgAmY7PhCfg=  a",
            "1B2M2Y8AsgTpgAmY7PhCfh==  a",
        ] {
            assert_eq!(function(line), None, "{line}");
        }
    }
}
