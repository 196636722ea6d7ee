//! The last blocks of a message, made in registers: written byte by byte, they could not be read by whole registers before
//! all of them have left the core.

use super::Family;
use crate::simd::PART;

/// The parts of a message's last blocks: its `end`, which follows some whole blocks, and the padding behind it.
///
/// `length` is the whole message's length in bytes. RFC 1321, 3.1 and 3.2; FIPS 180-4, 5.1: a 1 bit, zeros, and the length
/// in bits.
#[inline(always)]
pub(crate) fn parts<F: Family>(end: &[u8], length: u128) -> impl Iterator<Item = [u8; PART]> {
    // RFC 1321, 3.2 keeps the low 64 bits of a length; no message in memory or on disk reaches the limits.
    let bits = length.wrapping_mul(8);
    let field = match (F::LENGTH_BYTES == PART, F::BIG_ENDIAN) {
        (true, true) => bits.swap_bytes(),
        (true, false) => bits,
        (false, true) => u128::from((bits as u64).swap_bytes()) << 64,
        (false, false) => u128::from(bits as u64) << 64,
    };
    let count = F::final_blocks(end.len()) * F::BLOCK_BYTES / PART;
    (0..count).map(move |i| {
        let part = part(end, i * PART);
        if i + 1 == count { (u128::from_le_bytes(part) | field).to_le_bytes() } else { part }
    })
}

/// 16 bytes from `at` of what begins with `end` and goes on with the bit 1 and zeros.
#[inline(always)]
fn part(end: &[u8], at: usize) -> [u8; PART] {
    let Some(bytes) = end.get(at..) else { return [0; PART] };
    if let Some(part) = bytes.first_chunk() {
        return *part;
    }
    let n = bytes.len();
    let part = match end.last_chunk() {
        Some(last) => u128::from_le_bytes(*last) >> (8 * (PART - 1 - n)) >> 8,
        None => {
            let [low, high] = few(bytes);
            u128::from(low) | u128::from(high) << 64
        }
    };
    (part | 0x80 << (8 * n)).to_le_bytes()
}

/// Fewer than 16 bytes and zeros behind them, in registers: loads that overlap instead of a copy in memory, whose stores
/// a load of all 16 would have to wait for.
#[inline]
pub(super) fn few(bytes: &[u8]) -> [u64; 2] {
    let n = bytes.len();
    match (bytes.first_chunk(), bytes.last_chunk(), bytes.first_chunk(), bytes.last_chunk()) {
        (Some(low), Some(high), ..) => [u64::from_le_bytes(*low), u64::from_le_bytes(*high) >> (8 * (15 - n)) >> 8],
        (.., Some(low), Some(high)) => {
            [u64::from(u32::from_le_bytes(*low)) | u64::from(u32::from_le_bytes(*high)) << (8 * (n - 4)), 0]
        }
        // One of three, or two, or all bytes.
        _ => [
            [0, n / 2, n.saturating_sub(1)].into_iter().fold(0, |low, i| match bytes.get(i) {
                Some(byte) => low | u64::from(*byte) << (8 * i),
                None => low,
            }),
            0,
        ],
    }
}
