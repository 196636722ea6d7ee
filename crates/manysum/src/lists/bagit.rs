//! The manifests of bags, RFC 8493, section 2.1.3: `HEX NAME`, with any number of spaces and tabs between.
//!
//! In names `%0A`, `%0D` and `%25` stand for a newline, a carriage return and a percent sign, and no other escape is one.
//! They are below the directory of the bag, which the manifest is in. Not all who write bags know of the escapes
//! (bagit.py 1.9 does not): where there is no file of the name that is meant, and one of the name as it is listed, that
//! one is taken.

use super::line::skip_white;
use super::{Entry, digest, split_hex};
use manyhash::HashFunction;
use std::ffi::OsStr;
use std::path::Path;

/// The escapes, and what they stand for.
const ESCAPES: [(&[u8; 3], u8); 3] = [(b"%0A", b'\n'), (b"%0D", b'\r'), (b"%25", b'%')];

/// Whose digests are in a list of this name; none if it is no manifest's.
pub fn function(list: &OsStr) -> Option<HashFunction> {
    let name = Path::new(list).file_name()?.to_str()?;
    let name = name.strip_prefix("tag").unwrap_or(name);
    let algorithm = name.strip_prefix("manifest-")?.strip_suffix(".txt")?;
    // Section 2.4: in lower case, without what is neither letter nor digit. Not all who write bags know.
    match HashFunction::all().find(|function| short(function.name()) == algorithm) {
        Some(function) => Some(function),
        None => algorithm.parse().or_else(|_| algorithm.replacen("blake2b", "blake2b-", 1).parse()).ok(),
    }
}

/// The name of the manifest with digests of this function.
pub fn manifest(function: HashFunction) -> String {
    format!("manifest-{}.txt", short(&function.to_string()))
}

/// The name of a function as it stands in that of a manifest.
fn short(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// What a line says; none if it is improperly formatted, or its name leads out of the bag. Whether the bag has a file of
/// some name is asked where a name may be meant as it is.
pub fn entry(function: HashFunction, line: &[u8], is_there: impl Fn(&[u8]) -> bool) -> Option<Entry> {
    let (hex, rest) = split_hex(line);
    let digest = digest(function, hex)?;
    let (b' ' | b'\t', listed) = rest.split_first()? else { return None };
    let literal = literal(listed);
    let meant = unescape(listed).filter(|name| literal == name || is_there(name) || !is_there(literal));
    let name = meant.or_else(|| is_name(literal).then(|| literal.to_vec()))?;
    Some(Entry { name, size: None, digests: vec![(function, digest)] })
}

/// Appends a name as a line has it; whether it has one.
pub(super) fn escape(name: &[u8], line: &mut Vec<u8>) -> bool {
    let start = line.len();
    for &byte in name {
        match ESCAPES.iter().find(|(_, escaped)| *escaped == byte) {
            Some((escape, _)) => line.extend_from_slice(*escape),
            None => line.push(byte),
        }
    }
    unescape(&line[start..]).as_deref() == Some(name)
}

/// The name of a line as it is.
fn literal(listed: &[u8]) -> &[u8] {
    let name = skip_white(listed);
    // The asterisk of md5sum, where it can be nothing else: section 6.1.3 has bags with it.
    name.strip_prefix(b"*").filter(|name| name.starts_with(b"data/")).unwrap_or(name)
}

/// The name that a line means, if it is one.
fn unescape(listed: &[u8]) -> Option<Vec<u8>> {
    let mut rest = literal(listed);
    let mut name = Vec::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        let escape =
            rest.get(..3).and_then(|text| ESCAPES.iter().find(|(escape, _)| text.eq_ignore_ascii_case(*escape)));
        let (byte, after) = escape.map_or((byte, after), |(_, escaped)| (*escaped, &rest[3..]));
        name.push(byte);
        rest = after;
    }
    is_name(&name).then_some(name)
}

/// Whether it is a name in the bag.
fn is_name(name: &[u8]) -> bool {
    let leads_out = name.starts_with(b"/") || name.split(|&byte| byte == b'/').any(|part| part == b"..");
    !name.is_empty() && !name.contains(&0) && !leads_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyhash::Algorithm;

    #[test]
    fn names_of_manifests() {
        let function = |name: &str| function(name.as_ref()).map(|function| function.to_string());
        for (name, expected) in [
            ("manifest-md5.txt", "md5"),
            ("bag/tagmanifest-sha512.txt", "sha512"),
            ("manifest-sha3256.txt", "sha3-256"),
            ("manifest-sha512256.txt", "sha512-256"),
            ("manifest-sha3-256.txt", "sha3-256"),
            ("manifest-blake2b256.txt", "blake2b-256"),
            ("manifest-blake2b-256.txt", "blake2b-256"),
        ] {
            assert_eq!(function(name).as_deref(), Some(expected), "{name}");
        }
        for name in
            ["manifest-md6.txt", "manifest.txt", "manifest-md5.txt.old", "my-manifest-md5.txt", "manifest-md5.txt/x"]
        {
            assert_eq!(function(name), None, "{name}");
        }
        assert_eq!(manifest("sha3-512".parse().expect("a function")), "manifest-sha3512.txt");
    }

    #[test]
    fn names_of_files() {
        let name = |line: &str| {
            let line = format!("d41d8cd98f00b204e9800998ecf8427e{line}");
            entry(Algorithm::Md5.into(), line.as_bytes(), |_| false)
                .map(|entry| String::from_utf8(entry.name).expect("UTF-8"))
        };
        for (line, expected) in [
            (" data/a b ", "data/a b "),
            ("\t \tdata/a", "data/a"),
            (" *data/a", "data/a"),
            (" *bag", "*bag"),
            ("  data/%0a%0D%25%20%", "data/\n\r%%20%"),
            (" ./data/...", "./data/..."),
        ] {
            assert_eq!(name(line).as_deref(), Some(expected), "{line}");
        }
        for line in ["", " ", "data/a", "00 data/a", " /data/a", " data/../../a", " ..", " data/\0"] {
            assert_eq!(name(line), None, "{line}");
        }
    }

    #[test]
    fn names_as_they_are() {
        let line = b"d41d8cd98f00b204e9800998ecf8427e  data/100%25";
        let name = |there: &[&str]| {
            let is_there = |name: &[u8]| there.iter().any(|there| there.as_bytes() == name);
            String::from_utf8(entry(Algorithm::Md5.into(), line, is_there).expect("a line").name).expect("UTF-8")
        };
        let (meant, literal) = ("data/100%", "data/100%25");
        assert_eq!((name(&[]), name(&[meant]), name(&[meant, literal])), (meant.into(), meant.into(), meant.into()));
        assert_eq!(name(&[literal]), literal);
    }

    #[test]
    fn names_that_cannot_be() {
        for name in [&b" a"[..], b"\ta", b"*data/a", b"../a", b"/a", b""] {
            assert!(!escape(name, &mut Vec::new()), "{}", name.escape_ascii());
        }
    }
}
