//! What S3 says of bodies that cannot be read. Clients and other servers' tests compare the words.

use super::*;

const CRC32: &str = "x-amz-checksum-crc32";
const ENDED: &str = "The request body terminated unexpectedly";
const LENGTH: &str = "You did not provide the number of bytes specified by the Content-Length HTTP header";

/// The refusal of a body, which is the same in one piece and byte by byte.
fn refusal(payload: Payload, length: u64, announced: &[&str], body: &[u8]) -> S3Error {
    let whole = decode(payload, length, announced, &[body]).unwrap_err();
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(decode(payload, length, announced, &bytes).unwrap_err(), whole);
    whole
}

fn unsigned(length: u64, announced: &[&str], body: &str) -> S3Error {
    refusal(Payload::StreamingUnsignedTrailer, length, announced, body.as_bytes())
}

fn is_incomplete(error: &S3Error, message: &str) -> bool {
    (error.code, &*error.message) == (ErrorCode::IncompleteBody, message)
}

#[test]
fn frames() {
    for body in [
        "",
        "4",
        "4\r\n",
        "4\r\nab",
        "4\r\nabcd",
        "4\r\nabcd\r",
        "4\r\nabcd\r\n",
        "4\r\nabcd\r\n0",
        "4\r\nabcd\r\n0\r\n",
        "4\r\nabcd\r\n0\r\nx-amz-checksum-crc32:7YLNEQ==",
        "4\r\nabcd\r\n0\r\nx-amz-checksum-crc32:7YLNEQ==\r\n",
        "4\r\nabcd\r\n0\r\nx-amz-checksum-crc32:7YLNEQ==\r\n\r",
        "4\nabcd\r\n0\r\n\r\n",
        "4\r\nabcd\n0\r\n\r\n",
        "4\r\nabcd0\r\n\r\n",
        "4\r\nabcd\r0\r\n\r\n",
        "4\r\nab\r\ncd\r\n0\r\n\r\n",
        "\r\nabcd\r\n0\r\n\r\n",
        "+4\r\nabcd\r\n0\r\n\r\n",
        "-4\r\nabcd\r\n0\r\n\r\n",
        "0x4\r\nabcd\r\n0\r\n\r\n",
        "4 \r\nabcd\r\n0\r\n\r\n",
        "4;a=b\r\nabcd\r\n0\r\n\r\n",
        "4\r\r\nabcd\r\n0\r\n\r\n",
        "g\r\nabcd\r\n0\r\n\r\n",
        "00000000000000004\r\nabcd\r\n0\r\n\r\n",
        "4\r\nabcd\r\n0\r\nx-amz-checksum-crc32:7YLNEQ==\n\n",
        "4\r\nabcd\r\n0\r\nx-amz-checksum-crc32:7YLNEQ==\nx\r\n",
    ] {
        let error = unsigned(4, &[CRC32], body);
        assert!(is_incomplete(&error, ENDED), "{body:?}: {error}");
    }
    let long = format!("4\r\nabcd\r\n0\r\n{CRC32}:{}", "A".repeat(2000));
    assert!(is_incomplete(&unsigned(4, &[CRC32], &long), ENDED));
}

#[test]
fn lengths() {
    for (length, body) in [
        (5, "4\r\nabcd\r\n0\r\n\r\n"),
        (3, "4\r\nabcd\r\n0\r\n\r\n"),
        (0, "1\r\na\r\n0\r\n\r\n"),
        (4, "ffffffffffffffff\r\nabcde"),
        (4, "4\r\nabcd\r\n0\r\nx-amz-checksum-crc32:7YLNEQ==\r\n\r\nmore"),
    ] {
        let error = unsigned(length, &[CRC32], body);
        assert!(is_incomplete(&error, LENGTH), "{body:?}: {error}");
    }
    // A chunk that is shorter than it says, where the body is not.
    let error = unsigned(4, &[], "5\r\nabcd\r\n0\r\n\r\n");
    assert!(is_incomplete(&error, ENDED), "{error}");
}

#[test]
fn chunks_but_the_last_have_8_kib() {
    let decode_chunks = |payload, lengths: &[usize]| {
        let data = vec![b'a'; lengths.iter().sum()];
        let chunks: Vec<&[u8]> = lengths.iter().map(|length| &data[..*length]).collect();
        let body = encode(payload, &chunks, &Vec::new());
        decode(payload, data.len() as u64, &[], &[&body]).map(drop)
    };
    for payload in STREAMS {
        for lengths in [&[][..], &[1], &[8192, 1], &[8192, 8192], &[9000, 8193, 8192, 8191]] {
            assert_eq!(decode_chunks(payload, lengths), Ok(()), "{lengths:?}");
        }
        for (lengths, chunk, length) in [(&[1, 1][..], "1", "1"), (&[8192, 8191, 8192], "2", "8191")] {
            let error = decode_chunks(payload, lengths).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidChunkSizeError);
            assert_eq!(error.message, "Only the last chunk is allowed to have a size less than 8192 bytes");
            assert_eq!(error.extra, [("Chunk", chunk.to_owned()), ("BadChunkSize", length.to_owned())]);
        }
    }
}

