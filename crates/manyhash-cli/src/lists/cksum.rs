//! What `cksum` has beside other tools: functions by name and by tag, sums of old, and base64.

use super::line::tag;
use manyhash::{Algorithm, Blake2bLength, Function, Other};

/// The functions that `cksum` has, in its order.
pub(crate) const CKSUM: [Function; 11] = [
    Function::Other(Other::Bsd),
    Function::Other(Other::Sysv),
    Function::Other(Other::Crc),
    Function::Lanes(Algorithm::Md5),
    Function::Lanes(Algorithm::Sha1),
    Function::Lanes(Algorithm::Sha224),
    Function::Lanes(Algorithm::Sha256),
    Function::Lanes(Algorithm::Sha384),
    Function::Lanes(Algorithm::Sha512),
    Function::Other(Other::Blake2b(Blake2bLength::MAX)),
    Function::Other(Other::Sm3),
];

/// Whether a function is one of the sums of old, whose lines have no digest and no escapes.
pub(crate) fn is_legacy(function: Function) -> bool {
    matches!(function, Function::Other(Other::Crc | Other::Bsd | Other::Sysv))
}

/// The function that `cksum` takes the tag of a line for. The sums of old are not checked.
pub(crate) fn tagged_function(line: &[u8]) -> Option<Function> {
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'(')).unwrap_or(line.len());
    let of_tag = |&function: &Function| !is_legacy(function) && tag(function).as_bytes() == &line[..end];
    CKSUM.into_iter().find(of_tag)
}

/// Whether digits have the form of so many bytes in base64 with padding.
pub(crate) fn is_base64(digits: &[u8], bytes: usize) -> bool {
    let significant = (4 * bytes).div_ceil(3);
    let is_digit = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digits.len() == bytes.div_ceil(3) * 4
        && digits[..significant].iter().all(is_digit)
        && digits[significant..].iter().all(|&byte| byte == b'=')
}
