//! The engine's futures, awaited by asyncio.
//!
//! Each of them becomes a future of the event loop that runs when it is made. It is polled by the loop's own thread: once
//! at the start, and then whenever the engine wakes it. The engine's threads must not wait for the interpreter, so a waker
//! only sends its task to a thread of its own kind, the *caller*, which asks the task's loop to poll it.

use crate::algorithm::Names;
use crate::buffer::Bytes;
use manyhash::engine::{Builder, Engine as Inner, JobError, Stream as InnerStream};
use manyhash::{Algorithm, Digest};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCFunction, PyTuple};
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn runtime_error(error: &JobError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Bytes that the engine may keep: `bytes` by a reference, since they never change, anything else by a copy.
enum Held {
    Object {
        /// Keeps the bytes in place; let go of from any thread.
        _object: Py<PyBytes>,
        bytes: &'static [u8],
    },
    Copy(Vec<u8>),
}

impl Held {
    fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(match Bytes::of(data)? {
            Bytes::Object(object) => {
                let bytes: &[u8] = object.as_bytes();
                // SAFETY: bytes objects never change or move their bytes, and `_object`, which is dropped with the slice,
                // has a reference to this one. Reading them needs no interpreter.
                let bytes = unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
                Held::Object { _object: object.unbind(), bytes }
            }
            Bytes::Exported(exported) => Held::Copy(exported.as_slice().to_vec()),
        })
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        match self {
            Held::Object { bytes, .. } => bytes,
            Held::Copy(bytes) => bytes,
        }
    }
}

/// What a task comes to.
enum Outcome {
    Written,
    One(Digest),
    Several(Vec<Digest>),
}

impl Outcome {
    fn of(digests: Vec<Digest>, is_one: bool) -> Self {
        match digests.first() {
            Some(digest) if is_one => Outcome::One(*digest),
            _ => Outcome::Several(digests),
        }
    }

    fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let object = |digest: &Digest| PyBytes::new(py, digest.as_bytes());
        match self {
            Outcome::Written => Ok(py.None().into_bound(py)),
            Outcome::One(digest) => Ok(object(&digest).into_any()),
            Outcome::Several(digests) => Ok(PyTuple::new(py, digests.iter().map(object))?.into_any()),
        }
    }
}

type Work = Pin<Box<dyn Future<Output = Result<Outcome, JobError>> + Send>>;

/// A future of the engine behind one of asyncio.
struct Task {
    /// Out while it is polled, and gone when it is done or given up.
    work: Mutex<Option<Work>>,
    /// Gone with the work, so that the two futures do not keep each other for ever.
    asyncio: Mutex<Option<Asyncio>>,
    callers: Sender<Arc<Task>>,
}

/// What is asyncio's.
struct Asyncio {
    event_loop: Py<PyAny>,
    future: Py<PyAny>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        // The caller ends with the interpreter; nobody waits then.
        let _ = self.callers.clone().send(self);
    }
}

/// The task as Python's loop calls it.
#[pyclass(frozen)]
struct Handle(Arc<Task>);

#[pymethods]
impl Handle {
    /// Polls the work; called by the loop.
    fn poll(&self, py: Python<'_>) -> PyResult<()> {
        let task = &self.0;
        // A wake-up meanwhile is one more call of this, by this same thread, when the work is back in its place.
        let Some(mut work) = lock(&task.work).take() else { return Ok(()) };
        let polled = py.detach(|| {
            let polled = work.as_mut().poll(&mut Context::from_waker(&Waker::from(task.clone())));
            if polled.is_pending() {
                *lock(&task.work) = Some(work);
            }
            polled
        });
        let Poll::Ready(outcome) = polled else { return Ok(()) };
        let Some(Asyncio { future, .. }) = lock(&task.asyncio).take() else { return Ok(()) };
        let future = future.bind(py);
        if !future.call_method0("done")?.is_truthy()? {
            match outcome {
                Ok(outcome) => future.call_method1("set_result", (outcome.into_object(py)?,))?,
                Err(error) => future.call_method1("set_exception", (runtime_error(&error),))?,
            };
        }
        Ok(())
    }

    /// Gives the work up, if it is not done; called when asyncio's future is, as it is when it is cancelled.
    fn __call__(&self, py: Python<'_>, _future: &Bound<'_, PyAny>) {
        self.0.give_up(py);
    }
}

