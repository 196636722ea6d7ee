//! Digests on their way through the engine, and the futures that wait for them.

use super::asyncio::Asyncio;
use super::runtime_error;
use manyhash::Digest;
use manyhash::engine::{Engine, JobError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::future::Future;
use std::pin::Pin;

type Digests = Result<Vec<Digest>, JobError>;

/// A future of the engine.
pub(super) type Work = Pin<Box<dyn Future<Output = Digests> + Send>>;

/// Digests to come.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) answer: Answer,
    /// Whether it is given up as soon as its future is cancelled.
    pub(super) is_watched: bool,
    /// Open until then: what is in line for memory is let in.
    pub(super) _open: Engine,
}

/// Who gets the digests.
pub(super) enum Answer {
    /// Of many messages, each the future of its own.
    Each(Vec<Py<PyAny>>),
    /// Of one message by several algorithms, one future all of them.
    Tuple(Py<PyAny>),
    /// Of many messages, one future all of them.
    List(Py<PyAny>),
}

impl Answer {
    pub(super) fn first(&self) -> Option<&Py<PyAny>> {
        match self {
            Answer::Each(futures) => futures.first(),
            Answer::Tuple(future) | Answer::List(future) => Some(future),
        }
    }
}

/// A job that is done.
pub(super) struct Finished {
    pub(super) answer: Answer,
    pub(super) outcome: Digests,
}

impl Finished {
    /// Gives all the digests to their futures.
    pub(super) fn give(finished: Vec<Self>, py: Python<'_>, asyncio: &Asyncio) -> PyResult<()> {
        let mut results = Vec::new();
        for Finished { answer, outcome } in finished {
            match (answer, outcome) {
                (Answer::Each(futures), Ok(digests)) => {
                    results.extend(futures.into_iter().zip(digests.iter().map(|digest| object(py, digest).into())));
                }
                (Answer::Tuple(future), Ok(digests)) => results.push((future, tuple(py, &digests)?.into())),
                (Answer::List(future), Ok(digests)) => {
                    let list = PyList::new(py, digests.iter().map(|digest| object(py, digest)))?;
                    results.push((future, list.into_any().unbind()));
                }
                (Answer::Each(futures), Err(error)) => {
                    futures.iter().try_for_each(|future| Asyncio::fail(future.bind(py), runtime_error(&error)))?;
                }
                (Answer::Tuple(future) | Answer::List(future), Err(error)) => {
                    Asyncio::fail(future.bind(py), runtime_error(&error))?
                }
            }
        }
        asyncio.resolve(py, results)
    }
}

fn object<'py>(py: Python<'py>, digest: &Digest) -> Bound<'py, PyBytes> {
    PyBytes::new(py, digest.as_bytes())
}

fn tuple<'py>(py: Python<'py>, digests: &[Digest]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, digests.iter().map(|digest| object(py, digest)))
}

/// The digests of a message as Python gets them: of one name the digest, of several a tuple.
pub(super) fn digests<'py>(py: Python<'py>, digests: &[Digest], is_one: bool) -> PyResult<Bound<'py, PyAny>> {
    match digests.first() {
        Some(digest) if is_one => Ok(object(py, digest).into_any()),
        _ => Ok(tuple(py, digests)?.into_any()),
    }
}
