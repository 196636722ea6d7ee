//! Names in messages, quoted as GNU coreutils does: as a shell takes them, and only where it is needed.
//!
//! - `plain` has nothing that a shell or a reader of messages would take amiss, and stays as it is.
//! - `'a b'` is quoted, and so is a name with a colon, which ends the name in a message.
//! - `"it's"` has an apostrophe and nothing that is special within double quotes; `'it'\''s $5'` has.
//! - `'a'$'\n''b'` has bytes that do not print, as C escapes: in octal if they have no letter.

use std::borrow::Cow;
use std::mem;
use std::sync::OnceLock;

/// The name of these bytes as it stands in a message.
pub fn quote(name: &[u8]) -> Cow<'_, [u8]> {
    quote_in(name, is_unicode())
}

/// An argument that is no name, as coreutils quotes it in a message: always, with C escapes.
pub fn quote_argument(argument: &[u8]) -> Vec<u8> {
    quote_argument_in(argument, is_unicode())
}

fn quote_argument_in(argument: &[u8], unicode: bool) -> Vec<u8> {
    let (open, close) = if unicode { ("\u{2018}", "\u{2019}") } else { ("'", "'") };
    let mut quoted = open.as_bytes().to_vec();
    for piece in pieces(argument, unicode) {
        match piece {
            Piece::Shown(character) => {
                if character == b"\\" || character == close.as_bytes() {
                    quoted.push(b'\\');
                }
                quoted.extend_from_slice(character);
            }
            Piece::Escaped(bytes) => bytes.iter().for_each(|&byte| escape(byte, &mut quoted)),
        }
    }
    quoted.extend_from_slice(close.as_bytes());
    quoted
}

fn is_unicode() -> bool {
    static UNICODE: OnceLock<bool> = OnceLock::new();
    *UNICODE.get_or_init(locale_is_unicode)
}

/// Whether messages can show characters beyond ASCII: by the variables that the C library goes by, in their order.
fn locale_is_unicode() -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let locale = locale.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

fn quote_in(name: &[u8], unicode: bool) -> Cow<'_, [u8]> {
    if is_plain(name, unicode) {
        Cow::Borrowed(name)
    } else if name.contains(&b'\'') && stands_in_double_quotes(name, unicode) {
        Cow::Owned([b"\"", name, b"\""].concat())
    } else {
        Cow::Owned(single_quoted(name, unicode))
    }
}

fn is_plain(name: &[u8], unicode: bool) -> bool {
    // These mean something to a shell only where they begin a word, or are one.
    if matches!(name, b"" | b"{" | b"}" | [b'#' | b'~', ..]) {
        return false;
    }
    !name.iter().any(|&byte| is_special(byte)) && pieces(name, unicode).all(|piece| matches!(piece, Piece::Shown(_)))
}

/// Whether a shell, or a reader who looks for the colon after the name, would not take this byte as itself.
fn is_special(byte: u8) -> bool {
    b" !\"$&'()*;<=>?[\\^`|:".contains(&byte)
}

/// Whether a name needs nothing but double quotes around it, as coreutils sees it.
fn stands_in_double_quotes(name: &[u8], unicode: bool) -> bool {
    let stands = |(at, &byte): (usize, &u8)| match byte {
        b'#' | b'~' => at == 0,
        b' ' | b'\'' | b'@' | b'%' | b'+'..=b':' | b']' | b'_' => true,
        byte => byte.is_ascii_alphanumeric() || !byte.is_ascii(),
    };
    name.iter().enumerate().all(stands) && pieces(name, unicode).all(|piece| matches!(piece, Piece::Shown(_)))
}

fn single_quoted(name: &[u8], unicode: bool) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(name.len() + 8);
    quoted.push(b'\'');
    // Whether the quotes that are open are those of C escapes. coreutils 9.1 goes over a name with an apostrophe twice, and
    // begins the second time as it ended the first: after a name that ends in an escape, it takes escapes for open.
    let ends_escaped = matches!(pieces(name, unicode).last(), Some(Piece::Escaped(_)));
    let mut escaping = name.contains(&b'\'') && ends_escaped;
    for piece in pieces(name, unicode) {
        match piece {
            // Closes the quotes, whichever they are, and opens plain ones.
            Piece::Shown(b"'") => {
                quoted.extend_from_slice(br"'\''");
                escaping = false;
            }
            Piece::Shown(character) => {
                if mem::take(&mut escaping) {
                    quoted.extend_from_slice(b"''");
                }
                quoted.extend_from_slice(character);
            }
            Piece::Escaped(bytes) => {
                if !mem::replace(&mut escaping, true) {
                    quoted.extend_from_slice(b"'$'");
                }
                bytes.iter().for_each(|&byte| escape(byte, &mut quoted));
            }
        }
    }
    quoted.push(b'\'');
    quoted
}

