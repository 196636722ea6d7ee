//! The engine's futures, awaited by asyncio.
//!
//! They are polled by the event loop's own thread, which the [`caller`] asks when the engine has woken them. A digest is a
//! future of asyncio: those of one [`turn`] of a loop go to the engine together. A write is a [`coroutine`] of its own kind,
//! so that whoever is cancelled has written nothing.

mod asyncio;
mod caller;
mod coroutine;
mod held;
mod job;
mod message;
mod turn;
mod waiter;

pub(crate) use coroutine::Coroutine;
pub(crate) use turn::NextTurn;
pub(crate) use waiter::{GiveUp, Woken};

use crate::algorithm::{self, Names};
use asyncio::Asyncio;
use caller::Caller;
use coroutine::CoroutineResult;
use held::Held;
use manyhash::engine::{Builder, Engine as Inner, JobError};
use message::Message;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use turn::{Asked, Turns, Wanted};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn runtime_error(error: &JobError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A message of up to so many bytes is hashed before its future is given, by a thread that keeps the interpreter: to wait
/// for the loop's next turn takes longer.
const AT_ONCE: usize = 2047;

/// What is needed to ask the engine, and to be asked by it.
#[derive(Clone)]
struct Asking {
    engine: Inner,
    asyncio: Arc<Asyncio>,
    caller: Caller,
}

/// Hash messages of many asyncio tasks side by side, on threads that run no Python.
///
/// threads: number of hashing threads; None means one per core.
/// memory: limit in bytes on data handed over but not yet hashed; callers wait for room beyond it. None means 256 MiB.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct Engine {
    asking: Asking,
    turns: Turns,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (threads = None, memory = None))]
    fn new(py: Python<'_>, threads: Option<usize>, memory: Option<usize>) -> PyResult<Self> {
        if threads == Some(0) || memory == Some(0) {
            return Err(PyValueError::new_err("threads and memory must be at least 1, or None"));
        }
        let mut builder = Builder::default().threads(threads.and_then(NonZeroUsize::new));
        if let Some(memory) = memory {
            builder = builder.memory(memory);
        }
        let engine = builder.build().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let (asyncio, caller) = (Arc::new(Asyncio::new(py)?), caller::start(py)?);
        Ok(Engine { asking: Asking { engine, asyncio, caller }, turns: Turns::default() })
    }

    /// Return a future of the digest of a message; with several names, of a tuple of digests.
    ///
    /// bytes are handed over by reference, anything else is copied. Messages of up to 2047 bytes are hashed at once.
    /// Longer ones are collected, and go to the engine together when the event loop begins its next turn. So requesting
    /// many and then awaiting them is faster than awaiting each in turn. Cancelling the future gives the message up.
    fn digest<'py>(&self, name: Names, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, held) = (data.py(), Held::of(data)?);
        let Asking { engine, asyncio, .. } = &self.asking;
        let event_loop = asyncio.running_loop(py)?;
        let future = asyncio.future(py)?;
        let Names { algorithms, is_one } = name;
        let wanted = if held.len() <= AT_ONCE {
            let mut digesting = engine.digest(algorithms, held);
            match Pin::new(&mut digesting).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(outcome) => {
                    match outcome {
                        Ok(digests) => asyncio.set_result(&future, job::digests(py, &digests, is_one)?)?,
                        Err(error) => Asyncio::fail(&future, runtime_error(&error))?,
                    }
                    return Ok(future);
                }
                Poll::Pending => Wanted::Begun(digesting),
            }
        } else {
            Wanted::Held { algorithms, held }
        };
        let asked = Asked { future: future.clone().unbind(), wanted, is_one };
        self.turns.ask(&event_loop, &self.asking, asked)?;
        Ok(future)
    }

    /// Return one future of the digests of many messages, a list in their order. For short messages this is several
    /// times as fast as a future for each.
    ///
    /// bytes are handed over by reference, anything else is copied. Cancelling the future gives the messages up.
    fn digest_many<'py>(&self, name: &str, buffers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let algorithm = algorithm::parse(name)?;
        let py = buffers.py();
        let messages = Held::of_many(buffers)?;
        let event_loop = self.asking.asyncio.running_loop(py)?;
        let future = self.asking.asyncio.future(py)?;
        let asked =
            Asked { future: future.clone().unbind(), wanted: Wanted::Many { algorithm, messages }, is_one: false };
        self.turns.ask(&event_loop, &self.asking, asked)?;
        Ok(future)
    }

    /// Return a Stream for a message that comes in chunks.
    fn stream(&self, name: Names) -> Stream {
        let message = Message::new(self.asking.engine.stream(name.algorithms));
        Stream { message, is_one: name.is_one, asking: self.asking.clone() }
    }
}

/// A message that comes in chunks, hashed by an Engine as they arrive.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct Stream {
    message: Arc<Message>,
    is_one: bool,
    /// An engine is open as long as it has streams.
    asking: Asking,
}

#[pymethods]
impl Stream {
    /// Write a chunk. The await ends when the chunk is accepted, which may be before it is hashed. Chunks of 16 KiB or
    /// more are best.
    ///
    /// This is a coroutine: nothing happens until it is awaited. If it is cancelled, nothing was written, and the write
    /// may be tried again. If a task of its own runs it (create_task, gather, TaskGroup or shield), cancelling the
    /// caller may leave the chunk written: check `written`. A write that is never awaited makes every later call fail.
    fn write(&self, data: &Bound<'_, PyAny>) -> PyResult<Coroutine> {
        let work = self.message.write(Held::of(data)?)?;
        let work = Box::pin(async move { work.await.map(|()| CoroutineResult::Written) });
        Ok(Coroutine::write(work, self.message.clone(), self.asking.clone()))
    }

    /// End the message, and return the digest, or a tuple of digests if the stream has several names.
    ///
    /// This is a coroutine: nothing happens until it is awaited. If it is cancelled, nothing is lost: await finish()
    /// again. This also works after it has returned the digest.
    fn finish(&self) -> PyResult<Coroutine> {
        let (work, is_one) = (self.message.finish()?, self.is_one);
        let work = Box::pin(async move { work.await.map(|digests| CoroutineResult::Digests { digests, is_one }) });
        Ok(Coroutine::finish(work, self.asking.clone()))
    }

    /// The number of bytes accepted so far.
    #[getter]
    fn written(&self) -> u64 {
        self.message.written()
    }
}
