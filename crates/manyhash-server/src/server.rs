//! A server: opened, run, stopped.

use crate::answer::Requests;
use crate::config::{Config, ServeError};
use crate::keys::{KeyRing, KeysError};
use crate::state::{State, System, World};
use crate::{admin, front, upkeep};
use data_encoding::BASE64URL_NOPAD;
use manyhash::Engine;
use manyhash_s3::sign::Credentials;
use manyhash_store::{Store, StoreOptions};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio_rustls::TlsAcceptor;

/// An S3 server that listens.
pub struct Server {
    state: Arc<State>,
    listener: TcpListener,
    admin: Option<TcpListener>,
    tls: Option<TlsAcceptor>,
    temporary: Option<Credentials>,
}

impl Server {
    /// Opens the store and listens. Nobody is answered before [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened, if an address is taken, or if a file of the configuration is of no use.
    pub async fn bind(config: Config) -> Result<Self, ServeError> {
        Self::bind_in(config, Arc::new(System), StoreOptions::default()).await
    }

    /// Does as [`bind`](Self::bind), with another clock and randomness, and other options of the store. Whether equal
    /// bodies are stored once is taken from `config`.
    ///
    /// # Errors
    ///
    /// Fails as [`bind`](Self::bind) does.
    pub async fn bind_in(config: Config, world: Arc<dyn World>, options: StoreOptions) -> Result<Self, ServeError> {
        let (keys, temporary) = match &config.keys {
            Some(path) => (KeyRing::open(path)?, None),
            None => {
                let credentials = temporary_key(&*world)?;
                (KeyRing::single(&credentials), Some(credentials))
            }
        };
        let tls = config.tls.as_ref().map(front::acceptor).transpose()?;
        let listener = listen(config.listen)?;
        let admin = match config.admin {
            Some(address) => Some(listen(address)?),
            None => None,
        };
        let engine = Engine::builder().memory(config.memory / 2).name("manyhash").build()?;
        let directory = config.directory.clone();
        let options = options.dedupe(config.dedupe);
        let opened = spawn_blocking(move || Store::open(&directory, options)).await.map_err(std::io::Error::other)?;
        let store = opened.map_err(|source| ServeError::Store { directory: config.directory.clone(), source })?;
        let state = Arc::new(State::new(config, world, store, engine, keys));
        upkeep::look_at_disk(&state);
        Ok(Server { state, listener, admin, tls, temporary })
    }

    /// Returns the address that clients are given: `http://` or `https://`, and the address listened on.
    pub fn endpoint(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address())
    }

    /// Returns the address that S3 is served on.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap_or(self.state.config.listen)
    }

    /// Returns the address of `/metrics`, `/healthz` and the live page.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Returns the key that was made because there is no file of keys.
    pub fn temporary_key(&self) -> Option<&Credentials> {
        self.temporary.as_ref()
    }

    /// Returns what reads the file of keys again.
    pub fn reloader(&self) -> impl Fn() -> Result<(), KeysError> + Send + Sync + 'static {
        let state = self.state.clone();
        move || state.keys.reload()
    }

    /// Answers requests until `stop` ends. Then it accepts no more, lets requests in progress finish for the time of
    /// [`Config::grace`], and closes the store.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { state, listener, admin, tls, .. } = self;
        let (stopping, stopped) = watch::channel(false);
        let requests = Arc::new(Requests::new(state.clone()));
        let serving = tokio::spawn(front::serve(listener, tls, state.connections.clone(), requests, stopped));
        let upkeep = tokio::spawn(upkeep::run(state.clone()));
        let pages = admin.map(|listener| tokio::spawn(admin::serve(listener, state.clone())));
        stop.await;
        stopping.send_replace(true);
        // Whoever is not done by then is cut off.
        let _ = tokio::time::timeout(state.config.grace, serving).await;
        upkeep.abort();
        if let Some(pages) = pages {
            pages.abort();
        }
        let _ = spawn_blocking(move || state.store.close()).await;
    }
}

/// How many connections may wait to be accepted. The system takes less if it allows less (`net.core.somaxconn`).
///
/// When clients all come at once, what finds no place is dropped by the system, and tried again by the client only after
/// a second.
const BACKLOG: u32 = 65_535;

fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let bind = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A server that was stopped is started again at once, though connections of before may linger.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bind().map_err(|source| ServeError::Listen { address, source })
}

/// A key that may do everything and is forgotten when the server ends.
fn temporary_key(world: &dyn World) -> std::io::Result<Credentials> {
    let mut bytes = [0; 39];
    world.random(&mut bytes)?;
    let (access, secret) = bytes.split_at(9);
    // Clients take only letters and digits in an access key.
    let access: String = access.iter().map(|byte| char::from(b'A' + byte % 26)).collect();
    Ok(Credentials::new(format!("MANYHASH{access}"), BASE64URL_NOPAD.encode(secret)))
}
