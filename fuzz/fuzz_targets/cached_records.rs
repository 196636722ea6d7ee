//! Bytes as a record of the digest cache.
#![no_main]

use libfuzzer_sys::fuzz_target;
use manysum::cache::cached_record;

fuzz_target!(|bytes: &[u8]| cached_record(bytes));
