//! A body taken out of its chunks.

use super::input::Input;
use super::trailers::Trailers;
use super::{CHUNK_SIGNATURE, MIN_CHUNK_BYTES};
use crate::error::{ErrorCode, S3Error};
use crate::sign::{Payload, sha256_from_hex};
use bytes::Bytes;

/// Takes a body out of its chunks, as it arrives.
///
/// Data is passed on in slices of what was pushed and never copied. Memory is needed for what was pushed and not taken,
/// and for a line. Signatures and trailers are passed on too; the caller verifies them.
///
/// A body that does not come in chunks is passed on as it is, and its length is checked.
#[derive(Debug)]
pub struct Decoder {
    input: Input,
    state: State,
    has_signatures: bool,
    trailers: Trailers,
    /// Bytes of data that have not arrived.
    left: u64,
    /// Chunks that have begun.
    chunks: u64,
    /// The number and length of a chunk that must be the last with data.
    small: Option<(u64, u64)>,
}

/// Part of a body.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Data of the body, never empty.
    Data(Bytes),
    /// A chunk ended, whose data came in the events before. The last chunk has none.
    ChunkEnd {
        /// The bytes of its data.
        length: u64,
        /// Its signature, if chunks are signed: [`SignatureChain::chunk`](super::SignatureChain::chunk).
        signature: Option<[u8; 32]>,
    },
    /// The body ended.
    End {
        /// Names in lower case, and values: all that were announced, each once, in the order in which they came.
        trailers: Vec<(String, String)>,
        /// Their signature, if they are signed: [`SignatureChain::trailer`](super::SignatureChain::trailer).
        trailer_signature: Option<[u8; 32]>,
    },
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Data that is not in chunks.
    Plain,
    /// The line before a chunk.
    Head,
    /// Data of a chunk, and its end.
    Chunk {
        length: u64,
        left: u64,
        signature: Option<[u8; 32]>,
    },
    /// Data of a chunk that is longer than the body may be, and what tells whether it really is.
    Surplus,
    Trailers,
    Ended,
    Failed,
}

impl Decoder {
    /// Expects a body that has so many bytes when it is decoded, and these trailers.
    ///
    /// [`decoded_length`](super::decoded_length) and [`announced_trailers`](super::announced_trailers) read both from a
    /// request. Trailers are ignored where the payload has none.
    pub fn new(
        payload: Payload,
        decoded_length: u64,
        trailers: impl IntoIterator<Item = impl Into<String>>,
    ) -> Decoder {
        Decoder {
            input: Input::default(),
            state: if payload.is_streaming() { State::Head } else { State::Plain },
            has_signatures: payload.has_signed_chunks(),
            trailers: Trailers::new(payload, trailers),
            left: decoded_length,
            chunks: 0,
            small: None,
        }
    }

    /// Adds bytes that arrived. Take all events before adding more, or they pile up.
    pub fn push(&mut self, bytes: Bytes) {
        self.input.push(bytes);
    }

    /// Returns what comes next, or `None` if more has to arrive first, or if nothing can follow.
    ///
    /// # Errors
    /// - `IncompleteBody` if the chunks cannot be read, or are not of the announced length together.
    /// - `InvalidChunkSizeError` if a chunk other than the last with data is too short.
    /// - `MalformedTrailerError` if the trailers are not as announced.
    ///
    /// After an error the decoder gives no more data.
    #[expect(clippy::should_implement_trait, reason = "more events can follow `None`")]
    pub fn next(&mut self) -> Result<Option<Event>, S3Error> {
        let next = self.advance();
        if next.is_err() {
            self.state = State::Failed;
        }
        next
    }

    /// Checks that the body has ended, when nothing more will arrive and all events were taken.
    ///
    /// # Errors
    /// `IncompleteBody` if it has not.
    pub fn finish(&self) -> Result<(), S3Error> {
        match self.state {
            State::Ended if self.input.is_empty() => Ok(()),
            // Where there is no data, nothing need arrive.
            State::Plain if self.left == 0 && self.input.is_empty() => Ok(()),
            State::Ended | State::Plain => Err(wrong_length()),
            _ => Err(S3Error::body_ended_early()),
        }
    }

