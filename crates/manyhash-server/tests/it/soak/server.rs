//! The server, in a runtime of its own, so that it can be killed.

use super::wire::{ACCESS, SECRET};
use manyhash_server::{Config, ServeError, Server, System};
use manyhash_store::disk::Disk;
use manyhash_store::{OpenError, StoreOptions};
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long a server that is stopped waits for requests.
const GRACE: Duration = Duration::from_secs(3);

/// How long it may take to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where servers keep what they keep.
pub(super) struct Site(TempDir);

impl Site {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let keys = format!("[[key]]\naccess = \"{ACCESS}\"\nsecret = \"{SECRET}\"\n");
        fs::write(directory.path().join("keys.toml"), keys).unwrap();
        Site(directory)
    }

    pub(super) fn store(&self) -> PathBuf {
        self.0.path().join("objects")
    }

    pub(super) fn graves(&self) -> PathBuf {
        self.0.path().join("graves")
    }

    /// Starts a server. Little memory, short segments and small directories, so that all of them are full now and then.
    ///
    /// # Errors
    /// Its disk has failed. It fails for no other reason.
    pub(super) fn serve(&self, disk: Arc<dyn Disk>) -> Result<Serving, ServeError> {
        let mut config = Config::new(self.store());
        config.listen = ([127, 0, 0, 1], 0).into();
        config.admin = None;
        config.keys = Some(self.0.path().join("keys.toml"));
        config.reserve = 0;
        config.memory = 16 << 20;
        config.grace = GRACE;
        let options = StoreOptions::default().disk(disk).cache(4 << 20).limits(4 << 20, 100);
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = match runtime.block_on(Server::bind_in(config, Arc::new(System), options)) {
            Err(error) => {
                assert!(matches!(error, ServeError::Store { source: OpenError::Disk { .. }, .. }), "{error}");
                runtime.shutdown_background();
                return Err(error);
            }
            Ok(server) => server,
        };
        let address = server.address();
        let (stop, mut stopped) = watch::channel(false);
        let running = runtime.spawn(server.run(async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        }));
        Ok(Serving { address, stop, running, runtime })
    }
}

/// A server that runs.
pub(super) struct Serving {
    pub(super) address: SocketAddr,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
    runtime: Runtime,
}

impl Serving {
    /// Asks it to stop.
    pub(super) fn stopping(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until it has stopped.
    pub(super) fn stop(self) {
        self.stopping();
        let stopped = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, self.running).await });
        stopped.expect("a server stops when it is asked to").expect("it does not panic");
        self.runtime.shutdown_timeout(PATIENCE);
    }

    /// Ends it where it stands.
    pub(super) fn kill(self) {
        self.runtime.shutdown_background();
    }
}
