//! Requests as they go over a socket: signed, framed in every way that S3 knows, sent well or badly.

use crate::client::{Incoming, REGION, receive, sha256};
use http::{HeaderMap, Request};
use jiff::Timestamp;
use manyhash_s3::checksum::{ChecksumAlgorithm, digest};
use manyhash_s3::chunked::{Encoder, SignatureChain, encoded_length};
use manyhash_s3::sign::{Credentials, Payload, Signature, SigningKey, sign};
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

pub(super) const ACCESS: &str = "SOAK";
pub(super) const SECRET: &str = "no-secret-of-anyone";

/// How a body is framed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    pub(super) payload: Payload,
    /// The length of chunks, if it comes in chunks: at least 8 KiB.
    pub(super) chunk: usize,
    /// Whether HTTP's own chunks are around it, so that its length is not announced.
    pub(super) is_open: bool,
}

/// Where a client lies about a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lie {
    /// In the signature of the head.
    Signature,
    /// In the SHA-256 that is signed with the head.
    Payload,
    Md5,
    /// In a checksum, in a header or in the trailer.
    Checksum,
    TwoChecksums,
    /// In the length that is announced of a body in chunks.
    DecodedLength,
    ChunkSize,
    /// In the data of a chunk, after it was signed.
    ChunkData,
    ChunkSignature,
    TrailerSignature,
}

impl Lie {
    pub(super) const ALL: [Lie; 10] = [
        Lie::Signature,
        Lie::Payload,
        Lie::Md5,
        Lie::Checksum,
        Lie::TwoChecksums,
        Lie::DecodedLength,
        Lie::ChunkSize,
        Lie::ChunkData,
        Lie::ChunkSignature,
        Lie::TrailerSignature,
    ];

    /// Whether it can be told in a body of this framing.
    pub(super) fn fits(self, framing: &Framing) -> bool {
        let payload = framing.payload;
        match self {
            Lie::Signature | Lie::Md5 | Lie::Checksum | Lie::TwoChecksums => true,
            Lie::Payload => matches!(payload, Payload::Sha256(_)),
            Lie::DecodedLength | Lie::ChunkSize => payload.is_streaming(),
            Lie::ChunkData | Lie::ChunkSignature => payload.has_signed_chunks(),
            Lie::TrailerSignature => payload == Payload::StreamingSignedTrailer,
        }
    }
}

/// How a request is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Delivery {
    Whole,
    /// In small pieces, with pauses.
    Slowly,
    /// A part of it, so many thousandths of the body.
    Cut(Ending, usize),
    /// Whole, but the client does not wait for the answer.
    Unheard(Ending),
}

/// How a client leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    Fin,
    Reset,
    /// It says nothing any more, and leaves after a while.
    Silence,
}

impl Ending {
    pub(super) const ALL: [Ending; 3] = [Ending::Fin, Ending::Reset, Ending::Silence];
}

/// A request.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) method: &'static str,
    pub(super) uri: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    pub(super) framing: Framing,
    /// The algorithm of the checksum that is said of the body.
    pub(super) checksum: Option<ChecksumAlgorithm>,
    pub(super) says_md5: bool,
    pub(super) lie: Option<Lie>,
    /// What the lie is true of.
    pub(super) other: Vec<u8>,
    pub(super) delivery: Delivery,
}

impl Outgoing {
    pub(super) fn new(method: &'static str, uri: impl Into<String>) -> Self {
        Outgoing {
            method,
            uri: uri.into(),
            headers: Vec::new(),
            body: Vec::new(),
            framing: Framing { payload: Payload::Unsigned, chunk: 0, is_open: false },
            checksum: None,
            says_md5: false,
            lie: None,
            other: b"what was not sent".to_vec(),
            delivery: Delivery::Whole,
        }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }

