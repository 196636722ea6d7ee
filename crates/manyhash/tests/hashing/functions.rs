//! Functions by their names, and those without lanes against known answers.
#![cfg(feature = "others")]

use manyhash::file::{Files, Source};
use manyhash::{Algorithm, Blake2bLength, HashFunction};
use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// The digests of a file with this content, by name.
fn digests(names: &[&str], content: &[u8]) -> Vec<String> {
    let functions: Vec<HashFunction> = names.iter().map(|name| name.parse().expect("a function")).collect();
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(content).expect("a temporary file");
    let mut found = Vec::new();
    let source = std::iter::once(((), Source::Path(file.path().to_owned())));
    Files::new(&functions).threads(NonZeroUsize::MIN).digest(source, |(), digests| {
        let digests = digests.expect("a readable file").digests;
        for (digest, function) in digests.iter().zip(&functions) {
            assert_eq!(digest.as_bytes().len(), function.digest_bytes(), "{function}");
        }
        found.extend(digests.iter().map(|digest| digest.to_hex()));
        ControlFlow::Continue(())
    });
    found
}

#[test]
fn known_answers() {
    for (name, content, due) in [
        // BLAKE3's test_vectors.json.
        ("blake3", "", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
        // RFC 7693, appendix A.
        (
            "blake2b",
            "abc",
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc95\
             18d38aa8dbf1925ab92386edd4009923",
        ),
        // NIST's examples of FIPS 202.
        ("sha3-224", "abc", "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
        ("sha3-256", "abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (
            "sha3-384",
            "abc",
            "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
        ),
        (
            "sha3-512",
            "abc",
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e39340\
             57340b4cf408d5a56592f8274eec53f0",
        ),
        // GB/T 32905-2016, A.1.
        ("sm3", "abc", "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"),
        // The check values of the catalogue of parametrised CRC algorithms.
        ("crc32", "123456789", "cbf43926"),
        ("crc32c", "123456789", "e3069283"),
        ("crc64nvme", "123456789", "ae8b14860a799888"),
        // The specification of XXH: of no bytes, with seed 0.
        ("xxh3", "", "2d06800538d394c2"),
        ("xxh128", "", "99aa06d3014798d86001c324468d497f"),
        // POSIX's cksum, and sum -r and sum -s of GNU coreutils: 930766865, 4294967295, 53615, 477.
        ("crc", "123456789", "377a6011"),
        ("crc", "", "ffffffff"),
        ("bsd", "123456789", "d16f"),
        ("bsd", "", "0000"),
        ("sysv", "123456789", "01dd"),
        ("sysv", "", "0000"),
    ] {
        assert_eq!(digests(&[name], content.as_bytes()), [due], "{name}");
    }
}

/// The lengths and contents of BLAKE3's test_vectors.json, of which the file is read in several chunks.
#[test]
fn a_long_file() {
    let content: Vec<u8> = (0..102_400_u32).map(|i| (i % 251) as u8).collect();
    let names = ["md5", "blake3", "blake2b-256", "sha256", "crc32", "crc", "bsd", "sysv"];
    let found = digests(&names, &content);
    assert_eq!(found[1], "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085");
    // cksum, sum -r and sum -s of GNU coreutils: 2574446119, 28397, 19703.
    assert_eq!(found[5..], ["9972ee27", "6eed", "4cf7"]);
    for (i, name) in names.iter().enumerate() {
        // Alone as beside others; and the ones with lanes as by themselves.
        assert_eq!(digests(&[name], &content), [found[i].as_str()], "{name}");
        if let Ok(algorithm) = name.parse::<Algorithm>() {
            assert_eq!(manyhash::digest(algorithm, &content).to_hex(), found[i]);
        }
    }
}

#[test]
fn names() {
    for name in HashFunction::all().map(HashFunction::name).chain(["blake2b-256", "blake2b-8"]) {
        let function: HashFunction = name.parse().expect("a function");
        assert_eq!(function.to_string(), name);
        assert_eq!(name.to_uppercase().parse(), Ok(function));
    }
    assert_eq!("blake2b-512".parse(), Ok(HashFunction::Blake2b(Blake2bLength::MAX)));
    assert_eq!("sha3_256".parse(), Ok(HashFunction::Lanes(Algorithm::Sha3_256)));
    for name in ["", "blake2b-0", "blake2b-12", "blake2b-520", "blake2b-", "blake4", "sha3"] {
        let error = name.parse::<HashFunction>().expect_err(name).to_string();
        assert!(
            error.contains("md5") && error.ends_with("sysv, blake2b-BITS with a multiple of 8 up to 512"),
            "{error}"
        );
    }
}
