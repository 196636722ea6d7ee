//! What a thread waits for that polls a stream.

use super::lock;
use std::sync::Arc;
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::Wake;
use std::time::Duration;

/// Rings when there is a reason to poll again. It does not matter which thread waits: the next poll may be another's.
#[derive(Default)]
pub(super) struct Bell {
    has_rung: Mutex<bool>,
    rings: Condvar,
}

impl Bell {
    /// Waits until it has rung since the last time, or for so long.
    pub(super) fn wait(&self, most: Duration) {
        let waited = self.rings.wait_timeout_while(lock(&self.has_rung), most, |has_rung| !*has_rung);
        let (mut has_rung, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *has_rung = false;
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *lock(&self.has_rung) = true;
        self.rings.notify_one();
    }
}
