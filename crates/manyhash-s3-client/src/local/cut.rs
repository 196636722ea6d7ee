//! Where an object is cut into parts.

use manyhash_s3::limits::MAX_PARTS;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// How an object was cut for its upload.
///
/// ```
/// use manyhash_s3_client::local::Cut;
///
/// let cut = Cut::every(8 << 20).expect("not 0");
/// let sizes: Vec<u64> = cut.part_sizes(20_000_000).collect();
/// assert_eq!(sizes, [8_388_608, 8_388_608, 3_222_784]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Cut {
    /// Not at all: the object was uploaded at once.
    Whole,
    /// Into parts of so many bytes each, of which the last can be shorter. An object of no bytes has a part of none.
    Every(NonZeroU64),
    /// Into parts of any sizes.
    At(PartEnds),
}

/// Parts of any sizes, of an object of one size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PartEnds(Arc<[u64]>);

impl Cut {
    /// Bytes in a part that aws-cli and boto3 make, and the least that they upload in parts: 8 MiB.
    pub const DEFAULT_PART_BYTES: u64 = 8 << 20;

    /// Cuts into parts of so many bytes. `None` for 0.
    pub fn every(part_bytes: u64) -> Option<Cut> {
        NonZeroU64::new(part_bytes).map(Cut::Every)
    }

    /// Cuts into parts of these sizes, in their order. `None` for no parts, for more than 10,000, and for more bytes than
    /// can be counted.
    pub fn of_sizes(sizes: impl IntoIterator<Item = u64>) -> Option<Cut> {
        let mut end = 0_u64;
        let ends = sizes.into_iter().map(|size| {
            end = end.checked_add(size)?;
            Some(end)
        });
        // One more than there can be tells that there are too many.
        let ends: Arc<[u64]> = ends.take(MAX_PARTS as usize + 1).collect::<Option<_>>()?;
        (1..=MAX_PARTS as usize).contains(&ends.len()).then_some(Cut::At(PartEnds(ends)))
    }

    /// Returns how aws-cli and boto3 cut an object of `size` bytes: from 8 MiB on into parts of 8 MiB, doubled until
    /// there are at most 10,000, and below not at all.
    pub fn by_default(size: u64) -> Cut {
        let mut part_bytes = Self::DEFAULT_PART_BYTES;
        while size.div_ceil(part_bytes) > MAX_PARTS.into() {
            part_bytes *= 2;
        }
        match Cut::every(part_bytes) {
            Some(cut) if size >= Self::DEFAULT_PART_BYTES => cut,
            _ => Cut::Whole,
        }
    }

    /// Returns how an object of `size` bytes is cut that is uploaded in parts of `part_bytes`: not at all if it is shorter
    /// than a part. Without a size of parts, it is cut [by default](Self::by_default).
    pub fn of_upload(size: u64, part_bytes: Option<NonZeroU64>) -> Cut {
        match part_bytes {
            Some(bytes) if size >= bytes.get() => Cut::Every(bytes),
            Some(_) => Cut::Whole,
            None => Cut::by_default(size),
        }
    }

    /// Returns the same, but for what is uploaded in parts however short it is: then in one.
    pub fn of_parts(size: u64, part_bytes: Option<NonZeroU64>) -> Cut {
        match Cut::of_upload(size, part_bytes) {
            Cut::Whole => part_bytes.map(Cut::Every).or(Cut::every(Self::DEFAULT_PART_BYTES)).unwrap_or(Cut::Whole),
            parts => parts,
        }
    }

    /// Iterates over the sizes of the parts of an object of `size` bytes. Parts of any sizes are cut off at its end.
    pub fn part_sizes(&self, size: u64) -> impl Iterator<Item = u64> {
        (0..self.parts(size)).map(move |part| {
            let Range { start, end } = self.part(part, size);
            end - start
        })
    }

    /// The number of parts of an object of `size` bytes.
    pub(super) fn parts(&self, size: u64) -> u64 {
        match self {
            Cut::Whole => 1,
            Cut::Every(bytes) => size.div_ceil(bytes.get()).max(1),
            Cut::At(PartEnds(ends)) => ends.len() as u64,
        }
    }

    /// The bytes of a part, counted from 0, of an object of `size` bytes.
    pub(super) fn part(&self, part: u64, size: u64) -> Range<u64> {
        let end = |parts: u64| match (parts.checked_sub(1), self) {
            (None, _) => 0,
            (_, Cut::Whole) => size,
            (_, Cut::Every(bytes)) => parts.saturating_mul(bytes.get()),
            (Some(last), Cut::At(PartEnds(ends))) => {
                usize::try_from(last).ok().and_then(|last| ends.get(last)).copied().unwrap_or(size)
            }
        };
        end(part).min(size)..end(part.saturating_add(1)).min(size)
    }

