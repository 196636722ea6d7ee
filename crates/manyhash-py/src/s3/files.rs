//! ETags and checksums of files.

use crate::files::{collect, on_a_thread, os_error, several, some_threads};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use manyhash_s3::etag::{ETag, ETagKind};
use manyhash_s3_client::local::{Cut, Digested, Error, Files, Wanted};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::io;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

/// Algorithms of checksums: of one name the checksum is given as it is, of several in a dict.
pub(super) struct ChecksumNames {
    algorithms: Vec<ChecksumAlgorithm>,
    is_one: bool,
}

impl<'py> FromPyObject<'_, 'py> for ChecksumNames {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let parse = |name: &str| name.parse().map_err(|error| PyValueError::new_err(format!("{error}")));
        if let Ok(name) = object.extract::<&str>() {
            return Ok(ChecksumNames { algorithms: vec![parse(name)?], is_one: true });
        }
        let names = object.extract::<Vec<String>>();
        let names =
            names.map_err(|_| PyTypeError::new_err("expected the name of a checksum algorithm, or a list of names"))?;
        if names.is_empty() {
            return Err(PyValueError::new_err("no checksum algorithm given"));
        }
        let algorithms = names.iter().map(|name| parse(name)).collect::<PyResult<_>>()?;
        Ok(ChecksumNames { algorithms, is_one: false })
    }
}

/// What is computed of each file.
struct Form {
    kind: Kind,
    algorithms: Vec<ChecksumAlgorithm>,
    part_bytes: Option<NonZeroU64>,
}

#[derive(Clone, Copy)]
enum Kind {
    ETag,
    Checksum(ChecksumType),
}

impl Form {
    fn etag(part_size: Option<u64>) -> PyResult<Form> {
        Ok(Form { kind: Kind::ETag, algorithms: vec![ChecksumAlgorithm::Md5], part_bytes: some_bytes(part_size)? })
    }

    fn checksums(algorithms: &[ChecksumAlgorithm], part_size: Option<u64>, composite: bool) -> PyResult<Form> {
        let kind = if composite { ChecksumType::Composite } else { ChecksumType::FullObject };
        if let Some(algorithm) = algorithms.iter().find(|algorithm| composite && !algorithm.allows(kind)) {
            return Err(PyValueError::new_err(format!("there are no composites of {algorithm}; leave out composite")));
        }
        if part_size.is_some() && !composite {
            let reason = "a checksum of the full object has no part_size; leave it out, or pass composite=True";
            return Err(PyValueError::new_err(reason));
        }
        let (algorithms, part_bytes) = (algorithms.to_vec(), some_bytes(part_size)?);
        Ok(Form { kind: Kind::Checksum(kind), algorithms, part_bytes })
    }

    /// How a file of so many bytes is cut.
    fn cut(&self, size: u64) -> Cut {
        match self.kind {
            Kind::ETag => Cut::of_upload(size, self.part_bytes),
            Kind::Checksum(ChecksumType::FullObject) => Cut::Whole,
            Kind::Checksum(ChecksumType::Composite) => Cut::of_parts(size, self.part_bytes),
        }
    }

    fn wanted(&self, size: u64) -> Wanted {
        let mut wanted = Wanted::new();
        for algorithm in &self.algorithms {
            wanted.checksum(self.cut(size), *algorithm);
        }
        wanted
    }

    /// The texts in the order of the algorithms; none if the file has another size by then than was thought.
    fn read(&self, digested: &Digested) -> Option<Vec<String>> {
        let cut = self.cut(digested.size());
        let text = |algorithm: &ChecksumAlgorithm| match self.kind {
            Kind::ETag => digested.etag(&cut).map(|etag| etag.as_str().to_owned()),
            Kind::Checksum(kind) => digested.checksum(&cut, *algorithm, kind).map(|checksum| checksum.to_string()),
        };
        self.algorithms.iter().map(text).collect()
    }

