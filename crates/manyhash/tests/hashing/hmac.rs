//! HMAC of batches and columns: the RFCs' vectors, and another author's implementation.

use crate::common::bytes;
use hmac::{KeyInit, Mac, SimpleHmac};
use manyhash::{Algorithm, Batch, Column, Digest, Encoding};
use std::collections::HashMap;
use std::num::NonZeroUsize;

/// The cases of a file of vectors: key, message and tags, each after the other.
fn cases(file: &str) -> Vec<HashMap<String, String>> {
    let path = format!("{}/../../vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors are in the repository");
    let case = |case: &str| {
        let lines = case.lines().filter_map(|line| line.split_once(" = "));
        lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    };
    text.split("\n\n").skip(1).map(case).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("it is hexadecimal")).collect()
}

#[test]
fn the_rfcs_vectors() {
    let mut tags = 0;
    for case in ["rfc2202.txt", "rfc4231.txt"].into_iter().flat_map(cases) {
        let (key, message) = (unhex(&case["Key"]), unhex(&case["Msg"]));
        for algorithm in Algorithm::ALL.iter().copied() {
            let Some(tag) = case.get(algorithm.name()) else { continue };
            let batch = Batch::new(algorithm).key(&key);
            // More than one lane, and each alone.
            for due in batch.digest_many(&vec![&message; 70]).into_iter().chain([batch.digest(&message)]) {
                assert!(due.to_hex().starts_with(tag), "{algorithm}, case {}", case["COUNT"]);
            }
            let column = Column::fixed(&message, message.len()).expect("one row");
            assert!(batch.digest_column(&column, Encoding::Hex).starts_with(tag.as_bytes()));
            tags += 1;
        }
    }
    assert_eq!(tags, 7 * 6);
}

/// The tag by another author's code.
fn due(algorithm: Algorithm, key: &[u8], message: &[u8]) -> Digest {
    fn tag<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Digest {
        let mut mac = <M as KeyInit>::new_from_slice(key).expect("any key will do");
        mac.update(message);
        Digest::from_bytes(&mac.finalize().into_bytes()).expect("no tag is too long")
    }
    match algorithm {
        Algorithm::Md5 => tag::<SimpleHmac<md5::Md5>>(key, message),
        Algorithm::Sha1 => tag::<SimpleHmac<sha1::Sha1>>(key, message),
        Algorithm::Sha224 => tag::<SimpleHmac<sha2::Sha224>>(key, message),
        Algorithm::Sha256 => tag::<SimpleHmac<sha2::Sha256>>(key, message),
        Algorithm::Sha384 => tag::<SimpleHmac<sha2::Sha384>>(key, message),
        Algorithm::Sha512 => tag::<SimpleHmac<sha2::Sha512>>(key, message),
        Algorithm::Sha512_256 => tag::<SimpleHmac<sha2::Sha512_256>>(key, message),
        Algorithm::Sha3_224 => tag::<SimpleHmac<sha3::Sha3_224>>(key, message),
        Algorithm::Sha3_256 => tag::<SimpleHmac<sha3::Sha3_256>>(key, message),
        Algorithm::Sha3_384 => tag::<SimpleHmac<sha3::Sha3_384>>(key, message),
        Algorithm::Sha3_512 => tag::<SimpleHmac<sha3::Sha3_512>>(key, message),
        Algorithm::Keccak256 => tag::<SimpleHmac<sha3::Keccak256>>(key, message),
        Algorithm::Sm3 => tag::<SimpleHmac<sm3::Sm3>>(key, message),
        Algorithm::Ripemd160 => tag::<SimpleHmac<ripemd::Ripemd160>>(key, message),
        other => panic!("no peer for {other}"),
    }
}

#[test]
fn many_and_columns_with_keys_of_all_lengths() {
    let messages: Vec<Vec<u8>> = (0..400).map(|i| bytes(i * i % 1500)).collect();
    let values = messages.concat();
    let ends = messages.iter().scan(0, |end, message| {
        *end += message.len() as i32;
        Some(*end)
    });
    let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
    let validity = bytes(messages.len().div_ceil(8));
    let is_valid = |i: usize| validity[i / 8] >> (i % 8) & 1 == 1;
    for algorithm in Algorithm::ALL.iter().copied() {
        let block = algorithm.block_bytes();
        for key in [0, 1, block - 1, block, block + 1, 1000].map(bytes) {
            let due: Vec<Digest> = messages.iter().map(|message| due(algorithm, &key, message)).collect();
            let batch = Batch::new(algorithm).key(&key);
            assert_eq!(batch.digest_many(&messages), due, "{algorithm}, a key of {} bytes", key.len());
            assert!(batch.digest_many_packed(&messages).iter().eq(due.iter().map(Digest::as_bytes)), "{algorithm}");
            let column = Column::binary(&values, &offsets).expect("the offsets are right");
            let tags = batch.digest_column(&column, Encoding::Binary);
            assert!(tags == due.iter().flat_map(|tag| tag.as_bytes()).copied().collect::<Vec<_>>(), "{algorithm}");

            let column = column.with_validity(&validity, 0).expect("a bit a row");
            let due = due
                .iter()
                .enumerate()
                .map(|(i, tag)| if is_valid(i) { tag.to_hex() } else { "\0".repeat(tag.to_hex().len()) });
            let batch = batch.threads(NonZeroUsize::MIN);
            let due = due.collect::<String>().into_bytes();
            assert!(batch.digest_column(&column, Encoding::Hex) == due, "{algorithm} with nulls");
            let mut room = vec![7; due.len()];
            batch.digest_column_into(&column, Encoding::Hex, &mut room).expect("there is room");
            assert!(room == due, "{algorithm} into the caller's bytes");
            assert!(batch.digest_column_into(&column, Encoding::Hex, &mut room[1..]).is_err());
        }
    }
}

/// More rows than inner digests are kept at once.
#[test]
fn long_columns() {
    let values = bytes(8 * 40_000);
    let column = Column::fixed(&values, 8).expect("whole rows");
    let tags = Batch::new(Algorithm::Sha1).key("key").digest_column(&column, Encoding::Binary);
    for (i, (row, tag)) in values.chunks(8).zip(tags.chunks(20)).enumerate().step_by(997) {
        assert_eq!(tag, due(Algorithm::Sha1, b"key", row).as_bytes(), "row {i}");
    }
}
