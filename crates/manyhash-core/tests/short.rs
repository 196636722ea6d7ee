//! Every kernel for whole short messages, of every backend, against the reference.

mod common;

use common::expected;
use manyhash_core::algorithm::MAX_DIGEST_BYTES;
use manyhash_core::{Algorithm, Backend, Family, Md5, Sha1, Sha256, Sha512, ShortKernel, Start, State};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes that differ with the seed, never 0 or 0x80, so that none passes for padding.
fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| ((i * 31 + seed * 17 + length) % 126 + 1) as u8).collect()
}

/// Calls `test` with every kernel.
macro_rules! each_kernel {
    ($algorithm:expr, $test:ident $(, $argument:expr)*) => {
        for backend in Backend::available() {
            match $algorithm.start() {
                Start::Md5(start) => Md5::short_kernels(backend).iter().for_each(|kernel| $test($algorithm, backend, kernel, start $(, $argument)*)),
                Start::Sha1(start) => Sha1::short_kernels(backend).iter().for_each(|kernel| $test($algorithm, backend, kernel, start $(, $argument)*)),
                Start::Sha256(start) => Sha256::short_kernels(backend).iter().for_each(|kernel| $test($algorithm, backend, kernel, start $(, $argument)*)),
                Start::Sha512(start) => Sha512::short_kernels(backend).iter().for_each(|kernel| $test($algorithm, backend, kernel, start $(, $argument)*)),
            }
        }
    };
}

fn check<F: Family>(
    algorithm: Algorithm,
    backend: Backend,
    kernel: ShortKernel<F>,
    start: State<F>,
    (messages, due): (&[Vec<u8>], &[Vec<u8>]),
) {
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut digests = vec![[0xAA; MAX_DIGEST_BYTES]; messages.len()];
    kernel.hash(&start, 0, &messages, &mut digests);
    for (i, (digest, due)) in digests.iter().zip(due).enumerate() {
        assert_eq!(
            &digest[..due.len()],
            &due[..],
            "{algorithm} on {backend}, `{}`: message {i} of {}, {} bytes",
            kernel.name(),
            messages.len(),
            messages[i].len()
        );
    }
}

/// In one call as many messages of each length as there are blocks to have: every length beside every other one that is
/// padded to as many blocks.
#[test]
fn every_length_to_nine_blocks() {
    for algorithm in Algorithm::ALL {
        let block = algorithm.block_bytes();
        let field = if block == 64 { 8 } else { 16 };
        for blocks in 1..=9 {
            let most = blocks * block - 1 - field;
            let least = (most + 1).saturating_sub(block);
            let messages: Vec<Vec<u8>> =
                (least..=most).flat_map(|length| [1, 2].map(|seed| bytes(length, seed))).collect();
            let due: Vec<Vec<u8>> = messages.iter().map(|message| expected(algorithm, message)).collect();
            each_kernel!(algorithm, check, (&messages[..], &due[..]));
        }
    }
}

#[test]
fn any_number_of_messages() {
    for algorithm in Algorithm::ALL {
        let messages: Vec<Vec<u8>> = (0..140).map(|seed| bytes(seed % 40, seed)).collect();
        let due: Vec<Vec<u8>> = messages.iter().map(|message| expected(algorithm, message)).collect();
        for count in (0..=70).chain([127, 128, 129, 140]) {
            each_kernel!(algorithm, check, (&messages[..count], &due[..count]));
        }
    }
}

/// The state after a block, and messages that go on from there.
fn check_after<F: Family>(algorithm: Algorithm, backend: Backend, kernel: ShortKernel<F>, start: State<F>) {
    let Some(alone) = F::kernels(backend).iter().find(|kernel| kernel.lanes() == 1) else {
        panic!("{backend} has a kernel for one message")
    };
    let before = bytes(3 * F::BLOCK_BYTES, 9);
    let mut state = start;
    alone.compress_one(&mut state, &before, 3);
    let messages: Vec<Vec<u8>> = (0..20).map(|seed| bytes(seed, seed)).collect();
    let slices: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut digests = vec![[0; MAX_DIGEST_BYTES]; messages.len()];
    kernel.hash(&state, before.len(), &slices, &mut digests);
    for (digest, message) in digests.iter().zip(&messages) {
        let due = expected(algorithm, &[&before[..], message].concat());
        assert_eq!(&digest[..due.len()], &due[..], "{algorithm} on {backend}, `{}`", kernel.name());
    }
}

#[test]
fn messages_may_follow_whole_blocks() {
    for algorithm in Algorithm::ALL {
        each_kernel!(algorithm, check_after);
    }
}

fn check_misuse<F: Family>(_: Algorithm, backend: Backend, kernel: ShortKernel<F>, start: State<F>) {
    let long = bytes(F::BLOCK_BYTES, 1);
    let mut room = [[0; MAX_DIGEST_BYTES]; 3];
    let mut panics = |before: usize, messages: &[&[u8]], digests: usize| {
        catch_unwind(AssertUnwindSafe(|| kernel.hash(&start, before, messages, &mut room[..digests]))).is_err()
    };
    let name = kernel.name();
    assert!(panics(0, &[b"a", b"b"], 3), "{name} on {backend}: more digests than messages");
    assert!(panics(0, &[b"a", b"b"], 1), "{name} on {backend}: fewer digests than messages");
    assert!(panics(0, &[b"a", &long], 2), "{name} on {backend}: messages of one block and of two");
    assert!(panics(1, &[b"a"], 1), "{name} on {backend}: a part of a block before");
    assert!(panics(1 << 28, &[b"a"], 1), "{name} on {backend}: very much before");
    assert!(!panics(0, &[], 0), "{name} on {backend}: no messages");
    assert!(!panics(0, &[b"a", b"bc"], 2), "{name} on {backend}: two messages");
}

#[test]
fn misuse_panics() {
    for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512] {
        each_kernel!(algorithm, check_misuse);
    }
}
