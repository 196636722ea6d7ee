//! The algorithms as types, for programs that know the algorithm at compile time.
//!
//! Each is a [`Running`] message that starts from its algorithm's state. Nothing is looked up by name, and a digest is
//! an array of its own length. There is a type per algorithm rather than one generic type, because Rust cannot express
//! an array whose length is an associated constant of a type parameter.

#[cfg(feature = "digest")]
mod rustcrypto;

use crate::batch::pool::Threads;
use crate::batch::{fill, head, with_slices};
use crate::running::{self, Prefix, Running};
use crate::{Algorithm, OutputLengthError};
use manyhash_core::{Start, State};
use std::{fmt, io};

macro_rules! typed {
    ($(
        $name:ident $function:ident: $family:ident, $bytes:literal, $module:ident::$initial:ident, [$($spelling:literal),*],
            $about:literal;
    )*) => {
        $(
            #[doc = $about]
            ///
            /// A value hashes one message that arrives in pieces. Whole messages need no value.
            ///
            /// ```
            #[doc = concat!("use manyhash::", stringify!($name), ";")]
            ///
            #[doc = concat!("let mut hasher = ", stringify!($name), "::new();")]
            /// hasher.update("a");
            /// hasher.update("bc");
            #[doc = concat!("let digest: [u8; ", stringify!($bytes), "] = hasher.finalize();")]
            #[doc = concat!("assert_eq!(digest, ", stringify!($name), "::digest(\"abc\"));")]
            #[doc = concat!("assert_eq!(digest, ", stringify!($name), "::digest_many(&[\"abc\", \"def\"])[0]);")]
            /// ```
            ///
            /// Digests are plain arrays. Comparing them takes longer the more of their first bytes agree. Where that
            /// could reveal a secret, compare them as [`Digest`](crate::Digest)s.
            #[derive(Clone)]
            pub struct $name(Running<manyhash_core::$family>);

            impl $name {
                /// The algorithm as a value, for functions that take an [`Algorithm`].
                pub const ALGORITHM: Algorithm = Algorithm::$name;

                const START: State<manyhash_core::$family> = match Self::ALGORITHM.start() {
                    Start::$family(start) => *start,
                    _ => panic!("an algorithm of another family"),
                };

                /// Creates a hasher for a new message.
                pub fn new() -> Self {
                    $name(Running::new(Self::START))
                }

                /// Appends bytes to the message.
                pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
                    self.0.update(bytes.as_ref());
                }

                /// Ends the message and returns its digest.
                pub fn finalize(self) -> [u8; $bytes] {
                    head(&self.0.finalize())
                }

                /// Discards the message and starts a new one.
                pub fn reset(&mut self) {
                    *self = Self::new();
                }

                /// Hashes one message. It gains nothing from lanes.
                pub fn digest(message: impl AsRef<[u8]>) -> [u8; $bytes] {
                    head(&running::digest::<manyhash_core::$family>(&Self::START, 0, message.as_ref()))
                }

                /// Hashes many messages on all cores, and returns their digests in order.
                pub fn digest_many<M: AsRef<[u8]>>(messages: &[M]) -> Vec<[u8; $bytes]> {
                    let mut digests = vec![[0; $bytes]; messages.len()];
                    Self::fill(messages, &mut digests);
                    digests
                }

                /// Hashes like [`digest_many`](Self::digest_many), but into the caller's slice. Allocates nothing per
                /// message.
                ///
                /// # Errors
                /// Returns an error, and writes nothing, if the slices differ in length.
                pub fn digest_many_into<M: AsRef<[u8]>>(
                    messages: &[M],
                    digests: &mut [[u8; $bytes]],
                ) -> Result<(), OutputLengthError> {
                    OutputLengthError::check(messages.len(), digests.len())?;
                    Self::fill(messages, digests);
                    Ok(())
                }

                fn fill<M: AsRef<[u8]>>(messages: &[M], digests: &mut [[u8; $bytes]]) {
                    let prefix = Prefix::<manyhash_core::$family>::none(Self::START);
                    with_slices(messages, |messages| fill(Threads::default(), prefix, messages, digests, head));
                }
            }

            // The length is written out so that the documentation shows it.
            const _: () = assert!($bytes == $name::ALGORITHM.digest_bytes());

            impl Default for $name {
                fn default() -> Self {
                    Self::new()
                }
            }

            /// Shows only the name. The message may be a secret that does not belong in a log.
            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.debug_struct(stringify!($name)).finish_non_exhaustive()
                }
            }

            /// Appends everything written to the message. Writing never fails.
            impl io::Write for $name {
                fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                    self.update(bytes);
                    Ok(bytes.len())
                }

                fn flush(&mut self) -> io::Result<()> {
                    Ok(())
                }
            }
        )*
    };
}

manyhash_core::algorithms!(typed);
