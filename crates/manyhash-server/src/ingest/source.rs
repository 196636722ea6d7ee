//! Where the bytes of a body come from: a client, or what is stored already.

use super::internal;
use crate::state::State;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_store::Reader;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, Sleep, sleep_until};

/// Gives a body piece by piece.
pub(crate) trait Source {
    /// The next piece, or `None` after the last.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, S3Error>> + Send;
}

/// The time in which a client must send [`LEAST`] bytes.
const WINDOW: Duration = Duration::from_secs(30);

/// One KiB a second.
const LEAST: usize = 30 << 10;

/// A body that a client sends. It may be slow, but not so slow that it only keeps a place taken.
pub(crate) struct Received<'a> {
    state: &'a State,
    body: &'a mut Incoming,
    /// When the window ends. The timer is not set before the client is waited for.
    deadline: Pin<Box<Sleep>>,
    /// Bytes in the window so far.
    bytes: usize,
    /// When the last piece was handed on: until the next is asked for, the client is not to blame.
    handed: Instant,
}

impl<'a> Received<'a> {
    pub(crate) fn new(state: &'a State, body: &'a mut Incoming) -> Self {
        let now = Instant::now();
        Received { state, body, deadline: Box::pin(sleep_until(now + WINDOW)), bytes: 0, handed: now }
    }
}

impl Source for Received<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, S3Error> {
        let asked = Instant::now();
        let paused = asked.saturating_duration_since(self.handed);
        let ends = self.deadline.deadline() + paused;
        if paused > Duration::from_millis(1) {
            self.deadline.as_mut().reset(ends);
        }
        loop {
            let frame = tokio::select! {
                biased;
                frame = self.body.frame() => frame,
                () = &mut self.deadline => return Err(ErrorCode::RequestTimeout.into()),
            };
            self.handed = Instant::now();
            // A connection that ends before the length that was announced is an error here, however it ends.
            let bytes = match frame {
                None => return Ok(None),
                Some(Err(_)) => return Err(ErrorCode::IncompleteBody.into()),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => bytes,
                    // Trailers of HTTP itself, which S3 does not use.
                    Err(_) => continue,
                },
            };
            self.bytes += bytes.len();
            if self.bytes >= LEAST {
                self.bytes = 0;
                self.deadline.as_mut().reset(self.handed + WINDOW);
            }
            self.state.metrics.received.fetch_add(bytes.len() as u64, Relaxed);
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }
}

/// How much of what is stored is read at once.
const PIECE: usize = 1 << 20;

/// A body that is stored already, or a part of one.
pub(crate) struct Stored(Option<Reader>);

impl Stored {
    pub(crate) fn new(reader: Reader) -> Self {
        Stored(Some(reader))
    }
}

impl Source for Stored {
    async fn next(&mut self) -> Result<Option<Bytes>, S3Error> {
        let Some(mut reader) = self.0.take() else { return Ok(None) };
        let read = spawn_blocking(move || reader.read(PIECE).map(|piece| (reader, piece)));
        let (reader, piece) = read.await.map_err(internal)?.map_err(internal)?;
        self.0 = Some(reader);
        Ok(piece)
    }
}
