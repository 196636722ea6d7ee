//! Requests signed for one server, as fast as they are sent.
//!
//! The heads of a run differ in a path, a length and a digest, so their canonical form is written at once, and the key
//! is derived once. A test compares the signatures with those of `manyhash_s3::sign::sign`.

use super::body::Body;
use super::cell::{CHUNK, Operation, Signing};
use bytes::Bytes;
use jiff::Timestamp;
use manyhash::Sha256;
use manyhash_s3::chunked::{Encoder, SignatureChain, encoded_length};
use manyhash_s3::sign::{Credentials, Payload, Signature, SigningKey};
use manyhash_s3::time::{amz_date, amz_day};
use std::fmt::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroU64;

pub(crate) const ACCESS_KEY: &str = "manyhashbench";
pub(crate) const SECRET_KEY: &str = "a-secret-of-nobody-0123456789";
pub(crate) const REGION: &str = "us-east-1";

/// The bucket that everything is in.
pub(crate) const BUCKET: &str = "bench";

pub(crate) fn credentials() -> Credentials {
    Credentials::new(ACCESS_KEY, SECRET_KEY)
}

/// Signs requests to one server. What it signs is valid for a quarter of an hour from when this was made.
pub(crate) struct Signer {
    host: SocketAddr,
    now: Timestamp,
    date: String,
    scope: String,
    key: SigningKey,
}

impl Signer {
    pub(crate) fn new(host: SocketAddr) -> Self {
        Self::at(host, Timestamp::now())
    }

    fn at(host: SocketAddr, now: Timestamp) -> Self {
        let day = amz_day(now);
        let scope = format!("{day}/{REGION}/s3/aws4_request");
        let key = SigningKey::derive(SECRET_KEY, &day, REGION, "s3");
        Signer { host, now, date: amz_date(now), scope, key }
    }

    /// Creates the bucket.
    pub(crate) fn create_bucket(&self) -> Bytes {
        self.head("PUT", &format!("/{BUCKET}"), &Payload::Sha256(Sha256::digest(b"")), 0, None).0.into()
    }

    /// Gets an object.
    pub(crate) fn get(&self, number: u64) -> Vec<Bytes> {
        let payload = Payload::Sha256(Sha256::digest(b""));
        vec![self.head(Operation::Get.method(), &path(number), &payload, 0, None).0.into()]
    }

    /// Puts an object, in the pieces that are to be sent.
    pub(crate) fn put(&self, number: u64, body: &Body<'_>, signing: Signing) -> Vec<Bytes> {
        let (payload, decoded) = match signing {
            Signing::Unsigned => (Payload::Unsigned, None),
            Signing::Signed => (Payload::Sha256(body.sha256()), None),
            Signing::Chunks => (Payload::StreamingSigned, Some(body.len() as u64)),
        };
        const LENGTH: NonZeroU64 = NonZeroU64::new(CHUNK as u64).expect("a chunk has bytes");
        let length = encoded_length(payload, body.len() as u64, LENGTH, &[]).expect("no body is that long");
        let (head, seed) = self.head(Operation::Put.method(), &path(number), &payload, length, decoded);
        let mut pieces = vec![head.into()];
        match signing {
            Signing::Unsigned | Signing::Signed => pieces.extend(body.pieces()),
            Signing::Chunks => {
                let mut chain = SignatureChain::new(self.key.clone(), self.now, &self.scope, seed);
                let mut encoder = Encoder::new();
                for (data, sha256) in body.chunks() {
                    let length = data.iter().map(Bytes::len).sum::<usize>() as u64;
                    pieces.push(encoder.head(length, Some(&chain.sign_chunk(&sha256))));
                    pieces.extend(data);
                }
                pieces.push(encoder.end(Some(&chain.sign_chunk(&Sha256::digest(b""))), &[], None));
            }
        }
        pieces
    }

    /// The head of a request, with its signature.
    fn head(
        &self,
        method: &str,
        path: &str,
        payload: &Payload,
        length: u64,
        decoded: Option<u64>,
    ) -> (String, Signature) {
        const DECODED: &str = "x-amz-decoded-content-length";
        let Signer { host, date, scope, .. } = self;
        let payload = payload.as_str();
        let mut names = String::from("host;x-amz-content-sha256;x-amz-date");
        let mut canonical = String::with_capacity(512);
        push(
            &mut canonical,
            format_args!("{method}\n{path}\n\nhost:{host}\nx-amz-content-sha256:{payload}\nx-amz-date:{date}\n"),
        );
        if let Some(decoded) = decoded {
            push(&mut canonical, format_args!("{DECODED}:{decoded}\n"));
            push(&mut names, format_args!(";{DECODED}"));
        }
        push(&mut canonical, format_args!("\n{names}\n{payload}"));

        let mut text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n");
        Sha256::digest(&canonical).iter().for_each(|byte| push(&mut text, format_args!("{byte:02x}")));
        let signature = self.key.sign(&text);

        let mut head = String::with_capacity(512);
        push(
            &mut head,
            format_args!(
                "{method} {path} HTTP/1.1\r\nhost: {host}\r\nx-amz-content-sha256: {payload}\r\nx-amz-date: {date}\r\n\
                 authorization: AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, SignedHeaders={names}, \
                 Signature={signature}\r\n"
            ),
        );
        if let Some(decoded) = decoded {
            push(&mut head, format_args!("{DECODED}: {decoded}\r\ncontent-encoding: aws-chunked\r\n"));
        }
        if method != Operation::Get.method() {
            push(&mut head, format_args!("content-length: {length}\r\n"));
        }
        head.push_str("\r\n");
        (head, signature)
    }
}

