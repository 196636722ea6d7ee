//! Requests that write: objects in one upload, and in parts.
//!
//! Every one is tried again as those that read are, and content is read anew for each attempt. An upload whose answer was
//! lost is sent again, so a condition such as `If-None-Match: *` can fail on the object that the request itself made:
//! whoever makes conditions looks at what is there when one fails.

use super::call::{AnswerForm, Call};
use super::client::Client;
use super::content::{Content, Proof};
use super::error::Error;
use super::headers;
use super::operation::Operation;
use crate::remote::Encryption;
use http::{HeaderMap, Method};
use manyhash::Md5;
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType, ObjectChecksum};
use manyhash_s3::etag::ETag;
use manyhash_s3::xml::{
    CompleteMultipartUpload, CompleteMultipartUploadResult, CompletedPart, Delete, DeleteError, DeleteResult,
    InitiateMultipartUploadResult, ListMultipartUploadsResult, ListPartsResult, ObjectIdentifier, XmlError,
};

/// What the service keeps of an object or part that it took.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Written {
    /// The entity tag.
    pub etag: Option<ETag>,
    /// The checksums.
    pub checksums: Vec<ObjectChecksum>,
    /// What the checksums cover.
    pub checksum_type: Option<ChecksumType>,
    /// How it is encrypted where it is kept.
    pub encryption: Option<Encryption>,
    /// The version, in a bucket that keeps versions.
    pub version: Option<String>,
}

/// How an upload in parts ends.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Completion {
    /// The parts in the order of their numbers.
    pub parts: Vec<CompletedPart>,
    /// The checksum that the object must have.
    pub checksum: Option<ObjectChecksum>,
    /// Bytes that the object must have.
    pub size: Option<u64>,
    /// Further headers, such as `if-none-match`.
    pub headers: HeaderMap,
}

impl Client {
    /// Uploads an object at once. `headers` are those that it is to have, such as `content-type`, those that begin with
    /// `x-amz-meta-`, and conditions.
    ///
    /// # Errors
    /// Returns an error if the content cannot be read, if the service refuses, or if it cannot be reached.
    pub async fn put_object(
        &self,
        key: &str,
        content: &Content,
        proof: Proof,
        headers: &HeaderMap,
    ) -> Result<Written, Error> {
        let call = Call::new(Operation::PutObject, Method::PUT, Some(key), AnswerForm::Headers);
        self.written(call.headers(headers).content(content, proof)).await
    }

    /// Begins an upload in parts, and returns its name. The parts must have checksums of this algorithm, and the object
    /// has one of this type. `headers` are as those of [`put_object`](Self::put_object).
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    pub async fn create_multipart_upload(
        &self,
        key: &str,
        checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
        headers: &HeaderMap,
    ) -> Result<String, Error> {
        let mut call = Call::new(Operation::CreateMultipartUpload, Method::POST, Some(key), AnswerForm::Document)
            .query("uploads", "")
            .headers(headers);
        if let Some((algorithm, kind)) = checksum {
            call = call.header("x-amz-checksum-algorithm", algorithm.name()).header("x-amz-checksum-type", kind.name());
        }
        let document = self.send(&call).await?.document;
        let begun = InitiateMultipartUploadResult::from_xml(&document);
        let begun = begun.map_err(|source| self.no_document(&call, source))?;
        if begun.upload_id.is_empty() {
            return Err(self.contradiction(&call, "does not name the upload"));
        }
        Ok(begun.upload_id)
    }

    /// Uploads a part, or replaces it.
    ///
    /// # Errors
    /// Returns an error if the content cannot be read, if the service refuses, or if it cannot be reached.
    pub async fn upload_part(
        &self,
        key: &str,
        upload_id: &str,
        number: u32,
        content: &Content,
        proof: Proof,
    ) -> Result<Written, Error> {
        let call = Call::new(Operation::UploadPart, Method::PUT, Some(key), AnswerForm::Headers)
            .query("partNumber", number.to_string())
            .query("uploadId", upload_id);
        self.written(call.content(content, proof)).await
    }

