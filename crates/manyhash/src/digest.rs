//! The digest of a message, as a value.

use data_encoding::{BASE64, HEXLOWER, HEXLOWER_PERMISSIVE};
use manyhash_core::Algorithm;
use manyhash_core::family::MAX_DIGEST_BYTES;
use std::fmt;
use std::str::FromStr;
use subtle::ConstantTimeEq;

/// The digest of a message: 16 to 64 bytes from the algorithms here, up to 64 from elsewhere.
///
/// Comparing two digests for equality takes a time that depends only on their lengths, so that a digest used as a
/// secret (a token, a MAC) cannot be guessed byte by byte. `Display` and `FromStr` use hexadecimal, as checksum tools
/// print it.
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
            // The rest of a truncated state must not leak.
            digest.bytes[algorithm.digest_bytes()..].fill(0);
        }
        digest
    }

    /// Creates a digest from its bytes, such as those read from a checksum file.
    ///
    /// # Errors
    /// Returns an error if there are more than 64 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DigestEncodingError> {
        let mut digest = Digest::default();
        digest.bytes.get_mut(..bytes.len()).ok_or(DigestEncodingError::TooLong)?.copy_from_slice(bytes);
        digest.length = bytes.len() as u8;
        Ok(digest)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Encodes the digest as lower-case hexadecimal.
    pub fn to_hex(&self) -> String {
        HEXLOWER.encode(self.as_bytes())
    }

    /// Decodes hexadecimal of either case.
    ///
    /// # Errors
    /// Returns an error if `hex` is not hexadecimal, or is longer than 64 bytes when decoded.
    pub fn from_hex(hex: impl AsRef<[u8]>) -> Result<Self, DigestEncodingError> {
        Self::from_bytes(&HEXLOWER_PERMISSIVE.decode(hex.as_ref()).map_err(|_| DigestEncodingError::Hex)?)
    }

    /// Encodes the digest as base64 with padding (RFC 4648, section 4), as in S3's checksum headers.
    pub fn to_base64(&self) -> String {
        BASE64.encode(self.as_bytes())
    }

    /// Decodes base64 with padding.
    ///
    /// # Errors
    /// Returns an error if `base64` is not base64, or is longer than 64 bytes when decoded.
    pub fn from_base64(base64: impl AsRef<[u8]>) -> Result<Self, DigestEncodingError> {
        Self::from_bytes(&BASE64.decode(base64.as_ref()).map_err(|_| DigestEncodingError::Base64)?)
    }
}

/// Why text or bytes cannot be decoded as a [`Digest`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DigestEncodingError {
    /// The text is not an even number of hexadecimal digits.
    #[error("not a digest in hexadecimal")]
    Hex,
    /// The text is not base64 with padding.
    #[error("not a digest in base64")]
    Base64,
    /// The digest would be longer than 64 bytes.
    #[error("longer than any digest: at most {MAX_DIGEST_BYTES} bytes")]
    TooLong,
}

/// Creates an empty digest, as a placeholder.
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

/// Orders digests by their bytes, for sorting. Unlike equality, this does not take constant time.
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
