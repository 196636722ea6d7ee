//! The algorithms as types, for where the algorithm is known when the program is written.
//!
//! Each is a [`Running`] message that starts from its algorithm's state: nothing is looked up by name, and a digest is
//! an array of its own length. They are types of their own rather than one generic over the algorithm, because an
//! array as long as a constant of a type parameter cannot be written in Rust.

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
            /// A value is the running digest of one message that comes in pieces; whole messages need none.
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
            /// Digests are plain arrays, whose comparison takes longer the more of them agrees. Where that could tell
            /// a secret, compare them as [`Digest`](crate::Digest)s.
            #[derive(Clone)]
            pub struct $name(Running<manyhash_core::$family>);

            impl $name {
                /// The algorithm, as the functions that take one by name know it.
                pub const ALGORITHM: Algorithm = Algorithm::$name;

                const START: State<manyhash_core::$family> = match Self::ALGORITHM.start() {
                    Start::$family(start) => *start,
                    _ => panic!("an algorithm of another family"),
                };

                /// A message of no bytes yet.
                pub fn new() -> Self {
                    $name(Running::new(Self::START))
                }

                /// The message goes on with these bytes.
                pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
                    self.0.update(bytes.as_ref());
                }

                /// The message ends here.
                pub fn finalize(self) -> [u8; $bytes] {
                    head(&self.0.finalize())
                }

                /// Forgets the message and begins another.
                pub fn reset(&mut self) {
                    *self = Self::new();
                }

                /// The digest of one message. It gains nothing from lanes.
                pub fn digest(message: impl AsRef<[u8]>) -> [u8; $bytes] {
                    head(&running::digest::<manyhash_core::$family>(&Self::START, 0, message.as_ref()))
                }

                /// The digests of many messages, in their order, computed on all cores.
                pub fn digest_many<M: AsRef<[u8]>>(messages: &[M]) -> Vec<[u8; $bytes]> {
                    let mut digests = vec![[0; $bytes]; messages.len()];
                    Self::fill(messages, &mut digests);
                    digests
                }

                /// As [`digest_many`](Self::digest_many), into the caller's slice: nothing is allocated per message.
                ///
                /// # Errors
                /// If the slices differ in length; nothing is written then.
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

            /// The name only: what was hashed may be a secret, and no log should have it.
            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.debug_struct(stringify!($name)).finish_non_exhaustive()
                }
            }

            /// A sink for anything that writes. It takes every byte and never fails.
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