    fn advance(&mut self) -> Result<Option<Event>, S3Error> {
        loop {
            match self.state {
                State::Plain if self.left == 0 => {
                    self.state = State::Ended;
                    return Ok(Some(Event::End { trailers: Vec::new(), trailer_signature: None }));
                }
                State::Plain => {
                    let Some(data) = self.input.slice(self.left) else { return Ok(None) };
                    self.left -= data.len() as u64;
                    return Ok(Some(Event::Data(data)));
                }
                State::Head => {
                    let Some(line) = self.input.line()? else { return Ok(None) };
                    let head = if line.has_cr { head(&line.text, self.has_signatures) } else { None };
                    let (length, signature) = head.ok_or_else(S3Error::body_ended_early)?;
                    if let Some(end) = self.begin_chunk(length, signature)? {
                        return Ok(Some(end));
                    }
                }
                State::Chunk { length, left: 0, signature } => match self.input.cr_lf() {
                    None => return Ok(None),
                    Some(false) => return Err(S3Error::body_ended_early()),
                    Some(true) => {
                        self.state = State::Head;
                        return Ok(Some(Event::ChunkEnd { length, signature }));
                    }
                },
                State::Chunk { length, left, signature } => {
                    let Some(data) = self.input.slice(left) else { return Ok(None) };
                    self.left -= data.len() as u64;
                    self.state = State::Chunk { length, left: left - data.len() as u64, signature };
                    return Ok(Some(Event::Data(data)));
                }
                // Where the chunk ends before its length, S3 does not speak of the body's.
                State::Surplus if self.left == 0 => match self.input.cr_lf() {
                    None => return Ok(None),
                    Some(true) => return Err(S3Error::body_ended_early()),
                    Some(false) => return Err(wrong_length()),
                },
                State::Surplus => {
                    let Some(data) = self.input.slice(self.left) else { return Ok(None) };
                    self.left -= data.len() as u64;
                }
                State::Trailers => {
                    let Some(line) = self.input.line()? else { return Ok(None) };
                    if let Some((trailers, trailer_signature)) = self.trailers.line(line)? {
                        self.state = State::Ended;
                        return Ok(Some(Event::End { trailers, trailer_signature }));
                    }
                }
                State::Ended if self.input.is_empty() => return Ok(None),
                State::Ended => return Err(wrong_length()),
                State::Failed => return Err(S3Error::body_ended_early()),
            }
        }
    }

    /// Goes on after a chunk's head. The last chunk ends at once.
    fn begin_chunk(&mut self, length: u64, signature: Option<[u8; 32]>) -> Result<Option<Event>, S3Error> {
        if length == 0 {
            if self.left > 0 {
                return Err(wrong_length());
            }
            self.state = State::Trailers;
            return Ok(Some(Event::ChunkEnd { length, signature }));
        }
        if let Some((number, length)) = self.small {
            return Err(S3Error::from(ErrorCode::InvalidChunkSizeError)
                .with("Chunk", number)
                .with("BadChunkSize", length));
        }
        self.chunks += 1;
        if length < MIN_CHUNK_BYTES {
            self.small = Some((self.chunks, length));
        }
        self.state = if length > self.left { State::Surplus } else { State::Chunk { length, left: length, signature } };
        Ok(None)
    }
}

/// The length and signature in the line before a chunk.
fn head(line: &[u8], has_signatures: bool) -> Option<(u64, Option<[u8; 32]>)> {
    if !has_signatures {
        return Some((number(line)?, None));
    }
    let semicolon = line.iter().position(|byte| *byte == b';')?;
    let (length, rest) = line.split_at_checked(semicolon)?;
    let signature = rest.strip_prefix(b";")?.strip_prefix(CHUNK_SIGNATURE.as_bytes())?;
    Some((number(length)?, Some(sha256_from_hex(signature)?)))
}

/// A number of 1 to 16 hexadecimal digits.
fn number(digits: &[u8]) -> Option<u64> {
    let is_one = (1..=16).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    is_one.then(|| u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()).flatten()
}

/// The body is not as long as announced.
fn wrong_length() -> S3Error {
    ErrorCode::IncompleteBody.into()
}
