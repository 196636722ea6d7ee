//! Names in lists, where one line is one file.
//!
//! A name with a newline would end its line early. So the line of such a name begins with a backslash, and inside the
//! name `\n`, `\r` and `\\` stand for newline, carriage return and backslash.

/// What follows the backslash in place of a byte that cannot stand in a list as it is: a newline ends the line, a
/// carriage return before it is taken for a part of that end, and a backslash announces an escape.
fn letter(byte: u8) -> Option<u8> {
    match byte {
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        b'\\' => Some(b'\\'),
        _ => None,
    }
}

/// Whether the line of `name` in a list of checksums has to be escaped.
pub fn is_needed(name: &[u8]) -> bool {
    name.iter().any(|&byte| letter(byte).is_some())
}

/// Appends `name`, escaped, to `line`.
pub fn escape(name: &[u8], line: &mut Vec<u8>) {
    for &byte in name {
        match letter(byte) {
            Some(letter) => line.extend([b'\\', letter]),
            None => line.push(byte),
        }
    }
}

/// Appends `name` to `line`, which it begins: escaped after a backslash, if it has to be.
pub fn begin(name: &[u8], line: &mut Vec<u8>) {
    if is_needed(name) {
        line.push(b'\\');
        escape(name, line);
    } else {
        line.extend_from_slice(name);
    }
}

/// The name that was escaped as `escaped`; none if it holds a NUL, or a backslash before anything but `n`, `r` or `\`.
pub fn unescape(escaped: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter();
    while let Some(&byte) = bytes.next() {
        name.push(match byte {
            0 => return None,
            b'\\' => match bytes.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b'\\' => b'\\',
                _ => return None,
            },
            byte => byte,
        });
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_comes_back() {
        let name = b"a\\b\nc\rd\\n";
        let mut line = Vec::new();
        escape(name, &mut line);
        assert_eq!(line, br"a\\b\nc\rd\\n");
        assert_eq!(unescape(&line).as_deref(), Some(&name[..]));
    }

    #[test]
    fn what_is_not_an_escape_is_refused() {
        for escaped in [&br"a\"[..], br"\a", br"\0", b"a\0b"] {
            assert_eq!(unescape(escaped), None);
        }
    }
}
