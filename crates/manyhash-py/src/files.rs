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
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long the caller's thread sleeps at the most before it looks for signals, and reports progress.
const LOOK: Duration = Duration::from_millis(50);

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
    if threads == Some(0) {
        return Err(PyValueError::new_err("threads must be at least 1, or None for one per core"));
    }
    if paths.is_instance_of::<PyString>() || paths.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("expected an iterable of paths, not one path"));
    }
    let decode = py.import("os")?.getattr("fsdecode")?;
    let paths = paths.try_iter()?.map(|path| decode.call1((path?,))).collect::<PyResult<Vec<_>>>()?;
    let files = paths.iter().map(|path| path.extract()).collect::<PyResult<Vec<PathBuf>>>()?;
    let mut progress = Progress { callback: progress, bytes: 0, files: 0 };
    let functions = name.algorithms.iter().copied().map(HashFunction::Lanes).collect();
    let results = start(functions, files, threads.unwrap_or(0))?;
    let digests = collect(py, results, paths.len(), &mut progress)?;

    let result = PyList::empty(py);
    for (path, digests) in paths.iter().zip(digests) {
        match digests {
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

/// Starts the library's threads, which go on until all is done or nobody receives.
fn start(functions: Vec<HashFunction>, files: Vec<PathBuf>, threads: usize) -> PyResult<Receiver<Done>> {
    let (sender, receiver) = channel();
    let work = move || {
        let files = files.into_iter().map(|path| ((), Source::Path(path)));
        Files::new(&functions).threads(NonZeroUsize::new(threads)).digest(files, |(), digested| {
            let bytes = digested.as_ref().map_or(0, |file| file.bytes);
            match sender.send(Done { digests: digested.map(|file| file.digests), bytes }) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
    };
    std::thread::Builder::new().name("manyhash-files".to_owned()).spawn(work)?;
    Ok(receiver)
}

/// Receives what comes of all files.
fn collect(
    py: Python<'_>,
    mut results: Receiver<Done>,
    files: usize,
    progress: &mut Progress<'_>,
) -> PyResult<Vec<io::Result<Vec<Digest>>>> {
    let mut digests = Vec::with_capacity(files);
    let mut received = Vec::new();
    while digests.len() < files {
        let ended = py.detach(|| receive(&mut results, &mut received));
        for Done { digests: of_file, bytes } in received.drain(..) {
            progress.bytes += bytes;
            progress.files += 1;
            digests.push(of_file);
        }
        py.check_signals()?;
        progress.report()?;
        if ended && digests.len() < files {
            return Err(PyRuntimeError::new_err("the hashing threads ended early"));
        }
    }
    Ok(digests)
}

/// Takes whatever comes within a while; whether it was the last.
fn receive(results: &mut Receiver<Done>, received: &mut Vec<Done>) -> bool {
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
    fn report(&self) -> PyResult<()> {
        if let Some(callback) = &self.callback {
            callback.call1((self.bytes, self.files))?;
        }
        Ok(())
    }
}

/// Python's exception for what went wrong with a file: FileNotFoundError and its like.
fn os_error<'py>(error: &io::Error, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = path.py();
    match error.raw_os_error() {
        Some(code) => {
            let text = py.import("os")?.getattr("strerror")?.call1((code,))?;
            py.get_type::<PyOSError>().call1((code, text, path))
        }
        None => {
            let exception = py.get_type::<PyOSError>().call1((error.to_string(),))?;
            exception.setattr("filename", path)?;
            Ok(exception)
        }
    }
}