    /// The bytes of the head, and of the body as it is framed.
    fn encode(&self, server: SocketAddr) -> (Vec<u8>, Vec<u8>) {
        let said = |lie: Lie| if self.lie == Some(lie) { &self.other } else { &self.body };
        let mut headers: Vec<(&str, String)> = vec![("host", server.to_string())];
        headers.extend(self.headers.iter().cloned());
        if self.says_md5 || self.lie == Some(Lie::Md5) {
            headers.push(("content-md5", digest(ChecksumAlgorithm::Md5, said(Lie::Md5)).to_string()));
        }
        let payload = match self.framing.payload {
            Payload::Sha256(_) => Payload::Sha256(sha256(said(Lie::Payload))),
            payload => payload,
        };
        let mut trailers = Vec::new();
        let lies_in_checksum = matches!(self.lie, Some(Lie::Checksum | Lie::TwoChecksums));
        if let Some(algorithm) = self.checksum.or(lies_in_checksum.then_some(ChecksumAlgorithm::Crc32c)) {
            let value = digest(algorithm, said(Lie::Checksum)).to_string();
            if payload.has_trailers() {
                headers.push(("x-amz-trailer", algorithm.header().to_owned()));
                trailers.push((algorithm.header().to_owned(), value));
            } else {
                headers.push((algorithm.header(), value));
            }
            if self.lie == Some(Lie::TwoChecksums) {
                let of_all = ChecksumAlgorithm::ALL;
                let another = of_all.into_iter().find(|another| *another != algorithm).unwrap();
                headers.push((another.header(), digest(another, &self.body).to_string()));
            }
        }
        if payload.is_streaming() {
            let length = self.body.len() + usize::from(self.lie == Some(Lie::DecodedLength));
            headers.push(("x-amz-decoded-content-length", length.to_string()));
            headers.push(("content-encoding", "aws-chunked".to_owned()));
        }
        if self.framing.is_open {
            headers.push(("transfer-encoding", "chunked".to_owned()));
        } else if self.method == "PUT" || self.method == "POST" {
            let chunk = NonZeroU64::new(self.framing.chunk as u64).unwrap_or(NonZeroU64::MIN);
            let lengths: Vec<_> = trailers.iter().map(|(name, value)| (name.len(), value.len())).collect();
            let length = encoded_length(payload, self.body.len() as u64, chunk, &lengths).unwrap();
            headers.push(("content-length", length.to_string()));
        }
        let now = Timestamp::now();
        let (head, seed) = self.head(&headers, &payload, now);
        let body =
            if payload.is_streaming() { self.in_chunks(&payload, now, seed, &trailers) } else { self.body.clone() };
        (head, if self.framing.is_open { in_http_chunks(&body) } else { body })
    }

