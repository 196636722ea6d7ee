//! Requests on their way to threads that make them, and back.
//!
//! The library's futures are polled without the interpreter, and only write down what is to be asked. The thread that
//! polls them hands that over when it has the interpreter again, all at once: a thread that waits for the interpreter
//! beside busy ones waits for milliseconds. The threads are those of `concurrent.futures`.

use super::lock;
use super::refusal::Trouble;
use manyhash_s3_client::remote::RemoteError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// Connections of a client that does not say how many it has: what botocore's have by default.
const CONNECTIONS: usize = 10;

/// Threads at most, however many connections there are.
const MAX_THREADS: usize = 256;

/// The client's methods, looked up once.
pub(super) struct Methods {
    pub(super) list_objects_v2: Py<PyAny>,
    pub(super) head_object: Py<PyAny>,
    pub(super) get_object_attributes: Py<PyAny>,
    pub(super) get_object: Py<PyAny>,
}

/// What is to be done by one of the threads.
type Work = Box<dyn FnOnce(Python<'_>) + Send>;

/// Where requests wait until there is a thread for them.
pub(super) struct Desk {
    methods: Arc<Methods>,
    threads: Py<PyAny>,
    waiting: Mutex<Vec<Work>>,
    failure: Arc<Failure>,
}

/// The first exception that is the caller's to see.
#[derive(Default)]
struct Failure(Mutex<Option<PyErr>>);

impl Failure {
    fn set(&self, exception: PyErr) {
        lock(&self.0).get_or_insert(exception);
    }

    fn is_set(&self) -> bool {
        lock(&self.0).is_some()
    }
}

impl Desk {
    /// With as many threads as the client has connections.
    pub(super) fn new(py: Python<'_>, methods: Methods, client: &Bound<'_, PyAny>) -> PyResult<Desk> {
        let most = || client.getattr("meta")?.getattr("config")?.getattr("max_pool_connections")?.extract::<usize>();
        let arguments = PyDict::new(py);
        arguments.set_item("max_workers", most().unwrap_or(CONNECTIONS).clamp(1, MAX_THREADS))?;
        arguments.set_item("thread_name_prefix", "manyhash-s3")?;
        let pool = py.import("concurrent.futures")?.getattr("ThreadPoolExecutor")?;
        let threads = pool.call((), Some(&arguments))?.unbind();
        Ok(Desk { methods: Arc::new(methods), threads, waiting: Mutex::default(), failure: Arc::default() })
    }

    /// Has a thread do something, and returns what comes of it; never, if that is the caller's to see.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(Python<'_>, &Methods) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, RemoteError> {
        let (sender, receiver) = oneshot::channel();
        let reply = Reply { sender: Some(sender), failure: self.failure.clone() };
        let methods = self.methods.clone();
        lock(&self.waiting).push(Box::new(move |py| {
            if reply.is_needed() {
                reply.give(work(py, &methods));
            }
        }));
        match receiver.await {
            Ok(answer) => answer,
            Err(_) => std::future::pending().await,
        }
    }

    /// Hands over what waits.
    ///
    /// # Errors
    /// RuntimeError if the interpreter is about to end, and starts no more threads.
    pub(super) fn hand_over(&self, py: Python<'_>) -> PyResult<()> {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for work in waiting {
            let job = Py::new(py, Job(Mutex::new(Some(work))))?;
            self.threads.bind(py).call_method1("submit", (job,))?;
        }
        Ok(())
    }

    /// Takes the exception that the caller has to see, if there is one.
    pub(super) fn take_failure(&self) -> Option<PyErr> {
        lock(&self.failure.0).take()
    }
}

/// The way back.
struct Reply<T> {
    sender: Option<oneshot::Sender<Result<T, RemoteError>>>,
    failure: Arc<Failure>,
}

impl<T> Reply<T> {
    /// Whether there is anybody to answer to.
    fn is_needed(&self) -> bool {
        self.sender.as_ref().is_some_and(|sender| !sender.is_closed()) && !self.failure.is_set()
    }

    fn give(mut self, answer: Result<T, Trouble>) {
        let answer = match answer {
            Ok(answer) => Ok(answer),
            Err(Trouble::Remote(error)) => Err(error),
            Err(Trouble::Raised(exception)) => return self.failure.set(exception),
        };
        if let Some(sender) = self.sender.take() {
            // Nobody waits any more, if it fails.
            let _ = sender.send(answer);
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        // Whoever waits would wait for ever. What is set already is the better reason.
        if self.sender.as_ref().is_some_and(|sender| !sender.is_closed()) {
            self.failure.set(PyRuntimeError::new_err("a request was given up before it was answered"));
        }
    }
}

/// What one of the threads calls.
#[pyclass(frozen, module = "manyhash.s3")]
pub(crate) struct Job(Mutex<Option<Work>>);

#[pymethods]
impl Job {
    fn __call__(&self, py: Python<'_>) {
        let work = lock(&self.0).take();
        if let Some(work) = work {
            work(py);
        }
    }
}
