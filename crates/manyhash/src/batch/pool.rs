//! The threads beside the caller's that batches use: one for each further core, made at the first batch that needs
//! them, shared by all batches of the process. A batch may use the rayon pool that it is called in instead.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::spin_loop;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a thread stays awake where it may soon be wanted: about what it costs to put it to sleep and wake it, so
/// that staying never costs more than twice the better choice.
const AWAKE: Duration = Duration::from_micros(50);

/// Bytes for which another core is woken: it costs about as much as to hash half of them.
const WORTH_CORES: usize = 512 << 10;

/// Which threads hash a batch.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Threads {
    /// The caller's among them; one for every core if it is not said.
    pub(super) most: Option<NonZeroUsize>,
    /// Those of the rayon pool that the caller's thread belongs to.
    pub(super) in_current_pool: bool,
}

impl Threads {
    /// The caller's alone.
    pub(crate) const ONE: Self = Threads { most: Some(NonZeroUsize::MIN), in_current_pool: false };

    /// The cores for so many messages of so many bytes.
    pub(crate) fn cores(self, messages: usize, bytes: usize) -> Cores {
        let most = self.most.map_or(usize::MAX, NonZeroUsize::get).min(messages).min(bytes / WORTH_CORES + 1);
        if self.in_current_pool && rayon::current_thread_index().is_some() {
            return Cores::OfCaller(most.clamp(1, rayon::current_num_threads()));
        }
        Cores::promised(most)
    }
}

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
pub(crate) struct Promise(());

/// The cores that a batch has.
pub(crate) enum Cores {
    /// The caller's alone.
    One,
    /// The caller's, and those of the threads that are promised to the batch.
    Promised(&'static ThreadPool, Vec<Promise>),
    /// So many of the pool that the caller's thread belongs to.
    OfCaller(usize),
}

impl Cores {
    /// As many as are idle, at most `most`.
    pub(crate) fn promised(most: usize) -> Self {
        let pool = if most > 1 { get() } else { None };
        match pool.map(|pool| (pool, promise(pool, most - 1).collect::<Vec<_>>())) {
            Some((pool, promises)) if !promises.is_empty() => Cores::Promised(pool, promises),
            _ => Cores::One,
        }
    }

    pub(crate) fn count(&self) -> usize {
        match self {
            Cores::One => 1,
            Cores::Promised(_, promises) => 1 + promises.len(),
            Cores::OfCaller(count) => *count,
        }
    }

    /// Runs `work` on each of them, until it has returned everywhere.
    pub(crate) fn run(self, work: impl Fn() + Sync) {
        match self {
            Cores::One => work(),
            Cores::Promised(pool, promises) => run(pool, promises, work),
            Cores::OfCaller(count) => rayon::in_place_scope(|scope| {
                (1..count).for_each(|_| scope.spawn(|_| work()));
                work();
            }),
        }
    }
}

/// As many idle threads as there are, at most `most`.
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
