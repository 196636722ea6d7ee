//! What is sent: bytes that can be read again for a further attempt.

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

/// Bytes in pieces.
pub type Pieces = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// The bytes of an object or part. They are read once for each attempt.
#[derive(Clone)]
pub struct Content {
    length: u64,
    source: Source,
    pub(super) sha256: Option<[u8; 32]>,
}

#[derive(Clone)]
enum Source {
    Memory(Arc<[Bytes]>),
    Made(Arc<dyn Fn() -> Pieces + Send + Sync>),
}

impl Content {
    /// Creates content that `make` reads, as often as there are attempts. It must be of this length, and the same each
    /// time.
    pub fn from_stream(length: u64, make: impl Fn() -> Pieces + Send + Sync + 'static) -> Content {
        Content { length, source: Source::Made(Arc::new(make)), sha256: None }
    }

    /// Creates content from pieces in memory, which are not copied.
    pub fn from_pieces(pieces: impl IntoIterator<Item = Bytes>) -> Content {
        let pieces: Arc<[Bytes]> = pieces.into_iter().collect();
        let length = pieces.iter().map(|piece| piece.len() as u64).sum();
        Content { length, source: Source::Memory(pieces), sha256: None }
    }

    /// Says the SHA-256, where it is known already: without TLS it is signed, and would be computed.
    #[must_use]
    pub fn with_sha256(mut self, sha256: [u8; 32]) -> Content {
        self.sha256 = Some(sha256);
        self
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Begins to read.
    pub(super) fn open(&self) -> Pieces {
        match &self.source {
            Source::Made(make) => make(),
            Source::Memory(pieces) => {
                let pieces = pieces.clone();
                let piece = move |i: usize| {
                    let piece = pieces.get(i).cloned();
                    async move { piece.map(|piece| (Ok(piece), i + 1)) }
                };
                Box::pin(stream::unfold(0, piece))
            }
        }
    }

    /// The pieces, if they are in memory.
    pub(super) fn pieces(&self) -> Option<&[Bytes]> {
        match &self.source {
            Source::Memory(pieces) => Some(pieces),
            Source::Made(_) => None,
        }
    }
}

impl<B: Into<Bytes>> From<B> for Content {
    fn from(bytes: B) -> Content {
        Content::from_pieces([bytes.into()])
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("length", &self.length).finish_non_exhaustive()
    }
}

/// The checksum that content is sent with, which the service compares before it keeps anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Proof {
    /// None. The service may add one of its own.
    #[default]
    None,
    /// One that is known before the content is sent, in a header.
    Header(Checksum),
    /// One that is computed while the content is sent, in a trailer. Some services do not know trailers.
    Trailer(ChecksumAlgorithm),
    /// An MD5 that is known before, in the header `Content-MD5`, which services know that know no checksums.
    ContentMd5([u8; 16]),
}
