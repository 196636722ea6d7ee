//! What `cksum` has beside other tools: functions by name and by tag, sums of old, and base64.

use super::line::tag;
use manyhash::{Algorithm, Blake2bLength, HashFunction};

/// The functions that `cksum` has, in its order.
pub(crate) const CKSUM: [HashFunction; 11] = [
    HashFunction::Bsd,
    HashFunction::Sysv,
    HashFunction::Crc,
    HashFunction::Lanes(Algorithm::Md5),
    HashFunction::Lanes(Algorithm::Sha1),
    HashFunction::Lanes(Algorithm::Sha224),
    HashFunction::Lanes(Algorithm::Sha256),
    HashFunction::Lanes(Algorithm::Sha384),
    HashFunction::Lanes(Algorithm::Sha512),
    HashFunction::Blake2b(Blake2bLength::MAX),
    HashFunction::Lanes(Algorithm::Sm3),
];

/// `crc32b`, which `cksum` of coreutils 9.6 prints as the sums of old.
pub(crate) const CRC32B: HashFunction = HashFunction::Crc32;

/// Whether a function is one of the sums of old, whose lines have no digest and no escapes.
pub(crate) fn is_legacy(function: HashFunction) -> bool {
    matches!(function, HashFunction::Crc | HashFunction::Bsd | HashFunction::Sysv)
}

/// Functions that `cksum` of coreutils 9.8 has under one name, told apart by their length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// FIPS 180-4.
    Sha2,
    /// FIPS 202.
    Sha3,
}

impl Family {
    const ALL: [Family; 2] = [Family::Sha2, Family::Sha3];

    /// Those of 224, 256, 384 and 512 bits.
    pub(crate) fn functions(self) -> [HashFunction; 4] {
        use Algorithm::{Sha3_224, Sha3_256, Sha3_384, Sha3_512, Sha224, Sha256, Sha384, Sha512};
        match self {
            Family::Sha2 => [Sha224, Sha256, Sha384, Sha512].map(HashFunction::Lanes),
            Family::Sha3 => [Sha3_224, Sha3_256, Sha3_384, Sha3_512].map(HashFunction::Lanes),
        }
    }

    /// Its name in messages, and before the bits of a tag.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Family::Sha2 => "SHA2",
            Family::Sha3 => "SHA3",
        }
    }

    /// The one of this name, in exactly these letters.
    pub(crate) fn of_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.tag().to_ascii_lowercase().as_bytes() == name)
    }
}

/// The function that `cksum` takes the tag of a line for, and the tag, without the length that follows it where that says
/// no more. The sums of old are not checked. SHA-2 may have the tags that OpenSSL writes.
pub(super) fn tagged_function(line: &[u8]) -> Option<(HashFunction, String)> {
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'(')).unwrap_or(line.len());
    let functions =
        CKSUM.into_iter().filter(|function| !is_legacy(*function)).map(|function| (function, tag(function)));
    let of_family = |family: Family| {
        family.functions().map(|function| (function, format!("{}-{}", family.tag(), 8 * function.digest_bytes())))
    };
    let mut tags = functions.chain(Family::ALL.into_iter().flat_map(of_family));
    tags.find(|(_, tag)| {
        // A hyphen ends a tag too, for a length; whoever has none finds the line improper.
        let rest = line[..end].strip_prefix(tag.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"-"))
    })
}

/// The number that a text begins with, as C's `strtoumax` finds it where the base is not said, and the rest of the text:
/// white space and a plus may come before it, `0` makes it octal and `0x` hexadecimal.
pub(super) fn number_of_c(text: &[u8]) -> Option<(u64, &[u8])> {
    let white = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
    let text = text[white..].strip_prefix(b"+").unwrap_or(&text[white..]);
    let (base, text) = match text {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16, &text[2..]),
        [b'0', ..] => (8, text),
        _ => (10, text),
    };
    let (digits, rest) = text.split_at(text.iter().take_while(|&&byte| char::from(byte).is_digit(base)).count());
    Some((u64::from_str_radix(str::from_utf8(digits).ok()?, base).ok()?, rest))
}

/// Whether digits have the form of so many bytes in base64 with padding.
pub(crate) fn is_base64(digits: &[u8], bytes: usize) -> bool {
    let significant = (4 * bytes).div_ceil(3);
    let is_digit = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digits.len() == bytes.div_ceil(3) * 4
        && digits[..significant].iter().all(is_digit)
        && digits[significant..].iter().all(|&byte| byte == b'=')
}

#[cfg(test)]
mod tests {
    use super::number_of_c;

    #[test]
    fn numbers_of_c() {
        let number = |text: &'static str| number_of_c(text.as_bytes()).map(|(number, rest)| (number, rest.len()));
        assert_eq!(
            [number("8 ("), number("010("), number("0x10"), number(" \t+8")],
            [(8, 2), (8, 1), (16, 0), (8, 0)].map(Some)
        );
        // Digits end where the base has no more.
        assert_eq!(
            [number("08"), number("0x"), number("0xg"), number("12a")],
            [(0, 1), (0, 1), (0, 2), (12, 1)].map(Some)
        );
        for text in ["", "-8", "+", "+ 8", "x8", "18446744073709551616"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
