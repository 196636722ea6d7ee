//! A bucket at a service, and what all buckets there share.

use super::config::{Config, ConfigError};
use super::endpoint::Place;
use super::limiter::Limiter;
use super::operation::{Counters, Counts};
use super::retry::Budget;
use jiff::{SignedDuration, Timestamp};
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// A bucket.
///
/// A clone is the same bucket. All clients that come from one another share connections, credentials, the number of
/// requests at once, and what is known of the service's clock.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    service: Arc<Service>,
    bucket: String,
    home: RwLock<Home>,
}

/// Where a bucket turned out to be.
struct Home {
    region: String,
    place: Place,
}

/// What all buckets of a service share.
pub(super) struct Service {
    pub(super) config: Config,
    pub(super) limiter: Arc<Limiter>,
    pub(super) budget: Budget,
    pub(super) counters: Counters,
    /// Seconds that the service's clock is ahead.
    ahead: AtomicI64,
}

impl Client {
    /// Creates a client of a bucket. No request is sent.
    ///
    /// # Errors
    /// Returns an error if no bucket can have this name.
    pub fn new(config: Config, bucket: &str) -> Result<Client, ConfigError> {
        let service = Arc::new(Service {
            limiter: Limiter::new(config.concurrency),
            budget: Budget::new(),
            counters: Counters::new(),
            ahead: AtomicI64::new(0),
            config,
        });
        Client::of(service, bucket)
    }

    /// Creates a client of another bucket at the same service.
    ///
    /// # Errors
    /// Returns an error if no bucket can have this name.
    pub fn with_bucket(&self, bucket: &str) -> Result<Client, ConfigError> {
        Client::of(self.0.service.clone(), bucket)
    }

    fn of(service: Arc<Service>, bucket: &str) -> Result<Client, ConfigError> {
        let region = service.config.region.clone();
        let place = service.config.endpoint.place(bucket, &region, service.config.addressing)?;
        let home = RwLock::new(Home { region, place });
        Ok(Client(Arc::new(Inner { service, bucket: bucket.to_owned(), home })))
    }

    /// Returns what the client was made with.
    pub fn config(&self) -> &Config {
        &self.0.service.config
    }

    /// Returns the region that the bucket's requests are signed for: that of the configuration, or the one that the
    /// service told.
    pub fn region(&self) -> String {
        self.home().region.clone()
    }

    /// Returns how many requests were sent, to all buckets of the service.
    pub fn counts(&self) -> Counts {
        self.0.service.counters.get()
    }

    /// Returns how many requests may go on at once now: fewer than the configuration allows after the service asked to
    /// slow down.
    pub fn concurrency(&self) -> usize {
        self.0.service.limiter.limit()
    }

    /// Whether the SHA-256 of content is signed, so that who knows it should say so
    /// ([`Content::with_sha256`](super::Content::with_sha256)).
    pub(crate) fn signs_content(&self) -> bool {
        let config = self.config();
        !config.is_tls() && !config.source.is_anonymous()
    }

    pub(super) fn bucket_name(&self) -> &str {
        &self.0.bucket
    }

    pub(super) fn service(&self) -> &Service {
        &self.0.service
    }

    pub(super) fn place(&self) -> Place {
        self.home().place.clone()
    }

    pub(super) fn region_and_place(&self) -> (String, Place) {
        let home = self.home();
        (home.region.clone(), home.place.clone())
    }

    /// Takes the bucket to be in another region. Returns whether it can be.
    pub(super) fn move_to(&self, region: &str) -> bool {
        let config = &self.0.service.config;
        let Ok(place) = config.endpoint.place(&self.0.bucket, region, config.addressing) else { return false };
        let mut home = self.0.home.write().unwrap_or_else(PoisonError::into_inner);
        *home = Home { region: region.to_owned(), place };
        true
    }

    fn home(&self) -> std::sync::RwLockReadGuard<'_, Home> {
        self.0.home.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// The moment by the service's clock.
    pub(super) fn now(&self) -> Timestamp {
        let ahead = SignedDuration::from_secs(self.ahead.load(Ordering::Relaxed));
        Timestamp::now().saturating_add(ahead).unwrap_or_else(|_| Timestamp::now())
    }

    /// Takes over the service's clock.
    pub(super) fn set_clock(&self, date: Timestamp) {
        self.ahead.store(date.duration_since(Timestamp::now()).as_secs(), Ordering::Relaxed);
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("bucket", &self.0.bucket).finish_non_exhaustive()
    }
}
