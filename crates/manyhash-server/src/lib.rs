//! An S3 server on a directory. Nothing is ever visible that was not verified, an answer of 200 means that the object is
//! on the disk, and the bodies of concurrent uploads are hashed side by side.
//!
//! The rooms, in the order in which a request passes them: `front` has connections; `request` says which operation is
//! asked for; `auth` who asks, by the keys of `keys`; `operations` do it; `ingest` receives and verifies bodies;
//! `response` sends the answer; `metrics` counts it and `admin` shows what was counted. What is kept lies in
//! [`manyhash_store`], what S3 says in [`manyhash_s3`].
//!
//! ```no_run
//! # async fn example() -> Result<(), manyhash_server::ServeError> {
//! use manyhash_server::{Config, Server};
//!
//! let server = Server::bind(Config::new("objects")).await?;
//! println!("{}", server.endpoint());
//! server.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```

// So is the store.
#![cfg(unix)]
#![forbid(unsafe_code)]

mod admin;
mod answer;
mod auth;
mod call;
mod config;
mod front;
mod headers;
mod ingest;
mod kept;
mod keys;
mod metrics;
mod operations;
mod request;
mod response;
mod server;
mod state;
mod upkeep;

pub use config::{Config, ServeError, TlsFiles};
pub use keys::KeysError;
pub use server::Server;
pub use state::{System, World};
