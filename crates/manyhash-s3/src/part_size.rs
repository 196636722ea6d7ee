//! The size of the parts that an object was uploaded in.
//!
//! The ETag of an object in parts depends on where it was cut, which S3 tells only with a request for each object. From
//! the ETag alone, which says how many parts there are, and the size, [`range`] tells what the size of a part can be,
//! all but the last being equal; [`candidates`] those of them that programs use, the likely ones first; and [`Guess`]
//! which of them gives the ETag. It tries many in one read of the object, an MD5 lane each.

mod guess;
#[cfg(test)]
mod tests;

use crate::limits::{MAX_PART_BYTES, MAX_PARTS, MIN_PART_BYTES};
pub use guess::{Guess, Guessed};
use std::iter;
use std::ops::RangeInclusive;

const MIB: u64 = 1 << 20;

/// A step that divides no size.
const NONE: u64 = u64::MAX;

/// What programs use unless they are told otherwise, the common ones first.
///
/// Some make it larger where 10,000 parts are too few: aws-cli doubles it, which gives a multiple of 1 MiB, and the
/// others divide ([`formulas`]).
const DEFAULTS: [u64; 10] = [
    8 * MIB,  // aws-cli, boto3, the CRT of all AWS SDKs
    5 * MIB,  // rclone, the uploaders of the SDKs for Go and JavaScript
    16 * MIB, // minio-go and mc
    // The AWS console, which does not round. A known object of 34,567,890 bytes is in three parts of it.
    17_179_870,
    15 * MIB,  // s3cmd
    50 * MIB,  // s5cmd
    10 * MIB,  // s3fs, object_store
    64 * MIB,  // Hadoop's s3a
    128 * MIB, // older minio-go and mc
    100 * MIB, // older s3a
];

/// Returns the sizes that parts can have if `size` bytes are in so many parts, all of one size but for the last, which
/// is no larger. `None` if there are none.
///
/// ```
/// assert_eq!(manyhash_s3::part_size::range(20_000_000, 3), Some(6_666_667..=9_999_999));
/// assert_eq!(manyhash_s3::part_size::range(20_000_000, 5), None);
/// ```
pub fn range(size: u64, parts: u32) -> Option<RangeInclusive<u64>> {
    if !(1..=MAX_PARTS).contains(&parts) {
        return None;
    }
    let parts = u64::from(parts);
    let least = size.div_ceil(parts).max(MIN_PART_BYTES);
    let most = match parts {
        1 => MAX_PART_BYTES,
        // The last part has a byte at least.
        _ => (size.checked_sub(1)? / (parts - 1)).min(MAX_PART_BYTES),
    };
    (least <= most).then_some(least..=most)
}

/// Iterates over the sizes that are worth a try, each once: what programs use by default, what they use for 10,000
/// parts, powers of two, multiples of 1 MiB, of 1,000,000 bytes, and of 1 KiB.
///
/// There can be millions of them, so that a caller takes as many as it has time for. For one part there is only one,
/// since they are all the same.
pub fn candidates(size: u64, parts: u32) -> impl Iterator<Item = u64> {
    let range = range(size, parts);
    let likely = likely(size, parts, range.as_ref());
    let taken = likely.clone();
    let multiples = move |step: u64, coarser: [u64; 2]| {
        let taken = taken.clone();
        let (least, most) = range.clone().map_or((1, 0), RangeInclusive::into_inner);
        (least.div_ceil(step)..=most / step)
            .map(move |n| n * step)
            .filter(move |size| coarser.iter().all(|step| !size.is_multiple_of(*step)) && !taken.contains(size))
    };
    likely
        .into_iter()
        .chain(multiples(MIB, [NONE, NONE]))
        .chain(multiples(1_000_000, [MIB, NONE]))
        .chain(multiples(1024, [MIB, 1_000_000]))
        .take(if parts == 1 { 1 } else { usize::MAX })
}

/// The first candidates.
fn likely(size: u64, parts: u32, range: Option<&RangeInclusive<u64>>) -> Vec<u64> {
    let Some(range) = range else { return Vec::new() };
    let powers = iter::successors(Some(MIB), |power| power.checked_mul(2)).take_while(|power| power <= range.end());
    let mut likely = Vec::new();
    for size in DEFAULTS.into_iter().chain(formulas(size, parts)).chain(powers) {
        if range.contains(&size) && !likely.contains(&size) {
            likely.push(size);
        }
    }
    likely
}

/// What programs compute where their default would give too many parts, or where they are told how many to make.
fn formulas(size: u64, parts: u32) -> [u64; 6] {
    let tenth = size.div_ceil(MAX_PARTS.into());
    let multiple = |step: u64| tenth.div_ceil(step).saturating_mul(step);
    [
        // rclone rounds up to 1 MiB.
        multiple(MIB),
        // minio-go rounds up to 16 MiB.
        multiple(16 * MIB),
        // The SDKs for Java and C do not round.
        tenth,
        // The SDK for Go adds a byte to the quotient, rclone a MiB where it divides evenly.
        (size / u64::from(MAX_PARTS)).saturating_add(1),
        multiple(MIB).saturating_add(MIB),
        // As many equal parts as there are.
        size.div_ceil(parts.max(1).into()),
    ]
}
