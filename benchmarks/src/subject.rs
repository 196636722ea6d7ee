//! Subjects: manyhash and its peers, each behind the same two traits.
//!
//! A [`Subject`] turns messages into a [`Task`], which owns whatever the subject wants at hand (contexts, room for the
//! digests in the subject's own type), so that nothing but hashing is timed. All tasks but manyhash's with threads are
//! a [`Split`]: a [`Hasher`] for each contiguous part of the messages.

mod aws_lc;
mod blake3;
mod manyhash;
mod md5_many;
mod openssl;
mod read;
mod rustcrypto;
mod split;
mod tape_sha256;
mod xxh3;

use crate::error::Error;
use ::manyhash::Algorithm;
pub(crate) use openssl::Evp;
use rayon::ThreadPool;
use split::{Grain, Split};
use std::sync::Arc;

/// How messages are handed to a subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    /// Each by itself, by the subject's call for one message.
    One,
    /// All at once, where the subject has a call for that.
    Many,
}

/// The threads that subjects without threads of their own are split over.
#[derive(Clone)]
pub(crate) struct Threads {
    pub(crate) count: usize,
    /// None for one thread, which is the caller's.
    pool: Option<Arc<ThreadPool>>,
}

impl Threads {
    pub(crate) fn new(count: usize) -> Result<Self, Error> {
        let pool = if count > 1 { Some(rayon::ThreadPoolBuilder::new().num_threads(count).build()?) } else { None };
        Ok(Threads { count, pool: pool.map(Arc::new) })
    }
}

/// What a task is made for.
#[derive(Clone)]
pub(crate) struct Job<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) messages: &'a [&'a [u8]],
    pub(crate) call: Call,
    pub(crate) threads: Threads,
}

/// What can be measured.
pub(crate) trait Subject: Sync {
    /// The name in figures and arguments.
    fn name(&self) -> &'static str;

    /// What it computes, and so how it is checked and compared.
    fn kind(&self) -> Kind {
        Kind::Standard
    }

    /// Whether it computes this algorithm. Subjects that compute one thing only, whatever the algorithm, say yes.
    fn supports(&self, algorithm: Algorithm) -> bool;

    /// Everything made ready to hash the messages.
    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error>;
}

/// What a subject computes.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// The standard's digests: a peer.
    Standard,
    /// Digests of its own, for orientation; they should be what this computes.
    Orientation(fn(&[u8]) -> Vec<u8>),
    /// No digest.
    Ceiling,
}

/// Messages about to be hashed by one subject.
pub(crate) trait Task {
    /// Hashes all messages so many times.
    fn run(&mut self, passes: usize);

    /// The digests of the last pass, in the order of the messages. They may be followed by unused bytes.
    fn digests(&self) -> Vec<&[u8]>;
}

/// A subject's work on one thread.
pub(crate) trait Hasher: Send {
    /// A digest in the type that the subject writes.
    type Digest: AsRef<[u8]> + Clone + Default + Send;

    /// The digests of messages; the slices are of one length.
    fn hash(&mut self, messages: &[&[u8]], digests: &mut [Self::Digest]);
}

/// Room for any digest, for subjects that write into a caller's buffer.
#[derive(Clone)]
pub(crate) struct Buffer([u8; 64]);

impl Default for Buffer {
    fn default() -> Self {
        Buffer([0; 64])
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Every subject, in the order of tables.
pub(crate) const ALL: [&dyn Subject; 9] = [
    &manyhash::Manyhash,
    &openssl::OpenSsl,
    &aws_lc::AwsLc,
    &rustcrypto::RustCrypto,
    &md5_many::Md5Many,
    &tape_sha256::TapeSha256,
    &blake3::Blake3,
    &xxh3::Xxh3,
    &read::Read,
];

/// The peers that say what the digests should be.
pub(crate) const OPENSSL: openssl::OpenSsl = openssl::OpenSsl;
pub(crate) const RUSTCRYPTO: rustcrypto::RustCrypto = rustcrypto::RustCrypto;

/// The subject that the others are compared with.
pub(crate) const MANYHASH: &str = "manyhash";

/// The peers whose best says what one message at a time can reach.
pub(crate) const SINGLE_STREAM: [&str; 3] = ["openssl", "aws-lc", "rustcrypto"];
