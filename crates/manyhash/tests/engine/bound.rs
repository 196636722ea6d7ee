//! Ten thousand streams whose bytes come faster than the engine hashes them: memory stays bounded.

use crate::engines::{assert_idle, expected, noise};
use manyhash::Algorithm;
use manyhash::engine::{Engine, HashStream};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const STREAMS: usize = 10_000;
const CHUNKS: usize = 3;
const CHUNK: usize = 64 << 10;
/// Of some streams: more than any caller hashes himself, whatever lanes gain.
const LONG_CHUNK: usize = 8 * CHUNK;
const BOUND: usize = 16 << 20;

/// A chunk, counted while it is alive, some of which make the thread that hashes them slow.
struct Chunk {
    bytes: Arc<Vec<u8>>,
    alive: Arc<AtomicUsize>,
    slow: bool,
    asked: AtomicBool,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        if self.asked.swap(true, Ordering::Relaxed) && self.slow {
            thread::sleep(Duration::from_micros(50));
        }
        &self.bytes
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.alive.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

#[test]
fn ten_thousand_streams_stay_within_the_bound() {
    let engine = Engine::builder().threads(NonZeroUsize::MIN).memory(BOUND).build().expect("threads can be made");
    let messages = [CHUNK, LONG_CHUNK].map(|length| {
        let bytes = Arc::new(noise(length, 1));
        let due = expected(Algorithm::Md5, &bytes.repeat(CHUNKS));
        (bytes, due)
    });
    let alive = Arc::new(AtomicUsize::new(0));
    let unaccepted = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    let send = async |number: usize, mut stream: HashStream<Algorithm>| {
        let (bytes, due) = &messages[usize::from(number.is_multiple_of(16))];
        for chunk in 0..CHUNKS {
            let slow = (number + chunk).is_multiple_of(16);
            unaccepted.fetch_add(bytes.len(), Ordering::Relaxed);
            alive.fetch_add(bytes.len(), Ordering::Relaxed);
            let chunk = Chunk { bytes: bytes.clone(), alive: alive.clone(), slow, asked: AtomicBool::new(false) };
            stream.write(chunk).await.expect("it is accepted");
            unaccepted.fetch_sub(bytes.len(), Ordering::Relaxed);
            let accepted = alive.load(Ordering::Relaxed).saturating_sub(unaccepted.load(Ordering::Relaxed));
            assert!(accepted <= BOUND, "{accepted} bytes are in the engine's hands");
            most.fetch_max(accepted, Ordering::Relaxed);
            let stats = engine.stats();
            assert!(stats.memory <= BOUND as u64, "{stats:?}");
        }
        assert_eq!(stream.finish().await, Ok(*due));
    };
    // All callers share one thread, so that nobody comes between a count and its check.
    let executor = smol::LocalExecutor::new();
    let streams: Vec<_> = (0..STREAMS).map(|_| engine.stream(Algorithm::Md5)).collect();
    let tasks: Vec<_> =
        streams.into_iter().enumerate().map(|(number, stream)| executor.spawn(send(number, stream))).collect();
    smol::block_on(executor.run(async {
        for task in tasks {
            task.await;
        }
    }));
    // The bound was of use.
    assert!(most.load(Ordering::Relaxed) > BOUND / 2, "{most:?}");
    assert_eq!((alive.load(Ordering::Relaxed), unaccepted.load(Ordering::Relaxed)), (0, 0));
    assert_idle(&engine);
}
