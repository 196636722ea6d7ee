//! Many messages in memory to digests.
//!
//! A batch is cut into tasks: each long message is one, so that the longest start first and all lanes end at about
//! the same time; the others go in runs of neighbours of about equal bytes. Every core takes task after task into its
//! own lanes until none is left. A task carries the piece of the output that it fills, so that no two cores share one.

pub(crate) mod pool;
mod salt;
mod share;
mod tasks;

pub(crate) use share::{fill, fill_here, with_slices};

use crate::family::{with_family, with_length};
use crate::hasher::{Hasher, Variant};
use crate::hmac::HmacKey;
use crate::running::{self, Prefix};
use crate::{Column, Digest, Digests, Encoding, column};
use manyhash_core::family::{MAX_DIGEST_BYTES, StateBytes};
use manyhash_core::{Algorithm, State};
use pool::Threads;
use salt::Salt;
use std::fmt;
use std::num::NonZeroUsize;
use zeroize::Zeroizing;

/// Hashes one message.
///
/// One message alone gains nothing from lanes; it is hashed by the best code for one.
///
/// ```
/// let digest = manyhash::digest(manyhash::Algorithm::Sha256, "abc");
/// assert_eq!(digest.to_hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// ```
pub fn digest(algorithm: Algorithm, message: impl AsRef<[u8]>) -> Digest {
    let bytes = with_family!(algorithm, F, start => running::digest::<F>(start, 0, message.as_ref()));
    Digest::new(&bytes, algorithm)
}

/// Hashes many messages on all cores, and returns their digests in order.
///
/// [`Batch`] has the options: threads, a key, a salt, and where digests go.
///
/// ```
/// use manyhash::{Algorithm, digest_many};
///
/// let digests = digest_many(Algorithm::Md5, &["a", "b", "c"]);
/// assert_eq!(digests[0].to_hex(), "0cc175b9c0f1b6a831c399e269772661");
/// ```
pub fn digest_many<M: AsRef<[u8]>>(algorithm: Algorithm, messages: &[M]) -> Vec<Digest> {
    Batch::new(algorithm).digest_many(messages)
}

/// Hashes many messages with one algorithm. The number of threads, an HMAC key and a salt are optional.
///
/// A batch can be used any number of times, from any thread. Each source of messages has a method that allocates the
/// digests and one, ending in `_into`, that writes them to the caller's memory:
///
/// | messages | digests | methods |
/// | --- | --- | --- |
/// | one | a [`Digest`] | [`digest`](Self::digest) |
/// | a slice of anything with bytes | a [`Digest`] each, 65 bytes | [`digest_many`](Self::digest_many), [`digest_many_into`](Self::digest_many_into) |
/// | the same | side by side, without gaps | [`digest_many_packed`](Self::digest_many_packed), [`digest_many_packed_into`](Self::digest_many_packed_into) |
/// | the rows of a [`Column`](crate::Column) | side by side, as bytes or hexadecimal | [`digest_column`](Self::digest_column), [`digest_column_into`](Self::digest_column_into) |
///
/// ```
/// use manyhash::{Algorithm, Batch};
/// use std::num::NonZeroUsize;
///
/// let batch = Batch::new(Algorithm::Md5).threads(NonZeroUsize::new(2)).key("Jefe");
/// let tags = batch.digest_many(&["what do ya want for nothing?", "another"]);
/// assert_eq!(tags[0].to_hex(), "750c783e6ab0b503eaa86e310a5db738"); // RFC 2104, appendix
/// ```
#[derive(Clone)]
pub struct Batch {
    algorithm: Algorithm,
    threads: Threads,
    salt: Option<Salt>,
    key: Option<Box<HmacKey>>,
}

impl Batch {
    /// Creates a batch that makes plain digests, on all cores.
    pub fn new(algorithm: Algorithm) -> Self {
        Batch { algorithm, threads: Threads::default(), salt: None, key: None }
    }

    /// Sets the maximum number of threads, including the caller's. The default, `None`, is one per core.
    ///
    /// The other threads belong to the library: one for each further core, started when first needed. A batch uses
    /// those that are idle, and none in a process that was forked after they were started.
    #[must_use]
    pub fn threads(mut self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        self.threads.most = threads.into();
        self
    }

    /// Uses the threads of the rayon pool that the caller runs in, instead of the library's own.
    ///
    /// This is for programs that keep all cores busy with their own pool. The batch then adds no threads, and its work
    /// is queued and stolen like any other job of the pool. Called from a thread outside any rayon pool, a batch uses
    /// the library's own threads.
    ///
    /// ```
    /// use manyhash::{Algorithm, Batch};
    ///
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    /// let batch = Batch::new(Algorithm::Sha256).in_current_pool();
    /// let digests = pool.install(|| batch.digest_many(&["a", "b", "c"]));
    /// assert_eq!(digests.len(), 3);
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    #[must_use]
    pub fn in_current_pool(mut self) -> Self {
        self.threads.in_current_pool = true;
        self
    }