    /// Starts to digest files, which goes on until all is done or nobody receives.
    fn start(
        self,
        paths: Vec<PathBuf>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Receiver<Result<Vec<String>, Error>>> {
        on_a_thread(move |sender| {
            let files = paths.into_iter().map(|path| {
                // What cannot be looked at cannot be opened either, which is said then.
                let size = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
                ((), path, self.wanted(size))
            });
            Files::new().threads(threads).digest(files, |(), digested| {
                let texts = digested.and_then(|digested| self.read(&digested).ok_or(Error::Changed));
                match sender.send(texts) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
        })
    }
}

fn some_bytes(part_size: Option<u64>) -> PyResult<Option<NonZeroU64>> {
    let refuse = || PyValueError::new_err("part_size must be at least 1, or None for that of boto3");
    part_size.map(|bytes| NonZeroU64::new(bytes).ok_or_else(refuse)).transpose()
}

/// A path as str.
fn one<'py>(path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    path.py().import("os")?.getattr("fsdecode")?.call1((path,))
}

/// Python's exception for what went wrong with a file.
fn exception<'py>(error: Error, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let error = match error {
        Error::Read(error) => error,
        Error::NotAFile => io::Error::other("not a regular file"),
        error @ Error::Changed => io::Error::new(io::ErrorKind::ResourceBusy, error),
        error => io::Error::other(error),
    };
    os_error(&error, path)
}

/// What comes of one file.
///
/// # Errors
/// OSError if it cannot be read.
fn of_one(path: &Bound<'_, PyAny>, form: Form, threads: Option<NonZeroUsize>) -> PyResult<Vec<String>> {
    let path = one(path)?;
    let results = form.start(vec![path.extract()?], threads)?;
    match collect(path.py(), results, 1, |_| Ok(()))?.pop() {
        Some(Ok(texts)) => Ok(texts),
        Some(Err(error)) => Err(PyErr::from_value(exception(error, &path)?)),
        None => Ok(Vec::new()),
    }
}

/// What comes of many files, as `object` makes it of the texts.
fn of_many<'py>(
    paths: &Bound<'py, PyAny>,
    form: Form,
    threads: Option<NonZeroUsize>,
    object: impl Fn(Vec<String>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, paths) = (paths.py(), several(paths)?);
    let files = paths.iter().map(|path| path.extract()).collect::<PyResult<Vec<PathBuf>>>()?;
    let results = form.start(files, threads)?;
    let list = PyList::empty(py);
    for (path, texts) in paths.iter().zip(collect(py, results, paths.len(), |_| Ok(()))?) {
        match texts {
            Ok(texts) => list.append(object(texts)?)?,
            Err(error) => list.append(exception(error, path)?)?,
        }
    }
    Ok(list)
}

impl ChecksumNames {
    /// Of one name the checksum, of several a dict.
    fn object<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        if self.is_one {
            return Ok(first(py, texts));
        }
        let dict = PyDict::new(py);
        for (algorithm, text) in self.algorithms.iter().zip(texts) {
            dict.set_item(algorithm.name(), text)?;
        }
        Ok(dict.into_any())
    }
}

fn first(py: Python<'_>, texts: Vec<String>) -> Bound<'_, PyAny> {
    PyString::new(py, texts.first().map_or("", String::as_str)).into_any()
}

/// Return the ETag, without quotes, of an object that has the bytes of a file and is not encrypted with a key of KMS or
/// of the customer. The file is read on all cores, and other threads run Python meanwhile.
///
/// part_size: bytes in a part; a file of less than that is uploaded at once. None is as boto3 and aws-cli do: from 8 MiB
/// on in parts of 8 MiB, or of 16 MiB, 32 MiB and so on where there would be more than 10,000.
/// threads: number of hashing threads; None means one per core.
///
/// A file that cannot be read raises its OSError. KeyboardInterrupt stops the work.
#[pyfunction]
#[pyo3(signature = (path, part_size = None, *, threads = None))]
pub(super) fn etag<'py>(
    path: &Bound<'py, PyAny>,
    part_size: Option<u64>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(first(path.py(), of_one(path, Form::etag(part_size)?, some_threads(threads)?)?))
}