/// A piece of a name.
enum Piece<'a> {
    /// A character that is shown as it is.
    Shown(&'a [u8]),
    /// Bytes that do not print.
    Escaped(&'a [u8]),
}

fn pieces(name: &[u8], unicode: bool) -> impl Iterator<Item = Piece<'_>> {
    name.utf8_chunks().flat_map(move |chunk| {
        let valid = chunk.valid();
        let characters = valid.char_indices().map(move |(at, character)| {
            let bytes = &valid.as_bytes()[at..at + character.len_utf8()];
            let shown =
                if character.is_ascii() { !character.is_ascii_control() } else { unicode && is_shown(character) };
            if shown { Piece::Shown(bytes) } else { Piece::Escaped(bytes) }
        });
        characters.chain(chunk.invalid().chunks(1).map(Piece::Escaped))
    })
}

/// Whether a character beyond ASCII prints: not control characters, line and paragraph separators, noncharacters.
///
/// The C library also knows which code points its version of Unicode has assigned; those that it does not are shown
/// here.
fn is_shown(character: char) -> bool {
    let noncharacter = matches!(character, '\u{fdd0}'..='\u{fdef}') || u32::from(character) & 0xfffe == 0xfffe;
    !(character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') || noncharacter)
}

fn escape(byte: u8, quoted: &mut Vec<u8>) {
    quoted.push(b'\\');
    match byte {
        0x07 => quoted.push(b'a'),
        0x08 => quoted.push(b'b'),
        0x0c => quoted.push(b'f'),
        b'\n' => quoted.push(b'n'),
        b'\r' => quoted.push(b'r'),
        b'\t' => quoted.push(b't'),
        0x0b => quoted.push(b'v'),
        _ => quoted.extend([b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &[u8], quoted: &str) {
        assert_eq!(String::from_utf8_lossy(&quote_in(name, false)), quoted);
    }

    #[test]
    fn only_where_needed() {
        check(b"plain-1.2/x_y+%,@]{}", "plain-1.2/x_y+%,@]{}");
        check(b"", "''");
        check(b"a b", "'a b'");
        check(b"a:b", "'a:b'");
        check(b"#a", "'#a'");
        check(b"a#", "a#");
        check(b"{", "'{'");
    }

    #[test]
    fn apostrophes() {
        check(b"it's", "\"it's\"");
        check(b"it's $5", r"'it'\''s $5'");
        check(b"#'", "\"#'\"");
        check(b"'#", r"''\''#'");
    }

    #[test]
    fn an_apostrophe_and_an_escape_at_the_end() {
        check(b"it's \xff", r"'''it'\''s '$'\377'");
        check(b"a'\n", r"'''a'\'''$'\n'");
        check(b"\n'x\n", r"'\n'\''x'$'\n'");
        check(b"\xff'\xff", r"'\377'\'''$'\377'");
        check(b"'\n'", r"''\'''$'\n'\'''");
        check(b"'\n", r"''\'''$'\n'");
        check(b"x\n'y\nz", r"'x'$'\n'\''y'$'\n''z'");
    }

    #[test]
    fn bytes_that_do_not_print() {
        check(b"a\nb", r"'a'$'\n''b'");
        check(b"\x7f\xff", r"''$'\177\377'");
        check(b"\n'", r"''$'\n'\'''");
        check("\u{ef}".as_bytes(), r"''$'\303\257'");
    }

    #[test]
    fn arguments() {
        let quoted = |argument, unicode| String::from_utf8(quote_argument_in(argument, unicode));
        assert_eq!(quoted(b"8", false).as_deref(), Ok("'8'"));
        assert_eq!(quoted(b"it's\n\\\xff", false).as_deref(), Ok(r"'it\'s\n\\\377'"));
        assert_eq!(
            quoted("it's \u{ef}\u{2019}".as_bytes(), true).as_deref(),
            Ok("\u{2018}it's \u{ef}\\\u{2019}\u{2019}")
        );
    }

    #[test]
    fn characters_of_unicode() {
        let quoted = |name: &'static [u8]| String::from_utf8(quote_in(name, true).into_owned());
        assert_eq!(quoted("na\u{ef}ve".as_bytes()).as_deref(), Ok("na\u{ef}ve"));
        assert_eq!(quoted("\u{ef} b".as_bytes()).as_deref(), Ok("'\u{ef} b'"));
        assert_eq!(quoted("\u{85}b\u{2028}".as_bytes()).as_deref(), Ok(r"''$'\302\205''b'$'\342\200\250'"));
        assert_eq!(quoted(b"x\xe2\x82").as_deref(), Ok(r"'x'$'\342\202'"));
    }
}
