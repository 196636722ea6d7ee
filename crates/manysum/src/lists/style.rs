//! Lines with digits and a name, written.

use crate::escape;

/// How a line is written, beside its digest and name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style<'a> {
    /// In BSD's form, with this tag.
    pub tag: Option<&'a str>,
    /// In the other, with the asterisk that says that the file was read as binary.
    pub binary: bool,
    /// Ended by NUL, and then names need no escapes.
    pub zero: bool,
}

impl Style<'_> {
    /// The line of a file, as coreutils prints it.
    pub fn line(self, name: &[u8], digest: &str) -> Vec<u8> {
        let mut line = Vec::with_capacity(digest.len() + name.len() + 16);
        let escaped = !self.zero && escape::is_needed(name);
        if escaped {
            line.push(b'\\');
        }
        match self.tag {
            Some(tag) => {
                line.extend_from_slice(tag.as_bytes());
                line.extend_from_slice(b" (");
            }
            None => {
                line.extend_from_slice(digest.as_bytes());
                line.extend_from_slice(if self.binary { b" *" } else { b"  " });
            }
        }
        if escaped {
            escape::escape(name, &mut line);
        } else {
            line.extend_from_slice(name);
        }
        if self.tag.is_some() {
            line.extend_from_slice(b") = ");
            line.extend_from_slice(digest.as_bytes());
        }
        line.push(if self.zero { 0 } else { b'\n' });
        line
    }
}
