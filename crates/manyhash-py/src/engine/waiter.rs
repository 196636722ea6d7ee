//! What waits for the engine in an event loop, and how it goes on.

use super::Asking;
use super::asyncio::Asyncio;
use super::caller::Caller;
use super::job::{Finished, Job};
use super::lock;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// An event loop, and how it is asked to look at what waits in it.
pub(super) struct Loop {
    pub(super) event_loop: Py<PyAny>,
    pub(super) asyncio: Arc<Asyncio>,
    caller: Caller,
}

impl Loop {
    pub(super) fn new(event_loop: &Bound<'_, PyAny>, asking: &Asking) -> Arc<Self> {
        let (asyncio, caller) = (asking.asyncio.clone(), asking.caller.clone());
        Arc::new(Loop { event_loop: event_loop.clone().unbind(), asyncio, caller })
    }
}

/// What waits in an event loop. The engine wakes it, from any thread; the loop's own thread looks at it.
pub(super) struct Waiter {
    pub(super) of: Arc<Loop>,
    /// Gone with its end, so that it and asyncio's future do not keep each other for ever. Out while it is polled: a wake-up
    /// meanwhile is one more look at it, by this same thread, when it is back in its place.
    what: Mutex<Option<What>>,
}

enum What {
    /// A task, by the future that it has given to its loop. It goes on by itself.
    Task(Py<PyAny>),
    Job(Job),
}

impl Wake for Waiter {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // The caller ends with the interpreter; nobody waits then.
        let _ = self.of.caller.send(self.clone());
    }
}

impl Waiter {
    pub(super) fn new(of: Arc<Loop>) -> Self {
        Waiter { of, what: Mutex::new(None) }
    }

    pub(super) fn of_job(of: Arc<Loop>, job: Job) -> Self {
        Waiter { of, what: Mutex::new(Some(What::Job(job))) }
    }

    /// A task waits until it is woken.
    pub(super) fn set_task(&self, future: Py<PyAny>) {
        *lock(&self.what) = Some(What::Task(future));
    }

    /// Polls a job.
    pub(super) fn poll(self: &Arc<Self>) -> Option<Finished> {
        let mut what = lock(&self.what);
        let Some(What::Job(mut job)) = what.take() else { return None };
        drop(what);
        let polled = job.work.as_mut().poll(&mut Context::from_waker(&Waker::from(self.clone())));
        match polled {
            Poll::Ready(outcome) => Some(Finished { answer: job.answer, outcome }),
            Poll::Pending => {
                *lock(&self.what) = Some(What::Job(job));
                None
            }
        }
    }

    /// Gives the job up as soon as its future is cancelled, if it is worth it.
    pub(super) fn watch(self: &Arc<Self>, py: Python<'_>) -> PyResult<()> {
        let future = match &*lock(&self.what) {
            Some(What::Job(Job { is_watched: true, answer, .. })) => answer.first().map(|future| future.clone_ref(py)),
            _ => None,
        };
        if let Some(future) = future {
            future.bind(py).call_method1("add_done_callback", (Bound::new(py, GiveUp(self.clone()))?,))?;
        }
        Ok(())
    }

    fn take_task(&self) -> Option<Py<PyAny>> {
        let mut what = lock(&self.what);
        match what.take() {
            Some(What::Task(future)) => Some(future),
            other => {
                *what = other;
                None
            }
        }
    }

    pub(super) fn give_up(&self, py: Python<'_>) {
        let what = lock(&self.what).take();
        py.detach(|| drop(what));
    }
}

/// All that were woken of one loop, as it calls them.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct Woken(Mutex<Vec<Arc<Waiter>>>);

impl Woken {
    pub(super) fn new(py: Python<'_>, waiters: Vec<Arc<Waiter>>) -> PyResult<Bound<'_, Self>> {
        Bound::new(py, Woken(Mutex::new(waiters)))
    }

    pub(super) fn give_up(&self, py: Python<'_>) {
        let waiters = std::mem::take(&mut *lock(&self.0));
        waiters.iter().for_each(|waiter| waiter.give_up(py));
    }
}

#[pymethods]
impl Woken {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let waiters = std::mem::take(&mut *lock(&self.0));
        let Some(asyncio) = waiters.first().map(|waiter| waiter.of.asyncio.clone()) else { return Ok(()) };
        let (tasks, finished) = py.detach(|| {
            let tasks: Vec<_> = waiters.iter().filter_map(|waiter| waiter.take_task()).collect();
            (tasks, waiters.iter().filter_map(Waiter::poll).collect::<Vec<_>>())
        });
        asyncio.resolve(py, tasks.into_iter().map(|future| (future, py.None())).collect())?;
        Finished::give(finished, py, &asyncio)
    }
}

/// Gives a job up when its future is done, as it is when it is cancelled.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct GiveUp(Arc<Waiter>);

#[pymethods]
impl GiveUp {
    fn __call__(&self, py: Python<'_>, _future: &Bound<'_, PyAny>) {
        self.0.give_up(py);
    }
}
