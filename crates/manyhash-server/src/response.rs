//! Answers, and the bodies they carry.

use crate::front::{Connection, Phase};
use crate::metrics::Answered;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use manyhash_store::Reader;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::task::{JoinHandle, spawn_blocking};

/// What an operation answers, before it is known how the connection goes on.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content,
}

/// What comes after the head of an answer.
pub(crate) enum Content {
    Bytes(Bytes),
    Stored(Reader),
    /// None, but the head says how long it would be.
    Length(u64),
}

impl Answer {
    pub(crate) fn empty(status: StatusCode) -> Self {
        Answer { status, headers: HeaderMap::new(), content: Content::Bytes(Bytes::new()) }
    }

    pub(crate) fn xml(status: StatusCode, text: String) -> Self {
        let mut answer = Answer { status, headers: HeaderMap::new(), content: Content::Bytes(text.into()) };
        answer.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/xml"));
        answer
    }

    /// Adds a header line. A value that no header can have is left out.
    pub(crate) fn with(mut self, name: impl TryInto<HeaderName>, value: impl AsRef<[u8]>) -> Self {
        self.set(name, value);
        self
    }

    pub(crate) fn set(&mut self, name: impl TryInto<HeaderName>, value: impl AsRef<[u8]>) {
        if let (Ok(name), Ok(value)) = (name.try_into(), HeaderValue::from_bytes(value.as_ref())) {
            self.headers.insert(name, value);
        }
    }

    pub(crate) fn respond(self, finished: Finished) -> Response<ResponseBody> {
        let (inner, length) = match self.content {
            Content::Bytes(bytes) => {
                let length = bytes.len() as u64;
                (Inner::Bytes(Some(bytes)), length)
            }
            Content::Stored(reader) => {
                let length = reader.remaining();
                (Inner::Stored { reader: Reading::Ready(Box::new(reader)), left: length }, length)
            }
            Content::Length(length) => (Inner::Bytes(None), length),
        };
        let mut response = Response::new(ResponseBody { inner, finished });
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        // Neither may have a body, so neither has a length.
        if self.status != StatusCode::NO_CONTENT && self.status != StatusCode::NOT_MODIFIED {
            response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
        }
        response
    }
}

/// Tells, when the answer's body is dropped, that the request is over.
pub(crate) struct Finished {
    pub(crate) connection: Arc<Connection>,
    pub(crate) answered: Answered,
}

impl Drop for Finished {
    fn drop(&mut self) {
        self.connection.watch().enter(Phase::Idle);
    }
}

/// The body of an answer.
pub(crate) struct ResponseBody {
    inner: Inner,
    finished: Finished,
}

enum Inner {
    Bytes(Option<Bytes>),
    Stored { reader: Reading, left: u64 },
}

/// Who has the reader: this body, or a thread that waits for the disk.
enum Reading {
    Ready(Box<Reader>),
    Waiting(JoinHandle<(Box<Reader>, std::io::Result<Option<Bytes>>)>),
    Over,
}

/// How much is read at once. More would only leave the cache before it is sent.
const PIECE: usize = 128 << 10;

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let this = self.get_mut();
        let piece = match &mut this.inner {
            Inner::Bytes(bytes) => Ok(bytes.take().filter(|bytes| !bytes.is_empty())),
            Inner::Stored { reader, left } => {
                let piece = std::task::ready!(poll_piece(reader, cx));
                if let Ok(Some(bytes)) = &piece {
                    *left = left.saturating_sub(bytes.len() as u64);
                }
                piece
            }
        };
        if let Ok(Some(bytes)) = &piece {
            this.finished.answered.sent(bytes.len());
        }
        Poll::Ready(piece.map(|bytes| bytes.map(Frame::data)).transpose())
    }

    fn is_end_stream(&self) -> bool {
        match &self.inner {
            Inner::Bytes(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Inner::Stored { left, .. } => *left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.inner {
            Inner::Bytes(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Inner::Stored { left, .. } => SizeHint::with_exact(*left),
        }
    }
}

/// The next piece of what is stored: at once if it is in memory, else by a thread that may wait.
fn poll_piece(reading: &mut Reading, cx: &mut Context<'_>) -> Poll<std::io::Result<Option<Bytes>>> {
    if let Reading::Ready(reader) = reading {
        match reader.read_cached(PIECE) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            result => return Poll::Ready(result),
        }
        let Reading::Ready(mut reader) = std::mem::replace(reading, Reading::Over) else {
            return Poll::Ready(Ok(None));
        };
        *reading = Reading::Waiting(spawn_blocking(move || {
            let result = reader.read(PIECE);
            (reader, result)
        }));
    }
    let Reading::Waiting(waiting) = reading else { return Poll::Ready(Ok(None)) };
    let (next, result) = match std::task::ready!(Pin::new(waiting).poll(cx)) {
        Ok((reader, result)) => (Reading::Ready(reader), result),
        Err(error) => (Reading::Over, Err(std::io::Error::other(error))),
    };
    *reading = next;
    Poll::Ready(result)
}