impl Task {
    fn give_up(&self, py: Python<'_>) {
        let (work, asyncio) = (lock(&self.work).take(), lock(&self.asyncio).take());
        py.detach(|| drop(work));
        drop(asyncio);
    }

    /// Gives the work up if asyncio's future is cancelled, before the loop comes to say so.
    fn give_up_if_cancelled(&self, py: Python<'_>) -> PyResult<()> {
        let future = lock(&self.asyncio).as_ref().map(|asyncio| asyncio.future.clone_ref(py));
        if let Some(future) = future
            && future.bind(py).call_method0("cancelled")?.is_truthy()?
        {
            self.give_up(py);
        }
        Ok(())
    }

    /// The work as a future of the running loop, polled here for the first time.
    fn start(py: Python<'_>, callers: Sender<Arc<Task>>, work: Work) -> PyResult<(Arc<Task>, Bound<'_, PyAny>)> {
        let event_loop = py.import("asyncio")?.call_method0("get_running_loop")?;
        let future = event_loop.call_method0("create_future")?;
        let asyncio = Asyncio { event_loop: event_loop.unbind(), future: future.clone().unbind() };
        let task = Arc::new(Task { work: Mutex::new(Some(work)), asyncio: Mutex::new(Some(asyncio)), callers });
        let handle = Bound::new(py, Handle(task.clone()))?;
        handle.get().poll(py)?;
        if lock(&task.work).is_some() {
            future.call_method1("add_done_callback", (handle,))?;
        }
        Ok((task, future))
    }

    /// Asks the task's loop to poll it.
    fn call(self: Arc<Self>, py: Python<'_>) {
        let event_loop = lock(&self.asyncio).as_ref().map(|asyncio| asyncio.event_loop.clone_ref(py));
        let Some(event_loop) = event_loop else { return };
        let asked = Bound::new(py, Handle(self.clone())).and_then(|handle| {
            let poll = handle.getattr("poll")?;
            event_loop.bind(py).call_method1("call_soon_threadsafe", (poll,))
        });
        if asked.is_err() {
            // The loop is closed, and nobody will ever poll.
            self.give_up(py);
        }
    }
}

/// Whether this process's interpreter is about to end. Callers hold it while they ask for the interpreter: CPython before
/// 3.13 ends a thread that asks too late from inside, which aborts the process as it passes through Rust.
type Ending = Arc<Mutex<bool>>;

/// That of this process, with its number. A forked child has one of its own: a caller that it has not may hold its parent's.
static ENDING: Mutex<Option<(u32, Ending)>> = Mutex::new(None);

fn ending(py: Python<'_>) -> PyResult<Ending> {
    let process = std::process::id();
    let ending = Ending::default();
    {
        // Nothing in here lets go of the interpreter, so that no fork finds it locked.
        let mut known = lock(&ENDING);
        if let Some((of, known)) = &*known
            && *of == process
        {
            return Ok(known.clone());
        }
        *known = Some((process, ending.clone()));
    }
    let end = ending.clone();
    let at_exit = PyCFunction::new_closure(py, None, None, move |arguments, _| {
        if std::process::id() == process {
            // Callers that wait for the interpreter get it now, for the last time.
            arguments.py().detach(|| *lock(&end) = true);
        }
    })?;
    py.import("atexit")?.call_method1("register", (at_exit,))?;
    Ok(ending)
}

/// Starts the thread that asks loops to poll what the engine has woken. It ends with the engine and its tasks.
fn start_caller(py: Python<'_>) -> PyResult<Sender<Arc<Task>>> {
    let (sender, receiver) = channel::<Arc<Task>>();
    let ending = ending(py)?;
    let work = move || {
        while let Ok(first) = receiver.recv() {
            // All that were woken meanwhile, so that the interpreter is waited for once.
            let woken: Vec<Arc<Task>> = std::iter::once(first).chain(receiver.try_iter()).collect();
            let ending = lock(&ending);
            if *ending {
                return;
            }
            let called = Python::try_attach(|py| woken.into_iter().for_each(|task| task.call(py)));
            if called.is_none() {
                // The interpreter is gone.
                return;
            }
        }
    };
    std::thread::Builder::new().name("manyhash-asyncio".to_owned()).spawn(work)?;
    Ok(sender)
}

