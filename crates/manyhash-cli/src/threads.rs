//! Threads, where the system may not start any more of them: what they would do is done by the one there is.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Builder, Scope};

/// Does work that rayon splits for all cores. rayon's own pool, which this is instead of, panics if it cannot be made.
pub(crate) fn on_all_cores<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    thread_local! {
        // None if this thread belongs to a pool already, which has the work then.
        static ALONE: Option<ThreadPool> = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
    }
    match POOL.get_or_init(|| ThreadPoolBuilder::new().build().ok()) {
        Some(pool) => pool.install(work),
        None => ALONE.with(|_| work()),
    }
}

/// The same items, brought forward by a thread of their own, which is at most so many of them ahead; by whoever takes
/// them, if there can be none.
pub(crate) fn ahead<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    most: usize,
    items: impl Iterator<Item = T> + Send + 'scope,
) -> Box<dyn Iterator<Item = T> + Send + 'scope> {
    let items = Arc::new(Mutex::new(Some(items)));
    let take = |items: &Mutex<Option<_>>| items.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (sender, receiver) = sync_channel(most);
    let to_send = Arc::clone(&items);
    let started = Builder::new().name("ahead".into()).spawn_scoped(scope, move || {
        for item in take(&to_send).into_iter().flatten() {
            // Nobody takes any more.
            if sender.send(item).is_err() {
                return;
            }
        }
    });
    match started {
        Ok(_) => Box::new(receiver.into_iter()),
        Err(_) => Box::new(take(&items).into_iter().flatten()),
    }
}

/// Whether so many threads can be started now, for those who would panic.
///
/// # Errors
/// If not: why.
pub(crate) fn can_start(threads: usize) -> io::Result<()> {
    let end = Mutex::new(());
    let not_yet = end.lock();
    thread::scope(|scope| {
        let started = (0..threads).try_for_each(|_| Builder::new().spawn_scoped(scope, || drop(end.lock())).map(drop));
        // All of them are there until now.
        drop(not_yet);
        started
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn items_come_in_their_order() {
        for most in [0, 1, 100] {
            thread::scope(|scope| {
                let items: Vec<_> = ahead(scope, most, 0..1000).collect();
                assert!(items.into_iter().eq(0..1000));
                // The rest is not wanted.
                assert_eq!(ahead(scope, most, 0..).take(3).sum::<i32>(), 3);
            });
        }
    }

    #[test]
    fn threads_that_can_be_started() {
        can_start(4).expect("threads");
        assert_eq!(on_all_cores(|| (0..1000).into_par_iter().sum::<i32>()), 499_500);
    }
}
