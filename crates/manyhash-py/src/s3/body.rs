//! The bytes of an object, read from the client's stream by one thread after another.

use super::desk::Desk;
use super::refusal::{self, Target, Trouble, malformed};
use bytes::Bytes;
use futures_util::stream;
use manyhash_s3_client::remote::{Body, RemoteError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::Arc;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// A stream that is being read.
pub(super) struct Reading {
    stream: Py<PyAny>,
    /// Bytes that are still to come.
    left: u64,
    target: Target,
}

impl Reading {
    /// Of a stream with so many bytes.
    pub(super) fn new(stream: Py<PyAny>, length: u64, target: Target) -> Reading {
        Reading { stream, left: length, target }
    }

    /// The next bytes, at least one; none at the end.
    fn next(&mut self, py: Python<'_>) -> Result<Option<Bytes>, Trouble> {
        if self.left == 0 {
            return Ok(None);
        }
        let bytes = self.read(py, CHUNK)?;
        let length = bytes.len() as u64;
        if length == 0 {
            return Err(self.wrong("ended early").into());
        }
        // Read to its very end, so that the connection is used again.
        if length > self.left || (length == self.left && !self.read(py, 1)?.is_empty()) {
            return Err(self.wrong("has more bytes than it announced").into());
        }
        self.left -= length;
        Ok(Some(bytes))
    }

    fn read(&self, py: Python<'_>, most: usize) -> Result<Bytes, Trouble> {
        let read = self.stream.bind(py).call_method1("read", (most,));
        let read = read.map_err(|exception| refusal::of_body(py, exception, &self.target))?;
        match read.extract::<PyBackedBytes>() {
            Ok(bytes) => Ok(Bytes::from_owner(bytes)),
            Err(_) => Err(self.wrong(&format!("has a body of {}, not bytes", read.get_type().name()?)).into()),
        }
    }

    fn wrong(&self, reason: &str) -> RemoteError {
        malformed(&self.target, "GetObject", reason)
    }
}

/// The pieces of a body, to its end or the first error.
pub(super) fn pieces(desk: Arc<Desk>, reading: Reading) -> Body {
    Box::pin(stream::unfold(Some(reading), move |reading| {
        let desk = desk.clone();
        async move {
            let mut reading = reading?;
            let work = move |py: Python<'_>, _: &_| {
                let bytes = reading.next(py)?;
                Ok(bytes.map(|bytes| (bytes, reading)))
            };
            match desk.ask(work).await {
                Ok(Some((bytes, reading))) => Some((Ok(bytes), Some(reading))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        }
    }))
}
