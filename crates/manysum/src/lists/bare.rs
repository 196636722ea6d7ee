//! Whose digests bare digits are: those of lines that do not say it.
//!
//! The name of the list may: `B3SUMS`, `SHA256SUMS`, `photos.blake3`, `photos.sha3-256.txt`. If it does not, the number of
//! digits is all there is to go by, and the function a guess.

use super::cksum::is_legacy;
use manyhash::{Algorithm, Blake2bLength, HashFunction};
use std::ffi::OsStr;
use std::path::Path;

/// The function of so many digits in a list that is named after a function, or is not; none if nothing fits.
pub fn function(named: Option<HashFunction>, digits: usize) -> Option<HashFunction> {
    told(named, digits).or_else(|| guess(digits))
}

/// The function that the name of a list says, if it has so many digits.
pub fn told(named: Option<HashFunction>, digits: usize) -> Option<HashFunction> {
    match named? {
        // Digests of all its lengths go by the one name.
        HashFunction::Blake2b(_) => Some(HashFunction::Blake2b(Blake2bLength::of_bits(4 * digits)?)),
        named => Some(named).filter(|function| 2 * function.digest_bytes() == digits),
    }
}

/// The function that so many digits are taken for where nothing says whose they are: of those with lanes here, the one
/// that is in use the most.
pub fn guess(digits: usize) -> Option<HashFunction> {
    use Algorithm::{Md5, Sha1, Sha224, Sha256, Sha384, Sha512};
    let usual = [Sha256, Md5, Sha1, Sha224, Sha384, Sha512].map(HashFunction::Lanes);
    usual.into_iter().find(|function| 2 * function.digest_bytes() == digits)
}

/// The other functions with digests as long as those of this one.
pub(crate) fn as_long(function: HashFunction) -> Vec<HashFunction> {
    let bytes = function.digest_bytes();
    let blake2b = Blake2bLength::of_bits(8 * bytes).map(HashFunction::Blake2b);
    let mut functions: Vec<HashFunction> = HashFunction::all().chain(blake2b).collect();
    functions.retain(|other| other.digest_bytes() == bytes && *other != function && !is_legacy(*other));
    functions.sort_unstable();
    functions.dedup();
    functions
}

/// The function that a list of this name is of; none if its name says nothing.
pub fn named(list: &OsStr) -> Option<HashFunction> {
    let name = Path::new(list).file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".txt").unwrap_or(&name);
    let word = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
    let word = word.strip_suffix("sums").or_else(|| word.strip_suffix("sum")).unwrap_or(word);
    let function = match word {
        "b2" => Some(HashFunction::Blake2b(Blake2bLength::MAX)),
        "b3" => Some(HashFunction::Blake3),
        word => word.parse().ok(),
    };
    function.filter(|function| !is_legacy(*function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lists() {
        let named = |name: &str| named(name.as_ref()).map(|function| function.to_string());
        for (name, expected) in [
            ("B3SUMS", "blake3"),
            ("x/B2SUMS", "blake2b"),
            ("SHA512SUMS", "sha512"),
            ("sha256sum.txt", "sha256"),
            ("photos.blake3", "blake3"),
            ("photos.2026.b3", "blake3"),
            ("photos.SHA3-256.txt", "sha3-256"),
            ("photos.sha512-256", "sha512-256"),
            ("photos.b3sums", "blake3"),
            ("photos.sm3", "sm3"),
            ("md5", "md5"),
        ] {
            assert_eq!(named(name).as_deref(), Some(expected), "{name}");
        }
        for name in ["photos", "photos.txt", "SUMS", "x.crc", "x.bsd", "x.xxh64", "b3sums/list", "-", ""] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn functions_of_digits() {
        let function = |list: &str, digits| function(named(list.as_ref()), digits).map(|function| function.to_string());
        assert_eq!(function("list", 64).as_deref(), Some("sha256"));
        assert_eq!(function("B3SUMS", 64).as_deref(), Some("blake3"));
        assert_eq!(function("B2SUMS", 64).as_deref(), Some("blake2b-256"));
        assert_eq!(function("B2SUMS", 128).as_deref(), Some("blake2b"));
        assert_eq!(function("x.crc32", 8).as_deref(), Some("crc32"));
        // What does not fit says nothing.
        assert_eq!(function("B3SUMS", 32).as_deref(), Some("md5"));
        assert_eq!((function("list", 8), function("list", 16), function("list", 65)), (None, None, None));
    }

    #[test]
    fn functions_of_one_length() {
        let as_long = |name: &str| {
            let functions = as_long(name.parse().expect("a function"));
            functions.into_iter().map(|function| function.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(as_long("sha1"), ["ripemd160", "blake2b-160"]);
        assert_eq!(as_long("md5"), ["blake2b-128", "xxh128"]);
        assert_eq!(as_long("sha512"), ["sha3-512", "blake2b"]);
        assert_eq!(as_long("sha256"), ["sha512-256", "sha3-256", "keccak256", "sm3", "blake3", "blake2b-256"]);
    }
}
