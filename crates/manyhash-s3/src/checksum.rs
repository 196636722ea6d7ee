//! The ten checksums of S3, of bodies and of objects in parts.
//!
//! A body has the checksum of its bytes. An object of several parts has either a *composite*, the checksum of its
//! parts' checksums, or that of the *full object*, which only CRCs can tell from those of the parts ([`full_object`]).
//!
//! Four of the functions have SIMD lanes ([`ChecksumAlgorithm::lanes`]), and are computed by `manyhash`: its engine,
//! its hashers, or [`digest`] for one message. The others keep up with memory alone ([`RunningChecksum`]).

mod combine;
mod object;
mod running;
#[cfg(test)]
mod tests;

use data_encoding::BASE64;
use manyhash::Algorithm;
pub use object::{CombineError, ObjectChecksum, composite, full_object};
use running::Function;
pub use running::{RunningChecksum, digest};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Bytes in the longest checksum.
const MAX_BYTES: usize = 64;

/// The table of algorithms: a variant, its name, its name in headers, its bytes.
macro_rules! algorithms {
    ($($(#[$about:meta])* $variant:ident, $name:literal, $lower:literal, $bytes:literal;)*) => {
        /// An algorithm of checksums.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub enum ChecksumAlgorithm {
            $(
                $(#[$about])*
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl ChecksumAlgorithm {
            /// Every algorithm.
            pub const ALL: [ChecksumAlgorithm; 10] = [$(ChecksumAlgorithm::$variant),*];

            /// Returns the name, such as `CRC32`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ChecksumAlgorithm::$variant => $name,)*
                }
            }

            /// Returns the name in lower case, such as `crc32`.
            pub const fn lower_case_name(self) -> &'static str {
                match self {
                    $(ChecksumAlgorithm::$variant => $lower,)*
                }
            }

            /// Returns the name of the header and trailer, such as `x-amz-checksum-crc32`.
            pub const fn header(self) -> &'static str {
                match self {
                    $(ChecksumAlgorithm::$variant => concat!("x-amz-checksum-", $lower),)*
                }
            }

            /// Returns the name of the XML element, such as `ChecksumCRC32`.
            pub const fn element(self) -> &'static str {
                match self {
                    $(ChecksumAlgorithm::$variant => concat!("Checksum", $name),)*
                }
            }

            /// Returns the number of bytes in a checksum.
            pub const fn digest_bytes(self) -> usize {
                match self {
                    $(ChecksumAlgorithm::$variant => $bytes,)*
                }
            }
        }
    };
}

algorithms! {
    /// CRC-32/ISO-HDLC, that of gzip and zip.
    Crc32, "CRC32", "crc32", 4;
    /// CRC-32/ISCSI, Castagnoli's.
    Crc32c, "CRC32C", "crc32c", 4;
    /// CRC-64/NVME, which S3 adds to an upload without a checksum.
    Crc64Nvme, "CRC64NVME", "crc64nvme", 8;
    /// SHA-1.
    Sha1, "SHA1", "sha1", 20;
    /// SHA-256.
    Sha256, "SHA256", "sha256", 32;
    /// SHA-512.
    Sha512, "SHA512", "sha512", 64;
    /// MD5.
    Md5, "MD5", "md5", 16;
    /// XXH64 with the seed 0.
    XxHash64, "XXHASH64", "xxhash64", 8;
    /// XXH3 of 64 bits with the seed 0.
    XxHash3, "XXHASH3", "xxhash3", 8;
    /// XXH3 of 128 bits with the seed 0, its high half first.
    XxHash128, "XXHASH128", "xxhash128", 16;
}

impl ChecksumAlgorithm {
    /// Finds the algorithm of a header or trailer. The case of letters is of no account.
    pub fn from_header(name: &str) -> Option<ChecksumAlgorithm> {
        Self::ALL.into_iter().find(|algorithm| algorithm.header().eq_ignore_ascii_case(name))
    }

    /// Finds the algorithm of an XML element.
    pub fn from_element(name: &str) -> Option<ChecksumAlgorithm> {
        Self::ALL.into_iter().find(|algorithm| algorithm.element() == name)
    }

    /// Returns the algorithm with lanes that this is, if it has lanes.
    pub const fn lanes(self) -> Option<Algorithm> {
        match Function::of(self) {
            Function::Lanes(algorithm) => Some(algorithm),
            _ => None,
        }
    }

    /// Returns whether an object in parts can have a checksum of this type.
    pub const fn allows(self, kind: ChecksumType) -> bool {
        match kind {
            ChecksumType::Composite => !matches!(self, ChecksumAlgorithm::Crc64Nvme),
            ChecksumType::FullObject => {
                matches!(self, ChecksumAlgorithm::Crc32 | ChecksumAlgorithm::Crc32c | ChecksumAlgorithm::Crc64Nvme)
            }
        }
    }

    /// Returns the type that an object in parts has unless another is asked for.
    pub const fn default_type(self) -> ChecksumType {
        match self {
            ChecksumAlgorithm::Crc64Nvme => ChecksumType::FullObject,
            _ => ChecksumType::Composite,
        }
    }
}

impl fmt::Display for ChecksumAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Reads the name. The case of letters is of no account.
impl FromStr for ChecksumAlgorithm {
    type Err = UnknownChecksumAlgorithmError;

    fn from_str(name: &str) -> Result<Self, UnknownChecksumAlgorithmError> {
        let found = Self::ALL.into_iter().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownChecksumAlgorithmError { name: name.to_owned() })
    }
}

