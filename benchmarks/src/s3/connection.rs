//! One client: a connection that has one request under way at a time, and checks what is answered.

use super::body::{Bodies, Body};
use super::cell::{Cell, Operation};
use super::error::S3LoadError;
use super::signer::Signer;
use bytes::{Buf, Bytes};
use mio::net::TcpStream;
use std::collections::VecDeque;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Pieces that are given to the system at once.
const SLICES: usize = 64;

/// The longest head of an answer.
const HEAD: usize = 16 << 10;

/// Makes the requests of a run.
pub(crate) struct Requests {
    pub(crate) cell: Cell,
    pub(crate) signer: Signer,
    pub(crate) bodies: Bodies,
}

impl Requests {
    pub(crate) fn new(cell: Cell, server: SocketAddr) -> Self {
        Requests { cell, signer: Signer::new(server), bodies: Bodies::new(cell.length) }
    }

    /// The body of a client's so-manieth request, and the number of its object.
    fn body(&self, client: usize, count: u64) -> (u64, Body<'_>) {
        let number = match self.cell.operation {
            Operation::Put => (client as u64) << 32 | count,
            // Clients begin at different objects.
            Operation::Get => (client as u64 * 7 + count) % self.cell.objects(),
        };
        (number, self.bodies.body(number))
    }
}

/// A connection and its request.
pub(crate) struct Client<'r> {
    requests: &'r Requests,
    pub(crate) stream: TcpStream,
    /// Which client it is.
    place: usize,
    /// Requests begun.
    count: u64,
    /// What is still to be sent of the request, and what has been sent.
    outgoing: VecDeque<Bytes>,
    pub(crate) sent: usize,
    begun: Instant,
    body: Body<'r>,
    answer: Answer,
}

/// What has come of an answer.
enum Answer {
    /// The head, as far as it came.
    Head(Vec<u8>),
    /// So many bytes of the body; all of it has that length.
    Body { received: usize, length: usize },
}

impl<'r> Client<'r> {
    pub(crate) fn new(requests: &'r Requests, stream: TcpStream, place: usize) -> Self {
        let body = requests.bodies.body(0);
        let (outgoing, answer) = (VecDeque::new(), Answer::Head(Vec::new()));
        Client { requests, stream, place, count: 0, outgoing, sent: 0, begun: Instant::now(), body, answer }
    }

    /// Bytes in each of its bodies.
    pub(crate) fn length(&self) -> usize {
        self.requests.cell.length
    }

    /// Begins its next request, which [`Client::send`] then sends.
    pub(crate) fn begin(&mut self) {
        self.begun = Instant::now();
        let (number, body) = self.requests.body(self.place, self.count);
        self.count += 1;
        let Requests { cell, signer, .. } = self.requests;
        self.outgoing = match cell.operation {
            Operation::Put => signer.put(number, &body, cell.signing),
            Operation::Get => signer.get(number),
        }
        .into();
        (self.body, self.sent) = (body, 0);
    }

    /// Sends what the connection takes, so that at most so many bytes of the request have been sent.
    pub(crate) fn send(&mut self, most: usize) -> Result<(), S3LoadError> {
        while !self.outgoing.is_empty() && self.sent < most {
            let mut left = most - self.sent;
            let mut slices = [IoSlice::new(&[]); SLICES];
            let mut count = 0;
            for (slice, piece) in slices.iter_mut().zip(&self.outgoing) {
                let piece = &piece[..piece.len().min(left)];
                *slice = IoSlice::new(piece);
                left -= piece.len();
                count += 1;
                if left == 0 {
                    break;
                }
            }
            match self.stream.write_vectored(&slices[..count]) {
                Ok(written) => self.advance(written),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What the server has to say of it is more telling than that it listens no longer.
                Err(error) => return Err(self.last_words().unwrap_or(S3LoadError::Connection(error))),
            }
        }
        Ok(())
    }

    fn advance(&mut self, mut written: usize) {
        self.sent += written;
        while let Some(piece) = self.outgoing.front_mut() {
            if written < piece.len() {
                piece.advance(written);
                return;
            }
            written -= piece.len();
            self.outgoing.pop_front();
        }
    }

    fn last_words(&mut self) -> Option<S3LoadError> {
        self.receive(&mut [0; HEAD]).err()
    }

    /// Receives what there is. Returns how long the request took, once the answer is there and right.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Duration>, S3LoadError> {
        loop {
            let received = match self.stream.read(buffer) {
                Ok(0) => return Err(S3LoadError::Closed),
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(S3LoadError::Connection(error)),
            };
            if self.take(&buffer[..received])? {
                let is_early = !self.outgoing.is_empty();
                return if is_early { Err(S3LoadError::Early) } else { Ok(Some(self.begun.elapsed())) };
            }
        }
    }

    /// Takes bytes of the answer. Returns whether they were the last of it.
    fn take(&mut self, bytes: &[u8]) -> Result<bool, S3LoadError> {
        let (received, length, bytes) = match &mut self.answer {
            Answer::Body { received, length } => (*received, *length, bytes),
            Answer::Head(head) => {
                let before = head.len();
                head.extend_from_slice(bytes);
                let Some((end, length)) = self.parse()? else { return Ok(false) };
                self.answer = Answer::Body { received: 0, length };
                (0, length, &bytes[end - before..])
            }
        };
        let total = received + bytes.len();
        if total > length || !bytes.is_empty() && !self.body.has_at(received, bytes) {
            return Err(S3LoadError::WrongBody { client: self.place, at: received, length });
        }
        self.answer = if total == length { Answer::Head(Vec::new()) } else { Answer::Body { received: total, length } };
        Ok(total == length)
    }

    /// Where the head of the answer ends, and how many bytes follow; none if it is not all there. What it says must be
    /// right.
    fn parse(&self) -> Result<Option<(usize, usize)>, S3LoadError> {
        let Answer::Head(head) = &self.answer else { return Ok(None) };
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut answer = httparse::Response::new(&mut headers);
        let status = answer.parse(head).map_err(|error| S3LoadError::NotHttp(error.to_string()))?;
        let httparse::Status::Complete(end) = status else {
            return if head.len() < HEAD { Ok(None) } else { Err(S3LoadError::NotHttp("an endless head".into())) };
        };
        let value = |name: &str| {
            let header = answer.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            header.map(|header| String::from_utf8_lossy(header.value).into_owned())
        };
        let status = answer.code.unwrap_or_default();
        if status != 200 {
            let said = String::from_utf8_lossy(&head[end..]);
            return Err(S3LoadError::Refused { status, said: said.chars().take(400).collect() });
        }
        let expected: String = self.body.md5().iter().map(|byte| format!("{byte:02x}")).collect();
        let etag = value("etag").unwrap_or_default();
        if etag.trim_matches('"') != expected {
            return Err(S3LoadError::WrongETag { wrong: etag, expected });
        }
        let length = value("content-length").and_then(|length| length.parse().ok()).unwrap_or(usize::MAX);
        let expected = match self.requests.cell.operation {
            Operation::Put => 0,
            Operation::Get => self.body.len(),
        };
        if length == expected { Ok(Some((end, length))) } else { Err(S3LoadError::WrongLength { expected }) }
    }

    /// Whether the server has closed it while there was no request.
    pub(crate) fn is_closed(&mut self) -> bool {
        !self.stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }
}
