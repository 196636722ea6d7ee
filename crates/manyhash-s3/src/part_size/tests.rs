use super::*;
use crate::etag::{ETag, ETagKind, multipart};
use crate::limits::MAX_OBJECT_BYTES;
use manyhash::{Algorithm, digest};
use proptest::prelude::*;

const GIB: u64 = 1 << 30;

/// From the size of an object to that of its parts.
type PartBytes = fn(u64) -> u64;

/// What programs cut an object into.
const TOOLS: [(&str, PartBytes); 16] = [
    ("aws-cli, boto3", |size| {
        let mut part = 8 * MIB;
        while size.div_ceil(part) > 10_000 {
            part *= 2;
        }
        part
    }),
    ("CRT", |size| (8 * MIB).max(size.div_ceil(10_000))),
    ("SDK for Java", |size| (5 * MIB).max(size.div_ceil(10_000))),
    ("SDK for Go", |size| if size / (5 * MIB) >= 10_000 { size / 10_000 + 1 } else { 5 * MIB }),
    ("rclone", |size| {
        if size.div_ceil(5 * MIB) <= 10_000 {
            return 5 * MIB;
        }
        let part = (size / 10_000).next_multiple_of(MIB);
        if size.div_ceil(part) > 10_000 { part + MIB } else { part }
    }),
    ("rclone, where it divides evenly", |size| (5 * MIB).max((size / 10_000).next_multiple_of(MIB) + MIB)),
    ("minio-go", |size| size.div_ceil(10_000).next_multiple_of(16 * MIB).max(16 * MIB)),
    ("s3cmd", |_| 15 * MIB),
    ("s5cmd", |_| 50 * MIB),
    ("s3fs, object_store", |_| 10 * MIB),
    ("Hadoop s3a", |_| 64 * MIB),
    ("Hadoop s3a, older", |_| 100 * MIB),
    ("the console", |_| 17_179_870),
    ("minio-go, older", |_| 128 * MIB),
    ("a power of two", |_| 256 * MIB),
    ("ten equal parts", |size| size.div_ceil(10)),
];

#[test]
fn ranges() {
    // The examples that were computed before.
    let mib = |size, parts| {
        let range = range(size, parts).unwrap();
        range.end() / MIB + 1 - range.start().div_ceil(MIB)
    };
    assert_eq!(range(20_000_000, 3), Some(6_666_667..=9_999_999));
    assert_eq!(mib(20_000_000, 3), 3);
    assert_eq!(mib(100 * MIB + 1, 13), 1);
    assert_eq!(mib(GIB, 128), 1);
    assert_eq!(mib(5 * GIB, 103), 1);
    assert_eq!(mib(100 * GIB, 6400), 1);
    assert_eq!(mib(1 << 40, 10_000), 0);
    // What cannot be.
    assert_eq!(range(0, 2), None);
    assert_eq!(range(1, 2), None);
    assert_eq!(range(5 * MIB, 2), None);
    assert_eq!(range(100, 0), None);
    assert_eq!(range(100 * GIB, 10_001), None);
    assert_eq!(range(MAX_OBJECT_BYTES + 1, 10_000), None);
    assert_eq!(range(u64::MAX, 10_000), None);
    assert_eq!(range(5 * GIB + 1, 1), None);
    // What just can.
    assert_eq!(range(0, 1), Some(5 * MIB..=5 * GIB));
    assert_eq!(range(5 * MIB + 1, 2), Some(5 * MIB..=5 * MIB));
    assert_eq!(range(MAX_OBJECT_BYTES, 10_000), Some(5 * GIB..=5 * GIB));
    assert_eq!(range(5 * GIB, 1), Some(5 * GIB..=5 * GIB));
}

#[test]
fn order_of_candidates() {
    let sizes: Vec<u64> = candidates(20_000_000, 3).collect();
    assert_eq!(sizes[..6], [8 * MIB, 6_666_667, 7 * MIB, 9 * MIB, 7_000_000, 8_000_000]);
    assert_eq!(sizes[7], (6_666_667u64).next_multiple_of(1024));
    // 3,255 multiples of 1 KiB, of which three are of 1 MiB, the equal part, and three of 1,000,000.
    assert_eq!(sizes.len(), 3255 + 1 + 3);
    assert_eq!(candidates(1 << 40, 10_000).next(), Some((1u64 << 40).div_ceil(10_000)));
    assert_eq!(candidates(123, 1).count(), 1);
    assert_eq!(candidates(123, 2).count(), 0);
}

/// Bytes that no two parts have in common.
fn object(size: u64) -> Vec<u8> {
    (0..size.div_ceil(8))
        .flat_map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .take(size as usize)
        .collect()
}

fn etag(object: &[u8], part: u64) -> ETag {
    let md5 = |part| digest(Algorithm::Md5, part).as_bytes().try_into().unwrap();
    let md5s: Vec<[u8; 16]> =
        if object.is_empty() { vec![md5(object)] } else { object.chunks(part as usize).map(md5).collect() };
    ETag::new(multipart(&md5s))
}

