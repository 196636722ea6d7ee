//! Lines with digits and a name, as the tools of GNU coreutils read them.
//!
//! Three forms are read:
//! - its own, `HEX  NAME` and `HEX *NAME`, the asterisk for files read as binary, which is the same here;
//! - BSD's, `SHA256 (NAME) = HEX`, if the tag is that of the function in use;
//! - BSD's reversed, `HEX NAME`.
//!
//! `b2sum` takes the length of BLAKE2b from each line, and `cksum` the function from each tag, and the digest in base64.
//!
//! Spaces and tabs before it do not count, and after them a backslash says that the name is escaped. A name ends at a
//! NUL, for no file's name has one.

use super::cksum::{Family, is_base64, number_of_c, tagged_function};
use super::{Entry, digest};
use crate::escape::unescape;
use manyhash::{Algorithm, Blake2bLength, Digest, HashFunction};

/// What a function is called in BSD's form, and in messages. BSD and Perl's shasum write SHA512/256.
pub fn tag(function: HashFunction) -> String {
    match function {
        HashFunction::Lanes(Algorithm::Sha512_256) => "SHA512/256".to_owned(),
        // As b2sum and cksum write it.
        HashFunction::Blake2b(_) => function.to_string().replace("blake", "BLAKE"),
        other => other.to_string().to_ascii_uppercase(),
    }
}

/// The tool that lines are read as by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `md5sum` and its like: digests in hexadecimal, of one function.
    Sum,
    /// `b2sum`: each line says how long its digest is, by its tag or its digits.
    B2sum,
    /// `cksum -a`: that too, and digests in base64.
    CksumOf,
    /// `cksum -a sha2` and `cksum -a sha3` of coreutils 9.8: each line is of one of a family, by its tag or its digits.
    CksumFamily(Family),
    /// `cksum`: only lines with tags, each of whichever function its tag says.
    Cksum,
}

/// Whether lines have one separator before the name instead of two: not known before the first line.
///
/// The two are not mixed: `HEX  NAME` would be the file ` NAME` to the one and `NAME` to the other, and whoever can name
/// files could choose. So the first line decides, for all lists.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Separators {
    one: Option<bool>,
}

impl Separators {
    /// The name after one separator, and maybe another; none if lines are in the other form. The line should be one
    /// otherwise: it may decide.
    pub(super) fn name<'a>(&mut self, name: &'a [u8]) -> Option<&'a [u8]> {
        // The shortest name has one byte.
        if name.is_empty() { None } else { self.any_name(name) }
    }

    /// The same of what may be no name.
    fn any_name<'a>(&mut self, name: &'a [u8]) -> Option<&'a [u8]> {
        match name {
            [b' ' | b'*', after @ ..] if !after.is_empty() => {
                let one = *self.one.get_or_insert(false);
                Some(if one { name } else { after })
            }
            _ => (*self.one.get_or_insert(true)).then_some(name),
        }
    }
}

/// Reads lines of lists as a tool does.
#[derive(Clone, Debug)]
pub(super) struct Parser {
    dialect: Dialect,
    /// Of the lines; where they may be of any, that of the last tag.
    function: HashFunction,
    tag: String,
    separators: Separators,
}

impl Parser {
    pub(super) fn new(function: HashFunction, dialect: Dialect) -> Self {
        Parser { dialect, function, tag: tag(function), separators: Separators::default() }
    }

    /// The function that lines are of now.
    pub(super) fn function(&self) -> HashFunction {
        self.function
    }

    /// What a line says, which has no newline; none if it is improperly formatted.
    pub(super) fn parse(&mut self, line: &[u8]) -> Option<Entry> {
        let line = skip_white(line);
        let (escaped, line) = match line.strip_prefix(b"\\") {
            Some(line) => (true, line),
            None => (false, line),
        };
        match self.dialect {
            Dialect::Sum | Dialect::B2sum | Dialect::CksumOf => {}
            Dialect::Cksum => (self.function, self.tag) = tagged_function(line)?,
            Dialect::CksumFamily(family) => (self.function, self.tag) = function_of_family(family, line)?,
        }
        let (function, digest, name) = match line.strip_prefix(self.tag.as_bytes()) {
            Some(line) => {
                let (function, line) = self.length(line)?;
                let (digits, name) = tagged(line)?;
                (function, self.digest(function, digits)?, name)
            }
            None => self.untagged(line)?,
        };
        let name = if escaped { unescape(name)? } else { before_nul(name).to_vec() };
        Some(Entry { name, size: None, digests: vec![(function, digest)] })
    }