#[test]
fn trailers() {
    for (announced, trailers) in [
        (&[CRC32][..], "\r\n"),
        (&[CRC32], ":7YLNEQ==\r\n\r\n"),
        (&[CRC32], "x-amz-checksum-crc32\r\n\r\n"),
        (&[CRC32], "x-amz-checksum-sha1:gf4t\r\n\r\n"),
        (&[CRC32], "x-amz-checksum-crc32:7YLNEQ==\r\nx-amz-checksum-crc32:7YLNEQ==\r\n\r\n"),
        (&[CRC32], "x-amz-checksum-crc32:7YLNEQ==\r\nx-amz-checksum-sha1:gf4t\r\n\r\n"),
        (&[CRC32, "x-amz-checksum-sha1"], "x-amz-checksum-crc32:7YLNEQ==\r\n\r\n"),
        (&[], "x-amz-checksum-crc32:7YLNEQ==\r\n\r\n"),
        (&[CRC32], "x-amz-trailer-signature:00\r\n\r\n"),
        (&[CRC32], "x-amz-checksum-crc32\u{fffd}:7YLNEQ==\r\n\r\n"),
    ] {
        let error = unsigned(4, announced, &format!("4\r\nabcd\r\n0\r\n{trailers}"));
        assert_eq!(error.code, ErrorCode::MalformedTrailerError, "{trailers:?}");
    }
    let error = refusal(Payload::StreamingUnsignedTrailer, 0, &[CRC32], b"0\r\nx-amz-checksum-crc32:\xff\r\n\r\n");
    assert_eq!(error.code, ErrorCode::MalformedTrailerError);
}

#[test]
fn trailers_that_are_taken() {
    let decode = |announced: &[&str], end: &str| {
        let body = format!("4\r\nabcd\r\n0\r\n{end}");
        decode(Payload::StreamingUnsignedTrailer, 4, announced, &[body.as_bytes()]).unwrap().1
    };
    let expected = [trailer(CRC32, "7YLNEQ==")];
    for end in [
        "x-amz-checksum-crc32:7YLNEQ==\r\n\r\n",
        "X-Amz-Checksum-CRC32: 7YLNEQ== \r\n\r\n",
        // minio-go.
        "x-amz-checksum-crc32:7YLNEQ==\n\r\n\r\n",
    ] {
        assert_eq!(decode(&[CRC32], end), expected, "{end:?}");
    }
    assert_eq!(decode(&["X-Amz-Checksum-Crc32"], "x-amz-checksum-crc32:7YLNEQ==\r\n\r\n"), expected);
    assert_eq!(decode(&[], "\r\n"), []);
    let two = "x-amz-checksum-sha1:gf4t\r\nx-amz-checksum-crc32:7YLNEQ==\r\n\r\n";
    assert_eq!(
        decode(&[CRC32, "x-amz-checksum-sha1"], two),
        [trailer("x-amz-checksum-sha1", "gf4t"), expected[0].clone()]
    );
}

/// A signed body with something in the place of something else.
fn signed(payload: Payload, from: &str, to: &str) -> S3Error {
    let trailers = if payload.has_trailers() { vec![trailer(CRC32, "7YLNEQ==")] } else { Vec::new() };
    let body = String::from_utf8(encode(payload, &[b"abcd"], &trailers)).unwrap();
    let announced: &[&str] = if payload.has_trailers() { &[CRC32] } else { &[] };
    assert_eq!(decode(payload, 4, announced, &[body.as_bytes()]), Ok((b"abcd".to_vec(), trailers)));
    assert_eq!(body.matches(from).count(), 1, "{body:?}");
    refusal(payload, 4, announced, body.replace(from, to).as_bytes())
}

#[test]
fn signed_frames() {
    for payload in [Payload::StreamingSigned, Payload::StreamingSignedTrailer] {
        for (from, to) in [
            ("4;", "z;"),
            ("4;", "4:"),
            ("4;", "4"),
            ("4;chunk-signature=", "4;"),
            ("4;chunk-signature=", "4;chunk-signature=0"),
            ("4;chunk-signature=", "4;Chunk-signature="),
            ("\r\nabcd", "abcd"),
            ("\r\nabcd", "\nabcd"),
            ("abcd\r\n", "abcd"),
            ("abcd\r\n", "abcdxy"),
            ("\r\n\r\n", "\r\n\r"),
            ("\r\n\r\n", "\r\n"),
            ("\r\n\r\n", "\r\nxy"),
            ("\r\n\r\n", "\n\n"),
        ] {
            let error = signed(payload, from, to);
            assert!(is_incomplete(&error, ENDED), "{from:?} {to:?}: {error}");
        }
        let error = signed(payload, "abcd", "abce");
        assert_eq!((error.code, error.status().as_u16()), (ErrorCode::SignatureDoesNotMatch, 403));
        assert_eq!(signed(payload, "\r\n\r\n", "\r\n\r\n\r\n").message, LENGTH);
    }
    let error = signed(Payload::StreamingSigned, "\r\n\r\n", "\r\nx-amz-checksum-crc32:7YLNEQ==\r\n\r\n");
    assert!(is_incomplete(&error, ENDED), "{error}");
}

