//! Digests side by side, against those by type and those by name: every count around the lanes' widths, every length around
//! the blocks' edges, and any number of threads. `MANYHASH_BACKEND` picks the backend under test.

use crate::common::{bytes, reference};
use manyhash::{Algorithm, Batch, Digests, OutputLengthError, Sha1};
use proptest::prelude::*;
use std::num::NonZeroUsize;

/// The digests by type, one after another.
fn typed(algorithm: Algorithm, messages: &[&[u8]]) -> Vec<u8> {
    macro_rules! by_type {
        ($(
            $name:ident $function:ident: $family:ident, $bytes:literal, $module:ident::$initial:ident, [$($spelling:literal),*],
                $about:literal;
        )*) => {
            match algorithm {
                $(Algorithm::$name => manyhash::$name::digest_many(messages).concat(),)*
                _ => panic!("{algorithm} has no type"),
            }
        };
    }
    manyhash::algorithms!(by_type)
}

/// Checks both forms of the call, and what is around the caller's bytes.
fn check(algorithm: Algorithm, threads: usize, messages: &[&[u8]]) -> Digests {
    let (batch, width) = (Batch::new(algorithm).threads(NonZeroUsize::new(threads)), algorithm.digest_bytes());
    let digests = batch.digest_many_packed(messages);
    assert_eq!(digests.as_bytes(), typed(algorithm, messages), "{algorithm}, {} messages", messages.len());
    let by_name = batch.digest_many(messages);
    assert_eq!(digests.len(), by_name.len());
    assert!(digests.iter().zip(&by_name).all(|(packed, digest)| packed == digest.as_bytes()));

    let mut room = vec![0xa5; (messages.len() + 2) * width];
    let place = width..room.len() - width;
    batch.digest_many_packed_into(messages, &mut room[place.clone()]).expect("a digest a message");
    assert_eq!(room[place.clone()], *digests.as_bytes());
    assert!(room[..place.start].iter().chain(&room[place.end..]).all(|byte| *byte == 0xa5), "{algorithm}");
    digests
}

#[test]
fn every_length_side_by_side() {
    let data = bytes(10 * 144);
    for algorithm in Algorithm::ALL.iter().copied() {
        // Past the longest that is hashed as a short one.
        let messages: Vec<_> =
            (0..=9 * algorithm.block_bytes() + 1).map(|length| &data[length % 7..][..length]).collect();
        let digests = check(algorithm, 1, &messages);
        for (digest, message) in digests.iter().zip(&messages) {
            assert_eq!(digest, reference(algorithm, message).as_bytes(), "{algorithm}, {} bytes", message.len());
        }
        check(algorithm, 1, &messages.into_iter().rev().collect::<Vec<_>>());
    }
}

#[test]
fn every_count() {
    let data = bytes(4096);
    for algorithm in Algorithm::ALL.iter().copied() {
        for count in 0..=2 * 64 + 1 {
            for length in [16, 2100] {
                check(algorithm, 1, &(0..count).map(|i| &data[i..i + length]).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn many_on_any_number_of_threads() {
    let data = bytes(70_000);
    for algorithm in Algorithm::ALL.iter().copied() {
        let messages: Vec<_> = (0..20_000).map(|i| &data[i * 37 % 60_000..][..i * i % 130]).collect();
        for threads in [0, 1, 2, 3] {
            check(algorithm, threads, &messages);
        }
    }
}

#[test]
fn room_for_another_number_is_an_error_and_untouched() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let width = algorithm.digest_bytes();
        for (room, digests) in [(0, 0), (2 * width, 2), (3 * width - 1, 2), (3 * width + 1, 4), (4 * width, 4)] {
            let mut bytes = vec![0xa5; room];
            let error: OutputLengthError =
                Batch::new(algorithm).digest_many_packed_into(&["a", "b", "c"], &mut bytes).unwrap_err();
            assert_eq!(error.to_string(), format!("3 messages, but room for {digests} digests"));
            assert!(bytes.iter().all(|byte| *byte == 0xa5), "{algorithm}");
        }
    }
}

#[test]
fn one_by_one() {
    let digests = Batch::new(Algorithm::Sha1).digest_many_packed(&["a", "b", "c"]);
    let due = ["a", "b", "c"].map(Sha1::digest);
    assert_eq!((digests.algorithm(), digests.len(), digests.is_empty()), (Algorithm::Sha1, 3, false));
    assert_eq!(digests.get(2), Some(&due[2][..]));
    assert_eq!(digests.get(3), None);
    assert_eq!(digests.get(usize::MAX), None);
    assert_eq!([&digests[0], &digests[1], &digests[2]], due);
    assert_eq!((&digests).into_iter().rev().collect::<Vec<_>>(), [due[2], due[1], due[0]]);
    assert_eq!(digests.clone().into_bytes(), due.as_flattened());
    assert_eq!(
        format!("{:?}", Batch::new(Algorithm::Md5).digest_many_packed(&["abc"])),
        "Digests(md5) [\"900150983cd24fb0d6963f7d28e17f72\"]"
    );
}

#[test]
fn none_at_all() {
    let digests = Batch::new(Algorithm::Sha512).digest_many_packed::<&[u8]>(&[]);
    assert!(digests.is_empty() && digests.get(0).is_none() && digests.iter().next().is_none());
}

#[test]
fn equal_are_those_of_one_algorithm_with_the_same_bytes() {
    let of = |algorithm, messages: &[&str]| Batch::new(algorithm).digest_many_packed(messages);
    assert_eq!(of(Algorithm::Md5, &["a", "b"]), of(Algorithm::Md5, &["a", "b"]));
    assert_ne!(of(Algorithm::Md5, &["a", "b"]), of(Algorithm::Md5, &["a", "c"]));
    assert_ne!(of(Algorithm::Md5, &["a", "b"]), of(Algorithm::Md5, &["a"]));
    assert_ne!(of(Algorithm::Sha256, &[]), of(Algorithm::Sha512_256, &[]));
}

#[test]
#[should_panic(expected = "index 1152921504606846976 is out of range for 1 digests")]
fn an_index_out_of_range_panics_as_that_of_a_slice() {
    let digests = Batch::new(Algorithm::Md5).digest_many_packed(&["a"]);
    // In bytes it is more than a number holds.
    let _ = &digests[1 << 60];
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn ragged_mixtures(
        algorithm in prop::sample::select(Algorithm::ALL),
        threads in 0_usize..4,
        cuts in prop::collection::vec((0_usize..64, prop_oneof![0_usize..300, 0_usize..5000, 0_usize..100_000]), 0..150),
    ) {
        let data = bytes(100_064);
        check(algorithm, threads, &cuts.iter().map(|(offset, length)| &data[*offset..][..*length]).collect::<Vec<_>>());
    }
}
