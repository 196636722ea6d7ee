//! What all requests share.

use crate::config::Config;
use crate::front::Connections;
use crate::ingest::{Budget, Pace};
use crate::keys::KeyRing;
use crate::metrics::Metrics;
use jiff::Timestamp;
use manyhash::Engine;
use manyhash_store::Store;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The time and randomness that a server goes by. Tests have their own.
pub trait World: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Fills a buffer with bytes that nobody can guess.
    ///
    /// # Errors
    ///
    /// Fails if the system has none to give.
    fn random(&self, bytes: &mut [u8]) -> std::io::Result<()>;
}

/// The system's clock and randomness.
#[derive(Clone, Copy, Debug)]
pub struct System;

impl World for System {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn random(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        getrandom::fill(bytes).map_err(std::io::Error::other)
    }
}

/// What all requests share.
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) world: Arc<dyn World>,
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    pub(crate) budget: Budget,
    pub(crate) pace: Pace,
    pub(crate) keys: KeyRing,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) connections: Arc<Connections>,
    /// Whether the disk has less room than is to be kept free.
    pub(crate) full: AtomicBool,
    /// The number of the next request.
    next: AtomicU64,
}

impl State {
    pub(crate) fn new(config: Config, world: Arc<dyn World>, store: Store, engine: Engine, keys: KeyRing) -> Self {
        State {
            world,
            store,
            engine,
            // Half of the memory is the engine's; the other half waits for the disk.
            budget: Budget::new(config.memory / 2),
            pace: Pace::new(),
            keys,
            metrics: Arc::new(Metrics::new()),
            connections: Connections::new(config.connections),
            full: AtomicBool::new(false),
            next: AtomicU64::new(0),
            config,
        }
    }

    /// A name for a request, in answers and in errors.
    pub(crate) fn request_id(&self) -> String {
        format!("{:016X}", self.next.fetch_add(1, Relaxed))
    }

    /// The time now in milliseconds since the epoch.
    pub(crate) fn milliseconds(&self) -> i64 {
        self.world.now().as_millisecond()
    }
}
