//! Random load for a while: for as many seconds as the environment variable `MANYHASH_SLOW` says, or two.
//!
//! Several threads submit and stream messages of all lengths, wait for them or give them up at some moment, and hand
//! over buffers whose code panics. Every digest is checked, the memory all along, and at the end nothing is left behind.

use crate::engines::{assert_idle, expected, noise};
use manyhash::engine::{Engine, JobError};
use manyhash::{Algorithm, Digest};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::future::Future;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

const CALLERS: u64 = 4;
const MEMORY: usize = 4 << 20;

fn duration() -> Duration {
    let seconds = std::env::var("MANYHASH_SLOW").map_or(2, |text| text.parse().expect("MANYHASH_SLOW is in seconds"));
    Duration::from_secs(seconds)
}

/// A message with its digests, computed once.
struct Message {
    bytes: Vec<u8>,
    digests: Vec<Digest>,
}

impl Message {
    fn all() -> Vec<Arc<Message>> {
        let lengths =
            (0..40).map(|i| i * 37).chain([4096, 5000, 16_384, 50_000, 65_536, 200_000, 1_000_000, 2_000_000]);
        let message = |length: usize| {
            let bytes = noise(length, length % 1000);
            let digests = Algorithm::ALL.iter().map(|algorithm| expected(*algorithm, &bytes)).collect();
            Arc::new(Message { bytes, digests })
        };
        lengths.map(message).collect()
    }

    fn digest(&self, algorithm: Algorithm) -> Digest {
        let index = Algorithm::ALL.iter().position(|other| *other == algorithm);
        self.digests[index.expect("it is one of all")]
    }
}

/// A part of a message, counted while it is alive; some panic at one of the calls of their code.
struct Part {
    message: Arc<Message>,
    from: usize,
    to: usize,
    panics_at: usize,
    calls: AtomicUsize,
    alive: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.panics_at {
            // Without the message that a panic is announced with.
            resume_unwind(Box::new("a buffer's own panic"));
        }
        &self.message.bytes[self.from..self.to]
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
        if self.panics_at < 10 && self.calls.load(Ordering::Relaxed) == 1 && !thread::panicking() {
            resume_unwind(Box::new("a buffer's own panic"));
        }
    }
}

struct Caller<'a> {
    engine: &'a Engine,
    messages: &'a [Arc<Message>],
    alive: &'a Arc<AtomicUsize>,
    random: SmallRng,
}

impl Caller<'_> {
    fn chance(&mut self, one_in: u32) -> bool {
        self.random.random_ratio(1, one_in)
    }

    fn part(&mut self, message: &Arc<Message>, from: usize, to: usize) -> Part {
        self.alive.fetch_add(1, Ordering::Relaxed);
        let panics_at = if self.chance(50) { self.random.random_range(0..3) } else { usize::MAX };
        let (message, alive) = (message.clone(), self.alive.clone());
        Part { message, from, to, panics_at, calls: AtomicUsize::new(0), alive }
    }

    fn message(&mut self) -> Arc<Message> {
        self.messages[self.random.random_range(0..self.messages.len())].clone()
    }

    fn algorithm(&mut self) -> Algorithm {
        Algorithm::ALL[self.random.random_range(0..Algorithm::ALL.len())]
    }

    /// Waits for it, or looks and leaves, or leaves.
    fn end<T, F>(&mut self, mut future: F, wait: impl FnOnce(F) -> Result<T, JobError>, check: impl FnOnce(T))
    where
        F: Future<Output = Result<T, JobError>> + Unpin,
    {
        if self.chance(8) {
            return;
        }
        if self.chance(8) {
            let _ = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
            thread::sleep(Duration::from_micros(self.random.random_range(0..100)));
            return;
        }
        match wait(future) {
            Ok(digests) => check(digests),
            Err(error) => assert_eq!(error, JobError::Panicked),
        }
    }

    fn submit(&mut self) {
        let mut pending = Vec::new();
        let algorithms = [self.algorithm(), self.algorithm()];
        for _ in 0..self.random.random_range(1..40) {
            let message = self.message();
            let part = self.part(&message, 0, message.bytes.len());
            pending.push((self.engine.digest(algorithms, part), message));
            if self.chance(4) {
                let (pending, message) = pending.swap_remove(self.random.random_range(0..pending.len()));
                let due = algorithms.map(|algorithm| message.digest(algorithm));
                self.end(pending, |pending| pending.wait(), |digests| assert_eq!(digests, due));
            }
        }
        for (pending, message) in pending {
            let due = algorithms.map(|algorithm| message.digest(algorithm));
            self.end(pending, |pending| pending.wait(), |digests| assert_eq!(digests, due));
        }
    }

    fn submit_many(&mut self) {
        let algorithm = self.algorithm();
        let messages: Vec<_> = (0..self.random.random_range(0..100)).map(|_| self.message()).collect();
        let parts = messages.iter().map(|message| self.part(message, 0, message.bytes.len())).collect();
        let due: Vec<Digest> = messages.iter().map(|message| message.digest(algorithm)).collect();
        let pending = self.engine.digest_many(algorithm, parts);
        self.end(pending, |pending| pending.wait(), |digests| assert_eq!(digests, due));
    }

    fn stream(&mut self) {
        let (message, algorithm) = (self.message(), self.algorithm());
        let mut stream = self.engine.stream(algorithm);
        let mut from = 0;
        while from < message.bytes.len() {
            let to = (from + self.random.random_range(1..200_000)).min(message.bytes.len());
            let write = stream.write(self.part(&message, from, to));
            let mut accepted = false;
            self.end(write, |write| write.wait(), |()| accepted = true);
            if !accepted && self.chance(4) {
                return;
            }
            if accepted {
                from = to;
            } else if stream.write("").wait().is_err() {
                break;
            } else {
                // Given up, perhaps after it was accepted: what the stream holds is not known any more.
                return;
            }
        }
        let whole = from == message.bytes.len();
        self.end(
            stream.finish(),
            |pending| pending.wait(),
            |digest| {
                assert!(whole);
                assert_eq!(digest, message.digest(algorithm));
            },
        );
    }
}

#[test]
fn random_load() {
    let end = Instant::now() + duration();
    let engine = Engine::builder().threads(NonZeroUsize::new(3)).memory(MEMORY).build().expect("threads can be made");
    let (messages, alive) = (Message::all(), Arc::new(AtomicUsize::new(0)));
    thread::scope(|scope| {
        for seed in 0..CALLERS {
            let random = SmallRng::seed_from_u64(seed);
            let mut caller = Caller { engine: &engine, messages: &messages, alive: &alive, random };
            scope.spawn(move || {
                while Instant::now() < end {
                    match caller.random.random_range(0..3) {
                        0 => caller.submit(),
                        1 => caller.submit_many(),
                        _ => caller.stream(),
                    }
                }
            });
        }
        while Instant::now() < end {
            let stats = engine.stats();
            assert!(stats.memory <= MEMORY as u64, "{stats:?}");
            assert_eq!((stats.memory_bound, stats.threads), (MEMORY as u64, 3));
            thread::sleep(Duration::from_millis(1));
        }
    });
    assert_idle(&engine);
    assert!(engine.stats().jobs > 0);
    drop(engine);
    // Buffers given up while the engine had them are freed by its threads.
    while alive.load(Ordering::Relaxed) > 0 {
        assert!(Instant::now() < end + Duration::from_secs(10), "{} buffers are left", alive.load(Ordering::Relaxed));
        thread::yield_now();
    }
}
