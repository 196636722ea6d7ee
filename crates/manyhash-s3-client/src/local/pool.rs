//! Threads that are kept for the next time: whoever verifies many small files one after another would spend much of it
//! on starting threads.

use super::source::lock;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Mutex;

/// So many threads, of a process. One that was forked since has none of them, and waiting for them would hang.
struct Kept {
    threads: usize,
    process: u32,
    pool: ThreadPool,
}

/// Those that were used last. Whoever uses them has taken them out, so that two callers at once have threads of their own.
static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// Runs `work` on each of so many threads, and returns when it has ended on all. It is told how many there are: where
/// there can be no others, it is run once, on the caller's.
pub(super) fn run<S: Sync>(threads: usize, shared: S, work: impl Fn(&S, usize) + Sync) {
    let process = std::process::id();
    let kept = lock(&KEPT).take().filter(|kept| kept.threads == threads && kept.process == process);
    match kept.map(|kept| kept.pool).or_else(|| make(threads)) {
        None => work(&shared, 1),
        Some(pool) => {
            pool.broadcast(|_| work(&shared, threads));
            *lock(&KEPT) = Some(Kept { threads, process, pool });
        }
    }
}

fn make(threads: usize) -> Option<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("manyhash-s3-{}", i + 1));
    if threads > 1 { pool.build().ok() } else { None }
}
