//! AWS's examples of 2013-05-24: "Transferring Payload in Multiple Chunks", "Including Trailing Headers".

use super::*;
use crate::sign::sha256_from_hex;

fn from_hex(digits: &str) -> [u8; 32] {
    sha256_from_hex(digits).unwrap()
}

/// 65 KiB of `a`, in chunks of 64 KiB, and their signatures from the seed on.
fn assert_chunks(payload: Payload, signatures: [&str; 4], trailers: &Trailers, trailer_signature: Option<&str>) {
    let chunks: [&[u8]; 3] = [&[b'a'; 65_536], &[b'a'; 1024], b""];
    let mut signer = chain(from_hex(signatures[0]));
    let mut verifier = signer.clone();
    let (mut encoder, mut body) = (Encoder::new(), Vec::new());
    let mut last = None;
    for (chunk, expected) in chunks.into_iter().zip(&signatures[1..]) {
        let signature = signer.sign_chunk(&sha256(chunk));
        assert_eq!(signature.to_string(), *expected);
        verifier.chunk(&sha256(chunk), &from_hex(expected)).unwrap();
        if !chunk.is_empty() {
            body.extend(encoder.head(chunk.len() as u64, Some(&signature)));
            body.extend(chunk);
        }
        last = Some(signature);
    }
    let signature = trailer_signature.map(|expected| {
        let signature = signer.sign_trailers(trailers);
        assert_eq!(signature.to_string(), expected);
        verifier.trailer(trailers, &from_hex(expected)).unwrap();
        signature
    });
    body.extend(encoder.end(last.as_ref(), trailers, signature.as_ref()));

    let lengths: Vec<_> = trailers.iter().map(|(name, value)| (name.len(), value.len())).collect();
    let length = encoded_length(payload, 66_560, NonZeroU64::new(65_536).unwrap(), &lengths);
    assert_eq!(length, Some(body.len() as u64));

    let mut decoder = Decoder::new(payload, 66_560, trailers.iter().map(|(name, _)| name));
    decoder.push(body.into());
    let mut events = Vec::new();
    while let Some(event) = decoder.next().unwrap() {
        events.push(event);
    }
    decoder.finish().unwrap();
    let [one, two, three] = [1, 2, 3].map(|i| Some(from_hex(signatures[i])));
    assert_eq!(
        events,
        [
            Event::Data(Bytes::from_static(&[b'a'; 65_536])),
            Event::ChunkEnd { length: 65_536, signature: one },
            Event::Data(Bytes::from_static(&[b'a'; 1024])),
            Event::ChunkEnd { length: 1024, signature: two },
            Event::ChunkEnd { length: 0, signature: three },
            Event::End { trailers: trailers.clone(), trailer_signature: trailer_signature.map(from_hex) },
        ]
    );
}

#[test]
fn signed_chunks() {
    let signatures = [
        "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
        "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
        "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
        "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
    ];
    assert_chunks(Payload::StreamingSigned, signatures, &Vec::new(), None);
}

#[test]
fn signed_chunks_and_trailers() {
    let signatures = [
        "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
        "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
        "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
        "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
    ];
    let trailers = vec![trailer("x-amz-checksum-crc32c", "sOO8/Q==")];
    let signature = "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435";
    assert_chunks(Payload::StreamingSignedTrailer, signatures, &trailers, Some(signature));
}

/// Data is passed on where it lies.
#[test]
fn data_is_not_copied() {
    let body = Bytes::from(encode(Payload::StreamingUnsignedTrailer, &[&[1; 20_000], &[2; 5]], &Vec::new()));
    let range = body.as_ptr_range();
    let mut decoder = Decoder::new(Payload::StreamingUnsignedTrailer, 20_005, [""; 0]);
    decoder.push(body);
    let mut lengths = Vec::new();
    while let Some(event) = decoder.next().unwrap() {
        if let Event::Data(data) = event {
            assert!(range.contains(&data.as_ptr()));
            lengths.push(data.len());
        }
    }
    assert_eq!(lengths, [20_000, 5]);
}
