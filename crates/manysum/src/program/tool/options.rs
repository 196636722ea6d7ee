//! The options of the tools, and what some of them take.

use super::{Kind, Stop};
use crate::lists::cksum::{CKSUM, CRC32B, Family};
use crate::program::getopt::Spec;
use crate::program::settings::Report;
use crate::quote::quote_argument;
use manyhash::{Blake2bLength, HashFunction};

#[derive(Clone, Copy)]
pub(super) enum Meaning {
    Length,
    Check,
    IgnoreMissing,
    Report(Report),
    Strict,
    Tag,
    Zero,
    Algorithm,
    Base64,
    Debug,
    Raw,
    Untagged,
    Binary(bool),
    /// What there is not, but is none that is not known either.
    Refused,
    Help,
    Version,
}

const LENGTH: [Spec<Meaning>; 1] = [Spec::with_argument("length", Some(b'l'), Meaning::Length)];

const COMMON: [Spec<Meaning>; 8] = [
    Spec::flag("check", Some(b'c'), Meaning::Check),
    Spec::flag("ignore-missing", None, Meaning::IgnoreMissing),
    Spec::flag("quiet", None, Meaning::Report(Report::Quiet)),
    Spec::flag("status", None, Meaning::Report(Report::Status)),
    Spec::flag("warn", Some(b'w'), Meaning::Report(Report::Warn)),
    Spec::flag("strict", None, Meaning::Strict),
    Spec::flag("tag", None, Meaning::Tag),
    Spec::flag("zero", Some(b'z'), Meaning::Zero),
];

const MODES: [Spec<Meaning>; 2] =
    [Spec::flag("binary", Some(b'b'), Meaning::Binary(true)), Spec::flag("text", Some(b't'), Meaning::Binary(false))];

/// Of `cksum`. Two of them, `--base64` and `--raw`, came with coreutils 9.2.
const CKSUM_ONLY: [Spec<Meaning>; 5] = [
    Spec::with_argument("algorithm", Some(b'a'), Meaning::Algorithm),
    Spec::flag("base64", None, Meaning::Base64),
    Spec::flag("debug", None, Meaning::Debug),
    Spec::flag("raw", None, Meaning::Raw),
    Spec::flag("untagged", None, Meaning::Untagged),
];

/// `cksum` of coreutils 9.1 takes these letters, for it reads the same ones as its siblings, and has no use for them.
const REFUSED: [Spec<Meaning>; 2] = [Spec::letter(b'b', Meaning::Refused), Spec::letter(b't', Meaning::Refused)];

const LAST: [Spec<Meaning>; 2] =
    [Spec::flag("help", None, Meaning::Help), Spec::flag("version", None, Meaning::Version)];

/// The options of a tool, in the order of coreutils, which is that of the possibilities for an ambiguous abbreviation.
pub(super) fn of(kind: Kind) -> Vec<Spec<Meaning>> {
    match kind {
        Kind::Sum(_) => [&COMMON[..], &MODES, &LAST].concat(),
        Kind::B2sum => [&LENGTH[..], &COMMON, &MODES, &LAST].concat(),
        Kind::Cksum => [&LENGTH[..], &COMMON, &CKSUM_ONLY, &REFUSED, &LAST].concat(),
    }
}

/// What `cksum` has by one name.
#[derive(Clone, Copy)]
pub(super) enum Named {
    Function(HashFunction),
    Family(Family),
}

/// What `cksum` has by this name, in exactly these letters. The message on what it has not names what coreutils 9.1 has.
pub(super) fn algorithm(name: &[u8]) -> Result<Named, Stop> {
    let named = |function: &HashFunction| function.to_string().as_bytes() == name;
    let function = match name {
        // Of coreutils 9.6.
        b"crc32b" => Some(CRC32B),
        _ => CKSUM.into_iter().find(named),
    };
    let found = function.map(Named::Function).or_else(|| Family::of_name(name).map(Named::Family));
    found.ok_or_else(|| {
        let mut message = b"invalid argument ".to_vec();
        message.extend(quote_argument(name));
        message.extend_from_slice(b" for ");
        message.extend(quote_argument(b"--algorithm"));
        message.extend_from_slice(b"\nValid arguments are:");
        for function in CKSUM {
            message.extend_from_slice(b"\n  - ");
            message.extend(quote_argument(function.to_string().as_bytes()));
        }
        Stop::Wrong(Some(message))
    })
}

/// The argument of `--length`: bits, where 0 is no length.
#[derive(Default)]
pub(super) struct Length {
    bits: u64,
    /// As it was written.
    argument: Vec<u8>,
}

impl Length {
    /// Takes decimal numbers as `strtoumax` does: after white space, and with a plus.
    pub(super) fn read(argument: Vec<u8>) -> Result<Self, Stop> {
        let start = argument.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
        let digits = argument[start..].strip_prefix(b"+").unwrap_or(&argument[start..]);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(Stop::Refused(vec![invalid(&argument)]));
        }
        match str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u64>().ok()) {
            Some(bits) if bits % 8 == 0 => Ok(Length { bits, argument }),
            Some(_) => Err(Stop::Refused(vec![invalid(&argument), b"length is not a multiple of 8".to_vec()])),
            None => {
                let too_large = b": Value too large for defined data type";
                Err(Stop::Refused(vec![[&invalid(&argument)[..], too_large].concat()]))
            }
        }
    }

    pub(super) fn is_given(&self) -> bool {
        self.bits > 0
    }

    /// The function of a family that has digests of this length.
    pub(super) fn of_family(&self, family: Family) -> Result<HashFunction, Stop> {
        let found = family.functions().into_iter().find(|function| 8 * function.digest_bytes() as u64 == self.bits);
        found.ok_or_else(|| {
            let name = quote_argument(family.tag().as_bytes());
            let lengths = [&b"digest length for "[..], &name, b" must be 224, 256, 384, or 512"].concat();
            Stop::Refused(vec![invalid(&self.argument), lengths])
        })
    }

    /// That of BLAKE2b.
    pub(super) fn of_blake2b(&self) -> Result<Blake2bLength, Stop> {
        if !self.is_given() {
            return Ok(Blake2bLength::MAX);
        }
        let length = usize::try_from(self.bits).ok().and_then(Blake2bLength::of_bits);
        length.ok_or_else(|| {
            let most = [&b"maximum digest length for "[..], &quote_argument(b"BLAKE2b"), b" is 512 bits"].concat();
            Stop::Refused(vec![invalid(&self.argument), most])
        })
    }
}

fn invalid(argument: &[u8]) -> Vec<u8> {
    [&b"invalid length: "[..], &quote_argument(argument)].concat()
}
