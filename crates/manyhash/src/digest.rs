//! The digest of a message, as a value.

use data_encoding::{BASE64, HEXLOWER, HEXLOWER_PERMISSIVE};
use manyhash_core::Algorithm;
use manyhash_core::family::MAX_DIGEST_BYTES;
use std::fmt;
use std::str::FromStr;
use subtle::ConstantTimeEq;

/// The digest of a message: 16 to 64 bytes by the algorithms here, any number up to 64 from elsewhere.
///
/// Two digests are compared in a time that depends on their lengths only, so that a digest used as a secret (a token,
/// a MAC) is not found out byte by byte. `Display` and `FromStr` are hexadecimal, as checksum tools print it.
#[derive(Clone, Copy)]
pub struct Digest {
    bytes: [u8; MAX_DIGEST_BYTES],
    length: u8,
}

impl Digest {
    /// Of an algorithm whose last state is `bytes`.
    #[inline]
    pub(crate) fn new(bytes: &[u8; MAX_DIGEST_BYTES], algorithm: Algorithm) -> Self {
        let mut digest = Digest { bytes: *bytes, length: algorithm.digest_bytes() as u8 };
        if algorithm.is_truncated() {
            // What a truncated digest leaves of the state is nobody's business.
            digest.bytes[algorithm.digest_bytes()..].fill(0);
        }
        digest
    }

    /// A digest of these bytes, such as one read from a list.
    ///
    /// # Errors
    /// If there are more than 64.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DigestEncodingError> {
        let mut digest = Digest::default();
        digest.bytes.get_mut(..bytes.len()).ok_or(DigestEncodingError::TooLong)?.copy_from_slice(bytes);
        digest.length = bytes.len() as u8;
        Ok(digest)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Lower-case hexadecimal.
    pub fn to_hex(&self) -> String {
        HEXLOWER.encode(self.as_bytes())
    }

    /// Reads hexadecimal of either case.
    ///
    /// # Errors
    /// If it is not hexadecimal, or longer than 64 bytes.
    pub fn from_hex(hex: impl AsRef<[u8]>) -> Result<Self, DigestEncodingError> {
        Self::from_bytes(&HEXLOWER_PERMISSIVE.decode(hex.as_ref()).map_err(|_| DigestEncodingError::Hex)?)
    }

    /// Base64 with padding, RFC 4648 (4): what S3's checksum headers carry.
    pub fn to_base64(&self) -> String {
        BASE64.encode(self.as_bytes())
    }

    /// Reads base64 with padding.
    ///
    /// # Errors
    /// If it is not base64, or longer than 64 bytes.
    pub fn from_base64(base64: impl AsRef<[u8]>) -> Result<Self, DigestEncodingError> {
        Self::from_bytes(&BASE64.decode(base64.as_ref()).map_err(|_| DigestEncodingError::Base64)?)
    }
}

/// Why some text is no [`Digest`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DigestEncodingError {
    /// Not an even number of hexadecimal digits.
    #[error("not a digest in hexadecimal")]
    Hex,
    /// Not base64 with padding.
    #[error("not a digest in base64")]
    Base64,
    /// Longer than any digest.
    #[error("longer than any digest: at most {MAX_DIGEST_BYTES} bytes")]
    TooLong,
}

/// No bytes at all: a place for a digest to come.
impl Default for Digest {
    fn default() -> Self {
        Digest { bytes: [0; MAX_DIGEST_BYTES], length: 0 }
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl Eq for Digest {}

impl std::hash::Hash for Digest {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl PartialOrd for Digest {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of the bytes, for sorting; unlike equality, it takes the time it takes.
impl Ord for Digest {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = DigestEncodingError;

    fn from_str(hex: &str) -> Result<Self, DigestEncodingError> {
        Self::from_hex(hex)
    }
}
