//! Requests that read: lists, what is known of objects, and their bytes.

use super::call::{AnswerForm, Call};
use super::client::Client;
use super::download;
use super::error::Error;
use super::headers;
use super::operation::Operation;
use crate::remote::{Attributes, Body, Head, HeadRequest, Listed, Page, Part, ReadRequest, Remote, RemoteError};
use http::Method;
use manyhash_s3::xml::{
    AttributePart, ChecksumElements, GetObjectAttributesResponse, ListObjectsV2Result, ListedObject,
};

impl Client {
    /// Returns a page of the objects whose keys begin with `prefix`: the first page, or the one after the page that gave
    /// `continuation`.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    pub async fn list_objects(&self, prefix: &str, continuation: Option<&str>) -> Result<Page, Error> {
        let call = Call::new(Operation::ListObjectsV2, Method::GET, None, AnswerForm::Document)
            .query("list-type", "2")
            // So that keys come through that XML has no characters for.
            .query("encoding-type", "url")
            .query_opt("prefix", Some(prefix).filter(|prefix| !prefix.is_empty()))
            .query_opt("continuation-token", continuation);
        let document = self.send(&call).await?.document;
        let list = ListObjectsV2Result::from_xml(&document).map_err(|source| self.no_document(&call, source))?;
        if list.is_truncated && list.next_continuation_token.is_none() {
            return Err(self.contradiction(&call, "has more objects, and does not say what to ask for them with"));
        }
        let listed = |object: ListedObject| Listed {
            key: object.key,
            size: object.size,
            etag: object.etag,
            modified: Some(object.last_modified),
            checksum_algorithms: object.checksum_algorithm,
            checksum_type: object.checksum_type,
            storage_class: object.storage_class,
        };
        let continuation = list.next_continuation_token.filter(|_| list.is_truncated);
        Ok(Page { objects: list.contents.into_iter().map(listed).collect(), continuation })
    }

    /// Returns what the service tells of an object, or of a part of it.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    pub async fn head_object(&self, key: &str, request: HeadRequest) -> Result<Head, Error> {
        let mut call = Call::new(Operation::HeadObject, Method::HEAD, Some(key), AnswerForm::Headers)
            .query_opt("partNumber", request.part_number.map(|number| number.to_string()));
        if request.checksums {
            call = call.header("x-amz-checksum-mode", "ENABLED");
        }
        let answer = self.send(&call).await?;
        let is_part = request.part_number.is_some();
        headers::head(&answer.headers, is_part).map_err(|reason| self.contradiction(&call, &reason))
    }

    /// Returns an object's checksum and a page of its parts: the first page, or that of the parts with higher numbers
    /// than `part_marker`.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached.
    pub async fn object_attributes(&self, key: &str, part_marker: Option<u32>) -> Result<Attributes, Error> {
        let mut call = Call::new(Operation::GetObjectAttributes, Method::GET, Some(key), AnswerForm::Document)
            .query("attributes", "")
            .header("x-amz-object-attributes", "ETag,Checksum,ObjectParts,StorageClass,ObjectSize");
        if let Some(marker) = part_marker {
            call = call.header("x-amz-part-number-marker", marker.to_string());
        }
        let document = self.send(&call).await?.document;
        let said = GetObjectAttributesResponse::from_xml(&document);
        let said = said.map_err(|source| self.no_document(&call, source))?;
        let invalid = |error| self.contradiction(&call, &format!("has a checksum of no use: {error}"));
        let (checksums, checksum_type) = match said.checksum {
            None => (Vec::new(), None),
            Some(checksum) => {
                let checksums = checksum.checksums.checksums().collect::<Result<_, _>>();
                (checksums.map_err(invalid)?, checksum.checksum_type)
            }
        };
        let of_part = |checksums: &ChecksumElements| {
            let checksums = checksums.checksums().map(|checksum| checksum.map(|checksum| checksum.checksum));
            checksums.collect::<Result<Vec<_>, _>>()
        };
        let parts = said.object_parts.unwrap_or_default();
        let part = |part: AttributePart| -> Result<Part, Error> {
            let checksums = of_part(&part.checksums).map_err(invalid)?;
            Ok(Part { number: part.part_number, size: part.size, checksums })
        };
        let next_part_marker = parts.next_part_number_marker.filter(|_| parts.is_truncated);
        if parts.is_truncated && next_part_marker.is_none_or(|next| next <= part_marker.unwrap_or(0)) {
            return Err(self.contradiction(&call, "has more parts, and does not say after which"));
        }
        Ok(Attributes {
            etag: said.etag,
            size: said.object_size,
            checksums,
            checksum_type,
            parts_count: parts.parts_count,
            parts: parts.parts.into_iter().map(part).collect::<Result<_, _>>()?,
            next_part_marker,
            storage_class: said.storage_class,
        })
    }

    /// Returns an object's bytes, or a range of them. If the connection breaks, the rest is asked for anew, on the
    /// condition that the object is still the same.
    ///
    /// A request counts as one that goes on until its bytes are read or dropped.
    ///
    /// # Errors
    /// Returns an error if the service refuses or cannot be reached. The body ends early only with an error.
    pub async fn get_object(&self, key: &str, request: ReadRequest) -> Result<Body, Error> {
        download::open(self.clone(), key.to_owned(), request).await
    }
}

impl Remote for Client {
    fn bucket(&self) -> &str {
        self.bucket_name()
    }

    async fn list(&self, prefix: &str, continuation: Option<&str>) -> Result<Page, RemoteError> {
        Ok(self.list_objects(prefix, continuation).await?)
    }

    async fn head(&self, key: &str, request: HeadRequest) -> Result<Head, RemoteError> {
        Ok(self.head_object(key, request).await?)
    }

    async fn attributes(&self, key: &str, part_marker: Option<u32>) -> Result<Attributes, RemoteError> {
        Ok(self.object_attributes(key, part_marker).await?)
    }

    async fn read(&self, key: &str, request: ReadRequest) -> Result<Body, RemoteError> {
        Ok(self.get_object(key, request).await?)
    }
}
