//! What is computed of local files.

use super::plan::Value;
use manyhash::Digest;
use manyhash_s3::etag::ETag;
use std::io;
use std::path::Path;

/// Computes values of local files.
///
/// Many calls are in progress at once, so that what stands behind can fill lanes with the files of several.
pub trait Files: Send + Sync {
    /// Returns values of a file in their order, all from one reading.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, and one of the kind [`io::ErrorKind::ResourceBusy`] if it was
    /// written meanwhile.
    fn compute(&self, path: &Path, values: Vec<Value>) -> impl Future<Output = io::Result<Computed>> + Send;

    /// Finds the size of equal parts that give a file this tag. `None` if none that was tried does.
    ///
    /// # Errors
    /// Returns the errors of [`compute`](Self::compute).
    fn guess(&self, path: &Path, etag: &ETag) -> impl Future<Output = io::Result<Option<u64>>> + Send;
}

/// Values of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Computed {
    /// Bytes of the file.
    pub size: u64,
    /// The values, one for each that was asked for.
    pub values: Vec<Digest>,
}
