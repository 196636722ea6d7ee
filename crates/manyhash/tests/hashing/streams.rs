//! Streams against the reference: split everywhere, advanced alone and together in any mixture.

use crate::common::{bytes, reference};
use manyhash::{Algorithm, Stream, UpdateManyError, update_many};
use proptest::prelude::*;
use std::io::Write;

#[test]
fn split_at_every_byte() {
    let data = bytes(3 * 128 + 5);
    for algorithm in Algorithm::ALL {
        let message = &data[..3 * algorithm.block_bytes() + 5];
        let whole = reference(algorithm, message);
        for first in 0..=message.len() {
            let mut stream = Stream::new(algorithm);
            stream.update(&message[..first]);
            let mut clone = stream.clone();
            stream.update(&message[first..]);
            assert_eq!(stream.finalize(), whole, "{algorithm}, split at {first}");
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
    for algorithm in Algorithm::ALL {
        let mut stream = Stream::new(algorithm);
        for byte in data.chunks(1) {
            assert_eq!(stream.write(byte).expect("a stream takes everything"), 1);
        }
        stream.flush().expect("nothing to flush");
        assert_eq!(stream.finalize(), reference(algorithm, &data));
    }
}

#[test]
fn together_from_every_position_by_every_length() {
    let data = bytes(1000);
    for algorithm in Algorithm::ALL {
        let block = algorithm.block_bytes();
        // Stream i has i bytes already; all go on by the same number.
        for length in [0, 1, block - 1, block, block + 1, 3 * block + 7] {
            let mut streams: Vec<Stream> = (0..=2 * block)
                .map(|i| {
                    let mut stream = Stream::new(algorithm);
                    stream.update(&data[..i]);
                    stream
                })
                .collect();
            let chunks: Vec<&[u8]> = (0..streams.len()).map(|i| &data[i..i + length]).collect();
            update_many(&mut streams, &chunks).expect("one chunk a stream");
            for (i, stream) in streams.into_iter().enumerate() {
                assert_eq!(stream.finalize(), reference(algorithm, &data[..i + length]), "{algorithm} {i} + {length}");
            }
        }
    }
}

#[test]
fn what_cannot_go_together_is_an_error_and_changes_nothing() {
    let mut streams = vec![Stream::new(Algorithm::Md5), Stream::new(Algorithm::Sha1)];
    let error = update_many(&mut streams, &[b"a", b"b"]).unwrap_err();
    assert_eq!(error, UpdateManyError::Algorithms(Algorithm::Md5, Algorithm::Sha1));
    assert_eq!(error.to_string(), "streams of md5 and of sha1 cannot be advanced together");
    let error = update_many(&mut streams[..1], &[]).unwrap_err();
    assert_eq!(error.to_string(), "1 streams, but 0 chunks");
    for stream in streams {
        let algorithm = stream.algorithm();
        assert_eq!(stream.finalize(), reference(algorithm, b""));
    }
    assert_eq!(update_many(&mut [], &[]), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rounds of chunks for some streams; in each round every stream goes on alone or with the others.
    #[test]
    fn alone_and_together_in_any_mixture(
        algorithm in prop::sample::select(&Algorithm::ALL[..]),
        rounds in prop::collection::vec(
            prop::collection::vec((any::<bool>(), prop_oneof![0_usize..70, 0_usize..2000]), 37),
            1..6,
        ),
    ) {
        let data = bytes(64 << 10);
        let mut streams = vec![Stream::new(algorithm); 37];
        let mut lengths = vec![0; 37];
        for round in rounds {
            let chunks: Vec<&[u8]> =
                round.iter().zip(&lengths).map(|((_, length), at)| &data[*at..at + length]).collect();
            let mut together = Vec::new();
            for (i, (alone, _)) in round.iter().enumerate() {
                if *alone {
                    streams[i].update(chunks[i]);
                    together.push(&[][..]);
                } else {
                    together.push(chunks[i]);
                }
            }
            update_many(&mut streams, &together).expect("one chunk a stream");
            lengths.iter_mut().zip(&chunks).for_each(|(at, chunk)| *at += chunk.len());
        }
        for (stream, length) in streams.into_iter().zip(lengths) {
            prop_assert_eq!(stream.finalize(), reference(algorithm, &data[..length]));
        }
    }
}
