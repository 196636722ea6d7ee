//! A bucket as a client of boto3 sees it.

use super::answer::{self, Answer};
use super::body;
use super::desk::{Desk, Methods};
use super::refusal::{self, Target, Trouble};
use manyhash_s3_client::remote::{Attributes, Body, Head, HeadRequest, Page, ReadRequest, Remote, RemoteError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// What GetObjectAttributes is asked for.
const ATTRIBUTES: [&str; 5] = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"];

/// A bucket.
pub(super) struct Bucket {
    name: String,
    desk: Arc<Desk>,
}

impl Bucket {
    pub(super) fn new(name: String, desk: Arc<Desk>) -> Bucket {
        Bucket { name, desk }
    }

    fn target(&self, key: &str) -> Target {
        Target { bucket: self.name.clone(), key: key.to_owned() }
    }
}

/// Looks up the methods that are needed, so that what has none of them is refused at once.
pub(super) fn methods(client: &Bound<'_, PyAny>) -> PyResult<Methods> {
    let method = |name: &str| match client.getattr(name) {
        Ok(method) => Ok(method.unbind()),
        Err(_) => {
            let kind = client.get_type().name()?;
            Err(PyTypeError::new_err(format!("client: a {kind} has no method {name}; pass boto3.client('s3')")))
        }
    };
    Ok(Methods {
        list_objects_v2: method("list_objects_v2")?,
        head_object: method("head_object")?,
        get_object_attributes: method("get_object_attributes")?,
        get_object: method("get_object")?,
    })
}

/// An operation of an object, or with the beginning of a key of the bucket.
struct Call<'py> {
    operation: &'static str,
    arguments: Bound<'py, PyDict>,
}

impl<'py> Call<'py> {
    fn new(py: Python<'py>, operation: &'static str, target: &Target) -> PyResult<Call<'py>> {
        let arguments = PyDict::new(py);
        arguments.set_item("Bucket", &target.bucket)?;
        Ok(Call { operation, arguments })
    }

    fn with(self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<Call<'py>> {
        self.arguments.set_item(name, value)?;
        Ok(self)
    }

    fn with_some(self, name: &str, value: Option<impl IntoPyObject<'py>>) -> PyResult<Call<'py>> {
        match value {
            Some(value) => self.with(name, value),
            None => Ok(self),
        }
    }

    /// Calls the client, and returns its answer.
    fn send<'a>(self, method: &Py<PyAny>, target: &'a Target) -> Result<Answer<'a, 'py>, Trouble> {
        let py = self.arguments.py();
        let answered = method.bind(py).call((), Some(&self.arguments));
        let is_head = self.operation == "HeadObject";
        let answer = answered.map_err(|exception| refusal::of_call(py, exception, target, is_head))?;
        Answer::new(answer, target, self.operation)
    }
}

impl Remote for Bucket {
    fn bucket(&self) -> &str {
        &self.name
    }

    async fn list(&self, prefix: &str, continuation: Option<&str>) -> Result<Page, RemoteError> {
        let target = self.target(prefix);
        let continuation = continuation.map(str::to_owned);
        let work = move |py: Python<'_>, methods: &Methods| {
            let prefix = Some(target.key.as_str()).filter(|prefix| !prefix.is_empty());
            let call = Call::new(py, "ListObjectsV2", &target)?
                .with_some("Prefix", prefix)?
                .with_some("ContinuationToken", continuation)?;
            answer::page(&call.send(&methods.list_objects_v2, &target)?)
        };
        self.desk.ask(work).await
    }

    async fn head(&self, key: &str, request: HeadRequest) -> Result<Head, RemoteError> {
        let target = self.target(key);
        let work = move |py: Python<'_>, methods: &Methods| {
            let call = Call::new(py, "HeadObject", &target)?
                .with("Key", &target.key)?
                .with_some("PartNumber", request.part_number)?
                .with_some("ChecksumMode", request.checksums.then_some("ENABLED"))?;
            answer::head(&call.send(&methods.head_object, &target)?, request.part_number.is_some())
        };
        self.desk.ask(work).await
    }

    async fn attributes(&self, key: &str, part_marker: Option<u32>) -> Result<Attributes, RemoteError> {
        let target = self.target(key);
        let work = move |py: Python<'_>, methods: &Methods| {
            let call = Call::new(py, "GetObjectAttributes", &target)?
                .with("Key", &target.key)?
                .with("ObjectAttributes", ATTRIBUTES)?
                .with_some("PartNumberMarker", part_marker)?;
            answer::attributes(&call.send(&methods.get_object_attributes, &target)?)
        };
        self.desk.ask(work).await
    }

    async fn read(&self, key: &str, request: ReadRequest) -> Result<Body, RemoteError> {
        let target = self.target(key);
        let work = move |py: Python<'_>, methods: &Methods| {
            let range =
                request.range.as_ref().map(|range| format!("bytes={}-{}", range.start, range.end.saturating_sub(1)));
            let call = Call::new(py, "GetObject", &target)?
                .with("Key", &target.key)?
                .with_some("Range", range)?
                .with_some("IfMatch", request.if_match.as_ref().map(ToString::to_string))?;
            let answer = call.send(&methods.get_object, &target)?;
            let (body, length) = answer::body(&answer, request.range.as_ref())?;
            drop(answer);
            Ok(body::Reading::new(body, length, target))
        };
        let reading = self.desk.ask(work).await?;
        Ok(body::pieces(self.desk.clone(), reading))
    }
}
