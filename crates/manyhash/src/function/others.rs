//! Functions without lanes here, each by the crate that is kept best: one message after another.

mod legacy;

use super::UnknownFunction;
use crate::Digest;
use crc_fast::CrcAlgorithm;
use digest::Digest as _;
use std::fmt;
use std::str::FromStr;
use xxhash_rust::xxh3::Xxh3;

/// A function that has no lanes here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Other {
    /// BLAKE3, 32 bytes.
    Blake3,
    /// BLAKE2b, RFC 7693, as `b2sum` has it.
    Blake2b(Blake2bLength),
    /// SHA3-224, FIPS 202.
    Sha3_224,
    /// SHA3-256, FIPS 202.
    Sha3_256,
    /// SHA3-384, FIPS 202.
    Sha3_384,
    /// SHA3-512, FIPS 202.
    Sha3_512,
    /// SM3, GB/T 32905-2016.
    Sm3,
    /// CRC-32 of gzip and zip (CRC-32/ISO-HDLC), most significant byte first. No protection against anybody.
    Crc32,
    /// CRC-32C of iSCSI and S3 (CRC-32/ISCSI), most significant byte first. No protection against anybody.
    Crc32c,
    /// CRC-64/NVME, S3's default, most significant byte first. No protection against anybody.
    Crc64Nvme,
    /// XXH3 of 64 bits, most significant byte first, as `xxhsum` has it. No protection against anybody.
    Xxh3,
    /// XXH3 of 128 bits, most significant byte first, as `xxhsum` has it. No protection against anybody.
    Xxh128,
    /// The CRC-32 of `cksum`, POSIX: CRC-32/CKSUM with the length behind the message, most significant byte first. No
    /// protection against anybody.
    Crc,
    /// The checksum of BSD's `sum`: 16 bits, most significant byte first. Two bytes that differ may well not change it.
    Bsd,
    /// The checksum of System V's `sum`: 16 bits, most significant byte first. The order of the bytes does not change it.
    Sysv,
}

/// Bytes in a BLAKE2b digest: 1 to 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Blake2bLength(u8);

impl Blake2bLength {
    /// All that BLAKE2b has.
    pub const MAX: Self = Blake2bLength(64);

    /// So many bits, if BLAKE2b has digests of them: a multiple of 8, up to 512.
    pub fn of_bits(bits: usize) -> Option<Self> {
        (bits.is_multiple_of(8) && (8..=512).contains(&bits)).then_some(Blake2bLength((bits / 8) as u8))
    }

    /// Bytes.
    pub fn bytes(self) -> usize {
        usize::from(self.0)
    }
}

