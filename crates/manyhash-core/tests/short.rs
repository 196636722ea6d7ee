//! Every kernel for whole short messages, of every backend, against the reference.

mod common;

use common::expected;
use manyhash_core::family::{Family, MAX_BLOCK_BYTES, MAX_DIGEST_BYTES};
use manyhash_core::short::{MAX_SHORT_BYTES, Uneven, row_bytes};
use manyhash_core::{Algorithm, Backend, Chains, Kernels, ShortKernel, Start, State, Word};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes that differ with the seed, never 0 or 0x80, so that none passes for padding.
fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| ((i * 31 + seed * 17 + length) % 126 + 1) as u8).collect()
}

/// Calls `test` with every kernel.
macro_rules! each_kernel {
    ($algorithm:expr, $test:ident $(, $argument:expr)*) => {
        for backend in Backend::available() {
            with_family!($algorithm, F, start => {
                F::kernels(backend).short().for_each(|kernel| $test::<F>($algorithm, backend, kernel, *start $(, $argument)*))
            });
        }
    };
}

fn check<F: Kernels>(
    algorithm: Algorithm,
    backend: Backend,
    kernel: ShortKernel<F>,
    start: State<F>,
    (messages, due): (&[Vec<u8>], &[Vec<u8>]),
) {
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    for width in [row_bytes(algorithm.digest_bytes()), MAX_DIGEST_BYTES, MAX_DIGEST_BYTES + 16] {
        let mut digests = vec![0xAA; messages.len() * width + 64];
        let (rows, behind) = digests.split_at_mut(messages.len() * width);
        assert_eq!(kernel.hash(&start, 0, &messages, width, rows), Ok(()));
        assert!(behind.iter().all(|byte| *byte == 0xAA), "{algorithm} on {backend}, `{}`: behind rows", kernel.name());
        for (i, (digest, due)) in rows.chunks(width).zip(due).enumerate() {
            assert_eq!(
                &digest[..due.len()],
                &due[..],
                "{algorithm} on {backend}, `{}`: message {i} of {}, {} bytes, rows of {width}",
                kernel.name(),
                messages.len(),
                messages[i].len()
            );
        }
    }
}

/// In one call as many messages of each length as there are blocks to have: every length beside every other one that is
/// padded to as many blocks.
#[test]
fn every_length_to_nine_blocks() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        let padding = with_family!(algorithm, F, _start => F::PADDING_BYTES);
        for blocks in 1..=9 {
            let most = blocks * block - padding;
            let least = (most + 1).saturating_sub(block);
            let messages: Vec<Vec<u8>> =
                (least..=most).flat_map(|length| [1, 2].map(|seed| bytes(length, seed))).collect();
            let due: Vec<Vec<u8>> = messages.iter().map(|message| expected(algorithm, message)).collect();
            each_kernel!(algorithm, check, (&messages[..], &due[..]));
        }
    }
}

/// Messages of one length, which need no bytes put together if it is a multiple of 16, and their neighbours.
#[test]
fn messages_of_one_length() {
    for algorithm in Algorithm::ALL.iter().copied() {
        for length in (0..=600_usize).filter(|length| (length + 1) % 16 < 3) {
            let messages: Vec<Vec<u8>> = (0..67).map(|seed| bytes(length, seed)).collect();
            let due: Vec<Vec<u8>> = messages.iter().map(|message| expected(algorithm, message)).collect();
            each_kernel!(algorithm, check, (&messages[..], &due[..]));
        }
    }
}

#[test]
fn any_number_of_messages() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let messages: Vec<Vec<u8>> = (0..140).map(|seed| bytes(seed % 40, seed)).collect();
        let due: Vec<Vec<u8>> = messages.iter().map(|message| expected(algorithm, message)).collect();
        for count in (0..=70).chain([127, 128, 129, 140]) {
            each_kernel!(algorithm, check, (&messages[..count], &due[..count]));
        }
    }
}