    /// The function of a line, and what is left of it after the tag and the length that may follow.
    fn length<'a>(&self, line: &'a [u8]) -> Option<(HashFunction, &'a [u8])> {
        match (self.dialect, self.function, line) {
            (Dialect::Sum, ..) => Some((self.function, line)),
            (_, HashFunction::Blake2b(_), [b'-', line @ ..]) => {
                let (bits, line) = number_of_c(line)?;
                let length = Blake2bLength::of_bits(usize::try_from(bits).ok()?)?;
                Some((HashFunction::Blake2b(length), line))
            }
            // These tools pass over a space more.
            (_, _, [b' ' | b'\t', line @ ..]) => Some((self.function, line)),
            _ => Some((self.function, line)),
        }
    }

    /// The digest and the name of a line without a tag, and the function.
    fn untagged<'a>(&mut self, line: &'a [u8]) -> Option<(HashFunction, Digest, &'a [u8])> {
        let (digits, rest) = line.split_at(line.iter().position(|byte| matches!(byte, b' ' | b'\t'))?);
        let function = match (self.dialect, self.function) {
            (Dialect::B2sum | Dialect::CksumOf, HashFunction::Blake2b(_)) => {
                HashFunction::Blake2b(Blake2bLength::of_bits(4 * digits.len())?)
            }
            (_, function) => function,
        };
        // The line decides on the form only if it is a line at all.
        let digest = self.digest(function, digits)?;
        let name = match self.dialect {
            Dialect::Sum => self.separators.name(&rest[1..])?,
            // As long as the shortest line with a name is one of these without.
            Dialect::B2sum | Dialect::CksumOf | Dialect::CksumFamily(_) | Dialect::Cksum => {
                self.separators.any_name(&rest[1..])?
            }
        };
        Some((function, digest, name))
    }

    /// The digest that digits stand for, all of them and no more.
    fn digest(&self, function: HashFunction, digits: &[u8]) -> Option<Digest> {
        match self.dialect {
            Dialect::Sum | Dialect::B2sum => digest(function, digits),
            Dialect::CksumOf | Dialect::CksumFamily(_) | Dialect::Cksum => digest_or_base64(function, digits),
        }
    }
}

/// The function of a family that a line is of, and its tag as it is written there, or would be.
fn function_of_family(family: Family, line: &[u8]) -> Option<(HashFunction, String)> {
    let functions = family.functions();
    let digits = line.split(|byte| matches!(byte, b' ' | b'\t')).next().unwrap_or_default();
    let of_digits = || functions.into_iter().find(|function| digest_or_base64(*function, digits).is_some());
    let of_tag = tagged_function(line).filter(|(function, _)| functions.contains(function));
    of_tag.or_else(|| of_digits().map(|function| (function, tag(function))))
}

/// The digest that digits in hexadecimal or base64 stand for, all of them and no more.
pub(super) fn digest_or_base64(function: HashFunction, digits: &[u8]) -> Option<Digest> {
    // With bits set beyond the last byte they stand for no digest, and match none.
    let base64 = || is_base64(digits, function.digest_bytes()).then(|| Digest::from_base64(digits).unwrap_or_default());
    digest(function, digits).or_else(base64)
}

/// The digits and the name of a line after its tag.
pub(super) fn tagged(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_prefix(b" ").unwrap_or(line).strip_prefix(b"(")?;
    // A name may hold parentheses, but digits hold none.
    let (name, rest) = line.split_at(line.iter().rposition(|&byte| byte == b')')?);
    let hex = skip_white(skip_white(&rest[1..]).strip_prefix(b"=")?);
    Some((before_nul(hex), name))
}

pub(super) fn skip_white(text: &[u8]) -> &[u8] {
    let white = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[white..]
}

pub(super) fn before_nul(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "d41d8cd98f00b204e9800998ecf8427e";

    fn md5() -> Parser {
        Parser::new(Algorithm::Md5.into(), Dialect::Sum)
    }

    fn parsed(parser: &mut Parser, line: &str) -> Option<String> {
        let Entry { name, digests, .. } = parser.parse(line.replace("HEX", HEX).as_bytes())?;
        let [(_, digest)] = digests[..] else { panic!("{digests:?}") };
        assert_eq!(digest.to_hex(), HEX);
        String::from_utf8(name).ok()
    }

    #[track_caller]
    fn check(line: &str, name: Option<&str>) {
        assert_eq!(parsed(&mut md5(), line).as_deref(), name, "{line:?}");
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
        let mut parser = md5();
        assert_eq!(parsed(&mut parser, "HEX a").as_deref(), Some("a"));
        assert_eq!(parsed(&mut parser, "HEX  a").as_deref(), Some(" a"));
        let mut parser = md5();
        assert_eq!(parsed(&mut parser, "HEX  a").as_deref(), Some("a"));
        assert_eq!(parsed(&mut parser, "HEX a"), None);
    }

    #[test]
    fn tags() {
        let tag = |name: &str| tag(name.parse().expect("a function"));
        assert_eq!(
            Algorithm::ALL.iter().map(|algorithm| tag(algorithm.name())).collect::<Vec<_>>(),
            [
                "MD5",
                "SHA1",
                "SHA224",
                "SHA256",
                "SHA384",
                "SHA512",
                "SHA512/256",
                "SHA3-224",
                "SHA3-256",
                "SHA3-384",
                "SHA3-512",
                "KECCAK256",
                "SM3",
                "RIPEMD160"
            ]
        );
        let names = ["blake3", "blake2b", "blake2b-256", "crc32c", "xxh128"];
        assert_eq!(names.map(tag), ["BLAKE3", "BLAKE2b", "BLAKE2b-256", "CRC32C", "XXH128"]);
    }
}
