//! Batches against the reference: every count around the lanes' widths, every length around the blocks' edges, ragged
//! mixtures, and any number of threads. `MANYHASH_BACKEND` picks the backend under test.

use crate::common::{bytes, reference};
use manyhash::{Algorithm, Batch, Digest, OutputLengthError, digest, digest_many, pbkdf2_many};
use proptest::prelude::*;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Checks the digests of the first `length` bytes from each offset.
fn check(algorithm: Algorithm, threads: usize, data: &[u8], cuts: &[(usize, usize)]) {
    let messages: Vec<&[u8]> = cuts.iter().map(|(offset, length)| &data[*offset..][..*length]).collect();
    let digests = Batch::new(algorithm).threads(NonZeroUsize::new(threads)).digest_many(&messages);
    assert_eq!(digests.len(), messages.len());
    for (message, found) in messages.iter().zip(&digests) {
        assert_eq!(*found, reference(algorithm, message), "{algorithm}, {} bytes of {}", message.len(), messages.len());
    }
}

/// Else these tests would test another backend than they were asked to.
#[test]
fn the_backend_is_the_one_that_the_environment_names() {
    let backend = manyhash::backend().expect("a backend of this CPU");
    let name = std::env::var(manyhash::BACKEND_VARIABLE).unwrap_or_default();
    assert_eq!(backend.name(), if name.is_empty() { manyhash::Backend::detect().name() } else { &name });
}

#[test]
fn one_message_of_every_length() {
    let data = bytes(5 * 128);
    for algorithm in Algorithm::ALL.iter().copied() {
        for length in 0..=4 * algorithm.block_bytes() + 1 {
            assert_eq!(
                digest(algorithm, &data[..length]),
                reference(algorithm, &data[..length]),
                "{algorithm} {length}"
            );
        }
    }
}

#[test]
fn every_count_of_equal_messages() {
    let data = bytes(4096);
    for algorithm in Algorithm::ALL.iter().copied() {
        for count in 0..=2 * 64 + 1 {
            // Long enough that even two of them use lanes.
            let cuts: Vec<_> = (0..count).map(|i| (i, 2100)).collect();
            check(algorithm, 1, &data, &cuts);
        }
    }
}

#[test]
fn every_length_side_by_side() {
    let data = bytes(5 * 128);
    for algorithm in Algorithm::ALL.iter().copied() {
        let cuts: Vec<_> = (0..=4 * algorithm.block_bytes() + 1).map(|length| (length % 7, length)).collect();
        check(algorithm, 1, &data, &cuts);
        let reversed: Vec<_> = cuts.into_iter().rev().collect();
        check(algorithm, 1, &data, &reversed);
    }
}

#[test]
fn one_long_message_among_short_ones() {
    let data = bytes(1 << 20);
    for algorithm in Algorithm::ALL.iter().copied() {
        for place in [0, 150, 299] {
            let cuts: Vec<_> =
                (0..300).map(|i| if i == place { (0, (1 << 20) - 1) } else { (i, 40 + i % 100) }).collect();
            for threads in [1, 2, 0] {
                check(algorithm, threads, &data, &cuts);
            }
        }
    }
}

/// Messages that are padded to as many blocks are hashed in groups of 128 until one differs.
#[test]
fn one_message_that_is_not_like_the_others() {
    let data = bytes(3000);
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        for place in [0, 1, 127, 128, 200, 256, 383, 384, 399] {
            for length in [0, block, 2500] {
                let cuts: Vec<_> = (0..400).map(|i| (i, if i == place { length } else { 5 + i % 40 })).collect();
                check(algorithm, 1, &data, &cuts);
            }
        }
        check(algorithm, 1, &data, &(0..400).map(|i| (i, 20)).collect::<Vec<_>>());
    }
}

#[test]
fn many_runs_on_any_number_of_threads() {
    let data = bytes(70_000);
    for algorithm in [Algorithm::Md5, Algorithm::Sha512] {
        let cuts: Vec<_> = (0..20_000).map(|i| (i * 37 % 60_000, i * i % 130)).collect();
        for threads in [0, 1, 2, 3, 64] {
            check(algorithm, threads, &data, &cuts);
        }
    }
}

#[test]
fn output_of_another_length_is_an_error_and_untouched() {
    let mut digests = vec![Digest::default(); 2];
    let batch = Batch::new(Algorithm::Md5);
    let error: OutputLengthError = batch.digest_many_into(&["a", "b", "c"], &mut digests).unwrap_err();
    assert_eq!(error.to_string(), "3 messages, but room for 2 digests");
    assert!(digests.iter().all(|digest| digest.as_bytes().is_empty()));
    assert!(batch.digest_many_into(&["a", "b"], &mut digests).is_ok());
    assert_eq!(digests[1].to_hex(), "92eb5ffee6ae2fec3ad71c777531578f");
}

#[test]
fn no_messages_at_all() {
    assert!(digest_many::<&[u8]>(Algorithm::Sha256, &[]).is_empty());
}

/// A message that counts how often it is asked for its bytes, and gives others each time.
struct Fickle(AtomicUsize, Vec<u8>);

impl AsRef<[u8]> for Fickle {
    fn as_ref(&self) -> &[u8] {
        let look = self.0.fetch_add(1, Ordering::Relaxed);
        &self.1[..(look * 7919) % self.1.len()]
    }
}

