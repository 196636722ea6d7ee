//! Clients that stop, and clients that lie: nothing of theirs is ever visible.

use crate::client::{Incoming, Running, moment, noise, receive, sha256};
use manyhash_s3::checksum::{ChecksumAlgorithm, digest};
use manyhash_s3::chunked::{Encoder, SignatureChain};
use manyhash_s3::sign::{Payload, SigningKey};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// What is changed of a body in signed chunks.
#[derive(Clone, Copy, Default)]
struct Lie {
    /// A bit of the data of this chunk, after it was signed.
    data: Option<usize>,
    /// A bit of the signature of this chunk.
    signature: Option<usize>,
    trailer: bool,
    /// Bytes left out at the end.
    short: usize,
}

/// Puts a body in signed chunks of 64 KiB with a trailer.
async fn put_in_chunks(server: &Running, body: &[u8], lie: Lie) -> Option<Incoming> {
    let algorithm = ChecksumAlgorithm::Crc32;
    let request = server
        .request("PUT", "/bucket/k")
        .payload(Payload::StreamingSignedTrailer)
        .header("x-amz-decoded-content-length", body.len().to_string())
        .header("x-amz-trailer", algorithm.header())
        .header("content-encoding", "aws-chunked")
        .header("transfer-encoding", "chunked");
    let (head, seed, _) = request.signed();
    let key = SigningKey::derive(server.credentials.secret_key(), "20261122", "us-east-1", "s3");
    let mut chain = SignatureChain::new(key, moment(), "20261122/us-east-1/s3/aws4_request", seed);
    let mut encoder = Encoder::new();
    let mut encoded = Vec::new();
    for (number, chunk) in body.chunks(64 << 10).enumerate() {
        let signature = chain.sign_chunk(&sha256(chunk));
        let mut line = encoder.head(chunk.len() as u64, Some(&signature)).to_vec();
        if lie.signature == Some(number) {
            let last = line.len() - 3;
            line[last] = if line[last] == b'0' { b'1' } else { b'0' };
        }
        encoded.extend(line);
        let start = encoded.len();
        encoded.extend(chunk);
        if lie.data == Some(number) {
            encoded[start] ^= 1;
        }
    }
    let said = if lie.trailer { b"other" } else { body };
    let trailers = [(algorithm.header().to_owned(), digest(algorithm, said).to_string())];
    let last = chain.sign_chunk(&sha256(b""));
    let signature = chain.sign_trailers(&trailers);
    encoded.extend(encoder.end(Some(&last), &trailers, Some(&signature)).to_vec());
    encoded.truncate(encoded.len() - lie.short);

    let mut socket = TcpStream::connect(server.address).await.unwrap();
    socket.write_all(&head).await.unwrap();
    for piece in encoded.chunks(100_000) {
        socket.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await.ok()?;
        socket.write_all(piece).await.ok()?;
        socket.write_all(b"\r\n").await.ok()?;
    }
    socket.write_all(b"0\r\n\r\n").await.ok()?;
    receive(&mut socket, false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn signed_chunks_are_compared_one_by_one() {
    let server = Running::start().await;
    let body = noise(2_000_000, 1);
    for lie in [
        Lie { data: Some(0), ..Lie::default() },
        Lie { data: Some(17), ..Lie::default() },
        Lie { data: Some(30), ..Lie::default() },
        Lie { signature: Some(0), ..Lie::default() },
        Lie { signature: Some(29), ..Lie::default() },
    ] {
        put_in_chunks(&server, &body, lie).await.unwrap().refused(403, "SignatureDoesNotMatch");
        server.expect_nothing("/bucket/k").await;
    }
    let trailer = put_in_chunks(&server, &body, Lie { trailer: true, ..Lie::default() }).await;
    trailer.unwrap().refused(400, "BadDigest");
    for short in [1, 2, 100, 1000] {
        put_in_chunks(&server, &body, Lie { short, ..Lie::default() }).await.unwrap().expect(400);
    }
    server.expect_nothing("/bucket/k").await;
    for length in [0, 1, 64 << 10, (64 << 10) + 1, body.len()] {
        let put = put_in_chunks(&server, &body[..length], Lie::default()).await.unwrap().expect(200);
        assert_eq!(
            put.header("x-amz-checksum-crc32"),
            Some(&*digest(ChecksumAlgorithm::Crc32, &body[..length]).to_string())
        );
        assert!(server.get("/bucket/k").await.expect(200).body == body[..length]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_ends_early_is_no_object() {
    let server = Running::start().await;
    let body = noise(400_000, 2);
    for payload in [Payload::Unsigned, Payload::Sha256(sha256(&body))] {
        for sent in [0, 1, 100_000, 131_072, 399_999] {
            for reset in [false, true] {
                let (head, _, _) = server.request("PUT", "/bucket/k").payload(payload).body(&body).signed();
                let mut socket = TcpStream::connect(server.address).await.unwrap();
                socket.write_all(&head).await.unwrap();
                socket.write_all(&body[..sent]).await.unwrap();
                if reset {
                    socket.set_zero_linger().unwrap();
                } else {
                    socket.shutdown().await.unwrap();
                    if let Some(answer) = receive(&mut socket, false).await {
                        assert_eq!(answer.status, 400);
                    }
                }
                drop(socket);
            }
        }
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.expect_nothing("/bucket/k").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_wanted_is_not_asked_for() {
    let server = Running::start().await;
    let expect = |uri: &str| server.request("PUT", uri).header("expect", "100-continue").body(&noise(1000, 3));
    // Refused before the body: no `100 Continue`, which the client would have to answer with it.
    for (request, status) in [
        (expect("/none/k"), "HTTP/1.1 404"),
        (expect("/bucket/k").by("nobody", "secret"), "HTTP/1.1 403"),
        (expect("/bucket/k").header("x-amz-checksum-crc32", "?"), "HTTP/1.1 400"),
        (expect("/bucket/k"), "HTTP/1.1 100"),
    ] {
        let (head, _, _) = request.signed();
        let mut socket = TcpStream::connect(server.address).await.unwrap();
        socket.write_all(&head).await.unwrap();
        let mut answer = [0; 12];
        tokio::io::AsyncReadExt::read_exact(&mut socket, &mut answer).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_slows_clients_down() {
    let server =
        Running::start_in(tempfile::tempdir().unwrap(), Default::default(), |config| config.reserve = u64::MAX).await;
    server.put("/bucket", b"").await.expect(200);
    let refused = server.put("/bucket/k", b"body").await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(503, "SlowDown");
    server.expect_nothing("/bucket/k").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_answered_or_closed() {
    let server = Running::start().await;
    for bytes in [
        &b"\0\0\0\0"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /%ff HTTP/1.1\r\nhost: x\r\n\r\n",
        b"PUT /bucket/k HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"PUT /bucket/k HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /?X-Amz-Signature=1&X-Amz-Date=%zz HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\nauthorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e\r\n\r\n",
    ] {
        let mut socket = TcpStream::connect(server.address).await.unwrap();
        socket.write_all(bytes).await.unwrap();
        if let Some(answer) = receive(&mut socket, false).await {
            assert!((400..500).contains(&answer.status), "{bytes:?}: {}", answer.status);
        }
    }
    server.put("/bucket/k", b"").await.expect(200);
}
