//! Waiting for a future on a thread that has nothing else to do.

use super::sync::{Arc, Condvar, Mutex};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

/// Whether the future is to be polled again.
#[derive(Default)]
struct Signal {
    woken: Mutex<bool>,
    changed: Condvar,
}

/// The model checker's `Arc` is none that a `Waker` can be made of.
struct Handle(Arc<Signal>);

impl Wake for Handle {
    fn wake(self: std::sync::Arc<Self>) {
        *self.0.woken.lock().unwrap_or_else(|poison| poison.into_inner()) = true;
        self.0.changed.notify_one();
    }
}

/// Polls it until it is ready, and sleeps in between.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    // What is done already needs nothing to sleep on.
    if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return value;
    }
    let signal = Arc::new(Signal::default());
    let waker = Waker::from(std::sync::Arc::new(Handle(signal.clone())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        let mut woken = signal.woken.lock().unwrap_or_else(|poison| poison.into_inner());
        while !*woken {
            woken = signal.changed.wait(woken).unwrap_or_else(|poison| poison.into_inner());
        }
        *woken = false;
    }
}
