//! Padding, and a message's last blocks made in registers. Written byte by byte, they could not be read into whole
//! registers before every store has left the core.

use crate::family::Family;

/// Bytes that are loaded and stored at a time, of messages and digests.
pub(crate) const PART: usize = 16;

/// The padding that follows a message in its last blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Padding {
    /// RFC 1321, 3.1 and 3.2; FIPS 180-4, 5.1: a 1 bit, zeros, and the message's length in bits, in two words.
    Length,
    /// FIPS 202, 5.1: the function's suffix bits and a 1 bit, zeros, and a 1 bit that ends the block.
    Sponge {
        /// The first byte: the suffix bits, lowest bit first, followed by the 1 bit.
        first: u8,
    },
}

impl Padding {
    /// The least bytes that it takes.
    pub(crate) const fn least_bytes(self, word_bytes: usize) -> usize {
        match self {
            Padding::Length => 1 + 2 * word_bytes,
            // Both ends fit into one byte.
            Padding::Sponge { .. } => 1,
        }
    }

    /// The byte that follows the message.
    #[inline(always)]
    pub(crate) const fn first(self) -> u8 {
        match self {
            Padding::Length => 0x80,
            Padding::Sponge { first } => first,
        }
    }
}

/// The parts of a message's last blocks: its `end`, which follows some whole blocks, and the padding behind it.
///
/// `length` is the whole message's length in bytes. Behind blocks that are no whole number of parts stand zeros.
#[inline(always)]
pub(crate) fn parts<F: Family>(end: &[u8], length: u128) -> impl Iterator<Item = [u8; PART]> {
    let bytes = F::final_blocks(end.len()) * F::BLOCK_BYTES;
    let count = bytes.div_ceil(PART);
    let last = last::<F>(length, bytes);
    (0..count).map(move |i| {
        let part = u128::from_le_bytes(part(end, i * PART, F::PADDING.first()));
        if i + 1 == count { (part | last).to_le_bytes() } else { part.to_le_bytes() }
    })
}

/// What the last part has besides the message: the end of the padding, where all blocks have so many `bytes`.
#[inline(always)]
fn last<F: Family>(length: u128, bytes: usize) -> u128 {
    match F::PADDING {
        Padding::Length => {
            // RFC 1321, 3.2 keeps the low 64 bits of a length; no message in memory or on disk reaches the limits.
            let bits = length.wrapping_mul(8);
            match (F::PADDING_BYTES > PART, F::BIG_ENDIAN) {
                (true, true) => bits.swap_bytes(),
                (true, false) => bits,
                (false, true) => u128::from((bits as u64).swap_bytes()) << 64,
                (false, false) => u128::from(bits as u64) << 64,
            }
        }
        Padding::Sponge { .. } => 0x80 << (8 * ((bytes - 1) % PART)),
    }
}

/// 16 bytes from `at` of what begins with `end` and goes on with the byte `then` and zeros.
#[inline(always)]
fn part(end: &[u8], at: usize, then: u8) -> [u8; PART] {
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
    (part | u128::from(then) << (8 * n)).to_le_bytes()
}

/// Fewer than 16 bytes and zeros behind them, in registers: loads that overlap instead of a copy in memory, whose
/// stores a load of all 16 would have to wait for.
#[inline]
pub(crate) fn few(bytes: &[u8]) -> [u64; 2] {
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