/// The state after a block, and messages that go on from there.
fn check_after<F: Kernels>(algorithm: Algorithm, backend: Backend, kernel: ShortKernel<F>, start: State<F>) {
    let Some(alone) = F::kernels(backend).iter().find(|kernel| kernel.lanes() == 1) else {
        panic!("{backend} has a kernel for one message")
    };
    let before = bytes(3 * F::BLOCK_BYTES, 9);
    let mut state = start;
    alone.compress_one(&mut state, &before, 3);
    for length in [None, Some(16), Some(F::BLOCK_BYTES)] {
        let messages: Vec<Vec<u8>> = (0..20).map(|seed| bytes(length.unwrap_or(seed), seed)).collect();
        let slices: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let mut digests = vec![[0; MAX_DIGEST_BYTES]; messages.len()];
        let hashed = kernel.hash(&state, before.len(), &slices, MAX_DIGEST_BYTES, digests.as_flattened_mut());
        assert_eq!(hashed, Ok(()));
        for (digest, message) in digests.iter().zip(&messages) {
            let due = expected(algorithm, &[&before[..], message].concat());
            assert_eq!(&digest[..due.len()], &due[..], "{algorithm} on {backend}, `{}`", kernel.name());
        }
    }
}

/// The longest lengths in bits, against the kernel for one message: the blocks before need not be there to count.
fn check_most_before<F: Kernels>(algorithm: Algorithm, backend: Backend, kernel: ShortKernel<F>, start: State<F>) {
    let Some(alone) = F::kernels(backend).iter().find(|kernel| kernel.lanes() == 1) else {
        panic!("{backend} has a kernel for one message")
    };
    let before = (MAX_SHORT_BYTES / F::BLOCK_BYTES - 1) * F::BLOCK_BYTES;
    // The first is within the limit, the others are not.
    let most = 2 * F::BLOCK_BYTES - F::PADDING_BYTES;
    let lengths = [F::BLOCK_BYTES - F::PADDING_BYTES + 1, most, F::BLOCK_BYTES];
    let messages = lengths.map(|length| bytes(length, 3));
    let slices = messages.each_ref().map(Vec::as_slice);
    let mut digests = [[0; MAX_DIGEST_BYTES]; 3];
    let hashed = kernel.hash(&start, before, &slices, MAX_DIGEST_BYTES, digests.as_flattened_mut());
    assert_eq!(hashed, Ok(()));
    for (digest, message) in digests.iter().zip(&messages) {
        let mut padded = [0; 2 * MAX_BLOCK_BYTES];
        let blocks = F::pad(message, (before + message.len()) as u128, &mut padded);
        let mut state = start;
        alone.compress_one(&mut state, &padded[..blocks * F::BLOCK_BYTES], blocks);
        let bytes = algorithm.digest_bytes();
        assert_eq!(digest[..bytes], F::digest(&state)[..bytes], "{algorithm} on {backend}, `{}`", kernel.name());
    }
}

#[test]
fn as_much_may_precede_as_can() {
    for algorithm in Algorithm::ALL.iter().copied() {
        each_kernel!(algorithm, check_most_before);
    }
}

#[test]
fn messages_may_follow_whole_blocks() {
    for algorithm in Algorithm::ALL.iter().copied() {
        each_kernel!(algorithm, check_after);
    }
}

