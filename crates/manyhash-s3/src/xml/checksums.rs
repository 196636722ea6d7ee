//! The elements `ChecksumCRC32` and its like, of which a thing has at most one.

use super::XmlError;
use super::read::Reader;
use super::write::Writer;
use crate::checksum::{Checksum, ChecksumAlgorithm, InvalidChecksumError, ObjectChecksum};
use crate::error::S3Error;

/// The checksums of a thing as they stand in a document: any number, in any order, of any text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChecksumElements {
    elements: Vec<(ChecksumAlgorithm, String)>,
}

impl ChecksumElements {
    /// Iterates over the elements in their order: the algorithm and the text.
    pub fn iter(&self) -> impl Iterator<Item = (ChecksumAlgorithm, &str)> {
        self.elements.iter().map(|(algorithm, text)| (*algorithm, text.as_str()))
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Iterates over what the elements say.
    pub fn checksums(&self) -> impl Iterator<Item = Result<ObjectChecksum, InvalidChecksumError>> {
        self.iter().map(|(algorithm, text)| ObjectChecksum::parse(algorithm, text))
    }

    /// Returns the checksum of a part in the list of parts to be assembled, which has at most one.
    ///
    /// # Errors
    /// Returns S3's refusal if there are several, or if one is no checksum.
    pub fn of_part(&self) -> Result<Option<Checksum>, S3Error> {
        match self.elements.as_slice() {
            [] => Ok(None),
            [(algorithm, text)] => match Checksum::parse(*algorithm, text) {
                Ok(checksum) => Ok(Some(checksum)),
                Err(_) => Err(S3Error::invalid_part_checksum(text)),
            },
            _ => Err(S3Error::several_part_checksums(self.iter())),
        }
    }

    /// Reads an element, if it is of a checksum.
    pub(super) fn read(&mut self, element: &str, reader: &mut Reader<'_>) -> Result<bool, XmlError> {
        let Some(algorithm) = ChecksumAlgorithm::from_element(element) else { return Ok(false) };
        self.elements.push((algorithm, reader.text()?.trim_ascii().to_owned()));
        Ok(true)
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        for (algorithm, text) in self.iter() {
            writer.text(algorithm.element(), text);
        }
    }
}

impl From<Checksum> for ChecksumElements {
    fn from(checksum: Checksum) -> Self {
        ChecksumElements { elements: vec![(checksum.algorithm(), checksum.to_string())] }
    }
}

impl From<ObjectChecksum> for ChecksumElements {
    fn from(object: ObjectChecksum) -> Self {
        ChecksumElements { elements: vec![(object.checksum.algorithm(), object.to_string())] }
    }
}

impl<C: Into<ChecksumElements>> From<Option<C>> for ChecksumElements {
    fn from(checksum: Option<C>) -> Self {
        checksum.map_or_else(ChecksumElements::default, C::into)
    }
}