    /// Ends an upload in parts, which makes the object visible.
    ///
    /// # Errors
    /// Returns an error if the service refuses, which it may do long after it began to answer, or if it cannot be
    /// reached.
    pub async fn complete_multipart_upload(
        &self,
        key: &str,
        upload_id: &str,
        completion: Completion,
    ) -> Result<CompleteMultipartUploadResult, Error> {
        let Completion { parts, checksum, size, headers } = completion;
        let content = Content::from(CompleteMultipartUpload { parts }.to_xml());
        let mut call = Call::new(Operation::CompleteMultipartUpload, Method::POST, Some(key), AnswerForm::Document)
            .query("uploadId", upload_id)
            .headers(&headers)
            .content(&content, Proof::None);
        if let Some(checksum) = checksum {
            call = call
                .header(checksum.checksum.algorithm().header(), checksum.to_string())
                .header("x-amz-checksum-type", checksum.kind.name());
        }
        if let Some(size) = size {
            call = call.header("x-amz-mp-object-size", size.to_string());
        }
        let document = self.send(&call).await?.document;
        // Spaces can precede it, which kept the connection alive.
        CompleteMultipartUploadResult::from_xml(document.trim_ascii()).map_err(|source| self.no_document(&call, source))
    }

    /// Ends an upload in parts without an object, and frees its parts.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    pub async fn abort_multipart_upload(&self, key: &str, upload_id: &str) -> Result<(), Error> {
        let call = Call::new(Operation::AbortMultipartUpload, Method::DELETE, Some(key), AnswerForm::Headers)
            .query("uploadId", upload_id);
        self.send(&call).await.map(|_| ())
    }

    /// Returns a page of the parts of an upload: the first page, or that of the parts with higher numbers than `marker`.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    pub async fn list_parts(&self, key: &str, upload_id: &str, marker: Option<u32>) -> Result<ListPartsResult, Error> {
        let call = Call::new(Operation::ListParts, Method::GET, Some(key), AnswerForm::Document)
            .query("uploadId", upload_id)
            .query_opt("part-number-marker", marker.map(|marker| marker.to_string()));
        let document = self.send(&call).await?.document;
        let list = ListPartsResult::from_xml(&document).map_err(|source| self.no_document(&call, source))?;
        if list.is_truncated && list.next_part_number_marker.is_none_or(|next| next <= marker.unwrap_or(0)) {
            return Err(self.contradiction(&call, "has more parts, and does not say after which"));
        }
        Ok(list)
    }

    /// Returns a page of the uploads that have not ended, of keys that begin with `prefix`: the first page, or the one
    /// after a key and upload.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    pub async fn list_multipart_uploads(
        &self,
        prefix: &str,
        after: Option<(&str, &str)>,
    ) -> Result<ListMultipartUploadsResult, Error> {
        let call = Call::new(Operation::ListMultipartUploads, Method::GET, None, AnswerForm::Document)
            .query("uploads", "")
            .query("encoding-type", "url")
            .query_opt("prefix", Some(prefix).filter(|prefix| !prefix.is_empty()))
            .query_opt("key-marker", after.map(|(key, _)| key))
            .query_opt("upload-id-marker", after.map(|(_, upload)| upload));
        let document = self.send(&call).await?.document;
        let list = ListMultipartUploadsResult::from_xml(&document);
        let list = list.map_err(|source| self.no_document(&call, source))?;
        if list.is_truncated && list.next_key_marker.is_none() {
            return Err(self.contradiction(&call, "has more uploads, and does not say after which"));
        }
        Ok(list)
    }

    /// Deletes objects, 1,000 at most, and returns those that could not be, each with the reason. To delete what is not
    /// there is no error.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    pub async fn delete_objects(&self, keys: &[&str]) -> Result<Vec<DeleteError>, Error> {
        let object = |key: &&str| ObjectIdentifier { key: (*key).to_owned(), ..ObjectIdentifier::default() };
        let document = Delete { objects: keys.iter().map(object).collect(), quiet: true }.to_xml();
        // The service wants to be sure of what it deletes.
        let proof = Proof::ContentMd5(Md5::digest(document.as_bytes()));
        let content = Content::from(document);
        let call = Call::new(Operation::DeleteObjects, Method::POST, None, AnswerForm::Document)
            .query("delete", "")
            .content(&content, proof);
        let document = self.send(&call).await?.document;
        let result = DeleteResult::from_xml(document.trim_ascii());
        Ok(result.map_err(|source| self.no_document(&call, source))?.errors)
    }

    async fn written(&self, call: Call<'_>) -> Result<Written, Error> {
        let answer = self.send(&call).await?;
        headers::written(&answer.headers).map_err(|reason| self.contradiction(&call, &reason))
    }

    pub(super) fn no_document(&self, call: &Call<'_>, source: XmlError) -> Error {
        Error::Document { target: self.target(call), endpoint: self.place().to_string(), source }
    }

    pub(super) fn contradiction(&self, call: &Call<'_>, reason: &str) -> Error {
        let (target, endpoint) = (self.target(call), self.place().to_string());
        Error::Answer { target, endpoint, reason: reason.to_owned() }
    }
}
