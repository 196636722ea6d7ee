//! The bytes of a request, verified: everything that the client claims of them is compared before anything is kept.
//!
//! A body passes once. Each piece that the connection has read goes to the hashes and to the store; both hold the same
//! memory. The MD5 is the ETag, the SHA-256 is the address of the content. The engine hashes bodies of concurrent
//! requests side by side. In a signed body each chunk has a digest of its own: those are independent of each other, so
//! the chunks of a single upload are hashed side by side too, and only the short signatures form a chain.

mod chunks;
mod hashing;
mod keeping;
mod source;

pub(crate) use keeping::{Budget, Pace};
pub(crate) use source::{Received, Source, Stored};

use crate::call::read;
use crate::state::State;
use bytes::Bytes;
use chunks::Chunks;
use hashing::Hashing;
use keeping::Keeping;
use manyhash::Algorithm;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, RunningChecksum};
use manyhash_s3::chunked::SignatureChain;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::sign::Payload;
use manyhash_store::{Body, Content};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// What a request says of its body.
pub(crate) struct Claims {
    pub(crate) payload: Payload,
    /// Of the bytes without their framing.
    pub(crate) length: Option<u64>,
    /// The signatures of chunks, if they have any.
    pub(crate) chain: Option<SignatureChain>,
    pub(crate) content_md5: Option<[u8; 16]>,
    pub(crate) checksum: ChecksumClaim,
}

/// Where the checksum of a body is said, if it is.
#[derive(Clone, Debug)]
pub(crate) enum ChecksumClaim {
    /// In a header.
    Value(Checksum),
    /// In a trailer of this name, which may not come if there is no such trailer in the announced list.
    Trailer(ChecksumAlgorithm),
    /// Nowhere; it is computed.
    Computed(ChecksumAlgorithm),
}

impl ChecksumClaim {
    /// The algorithm, if the client has said anything.
    pub(crate) fn said(&self) -> Option<ChecksumAlgorithm> {
        match self {
            ChecksumClaim::Computed(_) => None,
            claim => Some(claim.algorithm()),
        }
    }

    pub(crate) fn algorithm(&self) -> ChecksumAlgorithm {
        match self {
            ChecksumClaim::Value(checksum) => checksum.algorithm(),
            ChecksumClaim::Trailer(algorithm) | ChecksumClaim::Computed(algorithm) => *algorithm,
        }
    }
}

/// A body whose bytes are what the client meant.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) content: Content,
    pub(crate) md5: [u8; 16],
    pub(crate) checksum: Checksum,
}

/// Reads a body to its end, and compares it with what is claimed of it.
pub(crate) async fn ingest(state: &State, source: impl Source, claims: Claims) -> Result<Verified, S3Error> {
    // What is there already is verified, and not written again.
    if let Payload::Sha256(sha256) = &claims.payload
        && state.config.dedupe
        && let Some(pin) = state.store.pin(sha256).map_err(read)?
    {
        let mut counted = Counted::default();
        let Digests { md5, sha256, checksum } = receive(state, source, claims, &mut counted).await?;
        return Ok(Verified { content: Content { sha256, length: counted.0, body: Body::Kept(pin) }, md5, checksum });
    }
    let mut keeping = Keeping::new(&state.store, &state.budget, &state.pace);
    let digests = receive(state, source, claims, &mut keeping).await?;
    let Digests { md5, sha256, checksum } = digests;
    let length = keeping.length();
    let body = keeping.finish().await?;
    Ok(Verified { content: Content { sha256, length, body }, md5, checksum })
}

/// Reads a body to its end as [`ingest`] does, into memory. The caller has looked at its length.
pub(crate) async fn gather(state: &State, source: impl Source, claims: Claims) -> Result<Bytes, S3Error> {
    let mut pieces = Gathered::default();
    receive(state, source, claims, &mut pieces).await?;
    Ok(pieces.0.into())
}

/// Computes the checksum of what is stored already, and its SHA-256.
pub(crate) async fn digest(
    state: &State,
    source: impl Source,
    algorithm: ChecksumAlgorithm,
) -> Result<(Checksum, [u8; 32]), S3Error> {
    let checksum = ChecksumClaim::Computed(algorithm);
    let claims = Claims { payload: Payload::Unsigned, length: None, chain: None, content_md5: None, checksum };
    let digests = receive(state, source, claims, &mut Counted::default()).await?;
    Ok((digests.checksum, digests.sha256))
}

/// Where the pieces of a body go.
trait Sink {
    /// Takes a piece.
    async fn add(&mut self, bytes: Bytes) -> Result<(), S3Error>;

    /// The client has to be waited for.
    async fn wait(&mut self) -> Result<(), S3Error>;

    /// How many bytes were taken.
    fn length(&self) -> u64;
}

#[derive(Default)]
struct Gathered(Vec<u8>);

impl Sink for Gathered {
    async fn add(&mut self, bytes: Bytes) -> Result<(), S3Error> {
        self.0.extend_from_slice(&bytes);
        Ok(())
    }

