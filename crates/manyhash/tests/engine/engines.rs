//! What the tests of the engine share.

use crate::common::{bytes, reference};
use manyhash::engine::{Engine, SlotState};
use manyhash::{Algorithm, Digest};
use std::time::{Duration, Instant};

/// Bytes that differ with the seed.
pub(crate) fn noise(length: usize, seed: usize) -> Vec<u8> {
    bytes(length + seed).split_off(seed)
}

/// The digest by the slow and obvious implementation; of a long message, by the library's tested code for one.
pub(crate) fn expected(algorithm: Algorithm, message: &[u8]) -> Digest {
    if message.len() <= 70_000 { reference(algorithm, message) } else { manyhash::digest(algorithm, message) }
}

/// Nothing is left behind: no slot in use, no memory held.
pub(crate) fn assert_idle(engine: &Engine) {
    // A thread may still be putting back what its caller has given up.
    let start = Instant::now();
    loop {
        let stats = engine.stats();
        let used: usize =
            stats.states.iter().filter(|state| state.state != SlotState::Free).map(|state| state.slots).sum();
        if (used, stats.memory) == (0, 0) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{stats:?}");
        std::thread::yield_now();
    }
}
