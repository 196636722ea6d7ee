//! Reading documents, one element after another, with no tree of them.
//!
//! What a document may hold decides how deep its readers go, and everything else is skipped in a loop, so that no
//! document exhausts the stack. No entity is ever expanded but the five that XML knows, and no document type is taken.

use super::XmlError;
use percent_encoding::percent_decode_str;
use quick_xml::Reader as Events;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;
use std::borrow::Cow;

/// No document of S3 has a tenth of that.
const MAX_DEPTH: usize = 64;

/// A document that is being read.
pub(super) struct Reader<'d> {
    document: &'d str,
    events: Events<&'d [u8]>,
    depth: usize,
    /// Whether names of objects are percent-encoded.
    decodes_names: bool,
}

/// What stands in an element.
enum Inside<'d> {
    Element(String),
    Text(Cow<'d, str>),
    End,
}

impl<'d> Reader<'d> {
    pub(super) fn new(document: &'d [u8]) -> Result<Self, XmlError> {
        let document = std::str::from_utf8(document).map_err(|_| XmlError::NotUtf8)?;
        // XML has no NUL, and not even a reference to one.
        if document.contains('\0') {
            return Err(XmlError::NotWellFormed("there is a NUL".to_owned()));
        }
        Ok(Self::of_str(document.strip_prefix('\u{feff}').unwrap_or(document), false))
    }

    fn of_str(document: &'d str, decodes_names: bool) -> Self {
        let mut events = Events::from_str(document);
        // `<a/>` is `<a></a>`.
        events.config_mut().expand_empty_elements = true;
        Reader { document, events, depth: 0, decodes_names }
    }

    /// Begins again, now with names percent-decoded.
    pub(super) fn with_decoded_names(&self) -> Self {
        Self::of_str(self.document, true)
    }

    /// Goes into the root.
    pub(super) fn root(&mut self, expected: &'static str) -> Result<(), XmlError> {
        match self.element()? {
            // MinIO's answer to GetObjectAttributes begins with a small letter.
            Some(name) if name.eq_ignore_ascii_case(expected) => Ok(()),
            Some(found) => Err(XmlError::Root { expected, found }),
            None => Err(XmlError::Empty),
        }
    }

    /// Goes into the next element of the one that is being read, and returns its name, or leaves that one.
    pub(super) fn element(&mut self) -> Result<Option<String>, XmlError> {
        loop {
            match self.next()? {
                Inside::Element(name) => return Ok(Some(name)),
                Inside::Text(text) if text.trim_ascii().is_empty() => {}
                Inside::Text(_) => return Err(XmlError::Text),
                Inside::End => return Ok(None),
            }
        }
    }

    /// Reads the text of the element that is being read, every character of it, and leaves it.
    pub(super) fn text(&mut self) -> Result<Cow<'d, str>, XmlError> {
        let mut whole = Cow::Borrowed("");
        loop {
            match self.next()? {
                Inside::Text(text) if whole.is_empty() => whole = text,
                Inside::Text(text) => whole.to_mut().push_str(&text),
                Inside::Element(name) => return Err(XmlError::Unexpected { name }),
                Inside::End => return Ok(whole),
            }
        }
    }

    /// Reads an object's name, or what is compared with names.
    pub(super) fn name(&mut self, element: &'static str) -> Result<String, XmlError> {
        let text = self.text()?;
        if !self.decodes_names {
            return Ok(text.into_owned());
        }
        // A space comes as a plus, a plus never as itself.
        let text = text.replace('+', " ");
        let decoded = percent_decode_str(&text).decode_utf8().map_err(|_| XmlError::Value { element })?;
        Ok(decoded.into_owned())
    }

    /// Leaves the element that is being read, whatever stands in it.
    pub(super) fn skip(&mut self) -> Result<(), XmlError> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            self.next()?;
        }
        Ok(())
    }

    /// Reads to the end of the document, after its root.
    pub(super) fn end(&mut self) -> Result<(), XmlError> {
        match self.element()? {
            None => Ok(()),
            Some(name) => Err(XmlError::Unexpected { name }),
        }
    }

    fn next(&mut self) -> Result<Inside<'d>, XmlError> {
        let not_well_formed = |error: quick_xml::Error| XmlError::NotWellFormed(error.to_string());
        loop {
            return match self.events.read_event().map_err(not_well_formed)? {
                Event::Start(tag) if self.depth < MAX_DEPTH => {
                    self.depth += 1;
                    Ok(Inside::Element(tag.local_name().as_ref().to_owned()))
                }
                Event::Start(_) | Event::Empty(_) => Err(XmlError::TooDeep),
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    Ok(Inside::End)
                }
                Event::Text(text) => Ok(Inside::Text(text.xml10_content())),
                Event::CData(text) => Ok(Inside::Text(text.xml10_content())),
                Event::GeneralRef(reference) => {
                    let text = match reference.resolve_char_ref().map_err(not_well_formed)? {
                        Some(c) => Cow::Owned(c.to_string()),
                        None => Cow::Borrowed(resolve_xml_entity(&reference).ok_or(XmlError::Entity)?),
                    };
                    Ok(Inside::Text(text))
                }
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => continue,
                Event::DocType(_) => Err(XmlError::Doctype),
                Event::Eof if self.depth == 0 => Ok(Inside::End),
                Event::Eof => Err(XmlError::Unfinished),
            };
        }
    }
}
