//! Writing documents.

use super::DECLARATION;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write as _;

/// The namespace of S3's documents.
const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

/// What S3 encodes in a name where `encoding-type=url` was asked for.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'*').remove(b'/');

/// A document that is being written. Names of elements are the program's own, text is anybody's.
pub(crate) struct Writer {
    xml: String,
    /// Whether names of objects are percent-encoded.
    encodes_names: bool,
}

impl Writer {
    /// Begins a document.
    pub(crate) fn document() -> Writer {
        Writer { xml: String::from(DECLARATION), encodes_names: false }
    }

    /// Encodes the names of objects that follow.
    pub(super) fn encode_names(&mut self) {
        self.encodes_names = true;
    }

    pub(super) fn open_root(&mut self, name: &str) {
        self.append(&["<", name, " xmlns=\"", NAMESPACE, "\">"]);
    }

    pub(crate) fn open(&mut self, name: &str) {
        self.append(&["<", name, ">"]);
    }

    pub(crate) fn close(&mut self, name: &str) {
        self.append(&["</", name, ">"]);
    }

    /// Writes an element of text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.open(name);
        self.escape(text);
        self.close(name);
    }

    /// Writes an element of an object's name, or of what is compared with names.
    pub(super) fn name(&mut self, element: &str, name: &str) {
        if self.encodes_names {
            self.open(element);
            self.xml.extend(utf8_percent_encode(name, NAME));
            self.close(element);
        } else {
            self.text(element, name);
        }
    }

    pub(crate) fn finish(self) -> String {
        self.xml
    }

    fn append(&mut self, pieces: &[&str]) {
        self.xml.extend(pieces.iter().copied());
    }

    /// Text as it can stand in an element.
    ///
    /// Characters that XML 1.0 has no place for are written as references, as S3 does: few can read them, but nobody
    /// reads another name. A carriage return is one too, since as itself it is read as a line feed.
    pub(super) fn escape(&mut self, text: &str) {
        let special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}');
        for piece in text.split_inclusive(special) {
            let mut before = piece.chars();
            let Some(last) = before.next_back().filter(|c| special(*c)) else {
                self.xml.push_str(piece);
                continue;
            };
            self.xml.push_str(before.as_str());
            match last {
                '&' => self.xml.push_str("&amp;"),
                '<' => self.xml.push_str("&lt;"),
                '>' => self.xml.push_str("&gt;"),
                '"' => self.xml.push_str("&quot;"),
                // Writing to a string cannot fail.
                _ => _ = write!(self.xml, "&#x{:x};", u32::from(last)),
            }
        }
    }
}