#[test]
fn every_message_is_asked_once_for_its_bytes() {
    let data = bytes(9000);
    let check = |count: usize, hash: &dyn Fn(&[Fickle]) -> Vec<Digest>| {
        let messages: Vec<Fickle> = (0..count).map(|i| Fickle(i.into(), data.clone())).collect();
        let digests = hash(&messages);
        for (i, (message, digest)) in messages.iter().zip(digests).enumerate() {
            assert_eq!(message.0.load(Ordering::Relaxed), i + 1, "message {i} of {count}");
            assert_eq!(digest, reference(Algorithm::Sha1, &data[..(i * 7919) % data.len()]), "message {i} of {count}");
        }
    };
    for count in [1, 2, 16, 17, 200, 2000] {
        let batch = Batch::new(Algorithm::Sha1);
        let packed = |batch: &Batch, messages: &[Fickle]| -> Vec<Digest> {
            let digests = batch.digest_many_packed(messages);
            digests.iter().map(|digest| Digest::from_bytes(digest).expect("20 bytes")).collect()
        };
        check(count, &|messages| digest_many(Algorithm::Sha1, messages));
        check(count, &|messages| packed(&batch, messages));
        check(count, &|messages| packed(&batch.clone().threads(NonZeroUsize::MIN), messages));
        check(count, &|messages| packed(&batch.clone().salt("", ""), messages));
        check(count, &|messages| messages.iter().map(|message| batch.digest(message)).collect());
        check(count, &|messages| {
            let digests = manyhash::Sha1::digest_many(messages);
            digests.iter().map(|digest| Digest::from_bytes(digest).expect("20 bytes")).collect()
        });
    }
    let passwords: Vec<_> = (0..10).map(|_| (Fickle(0.into(), data.clone()), Fickle(0.into(), data.clone()))).collect();
    pbkdf2_many(Algorithm::Sha1, &passwords, NonZeroU32::MIN, 100).expect("not too long");
    let looks = passwords.iter().flat_map(|(password, salt)| [password, salt]);
    assert!(looks.into_iter().all(|message| message.0.load(Ordering::Relaxed) == 1));
}

/// Short and long messages, and one that is too long to be copied, between a prefix and a suffix, with and without a key.
#[test]
fn salted_messages() {
    let data = bytes(300_000);
    let lengths = (0..3000).map(|i| if i == 1500 { 300_000 } else { i * 7 % 200 });
    let messages: Vec<&[u8]> = lengths.map(|length| &data[..length]).collect();
    let salted: Vec<Vec<u8>> = messages.iter().map(|message| [b"<", *message, b">>"].concat()).collect();
    for algorithm in [Algorithm::Md5, Algorithm::Sha512] {
        for threads in [0, 1, 2] {
            let batch = Batch::new(algorithm).threads(NonZeroUsize::new(threads));
            for plain in [batch.clone(), batch.key("a key")] {
                let batch = plain.clone().salt("<", ">>");
                let due = plain.digest_many(&salted);
                assert!(batch.digest_many(&messages) == due, "{algorithm}, {threads} threads");
                assert!(batch.digest_many_packed(&messages).iter().eq(due.iter().map(Digest::as_bytes)), "{algorithm}");
                assert_eq!(batch.digest(messages[20]), due[20], "{algorithm}");
            }
        }
    }
}

#[test]
fn on_the_threads_of_the_callers_pool() {
    let data = bytes(70_000);
    let messages: Vec<&[u8]> = (0..20_000).map(|i| &data[i..i + i * i % 130]).collect();
    let batch = Batch::new(Algorithm::Md5).in_current_pool();
    let due = digest_many(Algorithm::Md5, &messages);
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be made");
        assert!(pool.install(|| batch.digest_many(&messages)) == due, "{threads} threads");
        // From all of its threads at once.
        pool.scope(|scope| (0..8).for_each(|_| scope.spawn(|_| assert!(batch.digest_many(&messages) == due))));
    }
    assert!(batch.digest_many(&messages) == due, "on a thread of no pool");
}

#[test]
fn a_key_and_a_salt_are_not_printed() {
    let batch = Batch::new(Algorithm::Md5).key("secret").salt("secret", "secret").threads(NonZeroUsize::new(2));
    assert_eq!(format!("{batch:?}"), "Batch { algorithm: Md5, threads: Some(2), .. }");
}

#[test]
fn a_panic_in_the_callers_code_is_the_callers_and_the_next_batch_works() {
    struct Panics(usize);
    impl AsRef<[u8]> for Panics {
        fn as_ref(&self) -> &[u8] {
            assert!(self.0 != 700, "the caller's own panic");
            &[7; 4096]
        }
    }
    let messages: Vec<Panics> = (0..1000).map(Panics).collect();
    let outcome = std::panic::catch_unwind(|| digest_many(Algorithm::Sha256, &messages));
    assert!(outcome.is_err());
    let digests = digest_many(Algorithm::Sha256, &messages[..700]);
    assert!(digests.iter().all(|digest| *digest == reference(Algorithm::Sha256, &[7; 4096])));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn ragged_mixtures(
        algorithm in prop::sample::select(Algorithm::ALL),
        threads in 0_usize..4,
        cuts in prop::collection::vec((0_usize..64, prop_oneof![0_usize..300, 0_usize..5000, 0_usize..100_000]), 0..150),
    ) {
        check(algorithm, threads, &bytes(100_064), &cuts);
    }
}