impl Other {
    /// The names of all, in their order.
    pub const NAMES: [&str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = Self::ALL[i].name();
            i += 1;
        }
        names
    };

    /// Bytes in a digest.
    pub fn digest_bytes(self) -> usize {
        match self {
            Other::Blake2b(length) => length.bytes(),
            Other::Sha3_512 => 64,
            Other::Sha3_384 => 48,
            Other::Blake3 | Other::Sha3_256 | Other::Sm3 => 32,
            Other::Sha3_224 => 28,
            Other::Xxh128 => 16,
            Other::Crc64Nvme | Other::Xxh3 => 8,
            Other::Crc32 | Other::Crc32c | Other::Crc => 4,
            Other::Bsd | Other::Sysv => 2,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Other::Blake3 => "blake3",
            Other::Blake2b(_) => "blake2b",
            Other::Sha3_224 => "sha3-224",
            Other::Sha3_256 => "sha3-256",
            Other::Sha3_384 => "sha3-384",
            Other::Sha3_512 => "sha3-512",
            Other::Sm3 => "sm3",
            Other::Crc32 => "crc32",
            Other::Crc32c => "crc32c",
            Other::Crc64Nvme => "crc64nvme",
            Other::Xxh3 => "xxh3",
            Other::Xxh128 => "xxh128",
            Other::Crc => "crc",
            Other::Bsd => "bsd",
            Other::Sysv => "sysv",
        }
    }

    const ALL: [Other; 15] = [
        Other::Blake3,
        Other::Blake2b(Blake2bLength::MAX),
        Other::Sha3_224,
        Other::Sha3_256,
        Other::Sha3_384,
        Other::Sha3_512,
        Other::Sm3,
        Other::Crc32,
        Other::Crc32c,
        Other::Crc64Nvme,
        Other::Xxh3,
        Other::Xxh128,
        Other::Crc,
        Other::Bsd,
        Other::Sysv,
    ];

    /// A message of no bytes yet.
    pub(super) fn start(self) -> Box<dyn Running> {
        match self {
            Other::Blake3 => Box::new(blake3::Hasher::new()),
            Other::Blake2b(length) => Box::new(blake2b_simd::Params::new().hash_length(length.bytes()).to_state()),
            Other::Sha3_224 => Box::new(RustCrypto(sha3::Sha3_224::new())),
            Other::Sha3_256 => Box::new(RustCrypto(sha3::Sha3_256::new())),
            Other::Sha3_384 => Box::new(RustCrypto(sha3::Sha3_384::new())),
            Other::Sha3_512 => Box::new(RustCrypto(sha3::Sha3_512::new())),
            Other::Sm3 => Box::new(RustCrypto(sm3::Sm3::new())),
            Other::Crc32 => Box::new(Crc { running: crc_fast::Digest::new(CrcAlgorithm::Crc32IsoHdlc), bytes: 4 }),
            Other::Crc32c => Box::new(Crc { running: crc_fast::Digest::new(CrcAlgorithm::Crc32Iscsi), bytes: 4 }),
            Other::Crc64Nvme => Box::new(Crc { running: crc_fast::Digest::new(CrcAlgorithm::Crc64Nvme), bytes: 8 }),
            Other::Xxh3 => Box::new(Xxh3::new()),
            Other::Xxh128 => Box::new(Xxh128(Xxh3::new())),
            Other::Crc => Box::new(legacy::Crc::default()),
            Other::Bsd => Box::new(legacy::Bsd::default()),
            Other::Sysv => Box::new(legacy::Sysv::default()),
        }
    }
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Other::Blake2b(length) if *length != Blake2bLength::MAX => {
                f.pad(&format!("{}-{}", self.name(), 8 * length.bytes()))
            }
            _ => f.pad(self.name()),
        }
    }
}

impl FromStr for Other {
    type Err = UnknownFunction;

    /// Takes the names in upper or lower case, and BLAKE2b with its bits: `SHA3-256`, `sha3_256`, `blake2b-256`.
    fn from_str(name: &str) -> Result<Self, UnknownFunction> {
        let name = name.to_ascii_lowercase().replace('_', "-");
        let known = || Self::ALL.into_iter().find(|other| other.name() == name);
        match name.strip_prefix("blake2b-").map(|bits| bits.parse().ok().and_then(Blake2bLength::of_bits)) {
            Some(length) => length.map(Other::Blake2b),
            None => known(),
        }
        .ok_or(UnknownFunction)
    }
}

/// What a function has computed of a message so far.
pub(super) trait Running: Send {
    fn update(&mut self, bytes: &[u8]);
    fn finalize(self: Box<Self>) -> Digest;
}

/// Of no more bytes than any digest here.
fn digest(bytes: &[u8]) -> Digest {
    Digest::from_bytes(bytes).unwrap_or_default()
}

impl Running for blake3::Hasher {
    fn update(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
    fn finalize(self: Box<Self>) -> Digest {
        digest((*self).finalize().as_bytes())
    }
}

impl Running for blake2b_simd::State {
    fn update(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
    fn finalize(self: Box<Self>) -> Digest {
        digest((*self).finalize().as_bytes())
    }
}

struct RustCrypto<D>(D);

impl<D: digest::Digest + Send> Running for RustCrypto<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn finalize(self: Box<Self>) -> Digest {
        digest(&self.0.finalize())
    }
}

struct Crc {
    running: crc_fast::Digest,
    bytes: usize,
}

impl Running for Crc {
    fn update(&mut self, bytes: &[u8]) {
        self.running.update(bytes);
    }
    fn finalize(self: Box<Self>) -> Digest {
        digest(&self.running.finalize().to_be_bytes()[8 - self.bytes..])
    }
}

impl Running for Xxh3 {
    fn update(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
    fn finalize(self: Box<Self>) -> Digest {
        digest(&self.digest().to_be_bytes())
    }
}

struct Xxh128(Xxh3);

impl Running for Xxh128 {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn finalize(self: Box<Self>) -> Digest {
        digest(&self.0.digest128().to_be_bytes())
    }
}
