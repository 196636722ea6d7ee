//! One thread's share of the work.
//!
//! A thread takes segments until its lanes are full, of one file or of many, reads a chunk of each, and advances all of
//! them together. Where there is less to take than there are threads, those that have something share out the hashing of
//! each round: so the candidates of one file fill the lanes of all cores, from one read.

use super::open::{OpenFile, Place};
use super::source::{Results, Source, Unit, Unopened, lock};
use super::{Digested, Error, Files, sweep};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Messages that one thread hashes side by side: as many as fill the lanes of any backend.
const LANES: usize = 32;

/// Memory for the chunks that a thread has in hand, which stay in its cache.
const CHUNKS: usize = 1 << 20;

/// Bytes of the shortest chunk and of the longest: few system calls, and no more than a cache holds.
const MIN_CHUNK: usize = 32 << 10;
const MAX_CHUNK: usize = 256 << 10;

/// Files by which the reading is ahead of the results at most.
const FILES_AHEAD: u64 = 32 << 10;

/// How long a thread without work waits before it looks again.
const IDLE: Duration = Duration::from_micros(100);

/// What the threads share.
pub(super) struct Shared<'a, 'f, T> {
    files: &'a Files<'f>,
    source: Mutex<Source<'a, T>>,
    results: Results<'a, T>,
    /// Threads that have something in hand.
    working: AtomicUsize,
    /// Segments in hand.
    in_hand: AtomicUsize,
}

/// What there is to take.
enum Take {
    Unit(Box<Unit>),
    /// Nothing now.
    Later,
    /// Nothing any more.
    Ended,
}

impl<'a, 'f, T> Shared<'a, 'f, T> {
    pub(super) fn new(files: &'a Files<'f>, source: Source<'a, T>, results: Results<'a, T>) -> Self {
        let (working, in_hand) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Shared { files, source: Mutex::new(source), results, working, in_hand }
    }

    /// Works until there is nothing any more, as one of so many threads.
    pub(super) fn work(&self, threads: usize) {
        let _stop = StopIfPanicking(&self.results);
        let mut worker = Worker { shared: self, threads, units: Vec::new(), chunks: Vec::new() };
        while !self.results.stopped() {
            let ended = worker.fill();
            if !worker.units.is_empty() {
                worker.round();
            } else if ended {
                break;
            } else if rayon::yield_now() != Some(rayon::Yield::Executed) {
                thread::sleep(IDLE);
            }
        }
    }

    /// Takes a segment for one of so many threads that has so many.
    fn take(&self, threads: usize, has: usize) -> Take {
        let mut source = lock(&self.source);
        while !self.results.stopped() {
            let due = source.due();
            if !source.units.is_empty() {
                // The last of them are shared out evenly: half-full lanes everywhere end sooner than full ones here.
                let all = source.units.len() + self.in_hand.load(Ordering::Relaxed);
                if due.is_none() && has >= all.div_ceil(threads) {
                    return Take::Later;
                }
                if let Some(unit) = source.units.pop_front() {
                    self.in_hand.fetch_add(1, Ordering::Relaxed);
                    return Take::Unit(Box::new(unit));
                }
            }
            let Some(due) = due else {
                return if source.opening > 0 { Take::Later } else { Take::Ended };
            };
            if due >= self.results.due().saturating_add(FILES_AHEAD) {
                return Take::Later;
            }
            let Some(file) = source.take() else { continue };
            source.opening += 1;
            drop(source);
            let opened = self.open(&file);
            source = lock(&self.source);
            source.opening -= 1;
            match opened {
                Ok(units) => source.units.extend(units),
                // Those in hand will be closed.
                Err(Error::Read(error)) if is_too_many(&error) && self.in_hand.load(Ordering::Relaxed) > 0 => {
                    source.put_back(file);
                    return Take::Later;
                }
                Err(error) => {
                    drop(source);
                    self.end(file.number, Err(error));
                    source = lock(&self.source);
                }
            }
        }
        Take::Ended
    }

