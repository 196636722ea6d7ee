//! Every kernel of every backend against the reference: lengths at the edges of blocks, numbers and places of lanes,
//! alignments, splits, and misuse. And the reference against crates of other authors.

mod common;

use common::{Lanes, expected, kernels};
use manyhash_core::Algorithm;
use manyhash_core::family::MAX_BLOCK_BYTES;
use manyhash_core::kernel::MAX_LANES;
use proptest::prelude::*;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes that differ with the seed (SplitMix64).
fn random(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)).to_le_bytes()
    });
    words.flatten().take(length).collect()
}

/// Messages for all lanes and their digests, computed once for all kernels.
struct Group {
    messages: Vec<Vec<u8>>,
    digests: Vec<Vec<u8>>,
}

impl Group {
    /// A message of its own for each lane, with the length that `length` says.
    fn new(algorithm: Algorithm, length: impl Fn(usize) -> usize) -> Self {
        let message = |lane| random((length(lane) * MAX_LANES + lane) as u64, length(lane));
        let messages: Vec<Vec<u8>> = (0..MAX_LANES).map(message).collect();
        let digests = messages.iter().map(|message| expected(algorithm, message)).collect();
        Group { messages, digests }
    }

    /// Hashes the first `count` messages in the lanes from `first` on.
    fn check(&self, kernel: &mut dyn Lanes, first: usize, count: usize, pieces: &[usize]) {
        let messages: Vec<&[u8]> = self.messages[..count].iter().map(Vec::as_slice).collect();
        self.check_copies(kernel, first, &messages, pieces);
    }

    /// Hashes copies of the first messages.
    fn check_copies(&self, kernel: &mut dyn Lanes, first: usize, messages: &[&[u8]], pieces: &[usize]) {
        let digests = kernel.hash(first, messages, pieces);
        for (lane, message) in messages.iter().enumerate() {
            assert_eq!(
                digests[lane],
                self.digests[lane],
                "{}: {} bytes in lane {lane} of {}, from {first}, blocks split {pieces:?}",
                kernel.name(),
                message.len(),
                messages.len()
            );
        }
    }
}

#[test]
fn names_differ_within_a_backend() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let kernels = kernels(algorithm);
        assert!(!kernels.is_empty(), "{algorithm}");
        for (i, kernel) in kernels.iter().enumerate() {
            assert!((1..=MAX_LANES).contains(&kernel.lanes()), "{}", kernel.name());
            let same = kernels[i..].iter().filter(|other| other.name() == kernel.name());
            assert_eq!(same.count(), 1, "{}", kernel.name());
        }
    }
}

#[test]
fn every_length_to_four_blocks_and_edges_beyond() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        let edges = [5, 8, 17, 64].into_iter().flat_map(|blocks| blocks * block - 1..=blocks * block + 1);
        let groups: Vec<Group> = (0..=4 * block).chain(edges).map(|length| Group::new(algorithm, |_| length)).collect();
        for mut kernel in kernels(algorithm) {
            for group in &groups {
                let lanes = kernel.lanes();
                group.check(&mut *kernel, 0, lanes, &[]);
            }
        }
    }
}

/// Equal numbers of whole blocks, but tails of any length, some of which need two more blocks and some one.
#[test]
fn tails_of_every_length_together() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        let groups = (0..block).step_by(5).flat_map(|tail| [0, 3].map(|blocks| (tail, blocks)));
        let groups: Vec<Group> = groups
            .map(|(tail, blocks)| Group::new(algorithm, |lane| blocks * block + (tail + 7 * lane) % block))
            .collect();
        for mut kernel in kernels(algorithm) {
            for group in &groups {
                let lanes = kernel.lanes();
                group.check(&mut *kernel, 0, lanes, &[]);
            }
        }
    }
}

#[test]
fn fewer_messages_than_lanes() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        let groups = [0, 1, block - 1, block, 3 * block + 7].map(|length| Group::new(algorithm, |_| length));
        for mut kernel in kernels(algorithm) {
            for group in &groups {
                for count in 1..=kernel.lanes() {
                    group.check(&mut *kernel, 0, count, &[]);
                }
            }
        }
    }
}