fn guess(object: &[u8], chunk: usize, etag: &ETag, rounds: usize) -> Option<u64> {
    let mut guess = Guess::new(etag, object.len() as u64)?;
    for _ in 0..rounds {
        object.chunks(chunk).for_each(|chunk| guess.update(chunk));
        match guess.finish() {
            Guessed::PartBytes(size) => return Some(size),
            Guessed::Again(next) => guess = next,
            Guessed::Unknown => return None,
        }
    }
    None
}

#[test]
fn sizes_of_programs_are_found() {
    let object = object(37 * MIB + 5);
    for (tool, part) in TOOLS {
        let part = part(object.len() as u64);
        let found = guess(&object, 3 * MIB as usize + 1, &etag(&object, part), 1);
        if part >= object.len() as u64 {
            assert!(found.is_some(), "{tool}: one part");
        } else if part >= MIN_PART_BYTES {
            assert_eq!(found, Some(part), "{tool}");
        }
    }
}

#[test]
fn later_rounds_find_the_others() {
    let object = object(11 * MIB);
    // The last of the multiples of 1 KiB that are in two parts.
    let part = 11 * MIB - 1024;
    let candidates = candidates(11 * MIB, 2).position(|size| size == part).unwrap();
    assert_eq!(guess(&object, 1 << 20, &etag(&object, part), 1), None);
    let rounds = candidates / Guess::CANDIDATES + 1;
    assert!(rounds > 100);
    // Too many to hash them all here: the last two rounds.
    let ETagKind::Multipart { md5, .. } = etag(&object, part).kind() else { panic!("an object in parts") };
    let mut last = Guess::round(md5, 2, 11 * MIB, (rounds - 2) * Guess::CANDIDATES).unwrap();
    last.update(&object);
    let Guessed::Again(mut last) = last.finish() else { panic!("there is another round") };
    assert_eq!(last.tried(), (rounds - 1) * Guess::CANDIDATES);
    last.update(&object);
    assert!(matches!(last.finish(), Guessed::PartBytes(found) if found == part));
}

#[test]
fn what_cannot_be_told() {
    let object = object(11 * MIB);
    let right = etag(&object, 8 * MIB);
    // Another object, and another size.
    assert_eq!(guess(&object[1..], 1 << 20, &right, 2), None);
    let mut guess = Guess::new(&right, 11 * MIB).unwrap();
    guess.update(&object[1..]);
    assert!(matches!(guess.finish(), Guessed::Unknown));
    // No ETag of parts, and numbers of parts that cannot be.
    for etag in ["", "d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e-5", "x-2"] {
        assert!(Guess::new(&ETag::new(etag), 11 * MIB).is_none(), "{etag}");
    }
    assert!(Guess::new(&ETag::new("d41d8cd98f00b204e9800998ecf8427e-10001"), MAX_OBJECT_BYTES).is_none());
}

#[test]
fn one_part() {
    for size in [0, 1, 5 * MIB, 6 * MIB] {
        let object = object(size);
        assert!(guess(&object, 1000, &etag(&object, GIB), 1).is_some(), "{size}");
    }
}

proptest! {
    #[test]
    fn sizes_of_programs_are_tried_in_the_first_round(
        size in 1..MAX_OBJECT_BYTES,
        shift in 0u32..24,
        tool in 0..TOOLS.len(),
    ) {
        let size = size >> shift;
        let (_, part) = TOOLS[tool];
        let part = part(size);
        let parts = size.div_ceil(part);
        if parts > 1 && parts <= 10_000 && (MIN_PART_BYTES..=MAX_PART_BYTES).contains(&part) {
            prop_assert!(candidates(size, parts as u32).take(Guess::CANDIDATES).any(|candidate| candidate == part));
        }
    }

    #[test]
    fn candidates_are_in_range_and_differ(size: u64, shift in 0u32..64, parts in 0u32..20_000) {
        let size = size >> shift;
        let mut sizes: Vec<u64> = candidates(size, parts).take(3000).collect();
        let range = range(size, parts);
        for size in &sizes {
            prop_assert!(range.as_ref().is_some_and(|range| range.contains(size)));
        }
        if let Some(range) = range && parts > 1 {
            // The range is exactly what gives so many parts.
            for part in [*range.start(), *range.end()] {
                prop_assert_eq!(size.div_ceil(part), u64::from(parts));
            }
            let (less, more) = (range.start() - 1, range.end() + 1);
            prop_assert!(less < MIN_PART_BYTES || size.div_ceil(less) > u64::from(parts));
            prop_assert!(more > MAX_PART_BYTES || size.div_ceil(more) < u64::from(parts));
        }
        let all = sizes.len();
        sizes.sort_unstable();
        sizes.dedup();
        prop_assert_eq!(sizes.len(), all);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn however_it_is_read(size in 10 * MIB + 1..20 * MIB, kib in 0u64..1024, chunk in 1usize << 16..3 << 20) {
        let object = object(size);
        // The rounder sizes of a range of some hundred candidates.
        let part = if kib % 4 == 0 { 5 * MIB } else { 5 * MIB + (kib % 5) * MIB };
        prop_assert_eq!(guess(&object, chunk, &etag(&object, part), 2), Some(part));
    }
}