    fn open(&self, file: &Unopened) -> Result<Vec<Unit>, Error> {
        let number = file.number;
        let (file, sweeps) = OpenFile::open(&file.path, &file.wanted)?;
        let file = Arc::new(file);
        let unit = |sweep| Unit { number, file: Arc::clone(&file), sweep, place: Place::default() };
        Ok(sweeps.into_iter().map(unit).collect())
    }

    fn end(&self, number: u64, result: Result<Digested, Error>) {
        let tag = lock(&self.source).tag(number);
        if let Some(tag) = tag {
            self.results.end(number, tag, result);
        }
    }
}

/// Whether the process or the system has too many files open.
fn is_too_many(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let code = error.raw_os_error();
        code == Some(Errno::MFILE.raw_os_error()) || code == Some(Errno::NFILE.raw_os_error())
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// After a panic in the caller's iterator or sink, others would wait for what this thread had in hand.
struct StopIfPanicking<'s, 'a, T>(&'s Results<'a, T>);

impl<T> Drop for StopIfPanicking<'_, '_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

struct Worker<'s, 'a, 'f, T> {
    shared: &'s Shared<'a, 'f, T>,
    threads: usize,
    units: Vec<Unit>,
    /// At least one for each of them.
    chunks: Vec<Vec<u8>>,
}

impl<T> Worker<'_, '_, '_, T> {
    /// Takes segments until lanes are full. Returns whether there are no more.
    fn fill(&mut self) -> bool {
        while self.units.iter().map(|unit| unit.sweep.lanes()).sum::<usize>() < LANES {
            match self.shared.take(self.threads, self.units.len()) {
                Take::Unit(unit) => {
                    if self.units.is_empty() {
                        self.shared.working.fetch_add(1, Ordering::Relaxed);
                    }
                    self.units.push(*unit);
                }
                Take::Later => return false,
                Take::Ended => return true,
            }
        }
        false
    }

    /// Reads and hashes a chunk of each segment in hand.
    fn round(&mut self) {
        let longest = (CHUNKS / self.units.len()).clamp(MIN_CHUNK, MAX_CHUNK);
        self.chunks.resize_with(self.chunks.len().max(self.units.len()), Vec::new);
        let mut bytes = 0;
        let mut i = 0;
        while let (Some(unit), Some(chunk)) = (self.units.get_mut(i), self.chunks.get_mut(i)) {
            let length = usize::try_from(unit.sweep.left()).map_or(longest, |left| left.min(longest));
            // Not all a power of two apart, where they would meet in the same sets of a cache.
            chunk.reserve_exact((longest + 64).saturating_sub(chunk.len()));
            chunk.resize(length, 0);
            let read = match unit.file.has_failed() {
                true => Err(None),
                false => unit.file.read(chunk, unit.sweep.position(), &mut unit.place).map_err(Some),
            };
            match read {
                Ok(()) => {
                    bytes += length as u64;
                    i += 1;
                }
                Err(error) => {
                    let unit = self.drop_unit(i);
                    if let Some(error) = error.filter(|_| unit.file.is_first_failure()) {
                        self.shared.end(unit.number, Err(error));
                    }
                }
            }
        }
        let threads = self.threads / self.shared.working.load(Ordering::Relaxed).max(1);
        let sweeps = self.units.iter_mut().zip(&self.chunks).map(|(unit, chunk)| (&mut unit.sweep, &chunk[..]));
        sweep::advance(sweeps.collect(), threads);
        if let Some(counter) = self.shared.files.counter {
            counter.fetch_add(bytes, Ordering::Relaxed);
        }
        for i in (0..self.units.len()).rev() {
            if self.units.get(i).is_some_and(|unit| unit.sweep.left() == 0) {
                let mut unit = self.drop_unit(i);
                if unit.file.finished(unit.sweep.take_done()) {
                    self.shared.end(unit.number, unit.file.digested());
                }
            }
        }
    }

    /// Takes a segment out of hand; the last one takes its place.
    fn drop_unit(&mut self, i: usize) -> Unit {
        let unit = self.units.swap_remove(i);
        self.chunks.swap(i, self.units.len());
        self.shared.in_hand.fetch_sub(1, Ordering::Relaxed);
        if self.units.is_empty() {
            self.shared.working.fetch_sub(1, Ordering::Relaxed);
        }
        unit
    }
}
