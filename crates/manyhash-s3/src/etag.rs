//! Entity tags.
//!
//! The ETag of an object in one upload is its MD5; that of an object in parts is the MD5 of their MD5s, a dash and the
//! number of parts. That of an encrypted object, or of a server of its own mind, is anything.

use manyhash::{Algorithm, Digest};
use std::fmt;
use std::num::NonZeroU32;

/// Returns the ETag of an object in one upload, without quotes.
pub fn single(md5: &[u8; 16]) -> String {
    const_hex::encode(md5)
}

/// Returns the ETag of an object from the MD5s of its parts in their order, without quotes.
///
/// ```
/// let parts = [manyhash::digest(manyhash::Algorithm::Md5, "").as_bytes().try_into()?];
/// assert_eq!(manyhash_s3::etag::multipart(&parts), "59adb24ef3cdbe0297f05b395827453f-1");
/// # Ok::<(), std::array::TryFromSliceError>(())
/// ```
pub fn multipart(parts: &[[u8; 16]]) -> String {
    format!("{}-{}", manyhash::digest(Algorithm::Md5, parts.as_flattened()), parts.len())
}

/// An entity tag.
///
/// `Display` writes it as a header has it, in quotes, and with `W/` if it is weak.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ETag {
    /// Without quotes.
    text: String,
    weak: bool,
}

/// What an entity tag says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ETagKind {
    /// The MD5 of the object, unless it is encrypted.
    Md5([u8; 16]),
    /// The MD5 of its parts' MD5s, unless it is encrypted.
    Multipart {
        /// The MD5.
        md5: [u8; 16],
        /// The number of parts.
        parts: NonZeroU32,
    },
    /// Nothing about its bytes.
    Opaque,
}

impl ETag {
    /// Creates a strong tag from its text without quotes.
    pub fn new(text: impl Into<String>) -> ETag {
        ETag { text: text.into(), weak: false }
    }

    /// Reads a tag with or without quotes, since S3 takes both.
    pub fn parse(text: &str) -> ETag {
        let text = text.trim_ascii();
        let (text, weak) = match text.strip_prefix("W/") {
            Some(text) if text.starts_with('"') => (text, true),
            _ => (text, false),
        };
        let text = text.strip_prefix('"').map_or(text, |text| text.strip_suffix('"').unwrap_or(text));
        ETag { text: text.to_owned(), weak }
    }

    /// Returns the text without quotes.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the tag is weak: equivalent bytes can have it too. S3's never are; a proxy's can be.
    pub fn is_weak(&self) -> bool {
        self.weak
    }

    /// Returns what the tag says. Hexadecimal digits can be of either case.
    pub fn kind(&self) -> ETagKind {
        let md5 = |hex: &str| <[u8; 16]>::try_from(Digest::from_hex(hex).ok()?.as_bytes()).ok();
        let kind = match self.text.split_once('-') {
            None => md5(&self.text).map(ETagKind::Md5),
            Some((hex, parts)) => {
                md5(hex).zip(parse_parts(parts)).map(|(md5, parts)| ETagKind::Multipart { md5, parts })
            }
        };
        kind.unwrap_or(ETagKind::Opaque)
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}\"{}\"", if self.weak { "W/" } else { "" }, self.text))
    }
}

/// What `If-Match` and `If-None-Match` name: any object at all, or those with one of some tags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ETagCondition {
    /// `*`: there is an object.
    Any,
    /// The object has one of these tags.
    OneOf(Vec<ETag>),
}

impl ETagCondition {
    /// Reads the value of a header (RFC 9110, section 13.1). Tags can be without quotes.
    pub fn parse(value: &str) -> ETagCondition {
        if value.trim_ascii() == "*" {
            return ETagCondition::Any;
        }
        let mut tags = Vec::new();
        let mut rest = value;
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            if rest.is_empty() {
                return ETagCondition::OneOf(tags);
            }
            // A comma in quotes is of the tag.
            let opened = rest.strip_prefix("W/").unwrap_or(rest).strip_prefix('"');
            let after = match opened {
                Some(text) => text.split_once('"').map_or("", |(_, after)| after),
                None => rest.split_once(',').map_or("", |(_, after)| after),
            };
            let tag = rest.strip_suffix(after).unwrap_or(rest);
            tags.push(ETag::parse(tag.trim_end_matches(',')));
            rest = after;
        }
    }

    /// Returns whether an object with this tag, without quotes, is meant by `If-Match`. No weak tag means one.
    pub fn matches_strongly(&self, etag: &str) -> bool {
        self.any(|tag| !tag.weak && tag.text == etag)
    }

    /// Returns whether an object with this tag, without quotes, is meant by `If-None-Match`.
    pub fn matches_weakly(&self, etag: &str) -> bool {
        self.any(|tag| tag.text == etag)
    }

    fn any(&self, matches: impl Fn(&ETag) -> bool) -> bool {
        match self {
            ETagCondition::Any => true,
            ETagCondition::OneOf(tags) => tags.iter().any(matches),
        }
    }
}

