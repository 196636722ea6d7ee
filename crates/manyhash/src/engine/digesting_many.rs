//! The futures of the digests of many messages.

use super::JobError;
use super::block_on::block_on;
use super::digesting::Submission;
use super::turn::Caller;
use crate::{Algorithm, Digest, Digests};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

mod sealed {
    pub trait Sealed {}
}

/// A collection of the digests of many messages: a `Vec` of [`Digest`]s, or [`Digests`] side by side.
pub trait Collection: sealed::Sealed + Unpin {
    /// Makes room for `count` digests.
    #[doc(hidden)]
    fn room(algorithm: Algorithm, count: usize) -> Self;

    /// Stores the digest of a message.
    #[doc(hidden)]
    fn put(&mut self, number: usize, digest: Digest);

    /// Collects all digests, in order.
    #[doc(hidden)]
    fn all(algorithm: Algorithm, digests: Vec<Digest>) -> Self;
}

impl sealed::Sealed for Vec<Digest> {}

impl Collection for Vec<Digest> {
    fn room(_: Algorithm, count: usize) -> Self {
        vec![Digest::default(); count]
    }

    fn put(&mut self, number: usize, digest: Digest) {
        self[number] = digest;
    }

    fn all(_: Algorithm, digests: Vec<Digest>) -> Self {
        digests
    }
}

impl sealed::Sealed for Digests {}

impl Collection for Digests {
    fn room(algorithm: Algorithm, count: usize) -> Self {
        Digests::zeros(algorithm, count)
    }

    fn put(&mut self, number: usize, digest: Digest) {
        let bytes = digest.as_bytes();
        self.as_mut_bytes()[number * bytes.len()..][..bytes.len()].copy_from_slice(bytes);
    }

    fn all(algorithm: Algorithm, digests: Vec<Digest>) -> Self {
        let mut all = Self::room(algorithm, digests.len());
        digests.into_iter().enumerate().for_each(|(number, digest)| all.put(number, digest));
        all
    }
}

/// A future of the digests of many messages, in order. [`wait`](Self::wait) blocks instead.
///
/// Dropping the future abandons the messages.
#[must_use = "the messages are given up when this is dropped"]
pub struct DigestingMany<C = Vec<Digest>> {
    algorithm: Algorithm,
    /// In order; those before `next` are done.
    parts: Vec<Part>,
    next: usize,
    messages: usize,
    digests: Option<C>,
}

/// Messages that are one job.
pub(super) struct Part {
    pub(super) submission: Submission,
    /// Which of all messages they are.
    pub(super) numbers: Vec<usize>,
}

impl<C: Collection> DigestingMany<C> {
    pub(super) fn new(algorithm: Algorithm, parts: Vec<Part>, messages: usize) -> Self {
        DigestingMany { algorithm, parts, next: 0, messages, digests: None }
    }

    /// Blocks until all messages are hashed. This thread may do some of the hashing.
    ///
    /// # Errors
    /// Returns an error if one of the messages could not be hashed.
    pub fn wait(mut self) -> Result<C, JobError> {
        block_on(|context| self.look(Caller::Thread, context))
    }

    fn look(&mut self, caller: Caller, context: &mut Context) -> Poll<Result<C, JobError>> {
        let DigestingMany { algorithm, parts, next, messages, digests } = self;
        if let [Part { submission, .. }] = &mut parts[..] {
            // All messages, in their order.
            return submission.poll(caller, context).map_ok(|digests| C::all(*algorithm, digests));
        }
        while let Some(Part { submission, numbers }) = parts.get_mut(*next) {
            let part = match ready!(submission.poll(caller, context)) {
                Ok(part) => part,
                Err(error) => return Poll::Ready(Err(error)),
            };
            let digests = digests.get_or_insert_with(|| C::room(*algorithm, *messages));
            numbers.iter().zip(part).for_each(|(number, digest)| digests.put(*number, digest));
            *next += 1;
        }
        Poll::Ready(Ok(digests.take().unwrap_or_else(|| C::room(*algorithm, 0))))
    }
}

impl<C> fmt::Debug for DigestingMany<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DigestingMany").field("messages", &self.messages).finish_non_exhaustive()
    }
}

impl<C: Collection> Future for DigestingMany<C> {
    type Output = Result<C, JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        self.look(Caller::Task, context)
    }
}
