//! The threads beside the caller's that batches use: one for each further core, made at the first batch that needs
//! them, shared by all batches of the process.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a thread stays awake where it may soon be wanted: about what it costs to put it to sleep and wake it, so
/// that staying never costs more than twice the better choice.
const AWAKE: Duration = Duration::from_micros(50);

/// The pool, or none where there is one core, where threads cannot be made, or in a process forked after it was made:
/// threads do not survive a fork, and waiting for them would hang.
fn get() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<(ThreadPool, u32)>> = OnceLock::new();
    let (pool, process) = POOL.get_or_init(make).as_ref()?;
    (*process == std::process::id()).then_some(pool)
}

/// Threads of the pool that are promised to a batch.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// A thread of the pool that is promised to one batch, until this is dropped.
///
/// A batch only counts on threads that are idle: one queued behind another batch would be waited for until that other,
/// however large, is done.
struct Promise(());

/// The cores that a batch has: the caller's, and those of the threads that are promised to it.
pub(crate) struct Cores(Option<(&'static ThreadPool, Vec<Promise>)>);

impl Cores {
    /// As many as are idle, `most` at the most.
    pub(crate) fn promised(most: usize) -> Self {
        let pool = if most > 1 { get() } else { None };
        let promised = pool.map(|pool| (pool, promise(pool, most - 1).collect::<Vec<_>>()));
        Cores(promised.filter(|(_, promises)| !promises.is_empty()))
    }

    pub(crate) fn count(&self) -> usize {
        1 + self.0.as_ref().map_or(0, |(_, promises)| promises.len())
    }

    /// Runs `work` on each of them, until it has returned everywhere.
    pub(crate) fn run(self, work: impl Fn() + Sync) {
        match self.0 {
            None => work(),
            Some((pool, promises)) => run(pool, promises, work),
        }
    }
}

/// As many idle threads as there are, `most` at the most.
fn promise(pool: &ThreadPool, most: usize) -> impl Iterator<Item = Promise> {
    let claim = |busy: usize| (busy < pool.current_num_threads()).then_some(busy + 1);
    (0..most)
        .map_while(move |_| BUSY.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim).ok().map(|_| Promise(())))
}

impl Drop for Promise {
    fn drop(&mut self) {
        BUSY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `work` here and on the threads that were promised, until it has returned everywhere.
fn run(pool: &ThreadPool, promises: Vec<Promise>, work: impl Fn() + Sync) {
    /// Batches begun so far: threads that stay awake look for a change.
    static BATCHES: AtomicUsize = AtomicUsize::new(0);

    BATCHES.fetch_add(1, Ordering::Relaxed);
    let running = AtomicUsize::new(promises.len());
    pool.in_place_scope(|scope| {
        for promise in promises {
            scope.spawn(|_| {
                work();
                drop(promise);
                let batches = BATCHES.load(Ordering::Relaxed);
                rayon::spawn(move || stay_awake(|| BATCHES.load(Ordering::Relaxed) == batches));
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        work();
        stay_awake(|| running.load(Ordering::Relaxed) > 0);
    });
}

/// Waits while `wait` says so, without going to sleep, but not for long.
fn stay_awake(wait: impl Fn() -> bool) {
    let start = Instant::now();
    while wait() && start.elapsed() < AWAKE {
        spin_loop();
    }
}

fn make() -> Option<(ThreadPool, u32)> {
    let others = std::thread::available_parallelism().ok()?.get().checked_sub(1).filter(|others| *others > 0)?;
    let builder = ThreadPoolBuilder::new().num_threads(others).thread_name(|i| format!("manyhash-{}", i + 1));
    Some((builder.build().ok()?, std::process::id()))
}
