//! What is stored, compared with its SHA-256 while it is read: a new checksum of what has changed on the disk would make
//! it look right.

use crate::ingest::{Source, Stored, internal};
use crate::state::State;
use bytes::Bytes;
use manyhash::engine::HashStream;
use manyhash::{Algorithm, Engine};
use manyhash_s3::error::S3Error;
use manyhash_store::Extent;
use std::collections::VecDeque;
use std::ops::Range;

/// A range of some content. The last bytes of an extent come only if all of the extent is what it was.
///
/// An extent of which only a part is in the range cannot be compared: copies of ranges take a large object apart, and to
/// read all of it for each would take far longer than to copy it.
pub(super) struct Sound {
    stored: Stored,
    engine: Engine,
    /// What is not read to its end.
    extents: VecDeque<Piece>,
}

/// What of an extent lies in the range.
struct Piece {
    left: u64,
    expected: [u8; 32],
    hashing: Hashing,
}

enum Hashing {
    /// All of the extent is in the range, and none of it was read.
    Ahead,
    Begun(HashStream<Algorithm>),
    /// Only a part of the extent is in the range.
    Never,
}

impl Sound {
    /// Compares what `stored` reads of `extents`, which is `range`.
    pub(super) fn new(state: &State, stored: Stored, extents: &[Extent], range: Range<u64>) -> Self {
        let (mut pieces, mut start) = (VecDeque::new(), 0_u64);
        for extent in extents {
            let end = start.saturating_add(extent.length);
            let left = range.end.min(end).saturating_sub(range.start.max(start));
            if left > 0 {
                let hashing = if left == extent.length { Hashing::Ahead } else { Hashing::Never };
                pieces.push_back(Piece { left, expected: extent.sha256, hashing });
            }
            start = end;
        }
        Sound { stored, engine: state.engine.clone(), extents: pieces }
    }
}

impl Source for Sound {
    async fn next(&mut self) -> Result<Option<Bytes>, S3Error> {
        let Some(bytes) = self.stored.next().await? else { return Ok(None) };
        let mut rest = bytes.clone();
        while !rest.is_empty() {
            let piece = self.extents.front_mut().ok_or_else(|| internal("more is stored than was asked for"))?;
            let length = usize::try_from(piece.left).unwrap_or(usize::MAX).min(rest.len());
            piece.add(&self.engine, rest.split_to(length)).await?;
            if piece.left == 0
                && let Some(piece) = self.extents.pop_front()
            {
                piece.finish().await?;
            }
        }
        Ok(Some(bytes))
    }
}

impl Piece {
    async fn add(&mut self, engine: &Engine, bytes: Bytes) -> Result<(), S3Error> {
        self.left = self.left.saturating_sub(bytes.len() as u64);
        if let Hashing::Ahead = self.hashing {
            self.hashing = Hashing::Begun(engine.stream(Algorithm::Sha256));
        }
        match &mut self.hashing {
            Hashing::Begun(stream) => stream.write(bytes).await.map_err(internal),
            Hashing::Ahead | Hashing::Never => Ok(()),
        }
    }

    async fn finish(self) -> Result<(), S3Error> {
        let Hashing::Begun(stream) = self.hashing else { return Ok(()) };
        let digest = stream.finish().await.map_err(internal)?;
        if digest.as_bytes() == self.expected {
            return Ok(());
        }
        Err(internal("content differs from its SHA-256: run `manyhash store check`"))
    }
}
