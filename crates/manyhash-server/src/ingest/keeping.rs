//! The bytes of a body on their way to the disk: small ones stay in memory until they are committed, others go to a file
//! without a name.
//!
//! However many clients there are, memory is bounded. Each body may keep a little for free. What is more comes out of a
//! budget that all share, and is kept only while the client sends: a body never waits for the budget, nor holds a share of
//! it while it waits for its client. It writes what it has instead.
//!
//! While the system takes what is written into its memory, it is written as soon as it has arrived: it is in the cache of
//! this core still, and no other thread has to be woken. Once a write has had to wait for the disk, threads that may wait
//! do the writing for a while.

use super::{Sink, disk, internal};
use bytes::{Bytes, BytesMut};
use manyhash_s3::error::S3Error;
use manyhash_store::{Body, NewFile, SMALL, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, spawn_blocking};

/// How much is written at once by a thread that may wait.
const PIECE: usize = 512 << 10;

/// How much is written at once where it has arrived.
const QUICK_PIECE: usize = 64 << 10;

/// A smaller piece is copied together with others.
const PARTICLE: usize = 4 << 10;

/// What each body may keep in memory for free.
const FREE: usize = 64 << 10;

/// What the bodies of a server keep in memory together, beyond what is free for each.
#[derive(Clone)]
pub(crate) struct Budget(Arc<Semaphore>);

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Budget(Arc::new(Semaphore::new(bytes / Self::UNIT)))
    }

    /// Bytes that are counted as one.
    const UNIT: usize = 1 << 10;

    pub(crate) fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(Self::UNIT)).ok()?;
        self.0.clone().try_acquire_many_owned(units).ok()
    }
}

/// Whether the disk, or rather the system's memory before it, takes what is written without delay.
#[derive(Clone)]
pub(crate) struct Pace(Arc<Paces>);

struct Paces {
    started: Instant,
    /// Milliseconds since the start until which writes are left to threads that may wait.
    slow_until: AtomicU64,
}

/// A write that took longer has waited for the disk, or its thread was interrupted.
const QUICK: Duration = Duration::from_millis(10);

/// How long the disk is believed to be slow.
const SLOW: Duration = Duration::from_secs(2);

impl Pace {
    pub(crate) fn new() -> Self {
        Pace(Arc::new(Paces { started: Instant::now(), slow_until: AtomicU64::new(0) }))
    }

    fn is_quick(&self) -> bool {
        self.now() >= self.0.slow_until.load(Relaxed)
    }

