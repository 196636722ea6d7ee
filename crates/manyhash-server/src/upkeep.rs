//! What is done now and then: the disk's room is looked at, and uploads that nobody finished are aborted.

use crate::state::State;
use manyhash_store::Change;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::task::spawn_blocking;

/// How many uploads are aborted at once.
const UPLOADS: usize = 100;

pub(crate) async fn run(state: Arc<State>) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    let mut seconds = 0_u64;
    loop {
        ticks.tick().await;
        let looking = state.clone();
        let _ = spawn_blocking(move || look_at_disk(&looking)).await;
        if seconds.is_multiple_of(60) {
            expire(&state).await;
        }
        seconds += 1;
    }
}

/// Notes whether there is less room than is to be kept free.
pub(crate) fn look_at_disk(state: &State) {
    // If the disk does not say, uploads find out for themselves.
    let full = state.store.free_space().is_ok_and(|free| free < state.config.reserve);
    state.full.store(full, Relaxed);
}

/// Aborts uploads that are older than they may be.
async fn expire(state: &State) {
    let age = i64::try_from(state.config.upload_expiry.as_millis()).unwrap_or(i64::MAX);
    let before = state.milliseconds().saturating_sub(age);
    loop {
        let store = state.store.clone();
        let Ok(Ok(uploads)) = spawn_blocking(move || store.uploads_before(before, UPLOADS)).await else { return };
        let aborting: Vec<_> = uploads
            .into_iter()
            .map(|upload| {
                let (bucket, key, id) = (upload.bucket, upload.key, upload.id);
                state.store.commit(Change::AbortUpload { bucket, key, id })
            })
            .collect();
        let all = aborting.len() == UPLOADS;
        let mut failed = false;
        for abort in aborting {
            failed |= abort.await.is_err();
        }
        if failed || !all {
            return;
        }
    }
}