/// A number of parts in decimal digits, as it stands after a dash.
pub(crate) fn parse_parts(digits: &str) -> Option<NonZeroU32> {
    let canonical = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| canonical)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EMPTY: [u8; 16] = 0xd41d8cd98f00b204e9800998ecf8427eu128.to_be_bytes();

    #[test]
    fn known_tags() {
        assert_eq!(single(&EMPTY), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(multipart(&[EMPTY, EMPTY]), "5873dd45edd01f09c1ef2e7819369e8e-2");
    }

    #[test]
    fn what_tags_say() {
        let hex = single(&EMPTY);
        for text in
            [hex.clone(), format!("\"{hex}\""), format!(" \"{hex}\" "), format!("W/\"{hex}\""), hex.to_uppercase()]
        {
            assert_eq!(ETag::parse(&text).kind(), ETagKind::Md5(EMPTY), "{text}");
        }
        let parts = NonZeroU32::new(10_000).unwrap();
        assert_eq!(ETag::new(format!("{hex}-10000")).kind(), ETagKind::Multipart { md5: EMPTY, parts });
        for text in [
            "",
            "-",
            "-1",
            "x",
            &format!("{hex}-0"),
            &format!("{hex}-01"),
            &format!("{hex}-+1"),
            &format!("{hex}-"),
            &format!("{hex}-1-1"),
            &format!("{hex}-99999999999"),
            &format!("{hex}0"),
            &hex[1..],
            &hex[2..],
        ] {
            assert_eq!(ETag::new(text).kind(), ETagKind::Opaque, "{text}");
        }
        assert_eq!(ETag::parse("\"a\"").to_string(), "\"a\"");
        assert_eq!(ETag::parse("W/\"a\"").to_string(), "W/\"a\"");
        assert_eq!(ETag::parse("W/a").as_str(), "W/a");
    }

    #[test]
    fn conditions() {
        let names = |value: &str| match ETagCondition::parse(value) {
            ETagCondition::Any => vec!["ANY".to_owned()],
            ETagCondition::OneOf(tags) => tags.iter().map(ETag::to_string).collect(),
        };
        assert_eq!(names(" * "), ["ANY"]);
        assert_eq!(names("\"*\""), ["\"*\""]);
        assert_eq!(names("\"a\", W/\"b,c\",d ,, \"\""), ["\"a\"", "W/\"b,c\"", "\"d\"", "\"\""]);
        assert_eq!(names("\"a\"\"b\""), ["\"a\"", "\"b\""]);
        assert_eq!(names("\"open, b"), ["\"open, b\""]);
        assert_eq!(names(""), [""; 0]);
        let condition = ETagCondition::parse("W/\"a\", \"b\"");
        assert!(condition.matches_weakly("a") && !condition.matches_strongly("a"));
        assert!(condition.matches_weakly("b") && condition.matches_strongly("b"));
        assert!(!condition.matches_weakly("c") && ETagCondition::Any.matches_strongly("c"));
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(value in "[\\PC\"*,W/ -]{0,40}", text in "[!#-~]{0,20}", weak: bool) {
            ETag::parse(&value).kind();
            let condition = ETagCondition::parse(&value);
            let _ = condition.matches_weakly(&value);
            let etag = ETag { text, weak };
            prop_assert_eq!(&ETag::parse(&etag.to_string()), &etag);
            let list = format!("\"x,y\", {etag},z");
            let expected = ETagCondition::OneOf(vec![ETag::new("x,y"), etag, ETag::new("z")]);
            prop_assert_eq!(ETagCondition::parse(&list), expected);
        }
    }
}