    /// A write took so long.
    fn took(&self, time: Duration) {
        if time > QUICK {
            let slow = u64::try_from(SLOW.as_millis()).unwrap_or(u64::MAX);
            self.0.slow_until.store(self.now().saturating_add(slow), Relaxed);
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A body as far as it has come.
pub(super) struct Keeping {
    store: Store,
    budget: Budget,
    pace: Pace,
    length: u64,
    /// Not given to the disk yet.
    pending: Vec<Bytes>,
    /// After `pending`: pieces so small that what holds them together would weigh more than they.
    dust: BytesMut,
    bytes: usize,
    /// What of `bytes` is paid for.
    paid: Option<OwnedSemaphorePermit>,
    file: File,
}

impl Keeping {
    pub(super) fn new(store: &Store, budget: &Budget, pace: &Pace) -> Self {
        let (store, budget, pace) = (store.clone(), budget.clone(), pace.clone());
        Keeping {
            store,
            budget,
            pace,
            length: 0,
            pending: Vec::new(),
            dust: BytesMut::new(),
            bytes: 0,
            paid: None,
            file: File::None,
        }
    }

    /// Makes one piece of the small ones.
    fn sweep(&mut self) {
        if !self.dust.is_empty() {
            self.pending.push(self.dust.split().freeze());
        }
    }

    /// Writes all, and waits until it is written.
    async fn settle(&mut self) -> Result<(), S3Error> {
        self.write().await?;
        if let Some(file) = self.written().await? {
            self.file = File::Written(file);
        }
        Ok(())
    }

    /// The file, once nothing is being written to it.
    async fn written(&mut self) -> Result<Option<NewFile>, S3Error> {
        match std::mem::replace(&mut self.file, File::None) {
            File::None => Ok(None),
            File::Written(file) => Ok(Some(file)),
            File::Writing(writing) => Ok(Some(writing.await.map_err(internal)?.map_err(|error| disk(&error))?)),
        }
    }

    /// Writes what is pending, or hands it to a thread that may wait for the disk.
    async fn write(&mut self) -> Result<(), S3Error> {
        let file = self.written().await?;
        self.sweep();
        let pieces = std::mem::take(&mut self.pending);
        let paid = self.paid.take();
        let bytes = std::mem::take(&mut self.bytes) as u64;
        if self.pace.is_quick() && file.as_ref().is_none_or(|file| !file.will_sync(bytes)) {
            let begun = Instant::now();
            let written = append(&self.store, file, &pieces);
            self.pace.took(begun.elapsed());
            self.file = File::Written(written.map_err(|error| disk(&error))?);
            return Ok(());
        }
        let store = self.store.clone();
        self.file = File::Writing(spawn_blocking(move || {
            let written = append(&store, file, &pieces);
            drop(paid);
            written
        }));
        Ok(())
    }

    /// How much may be pending before it is written. A small body never is.
    fn most(&self) -> usize {
        match self.file {
            File::None => SMALL,
            _ if self.pace.is_quick() => QUICK_PIECE,
            _ => PIECE,
        }
    }

    /// Ends the body. What is in a file is on the disk then, though without a name.
    pub(super) async fn finish(mut self) -> Result<Body, S3Error> {
        if matches!(self.file, File::None) && self.length <= SMALL as u64 {
            self.sweep();
            return Ok(Body::Small(self.pending));
        }
        if self.bytes > 0 {
            self.write().await?;
        }
        let Some(mut file) = self.written().await? else { return Err(internal("a body was lost")) };
        let synced = spawn_blocking(move || file.sync().map(|()| file));
        Ok(Body::File(synced.await.map_err(internal)?.map_err(|error| disk(&error))?))
    }
}

impl Sink for Keeping {
    fn length(&self) -> u64 {
        self.length
    }

    /// Takes a piece. Waits while the disk is behind by more than one write, or while memory is short.
    async fn add(&mut self, bytes: Bytes) -> Result<(), S3Error> {
        self.length += bytes.len() as u64;
        self.bytes += bytes.len();
        if bytes.len() < PARTICLE {
            self.dust.extend_from_slice(&bytes);
            if self.dust.len() >= FREE {
                self.sweep();
            }
        } else {
            self.sweep();
            self.pending.push(bytes);
        }
        let paid = self.paid.as_ref().map_or(0, |paid| paid.num_permits() * Budget::UNIT);
        let due = self.bytes.saturating_sub(FREE + paid);
        if due > 0 {
            match (self.budget.take(due), &mut self.paid) {
                (None, _) => return self.settle().await,
                (Some(more), Some(paid)) => paid.merge(more),
                (Some(first), paid) => *paid = Some(first),
            }
        }
        if self.bytes > self.most() { self.write().await } else { Ok(()) }
    }

    /// Gives back what others could use.
    async fn wait(&mut self) -> Result<(), S3Error> {
        if self.paid.is_some() && self.bytes > SMALL { self.settle().await } else { Ok(()) }
    }
}

/// Writes pieces to a file, which is made if there is none.
fn append(store: &Store, file: Option<NewFile>, pieces: &[Bytes]) -> std::io::Result<NewFile> {
    let mut file = match file {
        Some(file) => file,
        None => store.create_file()?,
    };
    file.append(pieces)?;
    Ok(file)
}

/// Where a body's file is.
enum File {
    None,
    Written(NewFile),
    Writing(JoinHandle<std::io::Result<NewFile>>),
}
