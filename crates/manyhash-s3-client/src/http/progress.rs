//! Whether a request still moves: one that sends for an hour is well, one that is silent for a minute is not.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When a request last moved.
#[derive(Debug)]
pub(super) struct Progress {
    began: Instant,
    /// Milliseconds after the beginning.
    last: AtomicU64,
}

impl Progress {
    pub(super) fn new() -> Arc<Progress> {
        Arc::new(Progress { began: Instant::now(), last: AtomicU64::new(0) })
    }

    pub(super) fn note(&self) {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(since, Ordering::Relaxed);
    }

    /// Waits until nothing moved for so long. Returns `None` then.
    pub(super) async fn watch<F: Future>(&self, silence: Duration, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        loop {
            let last = self.began + Duration::from_millis(self.last.load(Ordering::Relaxed));
            let until = tokio::time::Instant::from_std(last + silence);
            match tokio::time::timeout_at(until, future.as_mut()).await {
                Ok(output) => return Some(output),
                Err(_) if self.began + Duration::from_millis(self.last.load(Ordering::Relaxed)) > last => {}
                Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    #[tokio::test]
    async fn silence_is_measured_from_the_last_move() {
        let silence = Duration::from_millis(200);
        let progress = Progress::new();
        let moving = async {
            for _ in 0..8 {
                sleep(silence / 4).await;
                progress.note();
            }
        };
        assert_eq!(progress.watch(silence, moving).await, Some(()));
        assert_eq!(Progress::new().watch(silence / 10, sleep(silence * 50)).await, None);
    }
}