    /// Hashes each message between a prefix and a suffix. Only someone who knows both can make such pseudonyms.
    ///
    /// Where pseudonyms have to withstand an attack, use a [`key`](Self::key). With a prefix alone, anyone who has a
    /// digest can compute the digest of a longer message without knowing the prefix. A salt and a key together make the
    /// HMAC of the salted message.
    ///
    /// ```
    /// use manyhash::{Algorithm, Batch, digest};
    ///
    /// let digests = Batch::new(Algorithm::Md5).salt("a", "c").digest_many(&["b", "bb"]);
    /// assert_eq!(digests, ["abc", "abbc"].map(|salted| digest(Algorithm::Md5, salted)));
    /// ```
    #[must_use]
    pub fn salt(mut self, prefix: impl AsRef<[u8]>, suffix: impl AsRef<[u8]>) -> Self {
        let part = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
        self.salt = Some(Salt { prefix: part(prefix.as_ref()), suffix: part(suffix.as_ref()) });
        self
    }

    /// Makes HMAC tags (RFC 2104) instead of plain digests, under a key of any length. The batch wipes what it keeps of
    /// the key when it is dropped.
    #[must_use]
    pub fn key(mut self, key: impl AsRef<[u8]>) -> Self {
        self.key = Some(Box::new(HmacKey::new(self.algorithm, key.as_ref())));
        self
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the maximum number of threads, as set by [`threads`](Self::threads).
    pub fn max_threads(&self) -> Option<NonZeroUsize> {
        self.threads.most
    }

    /// Hashes one message on the caller's thread.
    pub fn digest(&self, message: impl AsRef<[u8]>) -> Digest {
        match (&self.salt, &self.key) {
            (None, None) => digest(self.algorithm, message),
            _ => Digest::new(&self.digest_alone(message.as_ref()), self.algorithm),
        }
    }

    /// Hashes many messages, and returns their digests in order.
    pub fn digest_many<M: AsRef<[u8]>>(&self, messages: &[M]) -> Vec<Digest> {
        let mut digests = vec![Digest::default(); messages.len()];
        self.fill_digests(messages, &mut digests);
        digests
    }

    /// Hashes like [`digest_many`](Self::digest_many), but into the caller's slice: digest `i` is that of message `i`.
    ///
    /// # Errors
    /// Returns an error, and writes nothing, if the slices differ in length.
    pub fn digest_many_into<M: AsRef<[u8]>>(
        &self,
        messages: &[M],
        digests: &mut [Digest],
    ) -> Result<(), OutputLengthError> {
        OutputLengthError::check(messages.len(), digests.len())?;
        self.fill_digests(messages, digests);
        Ok(())
    }

    /// Hashes many messages, and returns their digests in order, side by side. Each takes only the bytes of the
    /// algorithm's digest, not a [`Digest`].
    ///
    /// For millions of short messages with MD5, this takes a quarter of the memory and about two thirds of the time.
    ///
    /// ```
    /// use manyhash::{Algorithm, Batch, Md5};
    ///
    /// let digests = Batch::new(Algorithm::Md5).digest_many_packed(&["a", "b", "c"]);
    /// assert_eq!(digests[2], Md5::digest("c"));
    /// assert_eq!(digests.as_bytes(), Md5::digest_many(&["a", "b", "c"]).as_flattened());
    /// ```
    pub fn digest_many_packed<M: AsRef<[u8]>>(&self, messages: &[M]) -> Digests {
        let mut digests = Digests::zeros(self.algorithm, messages.len());
        self.fill_packed(messages, digests.as_mut_bytes());
        digests
    }

    /// Hashes like [`digest_many_packed`](Self::digest_many_packed), but into the caller's bytes. Digest `i` starts at
    /// byte `i * n`, where `n` is [`Algorithm::digest_bytes`].
    ///
    /// # Errors
    /// Returns an error, and writes nothing, unless there is room for exactly one digest per message.
    pub fn digest_many_packed_into<M: AsRef<[u8]>>(
        &self,
        messages: &[M],
        digests: &mut [u8],
    ) -> Result<(), OutputLengthError> {
        OutputLengthError::check_bytes(messages.len(), digests, self.algorithm.digest_bytes())?;
        self.fill_packed(messages, digests);
        Ok(())
    }
}

impl Batch {
    fn fill_digests<M: AsRef<[u8]>>(&self, messages: &[M], digests: &mut [Digest]) {
        let digest = |bytes: &[u8; MAX_DIGEST_BYTES]| Digest::new(bytes, self.algorithm);
        with_slices(messages, |messages| {
            with_family!(self.algorithm, F, start => self.fill::<F, Digest>(*start, messages, digests, digest));
        });
    }

