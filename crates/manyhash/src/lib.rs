//! Hash many messages at once, at the speed the machine has.
#![forbid(unsafe_code)]

mod backend;
mod batch;
mod digest;
mod family;
pub mod file;
mod lanes;
mod plan;
mod running;
mod stream;
mod typed;

pub use backend::{BACKEND_VARIABLE, BackendError, backend};
pub use batch::{Batch, OutputLength, digest, digest_many, digest_many_into};
pub use digest::{Digest, DigestEncoding};
pub use manyhash_core::{Algorithm, Backend, UnknownAlgorithm};
pub use plan::{KernelCost, Plan, plan};
pub use stream::{Stream, UpdateManyError, update_many};
pub use typed::{Md5, Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_256};
