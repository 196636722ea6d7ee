//! The locks and threads that the engine is built of: the standard library's, or those of a model checker that runs
//! the engine's tests under many orders of events (`--cfg manyhash_shuttle`).

#[cfg(not(manyhash_shuttle))]
pub(super) use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

#[cfg(manyhash_shuttle)]
pub(super) use shuttle::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};
