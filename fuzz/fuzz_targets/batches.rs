//! Batches of messages of any lengths, on one thread and on two, against the reference.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use manyhash::{Batch, Digest};
use manyhash_fuzz::{algorithm, hmac, reference};
use std::num::NonZeroUsize;

#[derive(Arbitrary, Debug)]
struct Input {
    algorithm: u8,
    is_on_two: bool,
    salt: Option<(Vec<u8>, Vec<u8>)>,
    key: Option<Vec<u8>>,
    /// Where messages begin in the bytes, and their lengths.
    messages: Vec<(u16, u16)>,
    bytes: Vec<u8>,
}

fuzz_target!(|input: Input| {
    let algorithm = algorithm(input.algorithm);
    let messages: Vec<&[u8]> = input
        .messages
        .iter()
        .map(|(start, length)| {
            let bytes = &input.bytes[usize::from(*start).min(input.bytes.len())..];
            &bytes[..usize::from(*length).min(bytes.len())]
        })
        .collect();
    let mut batch = Batch::new(algorithm).threads(NonZeroUsize::new(1 + usize::from(input.is_on_two)));
    if let Some((prefix, suffix)) = &input.salt {
        batch = batch.salt(prefix, suffix);
    }
    if let Some(key) = &input.key {
        batch = batch.key(key);
    }
    let due: Vec<Digest> = messages
        .iter()
        .map(|message| {
            let salted = match &input.salt {
                None => message.to_vec(),
                Some((prefix, suffix)) => [prefix, *message, suffix].concat(),
            };
            input.key.as_ref().map_or_else(|| reference(algorithm, &salted), |key| hmac(algorithm, key, &salted))
        })
        .collect();
    assert_eq!(batch.digest_many(&messages), due);
    let packed = batch.digest_many_packed(&messages);
    assert!(packed.as_bytes().chunks_exact(algorithm.digest_bytes()).eq(due.iter().map(Digest::as_bytes)));
    if let (Some(message), Some(due)) = (messages.first(), due.first()) {
        assert_eq!(batch.digest(message), *due);
    }
});
