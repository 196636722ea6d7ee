//! How the rows of a column are hashed: as they are, or under a key.

use manyhash::{Algorithm, Batch, Column, Encoding, Hmac, OutputLengthError};

pub(crate) enum Hashing {
    Digest(Batch),
    Hmac(Box<Hmac>),
}

impl Hashing {
    pub(crate) fn new(algorithm: Algorithm, key: Option<&[u8]>) -> Self {
        match key {
            None => Hashing::Digest(Batch::new(algorithm)),
            Some(key) => Hashing::Hmac(Box::new(Hmac::new(algorithm, key))),
        }
    }

    /// On at most this many threads; 0 is one for every core.
    pub(crate) fn threads(self, threads: usize) -> Self {
        match self {
            Hashing::Digest(batch) => Hashing::Digest(batch.threads(threads)),
            Hashing::Hmac(hmac) => Hashing::Hmac(Box::new(hmac.threads(threads))),
        }
    }

    /// Writes the rows' digests side by side.
    ///
    /// # Errors
    /// If there is not room for exactly one a row.
    pub(crate) fn fill(
        &self,
        column: &Column,
        encoding: Encoding,
        digests: &mut [u8],
    ) -> Result<(), OutputLengthError> {
        match self {
            Hashing::Digest(batch) => batch.digest_column_into(column, encoding, digests),
            Hashing::Hmac(hmac) => hmac.authenticate_column_into(column, encoding, digests),
        }
    }
}
