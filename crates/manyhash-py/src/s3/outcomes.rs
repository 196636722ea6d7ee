//! Whether two sides hold the same bytes, name by name.

use super::bell::Bell;
use super::client::{self, Bucket};
use super::desk::Desk;
use super::refusal;
use crate::files::{LOOK, os_error, some_threads};
use futures_util::stream::{self, Stream};
use manyhash_s3_client::remote::Address;
use manyhash_s3_client::verify as comparison;
use manyhash_s3_client::verify::{LocalFiles, Outcome, Settings, Side, SideError, State};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, TryLockError};
use std::task::{Context, Poll, Waker};

/// Outcomes that are taken from the stream at a time, so that the interpreter is let go of once for all of them.
const BATCH: usize = 256;

type Found = Pin<Box<dyn Stream<Item = Result<Outcome, SideError>> + Send>>;

/// Compare two sides, and return an iterator of an Outcome for each name, in the order of names.
///
/// a, b: the path of a directory, or "s3://BUCKET" or "s3://BUCKET/PREFIX" as a str. Names are those below the directory,
/// or what follows PREFIX and a slash. Symbolic links in a directory are not followed.
/// client: boto3.client("s3"), or what has its methods list_objects_v2, head_object, get_object_attributes and get_object,
/// which are called by as many threads as it has connections (max_pool_connections).
/// download: whether objects are downloaded that nothing else decides about.
/// threads: number of hashing threads; None means one per core.
///
/// Nothing goes on but while an outcome is waited for and in what was asked before. Of S3's refusals, those of a list are
/// raised, and those of an object are the reason of its outcome. Any other exception of the client is raised as it is.
/// After an exception, KeyboardInterrupt among them, there are no more outcomes.
#[pyfunction]
#[pyo3(signature = (a, b, *, client = None, download = false, threads = None))]
pub(super) fn verify(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    client: Option<&Bound<'_, PyAny>>,
    download: bool,
    threads: Option<usize>,
) -> PyResult<Outcomes> {
    let py = a.py();
    let threads = some_threads(threads)?;
    let mut desk = None;
    let sides = [side(a, client, &mut desk)?, side(b, client, &mut desk)?];
    let mut settings = Settings::default();
    settings.download = download;
    let found = Box::pin(comparison::verify(sides, LocalFiles::new(threads), settings));
    let outcome = py.import("manyhash.s3")?.getattr("Outcome")?.unbind();
    let run = Run {
        found,
        ready: VecDeque::new(),
        is_over: false,
        desk,
        bell: Arc::default(),
        outcome,
        process: std::process::id(),
    };
    Ok(Outcomes(Mutex::new(Some(run))))
}

/// A side as it is named. Buckets have one desk.
fn side(
    named: &Bound<'_, PyAny>,
    client: Option<&Bound<'_, PyAny>>,
    desk: &mut Option<Arc<Desk>>,
) -> PyResult<Side<Bucket>> {
    let py = named.py();
    if let Ok(text) = named.cast::<PyString>()
        && let Some(address) = Address::parse(&text.extract::<OsString>()?)
    {
        let address = address.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let Address { bucket, prefix } = address.below();
        let desk = match (desk, client) {
            (Some(desk), _) => desk,
            (desk, Some(client)) => desk.insert(Arc::new(Desk::new(py, client::methods(client)?, client)?)),
            (None, None) => {
                return Err(PyTypeError::new_err("a bucket needs a client; pass client=boto3.client('s3')"));
            }
        };
        return Ok(Side::Bucket { remote: Arc::new(Bucket::new(bucket, desk.clone())), prefix });
    }
    let path = py.import("os")?.getattr("fsdecode")?.call1((named,))?;
    let root: PathBuf = path.extract()?;
    match std::fs::read_dir(&root) {
        Ok(_) => Ok(Side::Tree(root)),
        Err(error) => Err(PyErr::from_value(os_error(&error, &path)?)),
    }
}

/// An iterator of outcomes.
#[pyclass(frozen, module = "manyhash.s3")]
pub(crate) struct Outcomes(Mutex<Option<Run>>);

#[pymethods]
impl Outcomes {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut place = match self.0.try_lock() {
            Ok(place) => place,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err("the next outcome is already waited for"));
            }
        };
        let next = match &mut *place {
            Some(run) => run.next(py),
            None => return Ok(None),
        };
        if !matches!(next, Ok(Some(_))) {
            *place = None;
        }
        next
    }
}

/// A comparison.
struct Run {
    found: Found,
    /// What was found and not given yet.
    ready: VecDeque<Result<Outcome, SideError>>,
    is_over: bool,
    /// For requests, if there is a bucket.
    desk: Option<Arc<Desk>>,
    bell: Arc<Bell>,
    /// The class.
    outcome: Py<PyAny>,
    /// The process that has the threads.
    process: u32,
}

impl Run {
    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.process != std::process::id() {
            return Err(PyRuntimeError::new_err(
                "a comparison goes on only in the process that began it; begin another",
            ));
        }
        loop {
            if let Some(found) = self.ready.pop_front() {
                return self.object(py, found.map_err(exception)?).map(Some);
            }
            if self.is_over {
                return Ok(None);
            }
            py.detach(|| self.poll());
            if let Some(desk) = &self.desk {
                desk.hand_over(py)?;
            }
            if self.ready.is_empty() && !self.is_over {
                // What comes before it in the order of names was given.
                if let Some(failure) = self.desk.as_ref().and_then(|desk| desk.take_failure()) {
                    return Err(failure);
                }
                py.detach(|| self.bell.wait(LOOK));
                py.check_signals()?;
            }
        }
    }

    /// Takes what has been found by now.
    fn poll(&mut self) {
        let waker = Waker::from(self.bell.clone());
        let mut context = Context::from_waker(&waker);
        while self.ready.len() < BATCH && !self.is_over {
            match self.found.as_mut().poll_next(&mut context) {
                Poll::Ready(Some(found)) => self.ready.push_back(found),
                Poll::Ready(None) => self.is_over = true,
                Poll::Pending => return,
            }
        }
    }

    /// As Python has it.
    fn object<'py>(&self, py: Python<'py>, outcome: Outcome) -> PyResult<Bound<'py, PyAny>> {
        let Outcome { name, size, state, .. } = outcome;
        // As the names of files are decoded; keys are always UTF-8.
        let name = PyBytes::new(py, &name).call_method1("decode", ("utf-8", "surrogateescape"))?;
        let (state, check, reason) = match state {
            State::Same(check) => ("same", Some(check.to_string()), None),
            State::Differs(difference) => ("differs", Some(difference.to_string()), None),
            State::Missing => ("missing", None, None),
            State::Extra => ("extra", None, None),
            State::Unverified(why) => ("unverified", None, Some(why.to_string())),
            // What there may be later proves nothing that is known here.
            _ => ("unverified", None, None),
        };
        self.outcome.bind(py).call1((name, state, size, check, reason))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // The threads, and the locks that they may hold, are the parent's.
            std::mem::forget(std::mem::replace(&mut self.found, Box::pin(stream::empty())));
        }
    }
}

/// What Python raises if a side is not known to its end.
fn exception(error: SideError) -> PyErr {
    match error {
        SideError::Remote(error) => refusal::exception(error),
        SideError::Read(error) => error.into(),
        error => PyRuntimeError::new_err(error.to_string()),
    }
}
