//! A client of S3 over HTTP: AWS's own, and any other service that speaks it.
//!
//! [`Config::load`] takes what the caller says, and AWS's settings for the rest: the environment, `~/.aws/config` and
//! `~/.aws/credentials`. Credentials come from all places where AWS's tools look for them. [`Client`] is one bucket, and a
//! [`Remote`](crate::remote::Remote).
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use manyhash_s3_client::http::{Client, Config, Options};
//! use manyhash_s3_client::remote::HeadRequest;
//!
//! let client = Client::new(Config::load(Options::default()).await?, "photos")?;
//! let head = client.head_object("2026/cat.jpg", HeadRequest { checksums: true, ..HeadRequest::default() }).await?;
//! println!("{} bytes, {:?}", head.content_length, head.checksums);
//! # Ok(())
//! # }
//! ```
//!
//! A request is tried again when the service fails, is short of room, or is silent, and when a connection breaks; a
//! bucket's region, the service's clock, and credentials that expired are put right on the way. What is returned as an
//! [`Error`] is final, and says what to do where that is known.
//!
//! How a request goes: [`Client`]'s operations make a `call`; `send` signs it, waits for leave from the `limiter`, sends
//! it by the `transport`, and has `retry` decide about failures. A `body` is encoded while it is sent, and `download`
//! receives one.

mod body;
mod call;
mod client;
mod config;
mod content;
mod credentials;
mod download;
mod endpoint;
mod error;
mod headers;
mod limiter;
mod operation;
mod progress;
mod read;
mod retry;
mod send;
mod settings;
mod transport;
mod write;

pub use client::Client;
pub use config::{ChecksumCalculation, Config, ConfigError, Identity, Options};
pub use content::{Content, Pieces, Proof};
pub use endpoint::{Addressing, UnknownAddressingError};
pub use error::{CredentialsError, Error, Refusal, Target};
pub use operation::{Counts, Operation};
pub use retry::RetryPolicy;
pub use write::{Completion, Written};
