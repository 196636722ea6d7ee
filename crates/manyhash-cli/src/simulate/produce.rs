//! The producers: tasks on a few threads, each of which fills chunks at its rate and hands them over.
//!
//! What a producer's thread does for a chunk is one copy of its bytes, as a program does that reads from a socket; it
//! sleeps until the chunk would have come, and while no buffer is free. So hundreds of producers need no more threads
//! than copying takes.

use super::buffers::Buffers;
use super::content::Content;
use super::load::Load;
use super::subject::{Failure, Message};
use manyhash::Digest;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

/// What the producers share.
pub(super) struct Producers {
    pub(super) load: Load,
    pub(super) content: Content,
    pub(super) buffers: Buffers,
}

/// Produces one message.
pub(super) async fn produce(
    shared: Arc<Producers>,
    producer: usize,
    mut message: impl Message,
    start: Instant,
) -> Result<Digest, Failure> {
    let Producers { load, content, buffers } = &*shared;
    let length = load.share(producer);
    let mut pace = Pace::new(load, producer, start);
    for position in (0..length).step_by(load.chunk_size) {
        let bytes = (load.chunk_size as u64).min(length - position) as usize;
        let (mut chunk, waited) = buffers.take(bytes).await;
        if let Some(due) = pace.due(bytes, waited.then(Instant::now)) {
            sleep_until(due).await;
        }
        content.fill(producer, position, chunk.as_mut());
        message.write(chunk).await?;
        // A producer that never has to wait would keep the others of its thread from their turns.
        yield_now().await;
    }
    message.finish().await
}

/// When a producer's chunks are there.
struct Pace {
    /// Bytes a second; 0 is no limit.
    speed: u64,
    /// When the last chunk was there.
    last: Instant,
}

impl Pace {
    /// The producers begin one after another within the time of a chunk, so that they do not all come at once for ever.
    fn new(load: &Load, producer: usize, start: Instant) -> Self {
        let phase = match load.speed {
            0 => Duration::ZERO,
            speed => duration(load.chunk_size, speed).mul_f64(producer as f64 / load.producers as f64),
        };
        Pace { speed: load.speed, last: start + phase }
    }

    /// When the next chunk is there, if there is a limit. A producer that had to wait for a buffer, until `waited`,
    /// goes on from there: what it did not send meanwhile it does not send faster later. Nothing else delays it, and
    /// least of all a sleep that was too long.
    fn due(&mut self, bytes: usize, waited: Option<Instant>) -> Option<Instant> {
        if self.speed == 0 {
            return None;
        }
        self.last = self.last.max(waited.unwrap_or(self.last)) + duration(bytes, self.speed);
        Some(self.last)
    }
}

fn duration(bytes: usize, speed: u64) -> Duration {
    Duration::from_secs_f64(bytes as f64 / speed as f64)
}

#[cfg(test)]
mod tests {
    use super::Pace;
    use crate::simulate::load::tests::load;
    use std::time::Duration;
    use tokio::time::Instant;

    #[test]
    fn chunks_come_at_their_rate() {
        let start = Instant::now();
        let at = |milliseconds| Some(start + Duration::from_millis(milliseconds));
        let limited = load("--producers 4 --chunk-size 1000 --total-size 100000 --speed 1000").expect("a load");
        let mut pace = Pace::new(&limited, 1, start);
        assert_eq!((pace.due(1000, None), pace.due(500, None)), (at(1250), at(1750)));
        // A wait that ends late delays what follows; one that ends early does not hurry it.
        assert_eq!((pace.due(1000, at(5000)), pace.due(1000, at(0))), (at(6000), at(7000)));
        let unlimited = load("--producers 4").expect("a load");
        assert_eq!(Pace::new(&unlimited, 1, start).due(1000, None), None);
    }
}
