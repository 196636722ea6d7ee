//! What the client's answers say: dicts, as botocore makes them.
//!
//! Only what a comparison asks for is read. What has another type than it should is an answer that is none.

use super::refusal::{Target, Trouble, malformed};
use manyhash_s3::checksum::{ChecksumAlgorithm, ObjectChecksum};
use manyhash_s3::etag::ETag;
use manyhash_s3_client::remote::{Attributes, Encryption, Head, Listed, Page, Part, RemoteError, parse_content_range};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::Range;
use std::str::FromStr;

/// A dict, or one in it.
pub(super) struct Answer<'a, 'py> {
    fields: Bound<'py, PyDict>,
    target: &'a Target,
    operation: &'static str,
}

impl<'a, 'py> Answer<'a, 'py> {
    /// Takes what a call returned.
    ///
    /// # Errors
    /// If it is no dict.
    pub(super) fn new(
        answer: Bound<'py, PyAny>,
        target: &'a Target,
        operation: &'static str,
    ) -> Result<Answer<'a, 'py>, Trouble> {
        match answer.cast_into() {
            Ok(fields) => Ok(Answer { fields, target, operation }),
            Err(error) => {
                let kind = error.into_inner().get_type().name()?;
                Err(malformed(target, operation, format!("is a {kind}, not a dict")).into())
            }
        }
    }

    fn wrong(&self, reason: impl Into<String>) -> RemoteError {
        malformed(self.target, self.operation, reason)
    }

    /// What there is under a name. `None` stands for nothing.
    fn object(&self, name: &str) -> Result<Option<Bound<'py, PyAny>>, Trouble> {
        Ok(self.fields.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn wrong_type(&self, name: &str, value: &Bound<'py, PyAny>) -> Trouble {
        match value.repr() {
            // What a service says can be long.
            Ok(text) => self.wrong(format!("has {:.100} for {name}", text.to_string_lossy())).into(),
            Err(exception) => Trouble::Raised(exception),
        }
    }

    fn optional<T: FromPyObjectOwned<'py>>(&self, name: &str) -> Result<Option<T>, Trouble> {
        let Some(value) = self.object(name)? else { return Ok(None) };
        match value.extract() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(self.wrong_type(name, &value)),
        }
    }

    fn required<T: FromPyObjectOwned<'py>>(&self, name: &str) -> Result<T, Trouble> {
        self.optional(name)?.ok_or_else(|| self.wrong(format!("has no {name}")).into())
    }

    fn text<T: FromStr>(&self, name: &str) -> Result<Option<T>, Trouble> {
        // What has a name that is not known here does not count.
        Ok(self.optional::<String>(name)?.and_then(|text| text.parse().ok()))
    }

    fn etag(&self) -> Result<Option<ETag>, Trouble> {
        Ok(self.optional::<String>("ETag")?.map(|etag| ETag::parse(&etag)))
    }

    fn dict(&self, name: &str) -> Result<Option<Answer<'a, 'py>>, Trouble> {
        let Some(value) = self.object(name)? else { return Ok(None) };
        match value.cast_into() {
            Ok(fields) => Ok(Some(Answer { fields, target: self.target, operation: self.operation })),
            Err(error) => Err(self.wrong_type(name, &error.into_inner())),
        }
    }

    fn dicts(&self, name: &str) -> Result<Vec<Answer<'a, 'py>>, Trouble> {
        let Some(value) = self.object(name)? else { return Ok(Vec::new()) };
        let Ok(list) = value.cast::<PyList>() else { return Err(self.wrong_type(name, &value)) };
        let dict = |item: Bound<'py, PyAny>| match item.cast_into() {
            Ok(fields) => Ok(Answer { fields, target: self.target, operation: self.operation }),
            Err(error) => Err(self.wrong_type(name, &error.into_inner())),
        };
        list.iter().map(dict).collect()
    }

    /// The checksums of all algorithms that there are.
    fn checksums(&self) -> Result<Vec<ObjectChecksum>, Trouble> {
        let mut checksums = Vec::new();
        for algorithm in ChecksumAlgorithm::ALL {
            let name = algorithm.element();
            let Some(text) = self.optional::<String>(name)? else { continue };
            let checksum = ObjectChecksum::parse(algorithm, &text);
            checksums
                .push(checksum.map_err(|error| self.wrong(format!("has a checksum of no use in {name}: {error}")))?);
        }
        Ok(checksums)
    }
}

