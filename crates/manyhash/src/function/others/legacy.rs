//! The checksums of `cksum` and `sum`, from before there were digests.

use super::{Running, digest};
use crate::Digest;
use crc_fast::CrcAlgorithm;

/// POSIX's `cksum`: a CRC of the message and of its length behind it, least significant byte first and without the zeros
/// at its end.
pub(in crate::function) struct Crc {
    running: crc_fast::Digest,
    bytes: u64,
}

impl Default for Crc {
    fn default() -> Self {
        Crc { running: crc_fast::Digest::new(CrcAlgorithm::Crc32Cksum), bytes: 0 }
    }
}

impl Running for Crc {
    fn update(&mut self, bytes: &[u8]) {
        self.running.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn finalize(mut self: Box<Self>) -> Digest {
        let length = self.bytes.to_le_bytes();
        let zeros = self.bytes.leading_zeros() as usize / 8;
        self.running.update(&length[..length.len() - zeros]);
        digest(&self.running.finalize().to_be_bytes()[4..])
    }
}

/// BSD's `sum`: each byte is added after a rotation to the right.
#[derive(Default)]
pub(in crate::function) struct Bsd(u16);

impl Running for Bsd {
    fn update(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, &byte| sum.rotate_right(1).wrapping_add(byte.into()));
    }

    fn finalize(self: Box<Self>) -> Digest {
        digest(&self.0.to_be_bytes())
    }
}

/// System V's `sum`: the sum of all bytes, modulo 2^32, and then of its halves until one is left.
#[derive(Default)]
pub(in crate::function) struct Sysv(u32);

impl Running for Sysv {
    fn update(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, &byte| sum.wrapping_add(byte.into()));
    }

    fn finalize(self: Box<Self>) -> Digest {
        let halves = |sum: u32| (sum >> 16) + (sum & 0xffff);
        digest(&halves(halves(self.0)).to_be_bytes()[2..])
    }
}
