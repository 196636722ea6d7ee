//! Bytes as a file of known digests, and digests in one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use manyhash_cli::fuzzing::{known_file, known_set};

fuzz_target!(|input: (bool, Vec<u8>, [u8; 32])| {
    let (is_file, bytes, digest) = input;
    if is_file { known_file(bytes, &digest) } else { known_set(&bytes) }
});
