//! Hash functions by name: the algorithms with lanes and, with the feature `others`, functions from other crates.

#[cfg(feature = "others")]
mod others;

use crate::hasher::{FamilyRows, finalize_many, update_messages};
use crate::{Algorithm, Digest, Hasher, UnknownAlgorithmError};
#[cfg(feature = "others")]
pub use others::Blake2bLength;
use std::fmt;
use std::str::FromStr;

/// The table of the functions without lanes: a name, the bytes of a digest, and what computes it. A variant with a
/// field has digests of several lengths, and goes by its name alone at the longest.
macro_rules! functions {
    ($(
        $(#[$about:meta])*
        $variant:ident $(($length:ident: $lengths:ty = $longest:expr))?: $name:literal, $bytes:expr, $start:expr;
    )*) => {
        /// A hash function or checksum.
        ///
        /// A checksum detects accidental changes. It does not withstand an attacker who looks for another message with
        /// the same checksum.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[non_exhaustive]
        pub enum HashFunction {
            /// An algorithm with lanes, which hashes many messages at once.
            Lanes(Algorithm),
            $(
                $(#[$about])*
                #[cfg(feature = "others")]
                $variant $(($lengths))?,
            )*
        }

        impl HashFunction {
            /// Iterates over every function, the algorithms with lanes first. BLAKE2b occurs once, with its longest
            /// digest.
            pub fn all() -> impl Iterator<Item = Self> {
                let lanes = Algorithm::ALL.iter().copied().map(HashFunction::Lanes);
                #[cfg(feature = "others")]
                let lanes = lanes.chain([$(HashFunction::$variant $(($longest))?),*]);
                lanes
            }

            /// Returns the name. That of BLAKE2b omits the length of the digest; [`Display`](fmt::Display) shows it.
            pub fn name(self) -> &'static str {
                match self {
                    HashFunction::Lanes(algorithm) => algorithm.name(),
                    $(
                        #[cfg(feature = "others")]
                        HashFunction::$variant { .. } => $name,
                    )*
                }
            }

            /// Returns the number of bytes in a digest.
            pub fn digest_bytes(self) -> usize {
                match self {
                    HashFunction::Lanes(algorithm) => algorithm.digest_bytes(),
                    $(
                        #[cfg(feature = "others")]
                        HashFunction::$variant $(($length))? => $bytes,
                    )*
                }
            }

            /// A message of no bytes yet, for a function without lanes.
            #[cfg(feature = "others")]
            fn start(self) -> Option<Box<dyn others::Running>> {
                use others::{Crc, Xxh128, legacy};
                Some(match self {
                    HashFunction::Lanes(_) => return None,
                    $(HashFunction::$variant $(($length))? => Box::new($start),)*
                })
            }
        }
    };
}

functions! {
    /// BLAKE3, 32 bytes.
    Blake3: "blake3", 32, blake3::Hasher::new();
    /// BLAKE2b, RFC 7693, as in `b2sum`.
    Blake2b(length: Blake2bLength = Blake2bLength::MAX): "blake2b", length.bytes(), length.start();
    /// CRC-32 of gzip and zip (CRC-32/ISO-HDLC), a checksum of 4 bytes, most significant first.
    Crc32: "crc32", 4, Crc::<4>::new(crc_fast::CrcAlgorithm::Crc32IsoHdlc);
    /// CRC-32C of iSCSI and S3 (CRC-32/ISCSI), a checksum of 4 bytes, most significant first.
    Crc32c: "crc32c", 4, Crc::<4>::new(crc_fast::CrcAlgorithm::Crc32Iscsi);
    /// CRC-64/NVME, S3's default, a checksum of 8 bytes, most significant first.
    Crc64Nvme: "crc64nvme", 8, Crc::<8>::new(crc_fast::CrcAlgorithm::Crc64Nvme);
    /// XXH3, a checksum of 8 bytes, most significant first, as in `xxhsum`.
    Xxh3: "xxh3", 8, xxhash_rust::xxh3::Xxh3::new();
    /// XXH3, a checksum of 16 bytes, most significant first, as in `xxhsum`.
    Xxh128: "xxh128", 16, Xxh128::default();
    /// The CRC-32 of POSIX `cksum`: CRC-32/CKSUM over the message and its length, a checksum of 4 bytes, most
    /// significant first.
    Crc: "crc", 4, legacy::Crc::default();
    /// The checksum of BSD's `sum`, 2 bytes, most significant first. It misses many changes of two bytes.
    Bsd: "bsd", 2, legacy::Bsd::default();
    /// The checksum of System V's `sum`, 2 bytes, most significant first. It misses every change of the bytes' order.
    Sysv: "sysv", 2, legacy::Sysv::default();
}

impl From<Algorithm> for HashFunction {
    fn from(algorithm: Algorithm) -> Self {
        HashFunction::Lanes(algorithm)
    }
}

impl fmt::Display for HashFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "others")]
            HashFunction::Blake2b(length) if *length != Blake2bLength::MAX => {
                f.pad(&format!("{}-{}", self.name(), 8 * length.bytes()))
            }
            _ => f.pad(self.name()),
        }
    }
}

