//! The digest as a value: text in and out, comparison, order.

use manyhash::{Algorithm, Digest, DigestEncodingError, digest};
use std::collections::HashSet;

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn of(bytes: &[u8]) -> Digest {
    Digest::from_bytes(bytes).expect("no more than 64 bytes")
}

#[test]
fn hexadecimal_in_either_case() {
    let abc = digest(Algorithm::Sha256, "abc");
    assert_eq!(abc.to_hex(), ABC);
    let mixed: String = ABC.char_indices().map(|(i, c)| if i % 3 == 0 { c.to_ascii_uppercase() } else { c }).collect();
    for hex in [ABC, &ABC.to_uppercase(), &mixed] {
        assert_eq!(Digest::from_hex(hex), Ok(abc));
        assert_eq!(hex.parse(), Ok(abc));
    }
    assert_eq!(Digest::from_hex(ABC.as_bytes()), Ok(abc));
}

#[test]
fn hexadecimal_of_every_length() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let digest = digest(algorithm, "");
        assert_eq!(digest.as_bytes().len(), algorithm.digest_bytes());
        assert_eq!(digest.to_hex().len(), 2 * algorithm.digest_bytes());
        assert_eq!(Digest::from_hex(digest.to_hex()), Ok(digest));
    }
    let bytes: Vec<u8> = (0..64).map(|i| i * 4).collect();
    for length in 0..=64 {
        let digest = of(&bytes[..length]);
        assert_eq!(digest.as_ref(), &bytes[..length]);
        assert_eq!(digest.to_hex().parse(), Ok(digest));
    }
    assert_eq!(of(&[]), Digest::default());
}

#[test]
fn what_is_no_hexadecimal() {
    let with_newline = format!("{ABC}\n");
    let prefixed = format!("0x{ABC}");
    for text in ["a", &ABC[1..], "zz", "0g", " ab", "ab ", "-1", "é", "a\0", &with_newline, &prefixed] {
        assert_eq!(Digest::from_hex(text), Err(DigestEncodingError::Hex), "{text:?}");
        assert_eq!(text.parse::<Digest>(), Err(DigestEncodingError::Hex), "{text:?}");
    }
    assert_eq!(Digest::from_hex([0xff, 0xfe]), Err(DigestEncodingError::Hex));
}

#[test]
fn base64_with_padding() {
    // RFC 4648, 10.
    for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
        assert_eq!(of(bytes.as_bytes()).to_base64(), text);
        assert_eq!(Digest::from_base64(text), Ok(of(bytes.as_bytes())));
    }
    // Content-MD5 of no bytes, as S3 wants it.
    assert_eq!(digest(Algorithm::Md5, "").to_base64(), "1B2M2Y8AsgTpgAmY7PhCfg==");
    for algorithm in Algorithm::ALL.iter().copied() {
        let digest = digest(algorithm, "abc");
        assert_eq!(Digest::from_base64(digest.to_base64()), Ok(digest));
    }
}

#[test]
fn what_is_no_base64() {
    // Without padding, with too much, of the other alphabet, with white space, with bits that no encoder sets.
    for text in ["Zg", "Zg=", "Zg===", "Zm8", "Zm9v=", "-_-_", "Zm9v\n", " Zm9v", "Zh==", "Z", "===="] {
        assert_eq!(Digest::from_base64(text), Err(DigestEncodingError::Base64), "{text:?}");
    }
}

#[test]
fn longer_than_any_digest() {
    for length in [65, 66, 256, 256 + 32, 1000] {
        let bytes = vec![7; length];
        assert_eq!(Digest::from_bytes(&bytes), Err(DigestEncodingError::TooLong));
        assert_eq!(Digest::from_hex("07".repeat(length)), Err(DigestEncodingError::TooLong));
    }
    // 66 bytes.
    assert_eq!(Digest::from_base64("BwcH".repeat(22)), Err(DigestEncodingError::TooLong));
    assert_eq!(Digest::from_hex("07".repeat(64)), Ok(of(&[7; 64])));
}

#[test]
fn errors_say_what_is_wrong() {
    assert_eq!(DigestEncodingError::Hex.to_string(), "not a digest in hexadecimal");
    assert_eq!(DigestEncodingError::Base64.to_string(), "not a digest in base64");
    assert_eq!(DigestEncodingError::TooLong.to_string(), "longer than any digest: at most 64 bytes");
}

#[test]
fn display_and_debug() {
    let digest = of(&[0xde, 0xad, 0x00, 0x0f]);
    assert_eq!(digest.to_string(), "dead000f");
    assert_eq!(format!("{digest:>10}|{digest:<10}|{digest:.4}"), "  dead000f|dead000f  |dead");
    assert_eq!(format!("{digest:?}"), "Digest(dead000f)");
    assert_eq!(format!("{:?}", Digest::default()), "Digest()");
}

#[test]
fn equal_only_with_the_same_length() {
    let sixteen = of(&[0; 16]);
    assert_eq!(sixteen, of(&[0; 16]));
    assert_ne!(sixteen, of(&[0; 20]));
    assert_ne!(sixteen, Digest::default());
    for i in 0..64 {
        let mut other = [0; 64];
        other[i] = 1;
        assert_ne!(of(&other), of(&[0; 64]), "byte {i}");
    }
}

#[test]
fn ordered_as_bytes() {
    let sorted = [of(&[]), of(&[0]), of(&[0, 0]), of(&[0, 1]), of(&[1]), of(&[1, 0]), of(&[0x7f]), of(&[0x80])];
    for (i, a) in sorted.iter().enumerate() {
        for (j, b) in sorted.iter().enumerate() {
            assert_eq!(a.cmp(b), i.cmp(&j), "{a:?} and {b:?}");
            assert_eq!(a.partial_cmp(b), Some(i.cmp(&j)));
            assert_eq!(a == b, i == j);
        }
    }
}

#[test]
fn in_a_set() {
    let set: HashSet<Digest> = Algorithm::ALL.iter().copied().map(|algorithm| digest(algorithm, "abc")).collect();
    assert_eq!(set.len(), Algorithm::ALL.len());
    assert!(set.contains(&ABC.to_uppercase().parse().expect("hexadecimal")));
    assert!(!set.contains(&digest(Algorithm::Sha256, "abd")));
    assert!(!set.contains(&of(&digest(Algorithm::Sha256, "abc").as_bytes()[..31])));
}