#[test]
fn messages_at_any_alignment() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let group = Group::new(algorithm, |_| 3 * algorithm.block_bytes() + 11);
        for mut kernel in kernels(algorithm) {
            let lanes = kernel.lanes();
            // The same offset in all lanes, then one that differs from lane to lane.
            for (offset, step) in (0..=17).flat_map(|offset| [(offset, 0), (offset, 1)]) {
                let start = |lane| offset + step * lane % 18;
                let shift = |lane: usize| [&vec![0xEE; start(lane)], group.messages[lane].as_slice()].concat();
                let shifted: Vec<Vec<u8>> = (0..lanes).map(shift).collect();
                let messages: Vec<&[u8]> =
                    shifted.iter().enumerate().map(|(lane, bytes)| &bytes[start(lane)..]).collect();
                group.check_copies(&mut *kernel, 0, &messages, &[]);
            }
        }
    }
}

/// Each message is an allocation of its own, so that a sanitizer sees a read past its end.
#[test]
fn messages_that_end_where_their_allocation_ends() {
    for algorithm in Algorithm::ALL.iter().copied() {
        for blocks in 1..=9 {
            let group = Group::new(algorithm, |_| blocks * algorithm.block_bytes());
            let boxes: Vec<Box<[u8]>> = group.messages.iter().map(|message| message.as_slice().into()).collect();
            for mut kernel in kernels(algorithm) {
                for count in [1, kernel.lanes()] {
                    let messages: Vec<&[u8]> = boxes[..count].iter().map(|message| &**message).collect();
                    group.check_copies(&mut *kernel, 0, &messages, &[]);
                }
            }
        }
    }
}

#[test]
fn blocks_in_any_split() {
    const BLOCKS: usize = 9;
    for algorithm in Algorithm::ALL.iter().copied() {
        let group = Group::new(algorithm, |_| BLOCKS * algorithm.block_bytes() + 5);
        for mut kernel in kernels(algorithm) {
            let lanes = kernel.lanes();
            for (i, j) in (0..=BLOCKS).flat_map(|i| (0..=BLOCKS - i).map(move |j| (i, j))) {
                group.check(&mut *kernel, 0, lanes, &[i, j]);
            }
            group.check(&mut *kernel, 0, lanes, &[1; BLOCKS]);
        }
    }
}

#[test]
fn one_state_in_any_split() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        let kernels: Vec<Box<dyn Lanes>> =
            kernels(algorithm).into_iter().filter(|kernel| kernel.lanes() == 1).collect();
        for length in (0..=2 * block + 1).chain([7 * block - 1, 7 * block]) {
            let message = random(length as u64, length);
            let digest = expected(algorithm, &message);
            for kernel in &kernels {
                let whole = length / block;
                let padded = kernel.pad(&message[whole * block..], length as u128);
                // An allocation of its own, as long as its blocks.
                let blocks: Box<[u8]> = [&message[..whole * block], &padded].concat().into();
                let count = blocks.len() / block;
                for split in 0..=count {
                    let state = kernel.compress_one(&[(&blocks, split), (&blocks[split * block..], count - split)]);
                    assert_eq!(
                        state[..digest.len()],
                        digest,
                        "{}: {length} bytes, {split} blocks first",
                        kernel.name()
                    );
                }
            }
        }
    }
}

#[test]
fn misuse_of_one_state_panics() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let long = vec![0; 3 * algorithm.block_bytes()];
        for kernel in kernels(algorithm) {
            let panics = |message: &[u8], blocks| {
                catch_unwind(AssertUnwindSafe(|| kernel.compress_one(&[(message, blocks)]))).is_err()
            };
            assert_eq!(panics(&long, 3), kernel.lanes() > 1, "{}: a state for each lane", kernel.name());
            assert_eq!(panics(&[], 0), kernel.lanes() > 1, "{}: no blocks", kernel.name());
            assert!(panics(&long[1..], 3), "{}: a byte short", kernel.name());
            assert!(panics(&long, 4), "{}: a block short", kernel.name());
            let overflow = usize::MAX / algorithm.block_bytes() + 2;
            assert!(panics(&long, overflow), "{}: length in bytes overflows", kernel.name());
        }
    }
}

#[test]
fn lanes_outside_the_kernels_are_untouched() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let group = Group::new(algorithm, |_| 2 * algorithm.block_bytes() + 3);
        for mut kernel in kernels(algorithm) {
            let lanes = kernel.lanes();
            for (first, count) in (0..=MAX_LANES - lanes).flat_map(|first| [(first, 1), (first, lanes)]) {
                kernel.scramble();
                let before = states(&*kernel);
                group.check(&mut *kernel, first, count, &[]);
                let after = states(&*kernel);
                for lane in (0..first).chain(first + lanes..MAX_LANES) {
                    assert!(before[lane] == after[lane], "{}: lane {lane}, run from {first}", kernel.name());
                }
            }
        }
    }
}

