//! Waiting on a thread that has nothing else to do.

use super::JobError;
use super::reentry;
use super::sync::{Arc, Condvar, Mutex, thread_local};
use std::task::{Context, Poll, Wake, Waker};

/// Whether it is to be looked at again.
#[derive(Default)]
struct Signal {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    fn with_waker() -> (Arc<Signal>, Waker) {
        let signal = Arc::new(Signal::default());
        let waker = Waker::from(std::sync::Arc::new(Handle(signal.clone())));
        (signal, waker)
    }
}

/// The model checker's `Arc` is none that a `Waker` can be made of.
struct Handle(Arc<Signal>);

impl Wake for Handle {
    fn wake(self: std::sync::Arc<Self>) {
        *self.0.woken.lock().unwrap_or_else(|poison| poison.into_inner()) = true;
        self.0.changed.notify_one();
    }
}

thread_local! {
    /// What this thread sleeps on, whatever it waits for: who wakes it for something that is over makes it look in vain.
    static SIGNAL: (Arc<Signal>, Waker) = Signal::with_waker();
}

/// Looks until there is something, and sleeps in between.
///
/// # Errors
/// What comes of it; or, in code of callers that the engine has called, that it would have to sleep.
pub(super) fn block_on<T>(mut look: impl FnMut(&mut Context) -> Poll<Result<T, JobError>>) -> Result<T, JobError> {
    // At the end of a thread's life its own may be gone.
    let value = SIGNAL.try_with(|signal| sleep_on(signal, &mut look));
    value.unwrap_or_else(|_| sleep_on(&Signal::with_waker(), &mut look))
}

fn sleep_on<T>(
    (signal, waker): &(Arc<Signal>, Waker),
    look: &mut impl FnMut(&mut Context) -> Poll<Result<T, JobError>>,
) -> Result<T, JobError> {
    let mut context = Context::from_waker(waker);
    loop {
        if let Poll::Ready(value) = look(&mut context) {
            return value;
        }
        if reentry::is_inside() {
            return Err(JobError::Reentrant);
        }
        let mut woken = signal.woken.lock().unwrap_or_else(|poison| poison.into_inner());
        while !*woken {
            woken = signal.changed.wait(woken).unwrap_or_else(|poison| poison.into_inner());
        }
        *woken = false;
    }
}