#[test]
fn signed_trailers() {
    let signed = |from: &str, to: &str| signed(Payload::StreamingSignedTrailer, from, to);
    for (from, to) in [
        ("x-amz-checksum-crc32:7YLNEQ==\r\n", ""),
        ("x-amz-checksum-crc32:7YLNEQ==", ""),
        ("x-amz-checksum-crc32:", "x-amz-checksum-sha1:"),
        ("x-amz-checksum-crc32:", "x-amz-nonsense:"),
        ("==\r\nx-amz", "==x-amz"),
    ] {
        assert_eq!(signed(from, to).code, ErrorCode::MalformedTrailerError, "{from:?} {to:?}");
    }
    for (from, to) in [
        ("==\r\nx-amz", "==\rx-amz"),
        ("x-amz-trailer", "x-amz-trail"),
        ("signature:", "signatur:"),
        ("trailer-signature:", "trailer-signature:0"),
        ("trailer-signature:", "trailer-signature:x-amz-trailer-signature:"),
    ] {
        let error = signed(from, to);
        assert!(is_incomplete(&error, ENDED), "{from:?} {to:?}: {error}");
    }
    assert_eq!(signed("7YLNEQ==", "8YLNEQ==").code, ErrorCode::SignatureDoesNotMatch);

    // Not announced, or announced and not signed.
    let body = encode(Payload::StreamingSignedTrailer, &[b"abcd"], &vec![trailer(CRC32, "7YLNEQ==")]);
    let error = refusal(Payload::StreamingSignedTrailer, 4, &[], &body);
    assert_eq!(error.code, ErrorCode::MalformedTrailerError);
    let text = String::from_utf8(body).unwrap();
    let (unsigned, _) = text.split_once("x-amz-trailer-signature").unwrap();
    let error = refusal(Payload::StreamingSignedTrailer, 4, &[CRC32], format!("{unsigned}\r\n").as_bytes());
    assert_eq!(error.code, ErrorCode::MalformedTrailerError);

    // minio-go.
    let text = text.replace("==\r\n", "==\n\r\n");
    decode(Payload::StreamingSignedTrailer, 4, &[CRC32], &[text.as_bytes()]).unwrap();
}

#[test]
fn bodies_without_chunks() {
    for payload in [Payload::Unsigned, Payload::Sha256([0; 32])] {
        assert_eq!(decode(payload, 4, &[CRC32], &[b"ab", b"cd"]), Ok((b"abcd".to_vec(), Vec::new())));
        assert_eq!(decode(payload, 0, &[], &[b""]), Ok((Vec::new(), Vec::new())));
        assert_eq!(Decoder::new(payload, 0, [""; 0]).finish(), Ok(()));
        for (length, body) in [(5, "abcd"), (3, "abcd"), (0, "a"), (1, "")] {
            let error = refusal(payload, length, &[], body.as_bytes());
            assert!(is_incomplete(&error, LENGTH), "{error}");
        }
    }
}

#[test]
fn after_an_error_there_is_no_more() {
    let mut decoder = Decoder::new(Payload::StreamingUnsignedTrailer, 4, [""; 0]);
    decoder.push(Bytes::from_static(b"x\r\n4\r\nabcd\r\n0\r\n\r\n"));
    for _ in 0..3 {
        assert!(is_incomplete(&decoder.next().unwrap_err(), ENDED));
        assert!(is_incomplete(&decoder.finish().unwrap_err(), ENDED));
    }
}

fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(name, value.parse().unwrap());
    }
    headers
}

#[test]
fn decoded_lengths() {
    let length = |values: &[&str]| decoded_length(&headers("x-amz-decoded-content-length", values));
    assert_eq!(length(&["0"]), Ok(0));
    assert_eq!(length(&["66560"]), Ok(66_560));
    for values in [&[][..], &[""], &["abc"], &["12x"], &["+1"], &["-1"], &["1.0"], &["18446744073709551616"]] {
        let error = length(values).unwrap_err();
        assert_eq!((error.code, error.status().as_u16()), (ErrorCode::MissingContentLength, 411));
    }
}

#[test]
fn announced() {
    let names = |values: &[&str]| announced_trailers(&headers("x-amz-trailer", values));
    assert_eq!(names(&[]), Ok(vec![]));
    assert_eq!(names(&[""]), Ok(vec![]));
    assert_eq!(
        names(&["X-Amz-Checksum-Crc32 , x-amz-checksum-sha1"]),
        Ok(vec![CRC32.into(), "x-amz-checksum-sha1".into()])
    );
    assert_eq!(names(&[CRC32, CRC32]), Ok(vec![CRC32.into(), CRC32.into()]));
    for value in ["x-amz-checksum-crc31", "expires", "x-amz-checksum-crc32,expires"] {
        let error = names(&[value]).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidRequest);
        assert_eq!(error.message, "The value specified in the x-amz-trailer header is not supported");
    }
}
