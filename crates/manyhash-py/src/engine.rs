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

/// Hashes messages of many asyncio tasks side by side, on threads of its own, which run no Python.
///
/// threads: how many hash; None is one for every core.
/// memory: bytes handed over and not yet hashed at the most; whoever comes then waits. None is 256 MiB.
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

    /// The digest of a message, as a future; of several names, a tuple of digests.
    ///
    /// bytes are handed over by reference, anything else is copied. Up to 2047 bytes are hashed at once. Longer messages
    /// go to the engine when the event loop begins its next turn, all that were asked for until then together, so it is
    /// faster to ask for many and then await them than to await each. Cancelled, a message is given up.
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

    /// The digests of many messages, as one future of a list, in their order. For short messages it is several times as
    /// fast as a future for each.
    ///
    /// bytes are handed over by reference, anything else is copied. Cancelled, the messages are given up.
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

    /// A message that comes in chunks.
    fn stream(&self, name: Names) -> Stream {
        let message = Message::new(self.asking.engine.stream(name.algorithms));
        Stream { message, is_one: name.is_one, asking: self.asking.clone() }
    }
}

/// A message that comes in chunks, hashed by an Engine as they come.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct Stream {
    message: Arc<Message>,
    is_one: bool,
    /// An engine is open as long as it has streams.
    asking: Asking,
}

#[pymethods]
impl Stream {
    /// Hands a chunk over, to be awaited; then it is accepted, which may be before it is hashed. Chunks of 16 KiB and more
    /// are best.
    ///
    /// A coroutine: nothing happens until it is awaited. Cancelled while it is awaited, nothing is written, and the message
    /// can go on. If a task of its own awaits it (by create_task, gather, TaskGroup or shield), that task may have written
    /// when whoever waits for it is cancelled: `written` tells. A write that is never awaited makes every later call fail.
    fn write(&self, data: &Bound<'_, PyAny>) -> PyResult<Coroutine> {
        let work = self.message.write(Held::of(data)?)?;
        let work = Box::pin(async move { work.await.map(|()| CoroutineResult::Written) });
        Ok(Coroutine::write(work, self.message.clone(), self.asking.clone()))
    }

    /// Ends the message, to be awaited: the digest, or a tuple of them if the stream has several names.
    ///
    /// A coroutine: nothing happens until it is awaited. If it is cancelled the message has ended or not, and nothing is
    /// lost: finish() may be awaited again, also after it gave the digest.
    fn finish(&self) -> PyResult<Coroutine> {
        let (work, is_one) = (self.message.finish()?, self.is_one);
        let work = Box::pin(async move { work.await.map(|digests| CoroutineResult::Digests { digests, is_one }) });
        Ok(Coroutine::finish(work, self.asking.clone()))
    }

    /// Bytes accepted so far.
    #[getter]
    fn written(&self) -> u64 {
        self.message.written()
    }
}
