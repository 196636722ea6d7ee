//! The lines after the last chunk.

use super::TRAILER_SIGNATURE;
use super::input::Line;
use crate::error::{ErrorCode, S3Error};
use crate::sign::{Payload, sha256_from_hex};

/// Trailers as they arrive.
#[derive(Debug)]
pub(super) struct Trailers {
    payload: Payload,
    /// Names in lower case.
    announced: Vec<String>,
    found: Vec<(String, String)>,
    signature: Option<[u8; 32]>,
    /// A line ended in LF alone. Then an empty line must follow, which is not the end: so does minio-go end a trailer.
    is_open: bool,
}

/// Trailers, and the signature over them.
pub(super) type Found = (Vec<(String, String)>, Option<[u8; 32]>);

impl Trailers {
    pub(super) fn new(payload: Payload, announced: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let lower_case = |name: String| name.to_ascii_lowercase();
        let announced = if payload.has_trailers() {
            announced.into_iter().map(|name| lower_case(name.into())).collect()
        } else {
            Vec::new()
        };
        Trailers { payload, announced, found: Vec::new(), signature: None, is_open: false }
    }

    /// Takes a line. Returns what was found if it is the last.
    ///
    /// # Errors
    /// `MalformedTrailerError` for a trailer that is not as announced, `IncompleteBody` for a line that has no place.
    pub(super) fn line(&mut self, line: Line) -> Result<Option<Found>, S3Error> {
        let Line { text, has_cr } = line;
        if text.is_empty() {
            if !has_cr {
                return Err(S3Error::body_ended_early());
            }
            return if std::mem::take(&mut self.is_open) { Ok(None) } else { self.end().map(Some) };
        }
        if !self.payload.has_trailers() || self.is_open || self.signature.is_some() {
            return Err(S3Error::body_ended_early());
        }
        self.is_open = !has_cr;

        let text = str::from_utf8(&text).map_err(|_| malformed())?;
        let (name, value) = text.split_once(':').unwrap_or_default();
        let (name, value) = (name.to_ascii_lowercase(), value.trim_ascii());
        let is_complete = self.found.len() == self.announced.len();
        if name == TRAILER_SIGNATURE && self.payload.has_signed_chunks() {
            if !is_complete {
                return Err(malformed());
            }
            self.signature = sha256_from_hex(value).filter(|_| has_cr);
            return if self.signature.is_some() { Ok(None) } else { Err(S3Error::body_ended_early()) };
        }
        if !self.announced.contains(&name) || self.found.iter().any(|(found, _)| *found == name) {
            // Where only the signature can follow, S3 does not speak of trailers.
            let only_signature = is_complete && !self.announced.is_empty() && self.payload.has_signed_chunks();
            return Err(if only_signature { S3Error::body_ended_early() } else { malformed() });
        }
        self.found.push((name, value.to_owned()));
        Ok(None)
    }

    fn end(&mut self) -> Result<Found, S3Error> {
        let is_signed = self.signature.is_some() || self.payload != Payload::StreamingSignedTrailer;
        if self.found.len() < self.announced.len() || !is_signed {
            return Err(malformed());
        }
        Ok((std::mem::take(&mut self.found), self.signature))
    }
}

fn malformed() -> S3Error {
    ErrorCode::MalformedTrailerError.into()
}
