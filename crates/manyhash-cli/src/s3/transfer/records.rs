//! What is said of an object as JSON.

use manyhash_s3_client::transfer::{Downloaded, Uploaded};
use manyhash_s3_client::verify::{Check, Form};
use manysum::lists::json::Name;
use serde::Serialize;

/// An object of JSON.
#[derive(Serialize)]
pub(in crate::s3) struct Record<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    pub(in crate::s3) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum_algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<u32>,
    /// Those that were at the service already.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_parts: Option<u32>,
    /// What was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> Record<'a> {
    /// Of a name, and what came of it.
    pub(in crate::s3) fn new(name: &'a [u8], status: &'static str) -> Record<'a> {
        Record {
            name: Name::of(name),
            status,
            key: None,
            size: None,
            etag: None,
            checksum_algorithm: None,
            checksum_type: None,
            checksum: None,
            parts: None,
            kept_parts: None,
            compared: None,
            reason: None,
        }
    }

    /// Of what went wrong.
    pub(in crate::s3) fn failed(name: &'a [u8], why: String) -> Record<'a> {
        Record { reason: Some(why), ..Record::new(name, super::FAILED) }
    }

    /// Of a file that was uploaded.
    pub(in crate::s3) fn uploaded(name: &'a [u8], uploaded: &Uploaded) -> Record<'a> {
        let checksum = uploaded.checksum.as_ref();
        Record {
            key: Some(uploaded.key.clone()),
            size: Some(uploaded.size),
            etag: Some(uploaded.etag.as_str().to_owned()),
            checksum_algorithm: checksum.map(|checksum| checksum.checksum.algorithm().name()),
            checksum_type: checksum.map(|checksum| checksum.kind.name()),
            checksum: checksum.map(ToString::to_string),
            parts: uploaded.parts,
            kept_parts: Some(uploaded.kept_parts).filter(|parts| *parts > 0),
            ..Record::new(name, if uploaded.was_there { "same" } else { "uploaded" })
        }
    }

    /// Of an object that was downloaded.
    pub(in crate::s3) fn downloaded(name: &'a [u8], key: &str, downloaded: &Downloaded) -> Record<'a> {
        let status = match (&downloaded.check, downloaded.was_there) {
            (None, _) => "unverified",
            (_, true) => "same",
            (_, false) => "downloaded",
        };
        let mut record = Record::new(name, status);
        record.key = Some(key.to_owned());
        record.size = Some(downloaded.size);
        match &downloaded.check {
            Some(Check::Value { form, .. }) => {
                record.compared = Some(form.function().to_string());
                if let Form::Parts { parts, .. } = form {
                    record.parts = Some(*parts);
                }
            }
            Some(check) => record.compared = Some(check.to_string()),
            None => {}
        }
        record
    }

    /// With the reason for it.
    pub(in crate::s3) fn with_reason(self, reason: String) -> Record<'a> {
        Record { reason: Some(reason), ..self }
    }

    /// With the bytes of it.
    pub(in crate::s3) fn with_size(self, size: Option<u64>) -> Record<'a> {
        Record { size, ..self }
    }
}
