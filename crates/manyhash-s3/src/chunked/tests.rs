//! AWS's documented examples; S3's words for bodies that cannot be read; and what is encoded is what is decoded.

use super::*;
use crate::sign::{Payload, Signature, SigningKey, sha256};
use bytes::Bytes;
use jiff::Timestamp;
use proptest::prelude::*;
use std::num::NonZeroU64;

mod examples;
mod round_trip;
mod words;

const SCOPE: &str = "20130524/us-east-1/s3/aws4_request";
const STREAMS: [Payload; 3] =
    [Payload::StreamingSigned, Payload::StreamingSignedTrailer, Payload::StreamingUnsignedTrailer];

fn chain(seed: [u8; 32]) -> SignatureChain {
    let key = SigningKey::derive("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "20130524", "us-east-1", "s3");
    let moment: Timestamp = "2013-05-24T00:00:00Z".parse().unwrap();
    SignatureChain::new(key, moment, SCOPE, Signature::from_bytes(seed))
}

type Trailers = Vec<(String, String)>;

/// A body in chunks, as a client sends it.
fn encode(payload: Payload, chunks: &[&[u8]], trailers: &Trailers) -> Vec<u8> {
    let mut chain = chain([7; 32]);
    let (mut encoder, mut body) = (Encoder::new(), Vec::new());
    let mut sign = |chunk: &[u8]| payload.has_signed_chunks().then(|| chain.sign_chunk(&sha256(chunk)));
    for chunk in chunks {
        body.extend(encoder.head(chunk.len() as u64, sign(chunk).as_ref()));
        body.extend(*chunk);
    }
    let last = sign(b"");
    let trailer = (payload == Payload::StreamingSignedTrailer).then(|| chain.sign_trailers(trailers));
    body.extend(encoder.end(last.as_ref(), trailers, trailer.as_ref()));
    body
}

/// A body as a server takes it: pieces in, data and trailers out, signatures verified.
fn decode(payload: Payload, length: u64, announced: &[&str], pieces: &[&[u8]]) -> Result<(Vec<u8>, Trailers), S3Error> {
    let mut decoder = Decoder::new(payload, length, announced.iter().copied());
    let (mut chain, mut body, mut chunk_start, mut end) = (chain([7; 32]), Vec::new(), 0, None);
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        while let Some(event) = decoder.next()? {
            assert!(end.is_none(), "after the end");
            match event {
                Event::Data(data) => {
                    assert!(!data.is_empty());
                    body.extend(data);
                    assert!(body.len() as u64 <= length, "more than was announced");
                }
                Event::ChunkEnd { length, signature } => {
                    let chunk = &body[chunk_start..];
                    assert_eq!(chunk.len() as u64, length);
                    assert_eq!(signature.is_some(), payload.has_signed_chunks());
                    if let Some(signature) = signature {
                        chain.chunk(&sha256(chunk), &signature)?;
                    }
                    chunk_start = body.len();
                }
                Event::End { trailers, trailer_signature } => {
                    assert_eq!(trailer_signature.is_some(), payload == Payload::StreamingSignedTrailer);
                    if let Some(signature) = trailer_signature {
                        chain.trailer(&trailers, &signature)?;
                    }
                    end = Some(trailers);
                }
            }
        }
    }
    decoder.finish()?;
    assert_eq!(body.len() as u64, length);
    Ok((body, end.expect("a body that is finished has an end")))
}

fn trailer(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