/// Return the ETags of many files, in their order, side by side. Otherwise as etag, but a file that cannot be read has
/// its OSError, with its filename, in place of the ETag; it is not raised.
#[pyfunction]
#[pyo3(signature = (paths, part_size = None, *, threads = None))]
pub(super) fn etag_files<'py>(
    paths: &Bound<'py, PyAny>,
    part_size: Option<u64>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    of_many(paths, Form::etag(part_size)?, some_threads(threads)?, |texts| Ok(first(paths.py(), texts)))
}

/// Return the checksum that S3 has for a file, in base64. The file is read once, and other threads run Python meanwhile.
///
/// algorithms: the name of one of S3's ten, such as CRC64NVME or SHA256, or a list of names; then the result is a dict
/// from name to checksum.
/// composite: without it, the checksum is that of the full object: what S3 has for an upload at once, and with CRCs for an
/// upload in parts too. With it, it is the checksum of the parts' checksums, a dash and their number.
/// part_size: bytes in a part of a composite. None is as in etag, but a shorter file is one part.
/// threads: number of hashing threads; None means one per core.
///
/// A file that cannot be read raises its OSError. KeyboardInterrupt stops the work.
#[pyfunction]
#[pyo3(signature = (path, algorithms, part_size = None, composite = false, *, threads = None))]
pub(super) fn checksum<'py>(
    path: &Bound<'py, PyAny>,
    algorithms: ChecksumNames,
    part_size: Option<u64>,
    composite: bool,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let form = Form::checksums(&algorithms.algorithms, part_size, composite)?;
    algorithms.object(path.py(), of_one(path, form, some_threads(threads)?)?)
}

/// Return the checksums of many files, in their order, side by side. Otherwise as checksum, but a file that cannot be
/// read has its OSError, with its filename, in place of the result; it is not raised.
#[pyfunction]
#[pyo3(signature = (paths, algorithms, part_size = None, composite = false, *, threads = None))]
pub(super) fn checksum_files<'py>(
    paths: &Bound<'py, PyAny>,
    algorithms: ChecksumNames,
    part_size: Option<u64>,
    composite: bool,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let form = Form::checksums(&algorithms.algorithms, part_size, composite)?;
    of_many(paths, form, some_threads(threads)?, |texts| algorithms.object(paths.py(), texts))
}

/// Return the size of the parts, in bytes, in which a file was uploaded if its object has this ETag; 0 if it was uploaded
/// at once; None if no size gives the ETag that is likely enough: then the object has other bytes, was cut in an unusual
/// way, or is encrypted.
///
/// The sizes that programs use are tried, 32 in one read of the file, and at most 256. Of an object in a bucket,
/// client.head_object(..., PartNumber=1)["ContentLength"] tells the size.
///
/// etag: with or without quotes. What is no MD5, with or without a dash and a number of parts, raises ValueError.
/// threads: number of hashing threads; None means one per core.
#[pyfunction]
#[pyo3(signature = (path, etag, *, threads = None))]
pub(super) fn guess(path: &Bound<'_, PyAny>, etag: &str, threads: Option<usize>) -> PyResult<Option<u64>> {
    let tag = ETag::parse(etag);
    if !matches!(tag.kind(), ETagKind::Md5(_) | ETagKind::Multipart { .. }) {
        let reason =
            "an ETag that says something of the bytes has 32 hexadecimal digits, and for parts a dash and their number";
        return Err(PyValueError::new_err(format!("{reason}, not {etag:?}")));
    }
    let (path, threads) = (one(path)?, some_threads(threads)?);
    let file: PathBuf = path.extract()?;
    let results = on_a_thread(move |sender| {
        // Nobody waits any more, if it fails.
        let _ = sender.send(Files::new().threads(threads).guess(file, &tag));
    })?;
    match collect(path.py(), results, 1, |_| Ok(()))?.pop() {
        Some(Ok(Some((Cut::Whole, _)))) => Ok(Some(0)),
        Some(Ok(Some((Cut::Every(part_bytes), _)))) => Ok(Some(part_bytes.get())),
        Some(Ok(_)) | None => Ok(None),
        Some(Err(error)) => Err(PyErr::from_value(exception(error, &path)?)),
    }
}