/// Reads the answer to ListObjectsV2.
pub(super) fn page(answer: &Answer<'_, '_>) -> Result<Page, Trouble> {
    let objects = answer.dicts("Contents")?.iter().map(listed).collect::<Result<_, _>>()?;
    let is_truncated = answer.optional("IsTruncated")?.unwrap_or(false);
    let continuation = answer.optional::<String>("NextContinuationToken")?.filter(|_| is_truncated);
    if is_truncated && continuation.is_none() {
        return Err(answer.wrong("has more objects, and does not say what to ask for them with").into());
    }
    Ok(Page { objects, continuation })
}

fn listed(object: &Answer<'_, '_>) -> Result<Listed, Trouble> {
    let algorithms: Vec<String> = object.optional("ChecksumAlgorithm")?.unwrap_or_default();
    Ok(Listed {
        key: object.required("Key")?,
        size: object.required("Size")?,
        etag: object.etag()?,
        // Of use only where a comparison is remembered.
        modified: None,
        checksum_algorithms: algorithms.iter().filter_map(|name| name.parse().ok()).collect(),
        checksum_type: object.text("ChecksumType")?,
        storage_class: object.optional("StorageClass")?,
    })
}

/// Reads the answer to HeadObject.
pub(super) fn head(answer: &Answer<'_, '_>, is_part: bool) -> Result<Head, Trouble> {
    let content_length = answer.required("ContentLength")?;
    let range = answer.optional::<String>("ContentRange")?;
    let total = range.and_then(|range| parse_content_range(&range)?.1);
    let encryption = match answer.object("SSECustomerAlgorithm")? {
        Some(_) => Some(Encryption::Customer),
        None => answer.optional::<String>("ServerSideEncryption")?.map(|name| Encryption::of_name(&name)),
    };
    Ok(Head {
        content_length,
        size: if is_part { total } else { Some(content_length) },
        etag: answer.etag()?,
        parts_count: answer.optional("PartsCount")?,
        checksums: answer.checksums()?,
        checksum_type: answer.text("ChecksumType")?,
        encryption,
        storage_class: answer.optional("StorageClass")?,
        ..Head::default()
    })
}

/// Reads the answer to GetObjectAttributes.
pub(super) fn attributes(answer: &Answer<'_, '_>) -> Result<Attributes, Trouble> {
    let mut attributes = Attributes {
        etag: answer.etag()?,
        size: answer.optional("ObjectSize")?,
        storage_class: answer.optional("StorageClass")?,
        ..Attributes::default()
    };
    if let Some(checksum) = answer.dict("Checksum")? {
        attributes.checksums = checksum.checksums()?;
        attributes.checksum_type = checksum.text("ChecksumType")?;
    }
    if let Some(parts) = answer.dict("ObjectParts")? {
        let is_truncated = parts.optional("IsTruncated")?.unwrap_or(false);
        attributes.parts_count = parts.optional("TotalPartsCount")?;
        attributes.parts = parts.dicts("Parts")?.iter().map(part).collect::<Result<_, _>>()?;
        attributes.next_part_marker = parts.optional("NextPartNumberMarker")?.filter(|_| is_truncated);
        if is_truncated && attributes.next_part_marker.is_none() {
            return Err(answer.wrong("has more parts, and does not say after which").into());
        }
    }
    Ok(attributes)
}

fn part(part: &Answer<'_, '_>) -> Result<Part, Trouble> {
    let checksums = part.checksums()?.into_iter().map(|checksum| checksum.checksum);
    Ok(Part { number: part.required("PartNumber")?, size: part.required("Size")?, checksums: checksums.collect() })
}

/// Reads the answer to GetObject: the stream, and the number of its bytes, which must be those that were asked for.
pub(super) fn body(answer: &Answer<'_, '_>, range: Option<&Range<u64>>) -> Result<(Py<PyAny>, u64), Trouble> {
    let length: u64 = answer.required("ContentLength")?;
    let told = answer.optional::<String>("ContentRange")?.and_then(|range| parse_content_range(&range));
    let is_right = match (range, told) {
        (None, _) => true,
        // The object may end within the range.
        (Some(asked), Some((told, _))) => {
            told.start == asked.start && told.end <= asked.end && told.end - told.start == length
        }
        // All is the range that was asked for.
        (Some(asked), None) => asked.start == 0 && asked.end == length,
    };
    if !is_right {
        return Err(answer.wrong("has another range than was asked for").into());
    }
    match answer.object("Body")? {
        Some(body) => Ok((body.unbind(), length)),
        None => Err(answer.wrong("has no Body").into()),
    }
}