    async fn wait(&mut self) -> Result<(), S3Error> {
        Ok(())
    }

    fn length(&self) -> u64 {
        self.0.len() as u64
    }
}

/// Bytes that are kept already.
#[derive(Default)]
struct Counted(u64);

impl Sink for Counted {
    async fn add(&mut self, bytes: Bytes) -> Result<(), S3Error> {
        self.0 += bytes.len() as u64;
        Ok(())
    }

    async fn wait(&mut self) -> Result<(), S3Error> {
        Ok(())
    }

    fn length(&self) -> u64 {
        self.0
    }
}

/// What a body was found to be.
struct Digests {
    md5: [u8; 16],
    sha256: [u8; 32],
    checksum: Checksum,
}

async fn receive(
    state: &State,
    mut source: impl Source,
    claims: Claims,
    sink: &mut impl Sink,
) -> Result<Digests, S3Error> {
    let algorithm = claims.checksum.algorithm();
    let mut algorithms = vec![Algorithm::Md5, Algorithm::Sha256];
    if let Some(lanes) = algorithm.lanes()
        && !algorithms.contains(&lanes)
    {
        algorithms.push(lanes);
    }
    let mut hashing = Hashing::new(&state.engine, algorithms.clone());
    let mut running = RunningChecksum::new(algorithm);
    let mut chunks = Chunks::new(&state.engine, &claims)?;

    loop {
        let frame = {
            let mut next = pin!(source.next());
            // What is there is taken at once. A client that has to be waited for keeps no memory that others could use.
            match poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await {
                Poll::Ready(frame) => frame?,
                Poll::Pending => {
                    sink.wait().await?;
                    next.await?
                }
            }
        };
        let Some(frame) = frame else { break };
        chunks.push(frame);
        while let Some(bytes) = chunks.next().await? {
            if let Some(running) = &mut running {
                running.update(&bytes);
            }
            sink.add(bytes.clone()).await?;
            // More than was announced is not worth the disk.
            if claims.length.is_some_and(|claimed| sink.length() > claimed) {
                return Err(ErrorCode::IncompleteBody.into());
            }
            hashing.add(bytes).await?;
        }
    }
    let trailer = chunks.finish()?;
    if claims.length.is_some_and(|claimed| claimed != sink.length()) {
        return Err(S3Error::body_ended_early());
    }

    let digests = hashing.finish().await?;
    let digest = |algorithm: Algorithm| {
        let at = algorithms.iter().position(|candidate| *candidate == algorithm);
        at.and_then(|at| digests.get(at)).map(|digest| digest.as_bytes()).ok_or_else(|| internal("a digest is missing"))
    };
    let md5: [u8; 16] = digest(Algorithm::Md5)?.try_into().map_err(internal)?;
    let sha256: [u8; 32] = digest(Algorithm::Sha256)?.try_into().map_err(internal)?;
    let checksum = match (running, algorithm.lanes()) {
        (Some(running), _) => running.finalize(),
        (None, Some(lanes)) => Checksum::new(algorithm, digest(lanes)?).map_err(internal)?,
        (None, None) => return Err(internal("an algorithm has no function")),
    };
    let digests = Digests { md5, sha256, checksum };
    compare(state, &claims, trailer, &digests)?;
    Ok(digests)
}

/// Compares a body with everything that the client said of it.
fn compare(state: &State, claims: &Claims, trailer: Option<Checksum>, digests: &Digests) -> Result<(), S3Error> {
    let Digests { md5, sha256, checksum } = digests;
    let verdict = |kind, good: bool| {
        state.metrics.verdict(kind, good);
        good
    };
    if let Payload::Sha256(claimed) = &claims.payload
        && !verdict("payload", claimed == sha256)
    {
        return Err(S3Error::payload_hash_differs(claimed, sha256));
    }
    if let Some(claimed) = &claims.content_md5
        && !verdict("content-md5", claimed == md5)
    {
        return Err(S3Error::content_md5_differs(md5, claimed));
    }
    let claimed = match claims.checksum {
        ChecksumClaim::Value(checksum) => Some(checksum),
        ChecksumClaim::Trailer(_) => trailer,
        ChecksumClaim::Computed(_) => None,
    };
    let algorithm = checksum.algorithm();
    if let Some(claimed) = claimed
        && !verdict(algorithm.lower_case_name(), claimed == *checksum)
    {
        return Err(S3Error::checksum_differs(algorithm));
    }
    Ok(())
}

/// A failure that is the server's own.
pub(crate) fn internal(error: impl std::fmt::Display) -> S3Error {
    eprintln!("manyhash: {error}");
    ErrorCode::InternalError.into()
}

/// A write that the disk refused. Clients try again after `SlowDown`, so it is the answer where room may be made.
pub(crate) fn disk(error: &std::io::Error) -> S3Error {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => ErrorCode::SlowDown.into(),
        _ => internal(error),
    }
}
