//! Bytes as a list of checksums of every format; and a name in a line that is written as it is read again.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use manyhash::{Digest, HashFunction};
use manysum::lists::line::{Dialect, tag};
use manysum::lists::read::List;
use manysum::lists::style::Style;
use manysum::lists::{Accepted, Parser};
use std::ffi::OsStr;
use std::io::Cursor;

#[derive(Arbitrary, Debug)]
struct Input {
    list: u8,
    accepted: u8,
    function: u8,
    bytes: Vec<u8>,
}

/// What the name of a list can say of it.
const LISTS: [&str; 6] =
    ["list", "list.sfv", "manifest-sha256.txt", "tagmanifest-md5.txt", "md5sums.txt", "SHA512SUMS"];

const DIALECTS: [Dialect; 4] = [Dialect::Sum, Dialect::B2sum, Dialect::CksumOf, Dialect::Cksum];

const FUNCTIONS: [&str; 12] = [
    "md5",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512-256",
    "blake2b",
    "crc32",
    "sha3-256",
    "sm3",
    "xxh128",
];

fuzz_target!(|input: Input| {
    let name = FUNCTIONS[usize::from(input.function) % FUNCTIONS.len()];
    let function: HashFunction = name.parse().expect("a function's name");
    let accepted = match usize::from(input.accepted) % (DIALECTS.len() + 2) {
        0 => Accepted::Any,
        1 => Accepted::Only(function),
        tool => Accepted::Tool(function, DIALECTS[tool - 2]),
    };
    let list = LISTS[usize::from(input.list) % LISTS.len()];
    let mut parser = Parser::new(accepted);
    for line in List::new(OsStr::new(list), Box::new(Cursor::new(input.bytes.clone())), &mut parser) {
        if let Ok(entry) = line.entry {
            assert!(!entry.digests.is_empty());
            for (function, digest) in entry.digests {
                assert!(accepted.takes(function));
                assert_eq!(digest.as_bytes().len(), function.digest_bytes());
            }
        }
    }
    read_again(function, &input.bytes);
});

/// A file of this name in each form that a line has.
fn read_again(function: HashFunction, name: &[u8]) {
    // No file has such a name.
    if name.is_empty() || name.contains(&0) {
        return;
    }
    let digest = Digest::from_bytes(&vec![0xa5; function.digest_bytes()]).expect("no digest is too long");
    let written_tag = tag(function);
    for style in [None, Some(&written_tag[..])].map(|tag| Style { tag, binary: false, zero: false }) {
        let line = style.line(name, &digest.to_hex());
        let mut parser = Parser::new(Accepted::Tool(function, Dialect::Sum));
        let list = List::new(OsStr::new("list"), Box::new(Cursor::new(line)), &mut parser);
        let entries: Vec<_> = list.map(|line| line.entry.expect("a line as it is written")).collect();
        assert_eq!(entries.len(), 1);
        assert_eq!((&entries[0].name[..], &entries[0].digests[..]), (name, &[(function, digest)][..]));
    }
}