/// Hashes messages of many asyncio tasks side by side, on threads of its own, which run no Python.
///
/// threads: how many hash; None is one for every core.
/// memory: bytes handed over and not yet hashed at the most; whoever comes then waits. None is 256 MiB.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct Engine {
    inner: Inner,
    callers: Sender<Arc<Task>>,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (threads = None, memory = None))]
    fn new(py: Python<'_>, threads: Option<usize>, memory: Option<usize>) -> PyResult<Self> {
        if threads == Some(0) || memory == Some(0) {
            return Err(PyValueError::new_err("threads and memory must be at least 1, or None"));
        }
        let mut builder = Builder::default().threads(threads.unwrap_or(0));
        if let Some(memory) = memory {
            builder = builder.memory(memory);
        }
        let inner = builder.build().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Engine { inner, callers: start_caller(py)? })
    }

    /// The digest of a message, to be awaited; of several names, a tuple of digests.
    ///
    /// bytes are handed over by reference, anything else is copied. A message of a few KiB is hashed at once. Cancelled,
    /// the message is given up.
    fn digest<'py>(&self, name: Names, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, held) = (data.py(), Held::of(data)?);
        let digesting = py.detach(|| self.inner.digest(name.algorithms, held));
        let engine = self.inner.clone();
        let work = async move {
            // Open until then: what is in line for memory is let in.
            let _open = engine;
            Ok(Outcome::of(digesting.await?, name.is_one))
        };
        Ok(Task::start(py, self.callers.clone(), Box::pin(work))?.1)
    }

    /// A message that comes in chunks.
    fn stream(&self, name: Names) -> Stream {
        let stream = self.inner.stream(name.algorithms);
        let place = Arc::new(Mutex::new(Some(stream)));
        Stream {
            place,
            write: Mutex::new(None),
            is_one: name.is_one,
            callers: self.callers.clone(),
            engine: self.inner.clone(),
        }
    }
}

type Place = Arc<Mutex<Option<InnerStream<Vec<Algorithm>>>>>;

/// A message that comes in chunks, hashed by an Engine as they come.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct Stream {
    /// Nothing while a chunk is on its way, and when the message has ended.
    place: Place,
    /// The last write.
    write: Mutex<Option<Arc<Task>>>,
    is_one: bool,
    callers: Sender<Arc<Task>>,
    /// An engine is open as long as it has streams.
    engine: Inner,
}

impl Stream {
    fn take(&self, py: Python<'_>) -> PyResult<InnerStream<Vec<Algorithm>>> {
        // Out of the lock before Python is called.
        let write = lock(&self.write).take();
        if let Some(write) = write {
            write.give_up_if_cancelled(py)?;
            *lock(&self.write) = Some(write);
        }
        let stream = lock(&self.place).take();
        stream.ok_or_else(|| PyRuntimeError::new_err("the stream is finished, or a write to it is not done"))
    }
}

#[pymethods]
impl Stream {
    /// Hands a chunk over; awaited, it is accepted, which may be before it is hashed. Cancelled before that, nothing is
    /// written, and the message can go on. Chunks of 16 KiB and more are best.
    fn write<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, held) = (data.py(), Held::of(data)?);
        let mut lent = Lent { stream: Some(self.take(py)?), place: self.place.clone() };
        let engine = self.engine.clone();
        let work = async move {
            let _open = engine;
            if let Some(stream) = &mut lent.stream {
                stream.write(held).await?;
            }
            Ok(Outcome::Written)
        };
        let (task, future) = Task::start(py, self.callers.clone(), Box::pin(work))?;
        *lock(&self.write) = Some(task);
        Ok(future)
    }

    /// Ends the message; awaited, it is the digest, or a tuple of them if the stream has several names.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // Without a loop nobody could await the digest, and the message would be lost.
        py.import("asyncio")?.call_method0("get_running_loop")?;
        let (stream, is_one) = (self.take(py)?, self.is_one);
        let digesting = py.detach(|| stream.finish());
        let work = async move { Ok(Outcome::of(digesting.await?, is_one)) };
        Ok(Task::start(py, self.callers.clone(), Box::pin(work))?.1)
    }
}

/// A stream out of its place for a write; it goes back however that ends.
struct Lent {
    stream: Option<InnerStream<Vec<Algorithm>>>,
    place: Place,
}

impl Drop for Lent {
    fn drop(&mut self) {
        *lock(&self.place) = self.stream.take();
    }
}
