//! Bodies on their way: as they are, or in `aws-chunked` encoding with a checksum behind them.
//!
//! Chunks that are not signed are announced before their bytes are there, since the length is known, so nothing is
//! held back or copied. A signed chunk is held until its SHA-256 is known.

use super::content::{Content, Pieces};
use super::progress::Progress;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use manyhash::{Hasher, Sha256};
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, RunningChecksum};
use manyhash_s3::chunked::{Encoder, SignatureChain, encoded_length};
use manyhash_s3::sign::Payload;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Bytes in a chunk: those that are signed have to be held, and the others need not be short.
const SIGNED_CHUNK: NonZeroU64 = NonZeroU64::new(64 << 10).unwrap();
const UNSIGNED_CHUNK: NonZeroU64 = NonZeroU64::new(1 << 20).unwrap();

/// The content could not be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unreadable(pub(super) Arc<io::Error>);

/// How a body is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    pub(super) payload: Payload,
    pub(super) trailer: Option<ChecksumAlgorithm>,
}

impl Form {
    fn chunk(self) -> NonZeroU64 {
        if self.payload.has_signed_chunks() { SIGNED_CHUNK } else { UNSIGNED_CHUNK }
    }

    /// The length of a body, with all that goes around it.
    pub(super) fn encoded_length(self, length: u64) -> Option<u64> {
        let trailer = self.trailer.map(|algorithm| {
            let base64 = algorithm.digest_bytes().div_ceil(3) * 4;
            (algorithm.header().len(), base64)
        });
        encoded_length(self.payload, length, self.chunk(), trailer.as_slice())
    }
}

/// A body on its way.
pub(super) struct Sent {
    pieces: Pieces,
    /// Bytes of the content that are still to come from `pieces`.
    left: u64,
    /// What can be sent now.
    ready: VecDeque<Bytes>,
    /// The length of all that is still to be sent.
    encoded_left: u64,
    coding: Option<Coding>,
    /// What came with the end of a chunk and belongs to the next.
    rest: Bytes,
    is_over: bool,
    progress: Arc<Progress>,
}

/// The encoding of a body in chunks.
struct Coding {
    form: Form,
    /// `None` when all is encoded.
    encoder: Option<Encoder>,
    chain: Option<SignatureChain>,
    checksum: Option<Running>,
    /// Bytes that the chunk still lacks.
    lacks: u64,
    /// The signed chunk so far.
    held: Vec<Bytes>,
}

enum Running {
    Alone(RunningChecksum),
    Lanes(ChecksumAlgorithm, Box<Hasher>),
}

impl Running {
    fn new(algorithm: ChecksumAlgorithm) -> Option<Running> {
        let lanes = |lanes| Running::Lanes(algorithm, Box::new(Hasher::new(lanes)));
        RunningChecksum::new(algorithm).map(Running::Alone).or_else(|| algorithm.lanes().map(lanes))
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Running::Alone(checksum) => checksum.update(bytes),
            Running::Lanes(_, hasher) => {
                hasher.update(bytes);
            }
        }
    }

    fn finalize(self) -> Option<Checksum> {
        match self {
            Running::Alone(checksum) => Some(checksum.finalize()),
            Running::Lanes(algorithm, hasher) => Checksum::new(algorithm, hasher.finalize().as_bytes()).ok(),
        }
    }
}

impl Sent {
    /// Begins a body. `chain` signs the chunks of a form that has them signed.
    pub(super) fn new(content: &Content, form: Form, chain: Option<SignatureChain>, progress: Arc<Progress>) -> Sent {
        let coding = form.payload.is_streaming().then(|| Coding {
            form,
            encoder: Some(Encoder::new()),
            chain,
            checksum: form.trailer.and_then(Running::new),
            lacks: 0,
            held: Vec::new(),
        });
        let length = content.length();
        let encoded_left = form.encoded_length(length).unwrap_or(length);
        let (ready, rest) = (VecDeque::new(), Bytes::new());
        Sent { pieces: content.open(), left: length, ready, encoded_left, coding, rest, is_over: false, progress }
    }

    /// Takes a piece of the content, or as much of it as the chunk lacks.
    fn take(&mut self, mut piece: Bytes) {
        let Some(coding) = &mut self.coding else {
            self.left -= piece.len() as u64;
            self.ready.push_back(piece);
            return;
        };
        if coding.lacks == 0 {
            coding.lacks = coding.form.chunk().get().min(self.left);
            if coding.chain.is_none()
                && let Some(encoder) = &mut coding.encoder
            {
                self.ready.push_back(encoder.head(coding.lacks, None));
            }
        }
        // A chunk is never longer than memory.
        let taken = usize::try_from(coding.lacks).unwrap_or(usize::MAX).min(piece.len());
        self.rest = piece.split_off(taken);
        coding.lacks -= taken as u64;
        self.left -= taken as u64;
        if let Some(checksum) = &mut coding.checksum {
            checksum.update(&piece);
        }
        match (&mut coding.chain, &mut coding.encoder) {
            (Some(chain), Some(encoder)) => {
                coding.held.push(piece);
                if coding.lacks == 0 {
                    let mut sha256 = Sha256::new();
                    coding.held.iter().for_each(|piece| sha256.update(piece));
                    let signature = chain.sign_chunk(&sha256.finalize());
                    let length = coding.held.iter().map(|piece| piece.len() as u64).sum();
                    self.ready.push_back(encoder.head(length, Some(&signature)));
                    self.ready.extend(coding.held.drain(..));
                }
            }
            _ => self.ready.push_back(piece),
        }
    }

    /// Ends the encoding, once.
    fn finish(&mut self) {
        let Some(coding) = &mut self.coding else { return };
        let Some(encoder) = coding.encoder.take() else { return };
        let checksum = coding.checksum.take().and_then(Running::finalize);
        let line = |checksum: Checksum| (checksum.algorithm().header().to_owned(), checksum.to_string());
        let trailers: Vec<_> = checksum.map(line).into_iter().collect();
        let end = match &mut coding.chain {
            None => encoder.end(None, &trailers, None),
            Some(chain) => {
                let signature = chain.sign_chunk(&Sha256::digest(b""));
                let of_trailers = coding.form.payload.has_trailers().then(|| chain.sign_trailers(&trailers));
                encoder.end(Some(&signature), &trailers, of_trailers.as_ref())
            }
        };
        self.ready.push_back(end);
    }
}

fn changed(more: bool) -> io::Error {
    let how = if more { "longer" } else { "shorter" };
    io::Error::other(format!("it is {how} than it was: it changed while it was read"))
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Unreadable;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Unreadable>>> {
        let unreadable = |error| Poll::Ready(Some(Err(Unreadable(Arc::new(error)))));
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                if bytes.is_empty() {
                    continue;
                }
                self.progress.note();
                self.encoded_left = self.encoded_left.saturating_sub(bytes.len() as u64);
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            if self.is_over {
                return Poll::Ready(None);
            }
            let piece = match std::mem::take(&mut self.rest) {
                rest if !rest.is_empty() => Some(Ok(rest)),
                _ => ready!(self.pieces.as_mut().poll_next(cx)),
            };
            match piece {
                Some(Ok(piece)) if piece.len() as u64 > self.left => return unreadable(changed(true)),
                Some(Ok(piece)) if piece.is_empty() => {}
                Some(Ok(piece)) => self.take(piece),
                Some(Err(error)) => return unreadable(error),
                None if self.left > 0 => return unreadable(changed(false)),
                None => {
                    self.finish();
                    self.is_over = true;
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_over && self.ready.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.encoded_left)
    }
}

#[cfg(test)]
mod tests;