    fn head(&self, headers: &[(&str, String)], payload: &Payload, now: Timestamp) -> (Vec<u8>, Signature) {
        let (mut parts, ()) = Request::builder().method(self.method).uri(&self.uri).body(()).unwrap().into_parts();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        parts.headers = map;
        let secret = if self.lie == Some(Lie::Signature) { "another" } else { SECRET };
        let credentials = Credentials::new(ACCESS, secret);
        let signature = sign(&mut parts, &credentials, REGION, &payload.as_str(), now).unwrap();
        let mut head = format!("{} {} HTTP/1.1\r\n", parts.method, parts.uri.path_and_query().unwrap()).into_bytes();
        for (name, value) in &parts.headers {
            head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        head.extend(b"\r\n");
        (head, signature)
    }

    /// The body in S3's chunks.
    fn in_chunks(&self, payload: &Payload, now: Timestamp, seed: Signature, trailers: &[(String, String)]) -> Vec<u8> {
        let day = now.strftime("%Y%m%d").to_string();
        let key = SigningKey::derive(SECRET, &day, REGION, "s3");
        let mut chain = SignatureChain::new(key, now, &format!("{day}/{REGION}/s3/aws4_request"), seed);
        let mut signed = |bytes: &[u8]| payload.has_signed_chunks().then(|| chain.sign_chunk(&sha256(bytes)));
        let mut encoder = Encoder::new();
        let mut encoded = Vec::with_capacity(self.body.len() + 1000);
        let last = self.body.len().div_ceil(self.framing.chunk);
        for (number, chunk) in self.body.chunks(self.framing.chunk).enumerate() {
            let signature = signed(chunk);
            let start = encoded.len() + if number == 0 { 0 } else { 2 };
            encoded.extend(encoder.head(chunk.len() as u64, signature.as_ref()));
            let is_lied_about = number + 1 == last;
            if is_lied_about && self.lie == Some(Lie::ChunkSize) {
                encoded[start] = if encoded[start] == b'9' { b'8' } else { b'9' };
            }
            if is_lied_about && self.lie == Some(Lie::ChunkSignature) {
                flip_digit(&mut encoded, 3);
            }
            encoded.extend(chunk);
            if is_lied_about && self.lie == Some(Lie::ChunkData) {
                *encoded.last_mut().unwrap() ^= 1;
            }
        }
        let end = signed(b"");
        let of_trailers = (*payload == Payload::StreamingSignedTrailer).then(|| chain.sign_trailers(trailers));
        encoded.extend(encoder.end(end.as_ref(), trailers, of_trailers.as_ref()));
        if self.lie == Some(Lie::TrailerSignature) {
            flip_digit(&mut encoded, 5);
        }
        encoded
    }
}

/// Changes the hexadecimal digit that stands so many bytes before the end.
fn flip_digit(bytes: &mut [u8], from_end: usize) {
    let at = bytes.len() - from_end;
    bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
}

fn in_http_chunks(body: &[u8]) -> Vec<u8> {
    let mut framed = Vec::with_capacity(body.len() + 1000);
    for piece in body.chunks(100_000) {
        framed.extend(format!("{:x}\r\n", piece.len()).into_bytes());
        framed.extend(piece);
        framed.extend(b"\r\n");
    }
    framed.extend(b"0\r\n\r\n");
    framed
}

/// A client's connection, used again as long as the server lets it.
#[derive(Default)]
pub(super) struct Connection(Option<(SocketAddr, TcpStream)>);

impl Connection {
    /// Sends a request and returns the answer, or `None` if there is none.
    pub(super) async fn send(&mut self, server: SocketAddr, request: &Outgoing) -> Option<Incoming> {
        let mut socket = match self.0.take() {
            Some((address, socket)) if address == server => socket,
            _ => TcpStream::connect(server).await.ok()?,
        };
        let (head, body) = request.encode(server);
        let is_head = request.method == "HEAD";
        match request.delivery {
            Delivery::Cut(ending, thousandths) => {
                let cut = body.len().saturating_sub(1) * thousandths / 1000;
                let sent = [&head[..], &body[..cut]].concat();
                if socket.write_all(&sent).await.is_ok() {
                    return leave(socket, ending).await;
                }
                return None;
            }
            Delivery::Unheard(ending) => {
                if socket.write_all(&[head, body].concat()).await.is_ok() {
                    // What comes after a FIN is not read.
                    leave(socket, ending).await;
                }
                return None;
            }
            Delivery::Whole => drop(socket.write_all(&[head, body].concat()).await),
            Delivery::Slowly => {
                let whole = [head, body].concat();
                for piece in whole.chunks(whole.len().div_ceil(10)) {
                    if socket.write_all(piece).await.is_err() {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(30)).await;
                }
            }
        }
        // A server that refuses a body may have answered before its end.
        let answer = receive(&mut socket, is_head).await?;
        if answer.header("connection") != Some("close") {
            self.0 = Some((server, socket));
        }
        Some(answer)
    }

    /// Gives up the connection.
    pub(super) fn close(&mut self) {
        self.0 = None;
    }
}

/// Ends a connection in the middle of a request.
async fn leave(mut socket: TcpStream, ending: Ending) -> Option<Incoming> {
    match ending {
        Ending::Fin => {
            let _ = socket.shutdown().await;
            return receive(&mut socket, false).await;
        }
        Ending::Reset => drop(socket.set_zero_linger()),
        Ending::Silence => tokio::time::sleep(Duration::from_millis(1500)).await,
    }
    None
}
