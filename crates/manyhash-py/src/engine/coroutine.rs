//! What a stream's calls give: coroutines, which ask the engine only in the very step in which their task goes on.
//!
//! asyncio may cancel a task after what it waits for has come, but before it goes on. So the future that the task waits for
//! only says that the engine had better be asked again; whoever is cancelled never asks, and nothing has happened.

use super::Asking;
use super::job;
use super::message::Message;
use super::runtime_error;
use super::waiter::{Loop, Waiter};
use manyhash::Digest;
use manyhash::engine::JobError;
use pyo3::exceptions::{PyBaseException, PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// What a coroutine comes to.
pub(super) enum CoroutineResult {
    Written,
    Digests { digests: Vec<Digest>, is_one: bool },
}

pub(super) type Work = Pin<Box<dyn Future<Output = Result<CoroutineResult, JobError>> + Send>>;

/// A call of a stream that is to be awaited, once. Awaited it begins; cancelled at any time, it has done nothing.
#[pyclass(module = "manyhash")]
pub(crate) struct Coroutine {
    /// Nothing when it is over. Nobody else has it meanwhile: the lock is for the type only.
    work: Mutex<Option<Work>>,
    /// Of a write that has not begun, the message that would miss it.
    missing: Option<Arc<Message>>,
    asking: Asking,
}

impl Coroutine {
    pub(super) fn write(work: Work, message: Arc<Message>, asking: Asking) -> Self {
        Coroutine { work: Mutex::new(Some(work)), missing: Some(message), asking }
    }

    pub(super) fn finish(work: Work, asking: Asking) -> Self {
        Coroutine { work: Mutex::new(Some(work)), missing: None, asking }
    }

    fn take(&mut self) -> Option<Work> {
        // It is begun, or somebody has said that it never shall be.
        self.missing = None;
        self.place().take()
    }

    fn place(&mut self) -> &mut Option<Work> {
        self.work.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the engine; gives a future for the loop, if there is something to wait for.
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(mut work) = self.take() else {
            return Err(PyRuntimeError::new_err("already awaited; call the method of the stream again"));
        };
        let of = Loop::new(&self.asking.asyncio.running_loop(py)?, &self.asking);
        let waiter = Arc::new(Waiter::new(of));
        let waker = Waker::from(waiter.clone());
        let polled = py.detach(|| work.as_mut().poll(&mut Context::from_waker(&waker)));
        match polled {
            Poll::Pending => {
                let future = self.asking.asyncio.future(py)?;
                // As asyncio's futures say it when they are awaited.
                future.setattr("_asyncio_future_blocking", true)?;
                waiter.set_task(future.clone().unbind());
                *self.place() = Some(work);
                Ok(future)
            }
            Poll::Ready(Ok(CoroutineResult::Written)) => Err(PyStopIteration::new_err(())),
            Poll::Ready(Ok(CoroutineResult::Digests { digests, is_one })) => {
                Err(PyStopIteration::new_err((job::digests(py, &digests, is_one)?.unbind(),)))
            }
            Poll::Ready(Err(error)) => Err(runtime_error(&error)),
        }
    }
}

#[pymethods]
impl Coroutine {
    fn __await__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.step(py)
    }

    /// What a task does: the value means nothing.
    fn send<'py>(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.step(value.py())
    }

    /// Ends it by an exception, CancelledError as a rule; nothing has been done then.
    #[pyo3(signature = (kind, value = None, traceback = None))]
    fn throw<'py>(
        &mut self,
        kind: &Bound<'py, PyAny>,
        value: Option<&Bound<'py, PyAny>>,
        traceback: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = traceback;
        self.close(kind.py());
        let exception = match value {
            Some(value) if value.is_instance_of::<PyBaseException>() => value.clone(),
            Some(value) => kind.call1((value,))?,
            None if kind.is_instance_of::<PyBaseException>() => kind.clone(),
            None => kind.call0()?,
        };
        Err(PyErr::from_value(exception))
    }

    /// Ends it; nothing has been done.
    fn close(&mut self, py: Python<'_>) {
        let work = self.take();
        py.detach(|| drop(work));
    }
}

impl Drop for Coroutine {
    fn drop(&mut self) {
        if let Some(message) = self.missing.take() {
            drop(self.place().take());
            message.misses_a_write();
        }
    }
}
