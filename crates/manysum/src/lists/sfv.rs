//! Lines of SFV (simple file verification): `NAME HEX`, of CRC-32. Nothing in a name is escaped.

use super::{Entry, digest};
use manyhash::HashFunction;
use std::ffi::OsStr;
use std::path::Path;

/// Whose digests they are.
pub(super) const FUNCTION: HashFunction = HashFunction::Crc32;

/// Whether a list of this name is SFV.
pub(super) fn is_named(list: &OsStr) -> bool {
    Path::new(list).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sfv"))
}

/// Whether this line is a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b";")
}

/// What a line says; none if it is improperly formatted.
pub(super) fn entry(line: &[u8]) -> Option<Entry> {
    let (name, hex) = line.split_at(line.iter().rposition(|byte| matches!(byte, b' ' | b'\t'))?);
    let digest = digest(FUNCTION, &hex[1..])?;
    let is_name = !name.is_empty() && !name.contains(&0);
    is_name.then(|| Entry { name: name.to_vec(), size: None, digests: vec![(FUNCTION, digest)] })
}

#[cfg(test)]
mod tests {
    use super::entry;

    #[test]
    fn lines() {
        let name = |line: &str| entry(line.as_bytes()).map(|entry| String::from_utf8(entry.name).expect("UTF-8"));
        assert_eq!(name("b,c d 00000000").as_deref(), Some("b,c d"));
        assert_eq!(name("two  352441c2").as_deref(), Some("two "));
        assert_eq!(name("a\t352441C2").as_deref(), Some("a"));
        for line in
            ["352441C2", " 352441C2", "a 352441C", "a 352441C22", "a 352441C2 ", "a 352441CG", "a", "\0 352441C2"]
        {
            assert_eq!(name(line), None, "{line:?}");
        }
    }
}
