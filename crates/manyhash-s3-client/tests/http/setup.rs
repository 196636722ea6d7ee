//! What tests ask: a server of their own, and services that answer as a test says.

use manyhash_s3::sign::Credentials;
use manyhash_s3_client::http::{Client, Config, Identity, Options, RetryPolicy};
use manyhash_server::{Server, TlsFiles};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A client of a service on this machine, which tries again at once.
pub(crate) async fn client(endpoint: &str, change: impl FnOnce(&mut Options)) -> Client {
    let mut options = Options::default();
    options.endpoint = Some(endpoint.to_owned());
    options.region = Some("us-east-1".to_owned());
    options.identity = Identity::Keys(Credentials::new("AKID", "secret"));
    options.retry = Some(retry(3));
    change(&mut options);
    Client::new(Config::load(options).await.unwrap(), "bucket").unwrap()
}

pub(crate) fn retry(attempts: u32) -> RetryPolicy {
    let mut policy = RetryPolicy::default();
    (policy.attempts, policy.base, policy.cap) = (attempts, Duration::from_millis(1), Duration::from_millis(5));
    policy
}

/// A server that lives as long as the test.
pub(crate) struct Running {
    pub(crate) endpoint: String,
    pub(crate) credentials: Credentials,
    _directory: TempDir,
}

impl Running {
    pub(crate) async fn start(tls: Option<TlsFiles>) -> Running {
        let directory = tempfile::tempdir().unwrap();
        let mut config = manyhash_server::Config::new(directory.path().join("objects"));
        config.listen = ([127, 0, 0, 1], 0).into();
        (config.admin, config.reserve, config.tls) = (None, 0, tls);
        let server = Server::bind(config).await.unwrap();
        let (endpoint, credentials) = (server.endpoint(), server.temporary_key().unwrap().clone());
        tokio::spawn(server.run(std::future::pending()));
        Running { endpoint, credentials, _directory: directory }
    }

    /// A client of the bucket `bucket`, which is made.
    pub(crate) async fn client(&self, change: impl FnOnce(&mut Options)) -> Client {
        let identity = Identity::Keys(self.credentials.clone());
        let client = client(&self.endpoint, |options| {
            options.identity = identity;
            change(options);
        });
        let client = client.await;
        // There is no operation for it here: to make a bucket is to put an object without a key.
        client.put_object("", &"".into(), Default::default(), &Default::default()).await.unwrap();
        client
    }
}

/// A request that a fake service got.
#[derive(Clone, Debug, Default)]
pub(crate) struct Got {
    pub(crate) method: String,
    /// The path and query, as they were sent.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| &**value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What a fake service does.
#[derive(Clone, Debug)]
pub(crate) enum Does {
    /// Answers with a status, headers and a body.
    Answer(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Sends these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Closes the connection so that the other side gets an error.
    Reset,
    /// Says nothing for a minute.
    Silence,
}

pub(crate) fn answer(status: u16, headers: &[(&'static str, &str)], body: impl AsRef<[u8]>) -> Does {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Does::Answer(status, headers, body.as_ref().to_vec())
}

/// A refusal in S3's form.
pub(crate) fn refusal(status: u16, code: &str) -> Does {
    let body = format!("<Error><Code>{code}</Code><Message>Words.</Message><RequestId>R7</RequestId></Error>");
    answer(status, &[("content-type", "application/xml")], body)
}

/// A service that does what a test says, and what it got.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Fake {
    /// Does `script` in its order, one for each request, and the last one for ever.
    pub(crate) async fn script(script: Vec<Does>) -> Fake {
        Fake::start(move |index, _| script[index.min(script.len() - 1)].clone()).await
    }

    /// Does what `does` says of the number of a request, from 0, and the request.
    pub(crate) async fn start(does: impl Fn(usize, &Got) -> Does + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let (all, does) = (got.clone(), Arc::new(does));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (all, does) = (all.clone(), does.clone());
                tokio::spawn(async move { serve(socket, &all, &*does).await });
            }
        });
        Fake { address, got }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    pub(crate) async fn client(&self) -> Client {
        client(&self.endpoint(), |_| {}).await
    }
}

async fn serve(mut socket: TcpStream, all: &Mutex<Vec<Got>>, does: &(dyn Fn(usize, &Got) -> Does + Send + Sync)) {
    let mut buffer = Vec::new();
    while let Some(got) = receive(&mut socket, &mut buffer).await {
        let index = {
            let mut all = all.lock().unwrap();
            all.push(got.clone());
            all.len() - 1
        };
        let sent = match does(index, &got) {
            Does::Answer(status, headers, body) => {
                let mut head = format!("HTTP/1.1 {status} X\r\n");
                headers.iter().for_each(|(name, value)| head.extend([name, ": ", value, "\r\n"]));
                if !headers.iter().any(|(name, _)| *name == "content-length") {
                    head.push_str(&format!("content-length: {}\r\n", body.len()));
                }
                let body = if got.method == "HEAD" { Vec::new() } else { body };
                socket.write_all(&[head.as_bytes(), b"\r\n", &body].concat()).await
            }
            Does::Bytes(bytes) => {
                let _ = socket.write_all(&bytes).await;
                return;
            }
            Does::Reset => {
                // With bytes unread, or at once, a close is a reset.
                let _ = socket.set_zero_linger();
                return;
            }
            Does::Silence => return tokio::time::sleep(Duration::from_secs(60)).await,
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn receive(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Got> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    buffer.drain(..end + 4);
    let mut lines = head.split("\r\n");
    let (method, rest) = lines.next()?.split_once(' ')?;
    let target = rest.rsplit_once(' ')?.0.to_owned();
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let mut got = Got { method: method.to_owned(), target, headers: lines.filter_map(header).collect(), body: vec![] };
    let length = got.header("content-length").map_or(0, |length| length.parse().unwrap());
    while buffer.len() < length {
        if socket.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    got.body = buffer.drain(..length).collect();
    Some(got)
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
