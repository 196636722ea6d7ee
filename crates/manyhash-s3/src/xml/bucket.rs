//! Documents about buckets.

use super::element::{Content, elements, from_xml, to_xml};
use super::read::Reader;
use super::write::Writer;
use super::{XmlError, check_length};
use crate::error::S3Error;
use jiff::Timestamp;

elements! {
    /// Who owns a bucket or an object, or began an upload.
    Owner {
        /// The canonical user.
        id: String = "ID",
        /// A name for people.
        display_name: Option<String> = "DisplayName",
    }

    /// A bucket in the list of buckets.
    Bucket {
        /// The name.
        name: String = "Name",
        /// When it was created.
        creation_date: Timestamp = "CreationDate",
        /// Where it is.
        region: Option<String> = "BucketRegion",
    }

    /// The buckets of the list of buckets.
    Buckets {
        /// The buckets in the order of their names.
        buckets: Vec<Bucket> = "Bucket",
    }

    /// The answer to ListBuckets.
    ListAllMyBucketsResult("ListAllMyBucketsResult") {
        /// Who owns them.
        owner: Option<Owner> = "Owner",
        /// The buckets.
        buckets: Buckets = "Buckets",
        /// What to ask for the rest with, if there is more.
        continuation_token: Option<String> = "ContinuationToken",
        /// What the names begin with.
        prefix: Option<String> = "Prefix",
    }

    /// The body of CreateBucket, which is often left out.
    CreateBucketConfiguration("CreateBucketConfiguration") {
        /// Where the bucket is to be.
        location_constraint: Option<String> = "LocationConstraint",
    }

    /// The answer to GetBucketVersioning. Without a status, a bucket never had versions.
    VersioningConfiguration("VersioningConfiguration") {
        /// `Enabled` or `Suspended`.
        status: Option<String> = "Status",
    }
}

impl CreateBucketConfiguration {
    /// Reads the body of a request. No body asks for nothing.
    ///
    /// # Errors
    /// Returns S3's refusal of anything else, and `NotImplemented` if the bucket is to have what is no field here, such
    /// as tags: who asks for it would believe that the bucket has it.
    pub fn from_request(body: &[u8]) -> Result<Self, S3Error> {
        check_length(body)?;
        if body.is_empty() {
            return Ok(Self::default());
        }
        let configuration = Self::from_xml(body)?;
        let mut reader = Reader::new(body)?;
        reader.root(Self::ROOT)?;
        while let Some(element) = reader.element()? {
            if element == "LocationConstraint" {
                reader.skip()?;
            } else if !reader.text().is_ok_and(|text| text.trim_ascii().is_empty()) {
                return Err(S3Error::element_not_implemented(&element));
            }
        }
        Ok(configuration)
    }
}

/// The answer to GetBucketLocation: one element, which holds the region.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LocationConstraint {
    /// The region. That of `us-east-1` is empty.
    pub region: String,
}

impl LocationConstraint {
    /// The name of the document's root.
    pub const ROOT: &'static str = "LocationConstraint";

    /// Writes the document.
    pub fn to_xml(&self) -> String {
        to_xml(Self::ROOT, self, false)
    }

    /// Reads the document.
    ///
    /// # Errors
    /// Returns an error if `xml` is not this document.
    pub fn from_xml(xml: &[u8]) -> Result<Self, XmlError> {
        from_xml(Self::ROOT, xml, |_| false)
    }
}

impl Content for LocationConstraint {
    fn read_content(reader: &mut Reader<'_>) -> Result<Self, XmlError> {
        Ok(LocationConstraint { region: reader.text()?.into_owned() })
    }

    fn write_content(&self, writer: &mut Writer) {
        writer.escape(&self.region);
    }
}
