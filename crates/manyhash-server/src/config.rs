//! What a server is started with.

use crate::KeysError;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What [`Server::bind`](crate::Server::bind) is given. [`Config::new`] has the defaults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The directory that holds the objects. It is created if it does not exist.
    pub directory: PathBuf,
    /// Where S3 is served. Port 0 takes a free port.
    pub listen: SocketAddr,
    /// Where `/metrics`, `/healthz` and the live page are served. `None` serves none of them.
    pub admin: Option<SocketAddr>,
    /// The file of access keys. `None` makes a temporary key.
    pub keys: Option<PathBuf>,
    /// A certificate chain and its private key, both PEM files. `None` serves plain HTTP.
    pub tls: Option<TlsFiles>,
    /// The region that requests must be signed for. `None` accepts every region.
    pub region: Option<String>,
    /// The most connections open at once. A further one closes the connection that has been idle longest.
    pub connections: usize,
    /// The most bytes of bodies that wait to be hashed.
    pub memory: usize,
    /// The free space, in bytes, below which uploads are refused with `SlowDown`.
    pub reserve: u64,
    /// The most requests a second for each access key. `None` sets no limit.
    pub rate: Option<u32>,
    /// Whether equal bodies are stored once.
    pub dedupe: bool,
    /// The age at which an unfinished multipart upload is aborted.
    pub upload_expiry: Duration,
    /// How long [`Server::run`](crate::Server::run) waits for requests in progress when it is asked to stop.
    pub grace: Duration,
}

impl Config {
    /// The defaults: `127.0.0.1:9000`, no TLS, a temporary key, every region.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Config {
            directory: directory.into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 9000)),
            admin: Some(SocketAddr::from(([127, 0, 0, 1], 9001))),
            keys: None,
            tls: None,
            region: None,
            connections: 10_000,
            memory: 192 << 20,
            reserve: 256 << 20,
            rate: None,
            dedupe: true,
            upload_expiry: Duration::from_secs(7 * 24 * 3600),
            grace: Duration::from_secs(30),
        }
    }
}

/// A certificate chain and its private key.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate chain, the server's own first, as PEM.
    pub certificate: PathBuf,
    /// The private key, as PEM.
    pub key: PathBuf,
}

/// The server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The store could not be opened.
    #[error("cannot open the store in {}: {source}", directory.display())]
    Store {
        /// The directory.
        directory: PathBuf,
        /// What failed.
        source: manyhash_store::OpenError,
    },
    /// An address could not be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What failed.
        source: std::io::Error,
    },
    /// The file of access keys is of no use.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// A certificate or private key is of no use.
    #[error("{}: {reason}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The engine could not start.
    #[error("cannot start hashing threads: {0}")]
    Engine(#[from] manyhash::engine::BuildError),
    /// The system gave no random bytes or refused a thread.
    #[error("{0}")]
    System(#[from] std::io::Error),
}
