//! Objects to files.

use super::error::{Error, blocking};
use super::fetch::Fetch;
use super::place::Place;
use super::proof::{self, Proof};
use crate::remote::{HeadRequest, Remote};
use crate::verify::{Check, Files, Form, LocalFiles, Origin, Value};
use manyhash::Digest;
use manyhash::engine::{BuildError, Engine};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// How objects are downloaded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DownloadSettings {
    /// Whether objects are downloaded too of which the service has nothing to compare them with.
    pub allow_unverified: bool,
    /// Whether files that are there are replaced.
    pub replace: bool,
    /// Counts bytes that were received.
    pub counter: Option<Arc<AtomicU64>>,
}

/// What was downloaded.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Downloaded {
    /// Bytes.
    pub size: u64,
    /// What proved that the file has the bytes of the object. `None` if nothing did.
    pub check: Option<Check>,
    /// Whether the file was there already, and was found to be the same.
    pub was_there: bool,
}

/// Downloads objects of a bucket.
///
/// Objects that are downloaded at the same time share lanes, so that callers should have many going on.
pub struct Downloader<R> {
    remote: Arc<R>,
    engine: Engine,
    files: LocalFiles,
    settings: DownloadSettings,
}

impl<R: Remote> Downloader<R> {
    /// Creates a downloader from a bucket. No request is sent.
    ///
    /// # Errors
    /// Returns an error if no threads can be started.
    pub fn new(remote: Arc<R>, settings: DownloadSettings) -> Result<Downloader<R>, BuildError> {
        Ok(Downloader { remote, engine: Engine::builder().build()?, files: LocalFiles::new(None), settings })
    }

    /// Downloads an object to a file below a directory, which is made with those between. The path is made of parts that
    /// are names, as [`Names`](super::Names) gives it.
    ///
    /// The bytes are hashed as they arrive, and the file gets its name when they were found to be those of the object. A
    /// file that is there and the same is left as it is.
    ///
    /// # Errors
    /// Returns an error if the object cannot be received, is not what the service says of it, or has nothing to compare
    /// it with; and if there is another file, or the file cannot be written. Then there is no new file.
    pub async fn object(&self, key: &str, root: &Path, below: &Path) -> Result<Downloaded, Error> {
        let head = self.remote.head(key, HeadRequest { part_number: None, checksums: true }).await?;
        let size = head.size.unwrap_or(head.content_length);
        let proof = match size {
            0 => None,
            _ => proof::find(&*self.remote, key, &head, size).await?,
        };
        let place = Place { root: root.to_owned(), below: below.to_owned() };
        if let Some(check) = self.is_there(&place, size, proof.as_ref()).await? {
            self.count(size);
            return Ok(Downloaded { size, check: Some(check), was_there: true });
        }
        if size > 0 && proof.is_none() && !self.settings.allow_unverified {
            return Err(Error::Unverifiable);
        }
        let incoming = place.open(size).await?;
        if size > 0 {
            let fetch = Fetch {
                remote: &*self.remote,
                engine: &self.engine,
                key,
                size,
                etag: head.etag.as_ref(),
                file: incoming.file(),
                counter: self.settings.counter.as_deref(),
            };
            let found = fetch.fetch(proof.as_ref().map(|proof| &proof.value)).await?;
            if let Some(proof) = &proof
                && found != Some(proof.due)
            {
                return Err(damaged(proof, found, size));
            }
        }
        incoming.publish(self.settings.replace).await?;
        let check = match size {
            0 => Some(Check::Empty),
            _ => proof.map(|proof| check(&proof, size, Origin::Download)),
        };
        Ok(Downloaded { size, check, was_there: false })
    }

    /// Looks at a file that is there, and returns what proves that it is the same.
    async fn is_there(&self, place: &Place, size: u64, proof: Option<&Proof>) -> Result<Option<Check>, Error> {
        let path = place.path();
        let looked = path.clone();
        let metadata = match blocking(move || looked.symlink_metadata()).await.and_then(|metadata| metadata) {
            Ok(metadata) => metadata,
            // The latter if a file is in the way.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(Error::Write(error)),
        };
        if metadata.is_file() && metadata.len() == size {
            match proof {
                _ if size == 0 => return Ok(Some(Check::Empty)),
                Some(proof) => {
                    // One that cannot be read is not known to be the same.
                    let computed = self.files.compute(&path, vec![proof.value.clone()]).await.ok();
                    if computed.is_some_and(|computed| computed.size == size && computed.values == [proof.due]) {
                        return Ok(Some(check(proof, size, Origin::File)));
                    }
                }
                None => {}
            }
        }
        if self.settings.replace { Ok(None) } else { Err(Error::FileExists) }
    }

    fn count(&self, bytes: u64) {
        if let Some(counter) = &self.settings.counter {
            counter.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

impl<R: Remote> fmt::Debug for Downloader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bucket, settings) = (self.remote.bucket(), &self.settings);
        f.debug_struct("Downloader").field("bucket", &bucket).field("settings", settings).finish_non_exhaustive()
    }
}

fn check(proof: &Proof, size: u64, origin: Origin) -> Check {
    let form = form(&proof.value, size);
    let part_bytes = match &proof.value {
        Value::Parts(_, layout) => layout.equal_part_bytes(),
        Value::Whole(_) => None,
    };
    Check::Value { form, part_bytes, origins: [proof.origin, origin] }
}

fn form(value: &Value, size: u64) -> Form {
    let function = match value {
        Value::Whole(function) => *function,
        Value::Parts(algorithm, _) => (*algorithm).into(),
    };
    // The layout is one of parts of this size.
    value.form(size).unwrap_or(Form::Whole(function))
}

fn damaged(proof: &Proof, found: Option<Digest>, size: u64) -> Error {
    let found = found.map_or_else(|| "unknown".to_owned(), |found| found.to_string());
    Error::Damaged { what: form(&proof.value, size).to_string(), found, due: proof.due.to_string() }
}
