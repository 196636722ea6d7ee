//! What is encoded is decoded, however it is cut; nothing that is changed on the way is taken for the original.

use super::*;

/// A body that a client may send, the lengths of its chunks, and its trailers.
#[derive(Clone, Debug)]
struct Sent {
    payload: Payload,
    body: Vec<u8>,
    chunk: usize,
    trailers: Trailers,
}

impl Sent {
    fn chunks(&self) -> Vec<&[u8]> {
        self.body.chunks(self.chunk).collect()
    }

    fn encode(&self) -> Vec<u8> {
        encode(self.payload, &self.chunks(), &self.trailers)
    }

    fn decode(&self, pieces: &[&[u8]]) -> Result<(Vec<u8>, Trailers), S3Error> {
        let announced: Vec<&str> = self.trailers.iter().map(|(name, _)| &**name).collect();
        decode(self.payload, self.body.len() as u64, &announced, pieces)
    }

    fn original(&self) -> (Vec<u8>, Trailers) {
        (self.body.clone(), self.trailers.clone())
    }
}

fn any_sent() -> impl Strategy<Value = Sent> {
    let lengths = prop_oneof![0usize..40, 8190usize..8194, 16_380usize..16_390, 0usize..40_000];
    let names = ["x-amz-checksum-crc32", "x-amz-checksum-sha512"];
    let trailers = prop::sample::subsequence(names.to_vec(), 0..=2);
    (prop::sample::select(&STREAMS[..]), lengths, any::<u8>(), 8192usize..20_000, trailers).prop_map(
        |(payload, length, seed, chunk, names)| {
            // CR and LF and digits are frequent, so that data looks like lines.
            let body = (0..length).map(|i| b"\r\n0;\r\na1"[(i * i + usize::from(seed)) % 8]).collect();
            let names = if payload.has_trailers() { names } else { Vec::new() };
            let trailers = names.iter().map(|name| trailer(name, "AAAA+/==")).collect();
            Sent { payload, body, chunk, trailers }
        },
    )
}

/// The body cut at these places.
fn cut<'b>(body: &'b [u8], places: &[prop::sample::Index]) -> Vec<&'b [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(body.len() + 1)).collect();
    places.extend([0, body.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn any_cut_gives_the_same(sent in any_sent(), places in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let body = sent.encode();
        prop_assert_eq!(sent.decode(&cut(&body, &places)), Ok(sent.original()));

        let lengths: Vec<_> = sent.trailers.iter().map(|(name, value)| (name.len(), value.len())).collect();
        let chunk = NonZeroU64::new(sent.chunk as u64).unwrap();
        let length = encoded_length(sent.payload, sent.body.len() as u64, chunk, &lengths);
        prop_assert_eq!(length, Some(body.len() as u64));
    }

    /// Errors do not depend on how a body is cut either.
    #[test]
    fn any_cut_is_refused_for_the_same_reason(
        sent in any_sent(),
        change in (any::<prop::sample::Index>(), any::<u8>()),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut body = sent.encode();
        let place = change.0.index(body.len());
        body[place] = change.1;
        prop_assert_eq!(sent.decode(&cut(&body, &places)), sent.decode(&[&body]));
    }

    #[test]
    fn a_body_that_ends_early_is_refused(sent in any_sent(), place in any::<prop::sample::Index>()) {
        let body = sent.encode();
        let end = place.index(body.len());
        let error = sent.decode(&[&body[..end]]).unwrap_err();
        prop_assert_eq!(error.code, ErrorCode::IncompleteBody);
    }

    #[test]
    fn a_signed_body_that_is_changed_is_refused(
        mut sent in any_sent(),
        is_trailer in any::<bool>(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        sent.payload = if is_trailer { Payload::StreamingSignedTrailer } else { Payload::StreamingSigned };
        if !is_trailer {
            sent.trailers.clear();
        }
        let mut body = sent.encode();
        let place = place.index(body.len());
        let case = body[place].eq_ignore_ascii_case(&byte);
        body[place] = byte;
        match sent.decode(&[&body]) {
            // The case of digits and of trailers' names is of no account; data is as it was in any case.
            Ok(decoded) => {
                prop_assert!(case, "{} at {}", byte, place);
                prop_assert_eq!(decoded, sent.original());
            }
            Err(error) => prop_assert!(error.status().is_client_error()),
        }
    }

    #[test]
    fn nothing_panics(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..10),
                "[0-9a-f]{1,17}(;chunk-signature=[0-9a-f]{64})?\r?\n".prop_map(String::into_bytes),
                "(x-amz-checksum-crc32:[A-Z]{6}==|x-amz-trailer-signature:[0-9a-f]{64})?\r?\n".prop_map(String::into_bytes),
            ],
            0..12,
        ),
        payload in prop::sample::select(vec![
            Payload::Unsigned,
            Payload::StreamingSigned,
            Payload::StreamingSignedTrailer,
            Payload::StreamingUnsignedTrailer,
        ]),
        length in prop_oneof![0u64..30, any::<u64>()],
    ) {
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &piece[..]).collect();
        let _ = decode(payload, length, &["x-amz-checksum-crc32"], &pieces);
    }

    #[test]
    fn lengths_do_not_overflow(length in any::<u64>(), chunk in 1u64.., names in prop::collection::vec((any::<usize>(), 0usize..9), 0..3)) {
        for payload in STREAMS {
            let encoded = encoded_length(payload, length, NonZeroU64::new(chunk).unwrap(), &names);
            prop_assert!(encoded.is_none_or(|encoded| encoded > length));
        }
    }
}