fn push(text: &mut String, arguments: fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a string takes any text");
}

/// The path of an object. All are in one directory, which is what stores of a file for each object find easiest.
pub(crate) fn path(number: u64) -> String {
    format!("/{BUCKET}/{number:016x}")
}

#[cfg(test)]
mod tests {
    use super::{Signer, credentials};
    use crate::s3::body::Bodies;
    use crate::s3::cell::{CHUNK, Signing};
    use bytes::Bytes;
    use http::Request;
    use jiff::Timestamp;
    use manyhash_s3::chunked::{Decoder, Event, SignatureChain};
    use manyhash_s3::sign::{Payload, sign};
    use sha2::{Digest, Sha256};

    const NOW: Timestamp = Timestamp::constant(1_790_000_000, 0);

    fn signer() -> Signer {
        Signer::at("127.0.0.1:9000".parse().unwrap(), NOW)
    }

    /// What the head of a request says, and a request that says the same and was signed by the library.
    fn both(head: &[u8]) -> (String, String) {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut request = httparse::Request::new(&mut headers);
        assert!(request.parse(head).unwrap().is_complete());
        let value = |name: &str| {
            let header = request.headers.iter().find(|header| header.name == name);
            header.map(|header| str::from_utf8(header.value).unwrap().to_owned())
        };
        let uri = format!("http://{}{}", value("host").unwrap(), request.path.unwrap());
        let mut builder = Request::builder().method(request.method.unwrap()).uri(uri);
        if let Some(length) = value("x-amz-decoded-content-length") {
            builder = builder.header("x-amz-decoded-content-length", length);
        }
        let mut parts = builder.body(()).unwrap().into_parts().0;
        sign(&mut parts, &credentials(), super::REGION, &value("x-amz-content-sha256").unwrap(), NOW).unwrap();
        (value("authorization").unwrap(), parts.headers["authorization"].to_str().unwrap().to_owned())
    }

    #[test]
    fn signatures_are_the_library_s() {
        let bodies = Bodies::new(CHUNK + 1024);
        let body = bodies.body(5);
        for signing in [Signing::Unsigned, Signing::Signed, Signing::Chunks] {
            let (own, expected) = both(&signer().put(5, &body, signing)[0]);
            assert_eq!(own, expected, "{signing:?}");
        }
        for head in [&signer().create_bucket(), &signer().get(7)[0]] {
            let (own, expected) = both(head);
            assert_eq!(own, expected);
        }
    }

    #[test]
    fn bodies_are_sent_as_announced() {
        let bodies = Bodies::new(2 * CHUNK + 1024);
        let body = bodies.body(9);
        for signing in [Signing::Unsigned, Signing::Signed, Signing::Chunks] {
            let pieces = signer().put(9, &body, signing);
            let head = str::from_utf8(&pieces[0]).unwrap();
            let length: usize = pieces[1..].iter().map(Bytes::len).sum();
            assert!(head.contains(&format!("\r\ncontent-length: {length}\r\n")), "{head}");
            if signing != Signing::Chunks {
                assert_eq!(pieces[1..].concat(), body.pieces().concat());
            }
        }
    }

    #[test]
    fn chunks_are_what_a_server_accepts() {
        let bodies = Bodies::new(2 * CHUNK + 1024);
        let body = bodies.body(3);
        let signer = signer();
        let pieces = signer.put(3, &body, Signing::Chunks);
        let seed = signer.head("PUT", &super::path(3), &Payload::StreamingSigned, 0, Some(body.len() as u64));
        let mut chain = SignatureChain::new(signer.key.clone(), NOW, &signer.scope, seed.1);
        let mut decoder = Decoder::new(Payload::StreamingSigned, body.len() as u64, std::iter::empty::<&str>());
        let (mut data, mut chunk) = (vec![], Sha256::new());
        decoder.push(pieces[1..].concat().into());
        let mut ended = false;
        while let Some(event) = decoder.next().unwrap() {
            match event {
                Event::Data(bytes) => {
                    data.extend_from_slice(&bytes);
                    chunk.update(&bytes);
                }
                Event::ChunkEnd { signature, .. } => {
                    chain.chunk(&std::mem::take(&mut chunk).finalize().into(), &signature.unwrap()).unwrap();
                }
                Event::End { .. } => ended = true,
                _ => {}
            }
        }
        assert!(ended);
        assert_eq!(data, body.pieces().concat());
    }
}
