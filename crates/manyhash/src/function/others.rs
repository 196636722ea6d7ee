//! What computes the functions without lanes: for each, the crate that is kept best, one message after another.

pub(super) mod legacy;

use crate::Digest;
use crc_fast::CrcAlgorithm;
use xxhash_rust::xxh3::Xxh3;

/// Bytes in a BLAKE2b digest: 1 to 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Blake2bLength(u8);

impl Blake2bLength {
    /// BLAKE2b's longest digest: 64 bytes.
    pub const MAX: Self = Blake2bLength(64);

    /// Creates a length from a number of bits. Returns `None` unless it is a multiple of 8 from 8 to 512.
    pub fn of_bits(bits: usize) -> Option<Self> {
        (bits.is_multiple_of(8) && (8..=512).contains(&bits)).then_some(Blake2bLength((bits / 8) as u8))
    }

    /// Returns the number of bytes.
    pub fn bytes(self) -> usize {
        usize::from(self.0)
    }

    pub(super) fn start(self) -> blake2b_simd::State {
        blake2b_simd::Params::new().hash_length(self.bytes()).to_state()
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

/// A CRC of so many bytes.
pub(super) struct Crc<const BYTES: usize>(crc_fast::Digest);

impl<const BYTES: usize> Crc<BYTES> {
    pub(super) fn new(algorithm: CrcAlgorithm) -> Self {
        Crc(crc_fast::Digest::new(algorithm))
    }
}

impl<const BYTES: usize> Running for Crc<BYTES> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn finalize(self: Box<Self>) -> Digest {
        digest(&self.0.finalize().to_be_bytes()[8 - BYTES..])
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

#[derive(Default)]
pub(super) struct Xxh128(Xxh3);

impl Running for Xxh128 {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn finalize(self: Box<Self>) -> Digest {
        digest(&self.0.digest128().to_be_bytes())
    }
}
