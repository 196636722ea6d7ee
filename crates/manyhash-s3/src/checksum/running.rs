//! Checksums of bodies.

use super::{Checksum, ChecksumAlgorithm, MAX_BYTES};
use crc_fast::CrcAlgorithm;
use manyhash::Algorithm;
use std::fmt;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};
use xxhash_rust::xxh64::{Xxh64, xxh64};

/// The checksum of a body that arrives in pieces, for the algorithms without lanes: CRCs and XXHs.
///
/// They are fast enough to be computed where the pieces arrive. For the algorithms with lanes there are
/// `manyhash::engine`, and `manyhash::Hasher`.
///
/// ```
/// use manyhash_s3::checksum::{ChecksumAlgorithm, RunningChecksum};
///
/// let mut checksum = RunningChecksum::new(ChecksumAlgorithm::Crc32).expect("a CRC has no lanes");
/// checksum.update(b"12345");
/// checksum.update(b"6789");
/// assert_eq!(checksum.finalize().as_bytes(), [0xcb, 0xf4, 0x39, 0x26]);
/// ```
#[derive(Clone)]
pub struct RunningChecksum {
    algorithm: ChecksumAlgorithm,
    state: State,
}

#[derive(Clone)]
enum State {
    // A quarter of a kilobyte, most of it constants.
    Crc(Box<crc_fast::Digest>),
    Xxh64(Xxh64),
    // Half a kilobyte each.
    Xxh3(Box<Xxh3>),
    Xxh128(Box<Xxh3>),
}

/// What computes an algorithm.
pub(super) enum Function {
    Lanes(Algorithm),
    Crc(CrcAlgorithm),
    Xxh64,
    Xxh3,
    Xxh128,
}

impl Function {
    pub(super) const fn of(algorithm: ChecksumAlgorithm) -> Function {
        match algorithm {
            ChecksumAlgorithm::Crc32 => Function::Crc(CrcAlgorithm::Crc32IsoHdlc),
            ChecksumAlgorithm::Crc32c => Function::Crc(CrcAlgorithm::Crc32Iscsi),
            ChecksumAlgorithm::Crc64Nvme => Function::Crc(CrcAlgorithm::Crc64Nvme),
            ChecksumAlgorithm::Sha1 => Function::Lanes(Algorithm::Sha1),
            ChecksumAlgorithm::Sha256 => Function::Lanes(Algorithm::Sha256),
            ChecksumAlgorithm::Sha512 => Function::Lanes(Algorithm::Sha512),
            ChecksumAlgorithm::Md5 => Function::Lanes(Algorithm::Md5),
            ChecksumAlgorithm::XxHash64 => Function::Xxh64,
            ChecksumAlgorithm::XxHash3 => Function::Xxh3,
            ChecksumAlgorithm::XxHash128 => Function::Xxh128,
        }
    }
}

impl RunningChecksum {
    /// Creates the checksum of no bytes yet, or `None` for an algorithm with lanes.
    pub fn new(algorithm: ChecksumAlgorithm) -> Option<RunningChecksum> {
        let state = match Function::of(algorithm) {
            Function::Lanes(_) => return None,
            Function::Crc(crc) => State::Crc(Box::new(crc_fast::Digest::new(crc))),
            Function::Xxh64 => State::Xxh64(Xxh64::new(0)),
            Function::Xxh3 => State::Xxh3(Box::new(Xxh3::new())),
            Function::Xxh128 => State::Xxh128(Box::new(Xxh3::new())),
        };
        Some(RunningChecksum { algorithm, state })
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> ChecksumAlgorithm {
        self.algorithm
    }

    /// Appends bytes to the body.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Crc(crc) => crc.update(bytes),
            State::Xxh64(xxh64) => xxh64.update(bytes),
            State::Xxh3(xxh3) | State::Xxh128(xxh3) => xxh3.update(bytes),
        }
    }

    /// Ends the body and returns its checksum.
    pub fn finalize(self) -> Checksum {
        let value = match &self.state {
            State::Crc(crc) => crc.finalize().into(),
            State::Xxh64(xxh64) => xxh64.digest().into(),
            State::Xxh3(xxh3) => xxh3.digest().into(),
            State::Xxh128(xxh3) => xxh3.digest128(),
        };
        of_integer(self.algorithm, value)
    }
}

impl fmt::Debug for RunningChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningChecksum").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// Returns the checksum of a body, with any algorithm.
pub fn digest(algorithm: ChecksumAlgorithm, body: &[u8]) -> Checksum {
    match Function::of(algorithm) {
        Function::Lanes(lanes) => of_bytes(algorithm, manyhash::digest(lanes, body).as_bytes()),
        Function::Crc(crc) => of_integer(algorithm, crc_fast::checksum(crc, body).into()),
        Function::Xxh64 => of_integer(algorithm, xxh64(body, 0).into()),
        Function::Xxh3 => of_integer(algorithm, xxh3_64(body).into()),
        Function::Xxh128 => of_integer(algorithm, xxh3_128(body)),
    }
}

/// The last bytes of an integer, the most significant first.
pub(super) fn of_integer(algorithm: ChecksumAlgorithm, value: u128) -> Checksum {
    let bytes = value.to_be_bytes();
    of_bytes(algorithm, bytes.get(bytes.len().saturating_sub(algorithm.digest_bytes())..).unwrap_or_default())
}

fn of_bytes(algorithm: ChecksumAlgorithm, digest: &[u8]) -> Checksum {
    let mut value = [0; MAX_BYTES];
    value.iter_mut().zip(digest).for_each(|(to, from)| *to = *from);
    Checksum { algorithm, value }
}
