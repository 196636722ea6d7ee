//! Bytes as a body in the encoding aws-chunked, of every kind, with and without trailers: in one piece and in several,
//! the events are the same; and what was decoded is encoded and decoded again.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use manyhash_s3::S3Error;
use manyhash_s3::chunked::{Decoder, Encoder, Event};
use manyhash_s3::sign::{Payload, Signature};

const PAYLOADS: [Payload; 5] = [
    Payload::Unsigned,
    Payload::Sha256([0; 32]),
    Payload::StreamingSigned,
    Payload::StreamingSignedTrailer,
    Payload::StreamingUnsignedTrailer,
];

const TRAILERS: [&[&str]; 3] = [&[], &["x-amz-checksum-crc32"], &["x-amz-checksum-crc32", "x-amz-checksum-sha512"]];

/// What a decoder made of a body, with the data of each chunk in one piece.
#[derive(PartialEq, Debug, Default)]
struct Decoded {
    chunks: Vec<(Vec<u8>, Option<[u8; 32]>)>,
    /// Data of a chunk that has not ended, or of no chunk.
    rest: Vec<u8>,
    end: Option<(Vec<(String, String)>, Option<[u8; 32]>)>,
    error: Option<S3Error>,
}

fuzz_target!(|input: &[u8]| {
    // The kind of body, its length, and what cuts it; then the body.
    let Some(([kind, low, high, cut], body)) = input.split_first_chunk() else { return };
    let payload = PAYLOADS[usize::from(*kind) % PAYLOADS.len()];
    let trailers = TRAILERS[usize::from(*kind) / PAYLOADS.len() % TRAILERS.len()];
    let length = u64::from(u16::from_le_bytes([*low, *high]));

    let whole = decode(payload, length, trailers, [body]);
    assert_eq!(decode(payload, length, trailers, body.chunks(usize::from(*cut) + 1)), whole);

    let decoded: usize = whole.chunks.iter().map(|(data, _)| data.len()).sum::<usize>() + whole.rest.len();
    assert!(decoded as u64 <= length, "more data than the body has");
    if whole.error.is_some() {
        return;
    }
    assert_eq!(decoded as u64, length, "less data than the body has");
    let (found, trailer_signature) = whole.end.as_ref().expect("a whole body has an end");
    let expected: &[&str] = if payload.has_trailers() { trailers } else { &[] };
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().all(|(name, _)| expected.contains(&&**name)));
    if !payload.is_streaming() {
        return;
    }

    let (mut encoder, mut again) = (Encoder::new(), Vec::new());
    let (last, chunks) = whole.chunks.split_last().expect("a whole body has a last chunk");
    for (data, signature) in chunks {
        again.extend(encoder.head(data.len() as u64, signature.map(Signature::from_bytes).as_ref()));
        again.extend(data);
    }
    let [last, trailer_signature] = [last.1, *trailer_signature].map(|bytes| bytes.map(Signature::from_bytes));
    again.extend(encoder.end(last.as_ref(), found, trailer_signature.as_ref()));
    assert_eq!(decode(payload, length, trailers, [&again[..]]), whole);
});

fn decode<'b>(payload: Payload, length: u64, trailers: &[&str], pieces: impl IntoIterator<Item = &'b [u8]>) -> Decoded {
    let mut decoder = Decoder::new(payload, length, trailers.iter().copied());
    let mut decoded = Decoded::default();
    // A body without data may end before anything arrives.
    for piece in [&[][..]].into_iter().chain(pieces) {
        decoder.push(Bytes::copy_from_slice(piece));
        loop {
            match decoder.next() {
                Ok(None) => break,
                Ok(Some(Event::Data(data))) => decoded.rest.extend(data),
                Ok(Some(Event::ChunkEnd { length, signature })) => {
                    assert_eq!(decoded.rest.len() as u64, length);
                    assert_eq!(signature.is_some(), payload.has_signed_chunks());
                    decoded.chunks.push((std::mem::take(&mut decoded.rest), signature));
                }
                Ok(Some(Event::End { trailers, trailer_signature })) => {
                    assert_eq!(decoded.end, None);
                    decoded.end = Some((trailers, trailer_signature));
                }
                Ok(Some(event)) => panic!("an event of another kind: {event:?}"),
                Err(error) => {
                    decoded.error = Some(error);
                    return decoded;
                }
            }
        }
    }
    decoded.error = decoder.finish().err();
    decoded
}
