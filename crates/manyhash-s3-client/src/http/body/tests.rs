//! What is sent is what a server reads, however it was cut.

use super::*;
use futures_util::{FutureExt, stream};
use http_body_util::BodyExt;
use jiff::Timestamp;
use manyhash_s3::checksum::digest;
use manyhash_s3::chunked::{Decoder, Event};
use manyhash_s3::sign::{Credentials, Signature};
use proptest::prelude::*;

const FORMS: [Payload; 4] =
    [Payload::Unsigned, Payload::StreamingSigned, Payload::StreamingSignedTrailer, Payload::StreamingUnsignedTrailer];

fn chain() -> SignatureChain {
    let credentials = Credentials::new("AKID", "secret");
    SignatureChain::of_request(&credentials, "us-east-1", Timestamp::UNIX_EPOCH, Signature::from_bytes([7; 32]))
}

/// Sends a body that is read in these pieces, and returns it as it was sent.
fn send(length: u64, pieces: Vec<Bytes>, form: Form) -> Result<Bytes, String> {
    let make = move || Box::pin(stream::iter(pieces.clone().into_iter().map(Ok))) as Pieces;
    let content = Content::from_stream(length, make);
    let signed = form.payload.has_signed_chunks().then(chain);
    let sent = Sent::new(&content, form, signed, Progress::new());
    let announced = sent.size_hint().exact().expect("an exact length");
    let collected = sent.collect().now_or_never().expect("nothing to wait for");
    let bytes = collected.map_err(|error| error.to_string())?.to_bytes();
    assert_eq!((bytes.len() as u64, form.encoded_length(length)), (announced, Some(announced)));
    Ok(bytes)
}

/// Reads a body as a server does.
fn receive(sent: Bytes, length: u64, form: Form) -> (Vec<u8>, Vec<(String, String)>) {
    if !form.payload.is_streaming() {
        return (sent.to_vec(), Vec::new());
    }
    let announced = form.trailer.map(|algorithm| algorithm.header());
    let mut decoder = Decoder::new(form.payload, length, announced);
    decoder.push(sent);
    let (mut chain, mut body, mut start, mut end) = (chain(), Vec::new(), 0, None);
    while let Some(event) = decoder.next().unwrap() {
        match event {
            Event::Data(data) => body.extend(data),
            Event::ChunkEnd { signature, .. } => {
                if let Some(signature) = signature {
                    chain.chunk(&Sha256::digest(&body[start..]), &signature).unwrap();
                }
                start = body.len();
            }
            Event::End { trailers, trailer_signature } => {
                if let Some(signature) = trailer_signature {
                    chain.trailer(&trailers, &signature).unwrap();
                }
                end = Some(trailers);
            }
            _ => {}
        }
    }
    decoder.finish().unwrap();
    (body, end.unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_sent_is_read(
        lengths in prop::collection::vec(prop_oneof![0usize..5, 0usize..70_000, Just(64 << 10), Just(1 << 20)], 0..6),
        payload in prop::sample::select(FORMS.to_vec()),
        algorithm in prop::sample::select(ChecksumAlgorithm::ALL.to_vec()),
    ) {
        let trailer = payload.has_trailers().then_some(algorithm);
        let form = Form { payload, trailer };
        let pieces: Vec<Bytes> =
            lengths.iter().enumerate().map(|(i, length)| Bytes::from(vec![i as u8; *length])).collect();
        let body = pieces.concat();
        let sent = send(body.len() as u64, pieces, form).unwrap();
        let (read, trailers) = receive(sent, body.len() as u64, form);
        prop_assert!(read == body);
        let checksum = digest(algorithm, &body);
        let expected = trailer.map(|algorithm| (algorithm.header().to_owned(), checksum.to_string()));
        prop_assert_eq!(trailers, expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn content_of_another_length_is_not_sent() {
    let piece = || vec![Bytes::from_static(&[1; 10]), Bytes::from_static(&[2; 10])];
    for payload in FORMS {
        let form = Form { payload, trailer: payload.has_trailers().then_some(ChecksumAlgorithm::Crc32) };
        assert!(send(20, piece(), form).is_ok());
        assert!(send(21, piece(), form).unwrap_err().contains("shorter"), "{payload:?}");
        for length in [0, 9, 10, 15, 19] {
            assert!(send(length, piece(), form).unwrap_err().contains("longer"), "{payload:?}");
        }
    }
}

#[test]
fn pieces_are_not_copied() {
    let piece = Bytes::from(vec![1; 3 << 20]);
    let form = Form { payload: Payload::StreamingUnsignedTrailer, trailer: Some(ChecksumAlgorithm::Crc64Nvme) };
    let content = Content::from(piece.clone());
    let mut sent = Sent::new(&content, form, None, Progress::new());
    let mut data = 0;
    while let Some(frame) = sent.frame().now_or_never().unwrap() {
        let bytes = frame.unwrap().into_data().unwrap();
        if piece.as_ptr_range().contains(&bytes.as_ptr()) {
            data += bytes.len();
        }
    }
    assert_eq!(data, piece.len());
}