    fn fill_packed<M: AsRef<[u8]>>(&self, messages: &[M], digests: &mut [u8]) {
        with_slices(messages, |messages| {
            with_length!(self.algorithm, F, N, start => {
                let (digests, _) = digests.as_chunks_mut::<N>();
                self.fill::<F, [u8; N]>(*start, messages, digests, head);
            });
        });
    }

    /// Writes the digest of each message, as made by `make`, to the same place in `output`. `F` is the algorithm's
    /// family.
    fn fill<F: Variant, O: Send>(
        &self,
        start: State<F>,
        messages: &[&[u8]],
        output: &mut [O],
        make: impl Fn(&[u8; MAX_DIGEST_BYTES]) -> O + Sync,
    ) {
        if self.salt.is_none() && self.key.is_none() {
            return fill::<F, O>(self.threads, Prefix::none(start), messages, output, make);
        }
        let mut states = vec![[0; MAX_DIGEST_BYTES]; messages.len()];
        match &self.salt {
            None => self.fill_keyed::<F>(self.threads, start, messages, &mut states),
            Some(salt) => self.fill_salted::<F>(salt, start, messages, &mut states),
        }
        output.iter_mut().zip(&states).for_each(|(output, state)| *output = make(state));
    }

    /// Writes digests without the salt, and what follows them in the states.
    fn fill_keyed<F: Variant>(
        &self,
        threads: Threads,
        start: State<F>,
        messages: &[&[u8]],
        states: &mut [[u8; MAX_DIGEST_BYTES]],
    ) {
        match &self.key {
            None => fill::<F, _>(threads, Prefix::none(start), messages, states, copy),
            Some(key) => key.fill::<F>(threads, messages, states),
        }
    }

    /// Writes the digests of a column's rows.
    pub(crate) fn fill_column(&self, column: &Column, encoding: Encoding, digests: &mut [u8]) {
        match &self.salt {
            None => self.fill_column_keyed(self.threads, column, encoding, digests),
            Some(salt) => self.fill_column_salted(salt, column, encoding, digests),
        }
    }

    /// The same without the salt.
    fn fill_column_keyed(&self, threads: Threads, column: &Column, encoding: Encoding, digests: &mut [u8]) {
        match &self.key {
            None => column::fill(self.algorithm, threads, column, encoding, None, digests),
            Some(key) => key.fill_column(threads, column, encoding, digests),
        }
    }

    /// The digest of a message of any length that is hashed by itself, and what follows it in the state.
    fn digest_alone(&self, message: &[u8]) -> StateBytes {
        let mut hasher = self.key.as_ref().map_or_else(|| Hasher::new(self.algorithm), |key| key.inner());
        match &self.salt {
            None => hasher.update(message),
            Some(salt) => [&salt.prefix[..], message, &salt.suffix].iter().for_each(|part| hasher.update(part)),
        }
        match &self.key {
            None => hasher.digest_bytes(),
            Some(key) => key.finish(hasher),
        }
    }
}

/// Shows the algorithm and the threads. A key and a salt are secrets.
impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = &self.threads.most;
        f.debug_struct("Batch").field("algorithm", &self.algorithm).field("threads", threads).finish_non_exhaustive()
    }
}

/// All the bytes of a state: a function by its name, so that [`fill`] is compiled for it once.
pub(crate) fn copy(bytes: &[u8; MAX_DIGEST_BYTES]) -> [u8; MAX_DIGEST_BYTES] {
    *bytes
}

/// The digest itself, which the bytes of a state begin with.
pub(crate) fn head<const N: usize>(bytes: &[u8; MAX_DIGEST_BYTES]) -> [u8; N] {
    let mut digest = [0; N];
    digest.copy_from_slice(&bytes[..N]);
    digest
}

/// The output does not have room for exactly one digest per message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{messages} messages, but room for {digests} digests")]
pub struct OutputLengthError {
    messages: usize,
    digests: usize,
}

impl OutputLengthError {
    pub(crate) fn check(messages: usize, digests: usize) -> Result<(), Self> {
        if messages == digests { Ok(()) } else { Err(OutputLengthError { messages, digests }) }
    }

    /// Of digests of so many bytes each, side by side.
    pub(crate) fn check_bytes(messages: usize, digests: &[u8], width: usize) -> Result<(), Self> {
        // Whatever is left over counts as one more, so that it is never taken for the right number.
        Self::check(messages, digests.len().div_ceil(width))?;
        Self::check(messages, digests.len() / width)
    }
}
