//! How many bytes were moved, in a line on standard error that is gone when it is done.

use crate::s3::bar::bar;
use indicatif::ProgressBar;
use manysum::progress::When;
use manysum::quote::quote;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Between two drawings.
const INTERVAL: Duration = Duration::from_millis(100);

/// What is shown, if anything is.
pub(in crate::s3) struct Shown {
    bar: Option<ProgressBar>,
    /// Bytes that were moved.
    moved: Arc<AtomicU64>,
    watch: Option<tokio::task::JoinHandle<()>>,
}

impl Shown {
    /// What is shown at such times. It needs a runtime.
    pub(in crate::s3) fn new(when: When) -> Shown {
        let moved = Arc::new(AtomicU64::new(0));
        let bar = bar(when, Some(0), "{bytes} of {total_bytes}, {bytes_per_sec}{left}: {wide_msg}");
        let watch = bar.clone().map(|bar| {
            let moved = moved.clone();
            tokio::spawn(async move {
                loop {
                    bar.set_position(moved.load(Ordering::Relaxed));
                    tokio::time::sleep(INTERVAL).await;
                }
            })
        });
        Shown { bar, moved, watch }
    }

    /// Where bytes are counted.
    pub(in crate::s3) fn counter(&self) -> Arc<AtomicU64> {
        self.moved.clone()
    }

    /// The line, for whoever writes others to the same terminal.
    pub(in crate::s3) fn bar(&self) -> Option<ProgressBar> {
        self.bar.clone()
    }

    /// Says that so many bytes more are to be moved.
    pub(in crate::s3) fn more(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc_length(bytes);
        }
    }

    /// Says that an object is done.
    pub(in crate::s3) fn done(&self, name: &[u8]) {
        if let Some(bar) = &self.bar {
            bar.set_message(String::from_utf8_lossy(&quote(name)).into_owned());
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.abort();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