fn states(kernel: &dyn Lanes) -> Vec<[u8; 64]> {
    (0..MAX_LANES).map(|lane| kernel.state(lane)).collect()
}

#[test]
fn no_blocks_change_nothing() {
    for algorithm in Algorithm::ALL.iter().copied() {
        for mut kernel in kernels(algorithm) {
            kernel.scramble();
            let before = states(&*kernel);
            kernel.compress(0, &vec![[].as_slice(); kernel.lanes()], 0);
            kernel.compress(MAX_LANES - kernel.lanes(), &[b"a message"], 0);
            assert!(before == states(&*kernel), "{}", kernel.name());
        }
    }
}

#[test]
fn misuse_panics_and_changes_nothing() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        let long = vec![0; 3 * block];
        let long = long.as_slice();
        for mut kernel in kernels(algorithm) {
            let lanes = kernel.lanes();
            let high = MAX_LANES - lanes;
            let full = vec![long; lanes];
            let short_in = |lane: usize| {
                let mut messages = full.clone();
                messages[lane] = &long[1..];
                messages
            };
            let misuses: [(&str, usize, Vec<&[u8]>, usize); 13] = [
                ("no message", 0, vec![], 1),
                ("no message, no block", 0, vec![], 0),
                ("a message too many", 0, vec![long; lanes + 1], 1),
                ("far too many messages", 0, vec![long; MAX_LANES + 1], 1),
                ("first too high", high + 1, full.clone(), 1),
                ("first too high for the lanes, though not for the messages", high + 1, vec![long], 1),
                ("first out of range", MAX_LANES, vec![long], 1),
                ("first overflows", usize::MAX, vec![long], 1),
                ("a byte short in the first lane", 0, short_in(0), 3),
                ("a byte short in the last lane", 0, short_in(lanes - 1), 3),
                ("the only message a block short", 0, vec![long], 4),
                ("length in bytes overflows", 0, full.clone(), usize::MAX / block + 2),
                ("an empty message", 0, vec![&[]], 1),
            ];
            kernel.scramble();
            let before = states(&*kernel);
            for (misuse, first, messages, blocks) in misuses {
                let outcome = catch_unwind(AssertUnwindSafe(|| kernel.compress(first, &messages, blocks)));
                assert!(outcome.is_err(), "{}: {misuse}", kernel.name());
                assert!(before == states(&*kernel), "{}: {misuse}", kernel.name());
            }
            // The edges of what is allowed.
            kernel.compress(high, &full, 3);
        }
    }
}

/// The end of a message with its padding, byte by byte. RFC 1321, 3.1 and 3.2; FIPS 180-4, 5.1: one 1 bit, as few zeros as
/// fill a block, the length in bits. FIPS 202, 5.1: bits that tell functions apart, one 1 bit, zeros, one 1 bit.
fn padded(algorithm: Algorithm, end: &[u8], length: u128) -> Vec<u8> {
    use Algorithm::{Keccak256, Md5, Ripemd160, Sha3_224, Sha3_256, Sha3_384, Sha3_512};
    let block = algorithm.block_bytes();
    let first = match algorithm {
        Sha3_224 | Sha3_256 | Sha3_384 | Sha3_512 => 0x06,
        Keccak256 => 0x01,
        _ => 0x80,
    };
    let sponge = first != 0x80;
    let bits = 8 * length;
    let field = match (sponge, algorithm) {
        (true, _) => Vec::new(),
        // The low 64 bits.
        (_, Md5 | Ripemd160) => (bits as u64).to_le_bytes().to_vec(),
        _ => bits.to_be_bytes()[16 - block / 8..].to_vec(),
    };
    let mut padded = [end, &[first]].concat();
    while (padded.len() + field.len()) % block != 0 {
        padded.push(0);
    }
    if let (true, Some(last)) = (sponge, padded.last_mut()) {
        *last |= 0x80;
    }
    padded.extend(field);
    padded
}

