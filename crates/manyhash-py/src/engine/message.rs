//! The message of a stream: where it is, and what its calls do with it.

use super::held::Held;
use super::lock;
use manyhash::engine::{Digesting, HashStream, JobError};
use manyhash::{Algorithm, Digest};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A message that comes in chunks.
pub(super) struct Message {
    place: Mutex<Place>,
    written: AtomicU64,
}

enum Place {
    Open(HashStream<Vec<Algorithm>>),
    /// It has ended. Its digests stay here, so that whoever was cancelled can ask again.
    Digesting(Digesting<Vec<Algorithm>>),
    Done(Result<Vec<Digest>, JobError>),
    /// With the call of this name.
    Away(&'static str),
    /// A write to it was dropped before it began: it would miss bytes, and nobody would know.
    Incomplete,
}

impl Message {
    pub(super) fn new(stream: HashStream<Vec<Algorithm>>) -> Arc<Self> {
        Arc::new(Message { place: Mutex::new(Place::Open(stream)), written: AtomicU64::new(0) })
    }

    /// Bytes accepted.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    /// A write to it will never begin.
    pub(super) fn misses_a_write(&self) {
        let place = std::mem::replace(&mut *lock(&self.place), Place::Incomplete);
        drop(place);
    }

    /// Lends it to a call.
    ///
    /// # Errors
    /// RuntimeError if another call has it, or a write to it was lost.
    fn lend(self: &Arc<Self>, call: &'static str) -> PyResult<Lent> {
        let mut place = lock(&self.place);
        let error = match &*place {
            Place::Away(other) => format!("a {other} of this stream is not done: await it first"),
            Place::Incomplete => {
                "a write of this stream was never awaited, and its bytes are missing: start a new stream".to_owned()
            }
            Place::Open(_) | Place::Digesting(_) | Place::Done(_) => {
                let place = std::mem::replace(&mut *place, Place::Away(call));
                return Ok(Lent { place, message: self.clone() });
            }
        };
        Err(PyRuntimeError::new_err(error))
    }

    /// # Errors
    /// RuntimeError if the message cannot go on.
    pub(super) fn write(
        self: &Arc<Self>,
        bytes: Held,
    ) -> PyResult<impl Future<Output = Result<(), JobError>> + Send + use<>> {
        let mut lent = self.lend("write")?;
        if !matches!(lent.place, Place::Open(_)) {
            return Err(PyRuntimeError::new_err("the stream is finished"));
        }
        Ok(async move {
            let length = bytes.len() as u64;
            if let Place::Open(stream) = &mut lent.place {
                stream.write(bytes).await?;
                lent.message.written.fetch_add(length, Relaxed);
            }
            Ok(())
        })
    }

    /// # Errors
    /// RuntimeError if a call has the message, or a write to it was lost.
    pub(super) fn finish(
        self: &Arc<Self>,
    ) -> PyResult<impl Future<Output = Result<Vec<Digest>, JobError>> + Send + use<>> {
        let mut lent = self.lend("finish")?;
        Ok(async move {
            lent.place = match std::mem::replace(&mut lent.place, Place::Incomplete) {
                Place::Open(stream) => Place::Digesting(stream.finish()),
                other => other,
            };
            if let Place::Digesting(digesting) = &mut lent.place {
                lent.place = Place::Done(digesting.await);
            }
            if let Place::Done(outcome) = &lent.place { outcome.clone() } else { Err(JobError::Closed) }
        })
    }
}

/// A message out of its place; it goes back however the call ends.
struct Lent {
    place: Place,
    message: Arc<Message>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        *lock(&self.message.place) = std::mem::replace(&mut self.place, Place::Incomplete);
    }
}