    /// The number of parts that begin before `offset`.
    pub(super) fn parts_before(&self, offset: u64) -> u64 {
        match self {
            _ if offset == 0 => 0,
            Cut::Whole => 1,
            Cut::Every(bytes) => offset.div_ceil(bytes.get()),
            // The first begins at 0.
            Cut::At(PartEnds(ends)) => {
                let begun = 1 + ends.partition_point(|end| *end < offset);
                begun.min(ends.len()) as u64
            }
        }
    }

    /// Whether a part begins or ends there, other than by the end of the object.
    pub(super) fn has_edge(&self, offset: u64) -> bool {
        match self {
            Cut::Whole => offset == 0,
            Cut::Every(bytes) => offset.is_multiple_of(bytes.get()),
            Cut::At(PartEnds(ends)) => offset == 0 || ends.binary_search(&offset).is_ok(),
        }
    }

    /// The bytes of the longest part of an object of `size` bytes.
    pub(super) fn longest(&self, size: u64) -> u64 {
        match self {
            Cut::Whole => size,
            Cut::Every(bytes) => bytes.get().min(size),
            Cut::At(_) => self.part_sizes(size).max().unwrap_or(size),
        }
    }

    /// The number of bytes that an object must have, if there is one.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Cut::At(PartEnds(ends)) => ends.last().copied(),
            Cut::Whole | Cut::Every(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn defaults_are_those_of_the_aws_cli() {
        assert_eq!(Cut::by_default(0), Cut::Whole);
        assert_eq!(Cut::by_default(8 * MIB - 1), Cut::Whole);
        assert_eq!(Some(Cut::by_default(8 * MIB)), Cut::every(8 * MIB));
        assert_eq!(Some(Cut::by_default(80_000 * MIB)), Cut::every(8 * MIB));
        assert_eq!(Some(Cut::by_default(80_000 * MIB + 1)), Cut::every(16 * MIB));
        // 48.8 TiB, the largest object.
        assert_eq!(Some(Cut::by_default(10_000 * (5 << 30))), Cut::every(8 << 30));
    }

    #[test]
    fn uploads() {
        let of = |size, part_bytes| {
            let part_bytes = NonZeroU64::new(part_bytes);
            (Cut::of_upload(size, part_bytes), Some(Cut::of_parts(size, part_bytes)))
        };
        assert_eq!(of(0, 0), (Cut::Whole, Cut::every(8 * MIB)));
        assert_eq!(of(8 * MIB - 1, 0), (Cut::Whole, Cut::every(8 * MIB)));
        let long = 80_000 * MIB + 1;
        assert_eq!(of(long, 0), (Cut::by_default(long), Cut::every(16 * MIB)));
        assert_eq!(of(4, 5), (Cut::Whole, Cut::every(5)));
        for size in [5, 6, long] {
            assert_eq!(of(size, 5), (Cut::every(5).unwrap(), Cut::every(5)));
        }
    }

    #[test]
    fn what_is_no_cut() {
        assert_eq!(Cut::every(0), None);
        assert_eq!(Cut::of_sizes([]), None);
        assert_eq!(Cut::of_sizes([u64::MAX, 1]), None);
        assert!(Cut::of_sizes([1; 10_000]).is_some());
        assert_eq!(Cut::of_sizes(std::iter::repeat(0)), None);
    }

    fn cuts() -> impl Strategy<Value = Cut> {
        prop_oneof![
            Just(Cut::Whole),
            (1..50u64).prop_filter_map("not 0", Cut::every),
            proptest::collection::vec(0..50u64, 1..9).prop_filter_map("some", Cut::of_sizes),
        ]
    }

    proptest! {
        #[test]
        fn parts_are_side_by_side(cut in cuts(), size in 0..200u64) {
            let size = cut.size().unwrap_or(size);
            let parts: Vec<_> = (0..cut.parts(size)).map(|part| cut.part(part, size)).collect();
            let mut end = 0;
            for part in &parts {
                prop_assert!(part.start == end && part.end >= end);
                prop_assert!(cut.has_edge(part.start));
                end = part.end;
            }
            prop_assert_eq!(end, size);
            prop_assert_eq!(cut.part_sizes(size).sum::<u64>(), size);
            prop_assert_eq!(Some(cut.longest(size)), cut.part_sizes(size).max());
            for offset in 0..size {
                let before = parts.iter().filter(|part| part.start < offset).count() as u64;
                prop_assert_eq!(cut.parts_before(offset), before, "{}", offset);
                let edge = parts.iter().any(|part| part.start == offset || part.end == offset);
                prop_assert_eq!(cut.has_edge(offset), edge, "{}", offset);
            }
        }
    }
}
