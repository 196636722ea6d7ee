//! The locks and threads that the engine is built of: the standard library's, or those of a model checker that runs
//! the engine's tests under many orders of events (`--cfg manyhash_shuttle`).

#[cfg(not(manyhash_shuttle))]
pub(super) use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread, thread_local,
};

#[cfg(manyhash_shuttle)]
pub(super) use shuttle::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread, thread_local,
};

use std::time::Duration;

/// Sleeps until somebody calls, or for so long: whether it was that long.
#[cfg(not(manyhash_shuttle))]
pub(super) fn wait_for<'a, T>(
    called: &Condvar,
    _mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> (MutexGuard<'a, T>, bool) {
    let (guard, timeout) = called.wait_timeout(guard, time).unwrap_or_else(|poison| poison.into_inner());
    (guard, timeout.timed_out())
}

/// To the model checker it is always too long, as it has no clock and no timeouts.
#[cfg(manyhash_shuttle)]
pub(super) fn wait_for<'a, T>(
    _called: &Condvar,
    mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    _time: Duration,
) -> (MutexGuard<'a, T>, bool) {
    drop(guard);
    thread::yield_now();
    (mutex.lock().unwrap_or_else(|poison| poison.into_inner()), true)
}