#[test]
fn padding() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        let kernel = kernels(algorithm).remove(0);
        // SHA-1, SHA-256 and SM3 end at 2^64 bits; of others the low bits count, or more of them.
        let limit =
            if matches!(algorithm, Algorithm::Md5 | Algorithm::Ripemd160) || block > 64 { 1 << 64 } else { 1 << 61 };
        // What fits in two blocks of the longest kind.
        let fits = |tail: &usize| padded(algorithm, &vec![0; *tail], 0).len() <= 2 * MAX_BLOCK_BYTES;
        let tails = (0..).take_while(fits).count();
        let lengths = [0, block as u128, 1 << 29, 1 << 32, (1 << 61) - 512, 1 << 61, (1 << 64) - 512];
        for length in lengths.into_iter().filter(|length| *length < limit) {
            for tail in 0..tails {
                let bytes = random(tail as u64, tail);
                let padded = padded(algorithm, &bytes, length + tail as u128);
                assert_eq!(kernel.final_blocks(tail), padded.len() / block, "{algorithm}: {tail} bytes");
                let made = kernel.pad(&bytes, length + tail as u128);
                assert_eq!(made, padded, "{algorithm}: {tail} bytes after {length}");
            }
        }
        let longer = vec![0; tails];
        assert!(catch_unwind(AssertUnwindSafe(|| kernel.pad(&longer, 0))).is_err(), "{algorithm}: more than fits");
    }
}

/// The digest by a crate of other authors.
fn peer(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    fn digest<D: sha2::Digest>(message: &[u8]) -> Vec<u8> {
        D::digest(message).to_vec()
    }
    match algorithm {
        Algorithm::Md5 => digest::<md5::Md5>(message),
        Algorithm::Sha1 => digest::<sha1::Sha1>(message),
        Algorithm::Sha224 => digest::<sha2::Sha224>(message),
        Algorithm::Sha256 => digest::<sha2::Sha256>(message),
        Algorithm::Sha384 => digest::<sha2::Sha384>(message),
        Algorithm::Sha512 => digest::<sha2::Sha512>(message),
        Algorithm::Sha512_256 => digest::<sha2::Sha512_256>(message),
        Algorithm::Sha3_224 => digest::<sha3::Sha3_224>(message),
        Algorithm::Sha3_256 => digest::<sha3::Sha3_256>(message),
        Algorithm::Sha3_384 => digest::<sha3::Sha3_384>(message),
        Algorithm::Sha3_512 => digest::<sha3::Sha3_512>(message),
        Algorithm::Keccak256 => digest::<sha3::Keccak256>(message),
        Algorithm::Sm3 => digest::<sm3::Sm3>(message),
        Algorithm::Ripemd160 => digest::<ripemd::Ripemd160>(message),
        other => panic!("no peer for {other}"),
    }
}

#[test]
fn reference_agrees_with_other_crates() {
    const LONGER: [Range<usize>; 4] = [510..515, 1020..1030, 4094..4100, 1_000_000..1_000_002];
    for algorithm in Algorithm::ALL.iter().copied() {
        for length in (0..300).chain(LONGER.into_iter().flatten()) {
            let message = random(length as u64, length);
            assert_eq!(expected(algorithm, &message), peer(algorithm, &message), "{algorithm}, {length} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn any_messages_in_any_lanes_and_splits(
        algorithm in prop::sample::select(Algorithm::ALL),
        kernel: prop::sample::Index,
        count: prop::sample::Index,
        first: prop::sample::Index,
        seed: u64,
        blocks in 0..24_usize,
        tails in prop::collection::vec(0..MAX_BLOCK_BYTES, MAX_LANES),
        offsets in prop::collection::vec(0..64_usize, MAX_LANES),
        pieces in prop::collection::vec(0..6_usize, 0..6),
    ) {
        let mut kernels = kernels(algorithm);
        let kernel = kernel.index(kernels.len());
        let kernel = &mut *kernels[kernel];
        let count = 1 + count.index(kernel.lanes());
        let first = first.index(MAX_LANES - kernel.lanes() + 1);
        let block = algorithm.block_bytes();
        let bytes = random(seed, MAX_LANES * 64 + (blocks + 1) * block);
        // Messages overlap in memory, as nothing forbids it.
        let message = |lane: usize| {
            let start = 64 * lane + offsets[lane];
            &bytes[start..start + blocks * block + tails[lane] % block]
        };
        let messages: Vec<&[u8]> = (0..count).map(message).collect();
        let digests = kernel.hash(first, &messages, &pieces);
        for (digest, message) in digests.into_iter().zip(messages) {
            prop_assert_eq!(digest, expected(algorithm, message), "{}", kernel.name());
        }
    }
}
