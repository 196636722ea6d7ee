//! Files by their paths.
//!
//! The library's threads hash on their own, and send what comes of each file to the caller's thread, which is the only
//! one that runs Python. So an exception there, a Ctrl-C among them, is raised at once; the threads find nobody to
//! send to any more, and stop.

use crate::algorithm::Names;
use manyhash::file::{Files, Source};
use manyhash::{Digest, HashFunction};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long the caller's thread sleeps at the most before it looks for signals, and reports progress.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// What came of a file.
struct Done {
    digests: io::Result<Vec<Digest>>,
    bytes: u64,
}

/// Return the digests of files, in their order, computed on all cores. Other threads run Python meanwhile.
///
/// With one name, each result is a digest. With several, each is a dict from name to digest, and each file is read once
/// for all of them. A file that cannot be read has its OSError, with its filename, in place of the result; it is not
/// raised.
///
/// threads: number of hashing threads; None means one per core.
/// progress: called from time to time, and at the end, with (bytes_done, files_done). Exceptions that it raises, and
/// KeyboardInterrupt, stop the work and propagate.
#[pyfunction]
#[pyo3(signature = (name, paths, *, threads = None, progress = None))]
pub(crate) fn digest_files<'py>(
    py: Python<'py>,
    name: Names,
    paths: &Bound<'py, PyAny>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let threads = some_threads(threads)?;
    let paths = several(paths)?;
    let files = paths.iter().map(|path| path.extract()).collect::<PyResult<Vec<PathBuf>>>()?;
    let mut progress = Progress { callback: progress, bytes: 0, files: 0 };
    let functions = name.algorithms.iter().copied().map(HashFunction::Lanes).collect();
    let results = start(functions, files, threads)?;
    let done = collect(py, results, paths.len(), |done: &[Done]| progress.report(done))?;

    let result = PyList::empty(py);
    for (path, done) in paths.iter().zip(done) {
        match done.digests {
            Err(error) => result.append(os_error(&error, path)?)?,
            Ok(digests) if name.is_one => result.append(PyBytes::new(py, digests[0].as_bytes()))?,
            Ok(digests) => {
                let dict = PyDict::new(py);
                for (algorithm, digest) in name.algorithms.iter().zip(digests) {
                    dict.set_item(algorithm.identifier(), PyBytes::new(py, digest.as_bytes()))?;
                }
                result.append(dict)?;
            }
        }
    }
    Ok(result)
}

/// A number of threads that a caller gives; one per core for `None`.
pub(crate) fn some_threads(threads: Option<usize>) -> PyResult<Option<NonZeroUsize>> {
    let refuse = || PyValueError::new_err("threads must be at least 1, or None for one per core");
    threads.map(|threads| NonZeroUsize::new(threads).ok_or_else(refuse)).transpose()
}

/// Starts the library's threads, which go on until all is done or nobody receives.
fn start(functions: Vec<HashFunction>, files: Vec<PathBuf>, threads: Option<NonZeroUsize>) -> PyResult<Receiver<Done>> {
    on_a_thread(move |sender| {
        let files = files.into_iter().map(|path| ((), Source::Path(path)));
        Files::new(&functions).threads(threads).digest(files, |(), digested| {
            let bytes = digested.as_ref().map_or(0, |file| file.bytes);
            match sender.send(Done { digests: digested.map(|file| file.digests), bytes }) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
    })
}

/// Has a thread do what sends results.
pub(crate) fn on_a_thread<T: Send + 'static>(work: impl FnOnce(Sender<T>) + Send + 'static) -> PyResult<Receiver<T>> {
    let (sender, receiver) = channel();
    std::thread::Builder::new().name("manyhash-files".to_owned()).spawn(move || work(sender))?;
    Ok(receiver)
}

/// The paths that an iterable yields, as str.
pub(crate) fn several<'py>(paths: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if paths.is_instance_of::<PyString>() || paths.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("expected an iterable of paths, not one path"));
    }
    let decode = paths.py().import("os")?.getattr("fsdecode")?;
    paths.try_iter()?.map(|path| decode.call1((path?,))).collect()
}

/// Receives what comes of so many files. `look` is called from time to time with what has come since.
pub(crate) fn collect<T: Send>(
    py: Python<'_>,
    mut results: Receiver<T>,
    files: usize,
    mut look: impl FnMut(&[T]) -> PyResult<()>,
) -> PyResult<Vec<T>> {
    let mut all = Vec::with_capacity(files);
    while all.len() < files {
        let before = all.len();
        let ended = py.detach(|| receive(&mut results, &mut all));
        py.check_signals()?;
        look(&all[before..])?;
        if ended && all.len() < files {
            return Err(PyRuntimeError::new_err("the hashing threads ended early"));
        }
    }
    Ok(all)
}

/// Takes whatever comes within a while; whether it was the last.
fn receive<T>(results: &mut Receiver<T>, received: &mut Vec<T>) -> bool {
    let end = Instant::now() + LOOK;
    loop {
        match results.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(done) => received.push(done),
            Err(error) => return error == RecvTimeoutError::Disconnected,
        }
    }
}

/// What is reported to the caller.
struct Progress<'py> {
    callback: Option<Bound<'py, PyAny>>,
    bytes: u64,
    files: usize,
}

impl Progress<'_> {
    fn report(&mut self, done: &[Done]) -> PyResult<()> {
        self.bytes += done.iter().map(|done| done.bytes).sum::<u64>();
        self.files += done.len();
        if let Some(callback) = &self.callback {
            callback.call1((self.bytes, self.files))?;
        }
        Ok(())
    }
}

/// Python's exception for what went wrong with a file: FileNotFoundError and its like.
pub(crate) fn os_error<'py>(error: &io::Error, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = path.py();
    let (code, text) = match error.raw_os_error() {
        Some(code) => (code.into_pyobject(py)?.into_any(), py.import("os")?.getattr("strerror")?.call1((code,))?),
        // With the nearest code there is: without one, the exception would not say its text.
        None => {
            let name = if error.kind() == io::ErrorKind::ResourceBusy { "EBUSY" } else { "EINVAL" };
            (py.import("errno")?.getattr(name)?, error.to_string().into_pyobject(py)?.into_any())
        }
    };
    py.get_type::<PyOSError>().call1((code, text, path))
}