/// A name that is none of a checksum's algorithms.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "unknown checksum algorithm `{name}`: use CRC32, CRC32C, CRC64NVME, SHA1, SHA256, SHA512, MD5, XXHASH64, XXHASH3 \
     or XXHASH128"
)]
pub struct UnknownChecksumAlgorithmError {
    name: String,
}

/// What the checksum of an object covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum ChecksumType {
    /// The checksums of the parts, one after another.
    #[serde(rename = "COMPOSITE")]
    Composite,
    /// The bytes of the object. That of an object in one upload is always one.
    #[serde(rename = "FULL_OBJECT")]
    FullObject,
}

impl ChecksumType {
    /// Returns the name: `COMPOSITE` or `FULL_OBJECT`.
    pub const fn name(self) -> &'static str {
        match self {
            ChecksumType::Composite => "COMPOSITE",
            ChecksumType::FullObject => "FULL_OBJECT",
        }
    }
}

impl fmt::Display for ChecksumType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Reads the name. The case of letters is of no account.
impl FromStr for ChecksumType {
    type Err = UnknownChecksumTypeError;

    fn from_str(name: &str) -> Result<Self, UnknownChecksumTypeError> {
        let kinds = [ChecksumType::Composite, ChecksumType::FullObject];
        let found = kinds.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownChecksumTypeError { name: name.to_owned() })
    }
}

/// A name that is no type of checksum.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown checksum type `{name}`: use COMPOSITE or FULL_OBJECT")]
pub struct UnknownChecksumTypeError {
    name: String,
}

/// A checksum: its algorithm, and the bytes of the digest, integers with the most significant byte first.
///
/// `Display` writes base64 with padding (RFC 4648, section 4), as headers have it.
///
/// ```
/// use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, digest};
///
/// let checksum = digest(ChecksumAlgorithm::XxHash64, b"hello world");
/// assert_eq!(checksum.to_string(), "RatnNLIeaWg=");
/// assert_eq!(Checksum::parse(ChecksumAlgorithm::XxHash64, "RatnNLIeaWg=")?, checksum);
/// # Ok::<(), manyhash_s3::checksum::InvalidChecksumError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "(ChecksumAlgorithm, String)", into = "(ChecksumAlgorithm, String)")]
pub struct Checksum {
    algorithm: ChecksumAlgorithm,
    /// The digest, and zeros.
    value: [u8; MAX_BYTES],
}

impl Checksum {
    /// Creates a checksum from the bytes of a digest.
    ///
    /// # Errors
    /// Returns an error unless there are as many bytes as the algorithm's digests have.
    pub fn new(algorithm: ChecksumAlgorithm, digest: &[u8]) -> Result<Checksum, InvalidChecksumError> {
        let mut value = [0; MAX_BYTES];
        match value.get_mut(..digest.len()) {
            Some(bytes) if digest.len() == algorithm.digest_bytes() => bytes.copy_from_slice(digest),
            _ => return Err(InvalidChecksumError::Length { algorithm, bytes: digest.len() }),
        }
        Ok(Checksum { algorithm, value })
    }

    /// Reads base64 with padding, in which every bit counts.
    ///
    /// # Errors
    /// Returns an error if `base64` is not base64, or has another number of bytes than the algorithm's digests.
    pub fn parse(algorithm: ChecksumAlgorithm, base64: &str) -> Result<Checksum, InvalidChecksumError> {
        // What is far too long is not even decoded.
        if base64.len() > BASE64.encode_len(MAX_BYTES) {
            return Err(InvalidChecksumError::Base64 { algorithm });
        }
        let digest = BASE64.decode(base64.as_bytes()).map_err(|_| InvalidChecksumError::Base64 { algorithm })?;
        Checksum::new(algorithm, &digest)
    }

    /// Returns the algorithm.
    pub const fn algorithm(&self) -> ChecksumAlgorithm {
        self.algorithm
    }

    /// Returns the bytes of the digest.
    pub fn as_bytes(&self) -> &[u8] {
        self.value.get(..self.algorithm.digest_bytes()).unwrap_or(&self.value)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&BASE64.encode(self.as_bytes()))
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({} {self})", self.algorithm)
    }
}

impl TryFrom<(ChecksumAlgorithm, String)> for Checksum {
    type Error = InvalidChecksumError;

    fn try_from((algorithm, base64): (ChecksumAlgorithm, String)) -> Result<Self, InvalidChecksumError> {
        Checksum::parse(algorithm, &base64)
    }
}

impl From<Checksum> for (ChecksumAlgorithm, String) {
    fn from(checksum: Checksum) -> Self {
        (checksum.algorithm, checksum.to_string())
    }
}

/// Why text or bytes are no checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidChecksumError {
    /// The text is not base64 with padding.
    #[error("not a {algorithm} checksum in base64 with padding")]
    Base64 {
        /// What the text would be a checksum of.
        algorithm: ChecksumAlgorithm,
    },
    /// There are too many or too few bytes.
    #[error("a {algorithm} checksum has {} bytes, not {bytes}", algorithm.digest_bytes())]
    Length {
        /// What the bytes would be a checksum of.
        algorithm: ChecksumAlgorithm,
        /// How many there are.
        bytes: usize,
    },
    /// What follows the dash is not a number of parts.
    #[error("not a number of parts after the dash of a {algorithm} checksum")]
    Parts {
        /// What the text would be a checksum of.
        algorithm: ChecksumAlgorithm,
    },
    /// Objects have no composite of this algorithm.
    #[error("there are no composites of {algorithm}")]
    NoComposite {
        /// The algorithm.
        algorithm: ChecksumAlgorithm,
    },
}
