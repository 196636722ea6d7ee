//! What goes wrong with a request.

use manyhash_s3_client::remote::{RemoteError, RemoteErrorKind};
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt;

/// The object, or with the beginning of a key the bucket, that a request is about.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) bucket: String,
    pub(super) key: String,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key is any text: one with line breaks must not look like a message of its own.
        write!(f, "s3://{}/{}", self.bucket, self.key.escape_debug())
    }
}

/// Why a request has no answer.
pub(super) enum Trouble {
    /// The library has to know.
    Remote(RemoteError),
    /// The caller has to.
    Raised(PyErr),
}

impl From<RemoteError> for Trouble {
    fn from(error: RemoteError) -> Self {
        Trouble::Remote(error)
    }
}

/// What the client's own code raises.
impl From<PyErr> for Trouble {
    fn from(exception: PyErr) -> Self {
        Trouble::Raised(exception)
    }
}

/// An exception that is S3's answer, or that ended a body.
#[derive(Debug, thiserror::Error)]
#[error("{target}: {text}")]
struct Exception {
    target: Target,
    text: String,
    exception: PyErr,
}

/// An answer that is none.
#[derive(Debug, thiserror::Error)]
#[error("{target}: the answer to {operation} {reason}")]
struct Malformed {
    target: Target,
    operation: &'static str,
    reason: String,
}

/// What an exception of a call means. Those of botocore that are S3's answers have it as the attribute `response`.
pub(super) fn of_call(py: Python<'_>, exception: PyErr, target: &Target, is_head: bool) -> Trouble {
    let Some((code, status)) = refusal(exception.value(py)) else { return Trouble::Raised(exception) };
    let kind = match status {
        // A HEAD of a part that is not there has no code.
        416 if is_head => RemoteErrorKind::NotFound,
        status => RemoteErrorKind::of_refusal(&code, status),
    };
    Trouble::Remote(remote(py, kind, exception, target))
}

/// What an exception means that ends a body: that there may be more at another attempt.
pub(super) fn of_body(py: Python<'_>, exception: PyErr, target: &Target) -> Trouble {
    if !exception.is_instance_of::<PyException>(py) {
        // The interpreter is to stop.
        return Trouble::Raised(exception);
    }
    Trouble::Remote(remote(py, RemoteErrorKind::Other, exception, target))
}

fn remote(py: Python<'_>, kind: RemoteErrorKind, exception: PyErr, target: &Target) -> RemoteError {
    let text = match exception.value(py).str() {
        Ok(text) if !text.is_empty().unwrap_or(false) => text.to_string_lossy().into_owned(),
        // Some have no words.
        _ => exception.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string()),
    };
    RemoteError::new(kind, Exception { target: target.clone(), text, exception })
}

/// S3's code, and the status of its answer, which is 0 if it is not told.
fn refusal(exception: &Bound<'_, PyAny>) -> Option<(String, u16)> {
    let response = exception.getattr("response").ok()?.cast_into::<PyDict>().ok()?;
    let error = response.get_item("Error").ok()??.cast_into::<PyDict>().ok()?;
    let code = error.get_item("Code").ok()??.extract().ok()?;
    let status = || -> Option<u16> {
        let metadata = response.get_item("ResponseMetadata").ok()??.cast_into::<PyDict>().ok()?;
        metadata.get_item("HTTPStatusCode").ok()??.extract().ok()
    };
    Some((code, status().unwrap_or(0)))
}

/// An answer that is none, for a reason that goes on after "the answer to HeadObject".
pub(super) fn malformed(target: &Target, operation: &'static str, reason: impl Into<String>) -> RemoteError {
    let malformed = Malformed { target: target.clone(), operation, reason: reason.into() };
    RemoteError::new(RemoteErrorKind::Other, malformed)
}

/// The client's own exception again, or one that says what is wrong.
pub(super) fn exception(error: RemoteError) -> PyErr {
    match error.into_cause().downcast::<Exception>() {
        Ok(cause) => cause.exception,
        Err(cause) => PyRuntimeError::new_err(cause.to_string()),
    }
}