/// The name does not belong to any [`HashFunction`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnknownHashFunctionError;

impl fmt::Display for UnknownHashFunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        UnknownAlgorithmError.fmt(f)?;
        for function in HashFunction::all().filter(|function| !matches!(function, HashFunction::Lanes(_))) {
            write!(f, ", {}", function.name())?;
        }
        #[cfg(feature = "others")]
        write!(f, ", blake2b-BITS with a multiple of 8 up to 512")?;
        Ok(())
    }
}

impl std::error::Error for UnknownHashFunctionError {}

impl FromStr for HashFunction {
    type Err = UnknownHashFunctionError;

    /// Parses the spellings of algorithms and the names of other functions, in either case, with `_` or `-`. BLAKE2b
    /// may be followed by its number of bits. Examples: `SHA-256`, `sha3_256`, `blake2b-256`.
    fn from_str(name: &str) -> Result<Self, UnknownHashFunctionError> {
        if let Ok(algorithm) = name.parse() {
            return Ok(HashFunction::Lanes(algorithm));
        }
        let name = name.to_ascii_lowercase().replace('_', "-");
        #[cfg(feature = "others")]
        if let Some(length) = name.strip_prefix("blake2b-").and_then(|bits| bits.parse().ok()) {
            return Blake2bLength::of_bits(length).map(HashFunction::Blake2b).ok_or(UnknownHashFunctionError);
        }
        HashFunction::all().find(|function| function.name() == name).ok_or(UnknownHashFunctionError)
    }
}

/// What some functions have computed of one message so far.
pub(crate) struct Hashes {
    hashers: Vec<Hasher>,
    #[cfg(feature = "others")]
    others: Vec<Box<dyn others::Running>>,
}

impl Hashes {
    pub(crate) fn new(functions: &[HashFunction]) -> Self {
        let mut hashes = Hashes {
            hashers: Vec::new(),
            #[cfg(feature = "others")]
            others: Vec::new(),
        };
        for function in functions {
            match function {
                HashFunction::Lanes(algorithm) => hashes.hashers.push(Hasher::new(*algorithm)),
                #[cfg(feature = "others")]
                other => hashes.others.extend(other.start()),
            }
        }
        hashes
    }

    /// Messages go on with these bytes, side by side where functions have lanes.
    pub(crate) fn update_many<'a>(messages: impl Iterator<Item = (&'a mut Hashes, &'a [u8])>) {
        let mut hashers = Vec::new();
        for (hashes, bytes) in messages {
            #[cfg(feature = "others")]
            hashes.others.iter_mut().for_each(|other| other.update(bytes));
            hashers.push((&mut hashes.hashers[..], bytes));
        }
        update_messages(&mut hashers, &FamilyRows::default());
    }

    /// The digests of each message that ends, in the order of the functions that [`new`](Self::new) was given.
    pub(crate) fn finalize_many(functions: &[HashFunction], messages: Vec<Hashes>) -> Vec<Vec<Digest>> {
        let hashers: Vec<&Hasher> = messages.iter().flat_map(|hashes| &hashes.hashers).collect();
        let mut digests = finalize_many(&hashers, &FamilyRows::default()).into_iter();
        let of_message = |message: Hashes| {
            #[cfg(feature = "others")]
            let mut others = message.others.into_iter().map(|other| other.finalize());
            #[cfg(not(feature = "others"))]
            drop(message);
            // There is one of each for each of its functions.
            let digest = |function: &HashFunction| match function {
                HashFunction::Lanes(_) => digests.next(),
                #[cfg(feature = "others")]
                _ => others.next(),
            };
            functions.iter().filter_map(digest).collect()
        };
        messages.into_iter().map(of_message).collect()
    }
}

/// One message, as it comes.
impl std::io::Write for Hashes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Hashes::update_many(std::iter::once((self, bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
