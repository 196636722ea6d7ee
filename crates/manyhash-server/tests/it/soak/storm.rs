//! When the disk fails, and how.

use rand::RngExt;
use rand::rngs::SmallRng;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a call does, as far as faults are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    Read,
    /// It needs room.
    Takes,
    /// The same, and it can be done by half.
    Write,
    Frees,
    Sync,
}

/// How calls fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Any call fails.
    Broken,
    /// What is read cannot be read.
    Unreadable,
    /// What is synced may not be durable.
    Unsynced,
    /// There is no room, except now and then for half of what is written.
    Full,
    /// Only half is written.
    Short,
    /// Calls take long.
    Slow,
}

impl Kind {
    pub(super) const ALL: [Kind; 6] =
        [Kind::Broken, Kind::Unreadable, Kind::Unsynced, Kind::Full, Kind::Short, Kind::Slow];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Broken => "EIO",
            Kind::Unreadable => "EIO in reading",
            Kind::Unsynced => "EIO in syncing",
            Kind::Full => "ENOSPC",
            Kind::Short => "short writes",
            Kind::Slow => "slow calls",
        }
    }

    fn concerns(self, call: Call) -> bool {
        match self {
            Kind::Broken | Kind::Slow => true,
            Kind::Unreadable => call == Call::Read,
            Kind::Unsynced => call == Call::Sync,
            Kind::Full => matches!(call, Call::Takes | Call::Write),
            Kind::Short => call == Call::Write,
        }
    }
}

/// A time in which calls fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storm {
    pub(super) kind: Kind,
    /// One of so many calls fails.
    pub(super) one_in: u32,
}

/// The faults of a disk.
#[derive(Debug)]
pub(super) struct Faults {
    weather: Mutex<Weather>,
    counts: [AtomicU64; Kind::ALL.len()],
}

#[derive(Debug)]
struct Weather {
    random: SmallRng,
    storm: Option<Storm>,
    /// When a call has failed last.
    last: Option<Instant>,
}

impl Faults {
    pub(super) fn new(random: SmallRng) -> Self {
        let weather = Mutex::new(Weather { random, storm: None, last: None });
        Faults { weather, counts: Default::default() }
    }

    /// Changes the weather.
    pub(super) fn set(&self, storm: Option<Storm>) {
        self.weather().storm = storm;
    }

    /// When a call has failed, or taken long, for the last time.
    pub(super) fn last(&self) -> Option<Instant> {
        self.weather().last
    }

    /// How often calls have failed, by how.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Kind::ALL.iter().zip(&self.counts).map(|(kind, count)| (kind.name(), count.load(Relaxed)))
    }

    /// Decides about a call: it fails, or is done, or is done by half.
    pub(super) fn strike(&self, call: Call) -> io::Result<bool> {
        let (kind, delay, is_half) = {
            let mut weather = self.weather();
            let Some(Storm { kind, one_in }) = weather.storm else { return Ok(false) };
            if !kind.concerns(call) || !weather.random.random_ratio(1, one_in) {
                return Ok(false);
            }
            weather.last = Some(Instant::now());
            let is_half = call == Call::Write && weather.random.random_ratio(1, 4);
            (kind, Duration::from_millis(weather.random.random_range(1..40)), is_half)
        };
        if let Some(at) = Kind::ALL.iter().position(|other| *other == kind) {
            self.counts[at].fetch_add(1, Relaxed);
        }
        match kind {
            Kind::Broken | Kind::Unreadable | Kind::Unsynced => Err(io::Error::other("the disk is broken")),
            Kind::Full if is_half => Ok(true),
            Kind::Full => Err(io::ErrorKind::StorageFull.into()),
            Kind::Short => Ok(true),
            Kind::Slow => {
                thread::sleep(delay);
                Ok(false)
            }
        }
    }

    fn weather(&self) -> MutexGuard<'_, Weather> {
        self.weather.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
