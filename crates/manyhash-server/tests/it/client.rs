//! A server of a test's own, and a client that signs requests, and can be made to lie.

use http::{HeaderMap, Method, Request, Uri};
use jiff::Timestamp;
use manyhash::Algorithm;
use manyhash_s3::sign::{Credentials, Payload, sign};
use manyhash_server::{Config, Server, World};
use manyhash_store::StoreOptions;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const REGION: &str = "us-east-1";

/// A clock that stands still, and randomness that counts.
pub(crate) struct Still(AtomicU64);

impl World for Still {
    fn now(&self) -> Timestamp {
        moment()
    }

    fn random(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let digest = manyhash::digest(Algorithm::Sha512, number.to_le_bytes());
        bytes.iter_mut().zip(digest.as_bytes()).for_each(|(byte, random)| *byte = *random);
        Ok(())
    }
}

pub(crate) fn moment() -> Timestamp {
    "2026-11-22T12:00:00Z".parse().unwrap()
}

/// A server that ends with the test.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) credentials: Credentials,
    pub(crate) directory: TempDir,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
}

impl Running {
    /// Starts a server on a new directory, with a bucket named `bucket`.
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub(crate) async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let running = Self::start_in(tempfile::tempdir().unwrap(), StoreOptions::default(), change).await;
        running.put("/bucket", b"").await.expect(200);
        running
    }

    pub(crate) async fn start_in(directory: TempDir, options: StoreOptions, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new(directory.path().join("objects"));
        config.listen = ([127, 0, 0, 1], 0).into();
        config.admin = Some(([127, 0, 0, 1], 0).into());
        config.reserve = 0;
        change(&mut config);
        let server = Server::bind_in(config, Arc::new(Still(AtomicU64::new(0))), options).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        Running {
            address: server.address(),
            admin: server.admin_address().unwrap(),
            credentials: server.temporary_key().cloned().unwrap_or_else(|| Credentials::new("root", "secret")),
            directory,
            stop: Some(stop),
            running: Some(tokio::spawn(server.run(async {
                let _ = stopped.await;
            }))),
        }
    }

    /// Stops the server and gives its directory.
    pub(crate) async fn stop(mut self) -> TempDir {
        drop(self.stop.take());
        self.running.take().unwrap().await.unwrap();
        self.directory
    }

    pub(crate) fn request(&self, method: &str, uri: &str) -> Outgoing<'_> {
        let mut headers = HeaderMap::new();
        headers.insert("host", self.address.to_string().parse().unwrap());
        Outgoing {
            server: self,
            method: method.parse().unwrap(),
            uri: uri.parse().unwrap(),
            headers,
            body: Vec::new(),
            payload: None,
            credentials: self.credentials.clone(),
            at: moment(),
        }
    }

    pub(crate) async fn put(&self, uri: &str, body: &[u8]) -> Incoming {
        self.request("PUT", uri).body(body).send().await
    }

    pub(crate) async fn get(&self, uri: &str) -> Incoming {
        self.request("GET", uri).send().await
    }

    /// Fails if there is an object of this name.
    pub(crate) async fn expect_nothing(&self, uri: &str) {
        self.request("HEAD", uri).send().await.expect(404);
        let list = self.get("/bucket?list-type=2").await.expect(200).text();
        assert!(list.contains("<KeyCount>0</KeyCount>"), "{list}");
    }
}

/// A request before it is sent.
pub(crate) struct Outgoing<'a> {
    server: &'a Running,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Vec<u8>,
    payload: Option<Payload>,
    credentials: Credentials,
    at: Timestamp,
}

impl Outgoing<'_> {
    pub(crate) fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl AsRef<str>) -> Self {
        self.headers.append(name, value.as_ref().parse().unwrap());
        self
    }

    /// Says something else of the body than its SHA-256.
    pub(crate) fn payload(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }

    pub(crate) fn by(mut self, access: &str, secret: &str) -> Self {
        self.credentials = Credentials::new(access, secret);
        self
    }

    pub(crate) fn at(mut self, at: Timestamp) -> Self {
        self.at = at;
        self
    }

    /// The signed head, with the signature that chunks continue from, and the body.
    pub(crate) fn signed(mut self) -> (Vec<u8>, manyhash_s3::sign::Signature, Vec<u8>) {
        let framed = self.headers.contains_key("transfer-encoding");
        if !framed && (self.method == Method::PUT || self.method == Method::POST) {
            self.headers.insert("content-length", self.body.len().into());
        }
        let payload = self.payload.unwrap_or_else(|| Payload::Sha256(sha256(&self.body)));
        let request = Request::builder().method(self.method).uri(self.uri).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        parts.headers = self.headers;
        let signature = sign(&mut parts, &self.credentials, REGION, &payload.as_str(), self.at).unwrap();
        let target = parts.uri.path_and_query().unwrap();
        let mut head = format!("{} {target} HTTP/1.1\r\n", parts.method).into_bytes();
        for (name, value) in &parts.headers {
            head.extend(name.as_str().as_bytes());
            head.extend(b": ");
            head.extend(value.as_bytes());
            head.extend(b"\r\n");
        }
        head.extend(b"\r\n");
        (head, signature, self.body)
    }

    pub(crate) async fn send(self) -> Incoming {
        let (address, is_head) = (self.server.address, self.method == Method::HEAD);
        let (mut bytes, _, body) = self.signed();
        bytes.extend(body);
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(&bytes).await.unwrap();
        receive(&mut socket, is_head).await.unwrap()
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    manyhash::digest(Algorithm::Sha256, bytes).as_bytes().try_into().unwrap()
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Incoming {
    /// Fails if the status is another.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// Fails if it is not this error.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) {
        let text = self.expect(status).text();
        assert!(text.contains(&format!("<Code>{code}</Code>")), "{text}");
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| &**value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The text of the first element of this name.
    pub(crate) fn element(&self, name: &str) -> String {
        let text = self.text();
        let (start, end) = (format!("<{name}>"), format!("</{name}>"));
        let (_, rest) = text.split_once(&start).unwrap_or_else(|| panic!("no {name} in {text}"));
        rest.split_once(&end).unwrap().0.to_owned()
    }
}

/// Reads an answer, or `None` if the server closes the connection instead.
pub(crate) async fn receive(socket: &mut TcpStream, is_head: bool) -> Option<Incoming> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            bytes.drain(..end + 4);
            // The answer before the answer.
            if !head.starts_with("HTTP/1.1 100") {
                break head;
            }
            continue;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while !is_head && bytes.len() < length {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(Incoming { status, headers, body: bytes })
}

/// Bytes that repeat nothing.
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::from_fn(|| Some(next())).flatten().take(length).collect()
}
