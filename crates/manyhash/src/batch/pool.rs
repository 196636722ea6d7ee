//! The threads beside the caller's that batches use: one for each further core, made at the first batch that needs
//! them, shared by all batches of the process.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// The pool, or none where there is one core, where threads cannot be made, or in a process forked after it was made:
/// threads do not survive a fork, and waiting for them would hang.
pub(super) fn get() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<(ThreadPool, u32)>> = OnceLock::new();
    let (pool, process) = POOL.get_or_init(make).as_ref()?;
    (*process == std::process::id()).then_some(pool)
}

fn make() -> Option<(ThreadPool, u32)> {
    let others = std::thread::available_parallelism().ok()?.get().checked_sub(1).filter(|others| *others > 0)?;
    let builder = ThreadPoolBuilder::new().num_threads(others).thread_name(|i| format!("manyhash-{}", i + 1));
    Some((builder.build().ok()?, std::process::id()))
}