/// HMAC (RFC 2104) by the reference, of a key that is no longer than a block.
fn hmac(algorithm: Algorithm, key: &[u8], message: &[u8]) -> Vec<u8> {
    let padded = |pad: u8| {
        let mut block = vec![pad; algorithm.block_bytes()];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = expected(algorithm, &[padded(0x36), message.to_vec()].concat());
    expected(algorithm, &[padded(0x5c), inner].concat())
}

/// Chains in all lanes, each under a key of its own, against the reference.
fn check_chains<F: Kernels>(algorithm: Algorithm, backend: Backend, kernel: ShortKernel<F>, start: State<F>) {
    let Some(alone) = F::kernels(backend).iter().find(|kernel| kernel.lanes() == 1) else {
        panic!("{backend} has a kernel for one message")
    };
    let keys: Vec<Vec<u8>> = (0..kernel.lanes()).map(|lane| bytes(lane + 1, lane)).collect();
    let mut chains = Chains::<F>::default();
    let mut tags = Vec::new();
    for (lane, key) in keys.iter().enumerate() {
        let after = |pad: u8| {
            let mut block = vec![pad; F::BLOCK_BYTES];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            let mut state = start;
            alone.compress_one(&mut state, &block, 1);
            state
        };
        let tag = bytes(algorithm.digest_bytes(), lane + 7);
        // What stands behind a tag in its last word is none of it.
        let room = [&tag[..], &[0xEE; 8]].concat();
        let mut words = F::zero();
        for (word, bytes) in words.as_mut().iter_mut().zip(room.chunks_exact(F::Word::BYTES)) {
            *word = F::Word::read(F::BIG_ENDIAN, bytes);
        }
        chains.inner.set(lane, &after(0x36));
        chains.outer.set(lane, &after(0x5c));
        chains.tags.set(lane, &words);
        chains.sums.set(lane, &words);
        tags.push(tag);
    }
    let bytes = algorithm.digest_bytes();
    kernel.iterate(&mut chains, bytes, 0);
    kernel.iterate(&mut chains, bytes, 1);
    kernel.iterate(&mut chains, bytes, 2);
    for (lane, (key, first)) in keys.iter().zip(tags).enumerate() {
        let mut sum = first.clone();
        let mut tag = first;
        for _ in 0..3 {
            tag = hmac(algorithm, key, &tag);
            sum.iter_mut().zip(&tag).for_each(|(sum, tag)| *sum ^= tag);
        }
        let name = kernel.name();
        assert_eq!(F::digest(&chains.sums.get(lane))[..bytes], sum, "{algorithm} on {backend}, `{name}`, lane {lane}");
        assert_eq!(F::digest(&chains.tags.get(lane))[..bytes], tag, "{algorithm} on {backend}, `{name}`, lane {lane}");
    }
    for bytes in [0, (F::STATE_WORDS * F::Word::BYTES).min(MAX_DIGEST_BYTES) + 1] {
        let iterated = catch_unwind(AssertUnwindSafe(|| kernel.iterate(&mut chains, bytes, 1)));
        assert!(iterated.is_err(), "tags of {bytes} bytes");
    }
}

#[test]
fn chains_of_tags() {
    for algorithm in Algorithm::ALL.iter().copied() {
        each_kernel!(algorithm, check_chains);
    }
}

fn check_misuse<F: Kernels>(_: Algorithm, backend: Backend, kernel: ShortKernel<F>, start: State<F>) {
    let long = bytes(F::BLOCK_BYTES, 1);
    let mut room = [0xAA; 3 * MAX_DIGEST_BYTES];
    let mut hash = |before: usize, messages: &[&[u8]], width: usize, rows: usize| {
        let rows = &mut room[..rows * width];
        catch_unwind(AssertUnwindSafe(|| kernel.hash(&start, before, messages, width, rows)))
    };
    let name = kernel.name();
    assert!(hash(0, &[b"a", b"b"], 64, 3).is_err(), "{name} on {backend}: more rows than messages");
    assert!(hash(0, &[b"a", b"b"], 64, 1).is_err(), "{name} on {backend}: fewer rows than messages");
    assert!(hash(0, &[b"a"], 24, 1).is_err(), "{name} on {backend}: rows of 24 bytes");
    assert!(hash(0, &[b"a"], 0, 1).is_err(), "{name} on {backend}: rows of no bytes");
    assert!(hash(1, &[b"a"], 64, 1).is_err(), "{name} on {backend}: a part of a block before");
    assert!(hash(1 << 28, &[b"a"], 64, 1).is_err(), "{name} on {backend}: very much before");
    let uneven = hash(0, &[b"a", &long], 64, 2);
    assert!(matches!(uneven, Ok(Err(Uneven))), "{name} on {backend}: messages of one block and of two");
    assert!(matches!(hash(0, &[], 64, 0), Ok(Ok(()))), "{name} on {backend}: no messages");
    assert_eq!(room, [0xAA; 3 * MAX_DIGEST_BYTES], "{name} on {backend}: nothing is written then");
}

#[test]
fn misuse_panics() {
    for algorithm in Algorithm::ALL.iter().copied() {
        each_kernel!(algorithm, check_misuse);
    }
}
