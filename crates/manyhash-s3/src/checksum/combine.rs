//! The CRC of two messages, one after the other, from their CRCs and the length of the second.
//!
//! A CRC is a remainder of polynomials over the field of two elements. To append n bytes multiplies it by `x^8n`,
//! modulo the CRC's polynomial, so that one multiplication appends a part, once `x^8n` is known: as in zlib's
//! `crc32_combine_gen`. The parts of an object are of one length but for the last, so it is known nearly always.
//! crc-fast combines by squares of matrices, which takes 0.3 to 0.7 s for 10,000 parts of 8 MiB; this takes 1 to 4 ms.
//!
//! All three CRCs are reflected, the coefficient of `x^0` is their highest bit, and they begin with ones and end
//! inverted, so that nothing else is to be done.

use super::ChecksumAlgorithm;

/// The CRC of an object, part after part.
pub(super) struct Combination {
    ring: Ring,
    crc: u64,
    /// The length of the part before, and what it multiplied with.
    last: (u64, u64),
}

impl Combination {
    /// That of no bytes. `None` unless it is a CRC.
    pub(super) fn new(algorithm: ChecksumAlgorithm) -> Option<Combination> {
        let ring = match algorithm {
            ChecksumAlgorithm::Crc32 => Ring { polynomial: 0xedb8_8320, one: 1 << 31 },
            ChecksumAlgorithm::Crc32c => Ring { polynomial: 0x82f6_3b78, one: 1 << 31 },
            ChecksumAlgorithm::Crc64Nvme => Ring { polynomial: 0x9a6c_9329_ac4b_c9b5, one: 1 << 63 },
            _ => return None,
        };
        Some(Combination { last: (0, ring.one), ring, crc: 0 })
    }

    /// Appends a part with this CRC and length.
    pub(super) fn append(&mut self, crc: u64, length: u64) {
        if self.last.0 != length {
            self.last = (length, self.ring.shift(length));
        }
        self.crc = self.ring.multiply(self.last.1, self.crc) ^ crc;
    }

    pub(super) fn finish(self) -> u64 {
        self.crc
    }
}

/// Polynomials modulo that of a CRC.
struct Ring {
    /// Without its highest term.
    polynomial: u64,
    /// `x^0`.
    one: u64,
}

impl Ring {
    fn multiply(&self, mut a: u64, mut b: u64) -> u64 {
        let mut product = 0;
        // The terms of `a`, from the lowest, with `b` times the term.
        while a != 0 {
            if a & self.one != 0 {
                product ^= b;
            }
            a = (a << 1) & (self.one | (self.one - 1));
            b = (b >> 1) ^ if b & 1 != 0 { self.polynomial } else { 0 };
        }
        product
    }

    /// `x^8n`, by squares.
    fn shift(&self, mut bytes: u64) -> u64 {
        let (mut shift, mut power) = (self.one, self.one >> 8);
        while bytes != 0 {
            if bytes & 1 != 0 {
                shift = self.multiply(shift, power);
            }
            power = self.multiply(power, power);
            bytes >>= 1;
        }
        shift
    }
}
