//! Hashers against the reference: split everywhere, advanced alone and together in any mixture.

use crate::common::{bytes, reference};
use manyhash::{Algorithm, Hasher, update_many};
use proptest::prelude::*;
use std::io::Write;

#[test]
fn split_at_every_byte() {
    let data = bytes(3 * 144 + 5);
    for algorithm in Algorithm::ALL.iter().copied() {
        let message = &data[..3 * algorithm.block_bytes() + 5];
        let whole = reference(algorithm, message);
        for first in 0..=message.len() {
            let mut hasher = Hasher::new(algorithm);
            hasher.update(&message[..first]);
            let mut clone = hasher.clone();
            hasher.update(&message[first..]);
            assert_eq!(hasher.finalize(), whole, "{algorithm}, split at {first}");
            assert_eq!(clone.clone().finalize(), reference(algorithm, &message[..first]));
            clone.reset();
            clone.update(message);
            assert_eq!(clone.finalize(), whole);
        }
    }
}

#[test]
fn byte_by_byte_and_as_a_writer() {
    let data = bytes(700);
    for algorithm in Algorithm::ALL.iter().copied() {
        let mut hasher = Hasher::new(algorithm);
        for byte in data.chunks(1) {
            assert_eq!(hasher.write(byte).expect("a hasher takes everything"), 1);
        }
        hasher.flush().expect("nothing to flush");
        assert_eq!(hasher.finalize(), reference(algorithm, &data));
    }
}

#[test]
fn together_from_every_position_by_every_length() {
    let data = bytes(1000);
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        // Hasher i has i bytes already; all go on by the same number.
        for length in [0, 1, block - 1, block, block + 1, 3 * block + 7] {
            let mut hashers: Vec<Hasher> = (0..=2 * block)
                .map(|i| {
                    let mut hasher = Hasher::new(algorithm);
                    hasher.update(&data[..i]);
                    hasher
                })
                .collect();
            let chunks: Vec<&[u8]> = (0..hashers.len()).map(|i| &data[i..i + length]).collect();
            update_many(hashers.iter_mut().zip(chunks));
            for (i, hasher) in hashers.into_iter().enumerate() {
                assert_eq!(hasher.finalize(), reference(algorithm, &data[..i + length]), "{algorithm} {i} + {length}");
            }
        }
    }
}

#[test]
fn of_several_algorithms_together() {
    let data = bytes(3000);
    let of = |i: usize| Algorithm::ALL[i % Algorithm::ALL.len()];
    let mut hashers: Vec<Hasher> = (0..100).map(|i| Hasher::new(of(i))).collect();
    update_many(hashers.iter_mut().enumerate().map(|(i, hasher)| (hasher, &data[i..20 * i])));
    update_many(hashers.iter_mut().take(1).map(|hasher| (hasher, &data[..7])));
    update_many([]);
    for (i, hasher) in hashers.into_iter().enumerate() {
        let message = if i == 0 { &data[..7] } else { &data[i..20 * i] };
        assert_eq!(hasher.finalize(), reference(of(i), message), "{i}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rounds of chunks for some hashers; in each round every hasher goes on alone or with the others.
    #[test]
    fn alone_and_together_in_any_mixture(
        algorithm in prop::sample::select(Algorithm::ALL),
        rounds in prop::collection::vec(
            prop::collection::vec((any::<bool>(), prop_oneof![0_usize..70, 0_usize..2000]), 37),
            1..6,
        ),
    ) {
        let data = bytes(64 << 10);
        let mut hashers = vec![Hasher::new(algorithm); 37];
        let mut lengths = vec![0; 37];
        for round in rounds {
            let chunks: Vec<&[u8]> =
                round.iter().zip(&lengths).map(|((_, length), at)| &data[*at..at + length]).collect();
            let mut together = Vec::new();
            for (i, (alone, _)) in round.iter().enumerate() {
                if *alone {
                    hashers[i].update(chunks[i]);
                    together.push(&[][..]);
                } else {
                    together.push(chunks[i]);
                }
            }
            update_many(hashers.iter_mut().zip(together));
            lengths.iter_mut().zip(&chunks).for_each(|(at, chunk)| *at += chunk.len());
        }
        for (hasher, length) in hashers.into_iter().zip(lengths) {
            prop_assert_eq!(hasher.finalize(), reference(algorithm, &data[..length]));
        }
    }
}
