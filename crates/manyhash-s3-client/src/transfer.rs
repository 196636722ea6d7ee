//! Files to objects and back, each with its proof.
//!
//! [`Uploader`] reads a file once, for the MD5s and checksums of its parts, the signatures of requests, and a digest of
//! the whole if one is wanted. A part is read into memory, hashed in lanes beside the parts of other files, and sent from
//! there, so that nothing is copied and every request carries what the service is to compare. What the service says that
//! it has must be what was computed.
//!
//! [`Downloader`] hashes what it receives for the strongest value that the service has of an object, and gives a file its
//! name only if it is the same.
//!
//! [`actions`] says what a bucket lacks, and has too much of, compared with a tree.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use manyhash_s3_client::http::{Client, Config, Options};
//! use manyhash_s3_client::transfer::{UploadSettings, Uploader};
//!
//! let client = Client::new(Config::load(Options::default()).await?, "photos")?;
//! let uploader = Uploader::new(client, UploadSettings::default())?;
//! let uploaded = uploader.file("cat.jpg", "2026/cat.jpg").await?;
//! println!("{} bytes, {}", uploaded.size, uploaded.etag);
//! # Ok(())
//! # }
//! ```

mod download;
mod error;
mod fetch;
mod hashing;
mod memory;
mod multipart;
mod names;
mod place;
mod proof;
mod source;
mod stored;
mod sync;
#[cfg(test)]
mod tests;
mod tree;
mod unfinished;
mod upload;

pub use download::{DownloadSettings, Downloaded, Downloader};
pub use error::Error;
pub use names::{KeyNameError, Names};
pub use sync::{Action, Reason, actions};
pub use tree::{Tree, TreeFile};
pub use upload::{ChecksumChoice, UploadSettings, Uploaded, Uploader};
