//! A body without its framing, and the signatures of its chunks.

use super::hashing::Hashing;
use super::{ChecksumClaim, Claims, internal};
use bytes::Bytes;
use manyhash::engine::Digesting;
use manyhash::{Algorithm, Engine};
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm};
use manyhash_s3::chunked::{Decoder, Event, SignatureChain};
use manyhash_s3::error::{ErrorCode, S3Error};
use std::collections::VecDeque;

/// How many chunks may wait for their digests: enough to fill the lanes of one register.
const WINDOW: usize = 16;

/// The pieces of a body.
pub(super) enum Chunks {
    /// Bytes as they are.
    Plain(Option<Bytes>),
    /// Chunks with a size each, and perhaps a signature.
    Framed(Box<Framed>),
}

pub(super) struct Framed {
    decoder: Decoder,
    signed: Option<Signed>,
    trailer: Option<ChecksumAlgorithm>,
    claimed: Option<Checksum>,
}

/// The chain of signatures. The digests of chunks are awaited in their order, a window behind.
struct Signed {
    engine: Engine,
    chain: SignatureChain,
    chunk: Hashing,
    waiting: VecDeque<(Digesting<Vec<Algorithm>>, [u8; 32])>,
}

impl Chunks {
    pub(super) fn new(engine: &Engine, claims: &Claims) -> Result<Self, S3Error> {
        if !claims.payload.is_streaming() {
            return Ok(Chunks::Plain(None));
        }
        let length = claims.length.ok_or(S3Error::new(ErrorCode::MissingContentLength))?;
        let trailer = match claims.checksum {
            ChecksumClaim::Trailer(algorithm) => Some(algorithm),
            _ => None,
        };
        Ok(Chunks::Framed(Box::new(Framed {
            decoder: Decoder::new(claims.payload, length, trailer.map(ChecksumAlgorithm::header)),
            signed: claims.chain.clone().map(|chain| Signed {
                engine: engine.clone(),
                chain,
                chunk: Hashing::new(engine, vec![Algorithm::Sha256]),
                waiting: VecDeque::new(),
            }),
            trailer,
            claimed: None,
        })))
    }

    /// Takes what the connection has read.
    pub(super) fn push(&mut self, frame: Bytes) {
        match self {
            Chunks::Plain(piece) => *piece = Some(frame),
            Chunks::Framed(framed) => framed.decoder.push(frame),
        }
    }

    /// The next piece of the body, or `None` until more is pushed.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, S3Error> {
        match self {
            Chunks::Plain(piece) => Ok(piece.take()),
            Chunks::Framed(framed) => framed.next().await,
        }
    }

    /// The body has ended. Returns the checksum of its trailer.
    pub(super) fn finish(self) -> Result<Option<Checksum>, S3Error> {
        match self {
            Chunks::Plain(_) => Ok(None),
            Chunks::Framed(framed) => {
                framed.decoder.finish()?;
                Ok(framed.claimed)
            }
        }
    }
}

impl Framed {
    async fn next(&mut self) -> Result<Option<Bytes>, S3Error> {
        while let Some(event) = self.decoder.next()? {
            match event {
                Event::Data(bytes) => {
                    if let Some(signed) = &mut self.signed {
                        signed.chunk.add(bytes.clone()).await?;
                    }
                    return Ok(Some(bytes));
                }
                Event::ChunkEnd { signature, .. } => {
                    if let Some(signed) = &mut self.signed {
                        signed.end_chunk(signature).await?;
                    }
                }
                Event::End { trailers, trailer_signature } => {
                    if let Some(signed) = &mut self.signed {
                        signed.end(&trailers, trailer_signature).await?;
                    }
                    if let Some(algorithm) = self.trailer {
                        let value = trailers.iter().find(|(name, _)| name.eq_ignore_ascii_case(algorithm.header()));
                        let (_, value) = value.ok_or(S3Error::new(ErrorCode::MalformedTrailerError))?;
                        let checksum = Checksum::parse(algorithm, value);
                        self.claimed =
                            Some(checksum.map_err(|_| S3Error::invalid_checksum_trailer(algorithm.header()))?);
                    }
                }
                // An event that a later version may bring.
                _ => return Err(internal("an unknown event in a chunked body")),
            }
        }
        Ok(None)
    }
}

impl Signed {
    async fn end_chunk(&mut self, signature: Option<[u8; 32]>) -> Result<(), S3Error> {
        let signature = signature.ok_or(S3Error::new(ErrorCode::SignatureDoesNotMatch))?;
        let chunk = std::mem::replace(&mut self.chunk, Hashing::new(&self.engine, vec![Algorithm::Sha256]));
        self.waiting.push_back((chunk.end(), signature));
        if self.waiting.len() == WINDOW { self.settle().await } else { Ok(()) }
    }

    /// Compares the signatures of the chunks that wait. Whoever waits for the first gets all hashed side by side.
    async fn settle(&mut self) -> Result<(), S3Error> {
        for (digesting, claimed) in self.waiting.drain(..) {
            let digests = digesting.await.map_err(internal)?;
            let digest = digests.first().and_then(|digest| digest.as_bytes().try_into().ok());
            self.chain.chunk(&digest.ok_or_else(|| internal("a chunk has no digest"))?, &claimed)?;
        }
        Ok(())
    }

    async fn end(&mut self, trailers: &[(String, String)], signature: Option<[u8; 32]>) -> Result<(), S3Error> {
        self.settle().await?;
        match signature {
            Some(claimed) => self.chain.trailer(trailers, &claimed),
            None => Ok(()),
        }
    }
}
