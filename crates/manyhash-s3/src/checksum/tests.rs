use super::*;
use ChecksumAlgorithm::*;
use crc_fast::CrcAlgorithm;
use proptest::prelude::*;
use proptest::sample::select;
use std::num::NonZeroU32;

fn text(algorithm: ChecksumAlgorithm, body: &[u8]) -> String {
    digest(algorithm, body).to_string()
}

#[test]
fn known_answers() {
    // The check values of the catalogue of CRCs.
    assert_eq!(digest(Crc32, b"123456789").as_bytes(), 0xcbf4_3926u32.to_be_bytes());
    assert_eq!(digest(Crc32c, b"123456789").as_bytes(), 0xe306_9283u32.to_be_bytes());
    assert_eq!(digest(Crc64Nvme, b"123456789").as_bytes(), 0xae8b_1486_0a79_9888u64.to_be_bytes());
    // What AWS computes, and S3 took.
    assert_eq!(text(XxHash64, b"hello world"), "RatnNLIeaWg=");
    assert_eq!(text(XxHash3, b"hello world"), "1Eex6kDmmIs=");
    assert_eq!(text(XxHash128, b"hello world"), "340J6T+HSQCpm4d1zBW2xw==");
    assert_eq!(text(Md5, b""), "1B2M2Y8AsgTpgAmY7PhCfg==");
    assert_eq!(text(Sha1, b"abc"), "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
    assert_eq!(text(Sha256, b""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    let abc = "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==";
    assert_eq!(text(Sha512, b"abc"), abc);
}

#[test]
fn known_composites() {
    // Three parts that were uploaded to S3 in eu-west-1.
    let parts = [
        "lcKa6Boe7a167tUCN5C4OaFygGSYD8MBnBARTrdL+1w=",
        "gHjhbUT4oo2tSCtSZJdlKi+jeNXJT+VImqdPXsXvkOc=",
        "4l9PQ3zOPZ0oGFvknFX+J4zZwE4WMzO+l3r8XrbWOeM=",
    ]
    .map(|part| Checksum::parse(Sha256, part).unwrap());
    let whole = composite(Sha256, &parts).unwrap();
    assert_eq!(whole.to_string(), "rVWtNbadtsaKXJAcgWPWjifHzJaXde/iV4jaJAOdivc=-3");
    assert_eq!(ObjectChecksum::parse(Sha256, &whole.to_string()), Ok(whole));
    // An object of zeros that was uploaded by the console.
    let zeros = vec![0; 34_567_890];
    let parts: Vec<Checksum> = zeros.chunks(17_179_870).map(|part| digest(Sha256, part)).collect();
    assert_eq!(composite(Sha256, &parts).unwrap().to_string(), "eS1aSUoSnbLv53dDOSSjmhilAUkzfJsEiZKg3+lCjBc=-3");
}

#[test]
fn names() {
    for algorithm in ChecksumAlgorithm::ALL {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
        assert_eq!(algorithm.name().to_lowercase(), algorithm.lower_case_name());
        assert_eq!(algorithm.lower_case_name().parse(), Ok(algorithm));
        assert_eq!(ChecksumAlgorithm::from_header(&algorithm.header().to_uppercase()), Some(algorithm));
        assert_eq!(ChecksumAlgorithm::from_element(algorithm.element()), Some(algorithm));
        assert_eq!(digest(algorithm, b"").as_bytes().len(), algorithm.digest_bytes());
        assert_eq!(
            algorithm.lanes().map(|lanes| lanes.digest_bytes()),
            match algorithm {
                Md5 | Sha1 | Sha256 | Sha512 => Some(algorithm.digest_bytes()),
                _ => None,
            }
        );
        assert_eq!(RunningChecksum::new(algorithm).is_none(), algorithm.lanes().is_some());
        assert!(algorithm.allows(algorithm.default_type()));
    }
    assert_eq!((Crc64Nvme.header(), Crc64Nvme.element()), ("x-amz-checksum-crc64nvme", "ChecksumCRC64NVME"));
    for header in ["x-amz-checksum-mode", "x-amz-checksum-type", "x-amz-checksum-algorithm", "x-amz-checksum-", ""] {
        assert_eq!(ChecksumAlgorithm::from_header(header), None);
    }
    let error = "sha-256".parse::<ChecksumAlgorithm>().unwrap_err().to_string();
    assert!(error.starts_with("unknown checksum algorithm `sha-256`: use CRC32, "), "{error}");
    assert_eq!("full_object".parse(), Ok(ChecksumType::FullObject));
    assert_eq!("COMPOSITE".parse(), Ok(ChecksumType::Composite));
    assert!("".parse::<ChecksumType>().is_err());
}

#[test]
fn types() {
    for algorithm in ChecksumAlgorithm::ALL {
        let of_part = digest(algorithm, b"part");
        assert_eq!(composite(algorithm, &[of_part]).is_ok(), algorithm != Crc64Nvme, "{algorithm}");
        let crc = matches!(algorithm, Crc32 | Crc32c | Crc64Nvme);
        assert_eq!(full_object(algorithm, [(of_part, 4)]).is_ok(), crc, "{algorithm}");
        assert_eq!(ObjectChecksum::parse(algorithm, &format!("{of_part}-7")).is_ok(), algorithm != Crc64Nvme);
    }
    // A composite of one part is one, and a full object of one part is the part.
    let of_part = digest(Crc32, b"part");
    assert_eq!(composite(Crc32, &[of_part]).unwrap().parts, NonZeroU32::new(1));
    assert_eq!(full_object(Crc32, [(of_part, 4)]), Ok(ObjectChecksum::of_body(of_part)));
    assert_eq!(composite(Crc32, &[]), Err(CombineError::NoParts));
    assert_eq!(full_object(Crc32, []), Err(CombineError::NoParts));
    let mixed = Err(CombineError::Mixed { part: 2, expected: Crc32, found: Crc32c });
    let other = digest(Crc32c, b"part");
    assert_eq!(composite(Crc32, &[of_part, other]), mixed);
    assert_eq!(full_object(Crc32, [(of_part, 4), (other, 4)]), mixed);
}

#[test]
fn what_is_no_checksum() {
    let valid = "yZRlqg==";
    assert_eq!(Checksum::parse(Crc32, valid).unwrap().as_bytes(), [0xc9, 0x94, 0x65, 0xaa]);
    for text in [
        "",
        "=",
        "yZRlqg",
        "yZRlqg=",
        "yZRlqg===",
        "yZRlqh==",
        " yZRlqg==",
        "yZRlqg==\n",
        "yZRl",
        "yZRlqgA=",
        "yZRlqg-=",
        "_ZRlqg==",
        "invalid_base64!",
        "yZ\u{e9}lqg==",
        "c99465aa",
        &"A".repeat(100_000),
    ] {
        assert!(Checksum::parse(Crc32, text).is_err(), "{text}");
        assert!(ObjectChecksum::parse(Crc32, text).is_err(), "{text}");
    }
    for parts in ["", "0", "01", "+1", "-1", "1-1", "1 ", "4294967296", "x"] {
        let error = ObjectChecksum::parse(Crc32, &format!("{valid}-{parts}")).unwrap_err();
        assert_eq!(error, InvalidChecksumError::Parts { algorithm: Crc32 }, "{parts}");
    }
    assert!(Checksum::new(Crc32, &[0; 65]).is_err());
    assert_eq!(Checksum::new(Crc32, &[0; 5]).unwrap_err().to_string(), "a CRC32 checksum has 4 bytes, not 5");
}

#[test]
fn serialized() {
    let object = composite(Crc32, &[digest(Crc32, b"1"), digest(Crc32, b"2")]).unwrap();
    let json = serde_json::to_string(&object).unwrap();
    assert_eq!(json, format!(r#"{{"checksum":["CRC32","{}"],"kind":"COMPOSITE","parts":2}}"#, object.checksum));
    assert_eq!(serde_json::from_str::<ObjectChecksum>(&json).unwrap(), object);
    assert!(serde_json::from_str::<Checksum>(r#"["CRC32","AAAA"]"#).is_err());
}

/// Cuts a body at some places.
fn cut<'b>(body: &'b [u8], cuts: &[prop::sample::Index]) -> Vec<&'b [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    cuts.extend([0, body.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|ends| &body[ends[0]..ends[1]]).collect()
}

fn crcs() -> impl Strategy<Value = (ChecksumAlgorithm, CrcAlgorithm)> {
    select(vec![
        (Crc32, CrcAlgorithm::Crc32IsoHdlc),
        (Crc32c, CrcAlgorithm::Crc32Iscsi),
        (Crc64Nvme, CrcAlgorithm::Crc64Nvme),
    ])
}

proptest! {
    #[test]
    fn pieces_are_the_whole(
        body in prop::collection::vec(any::<u8>(), 0..3000),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        algorithm in select(&ChecksumAlgorithm::ALL),
    ) {
        let whole = digest(algorithm, &body);
        if let Some(mut running) = RunningChecksum::new(algorithm) {
            cut(&body, &cuts).into_iter().for_each(|piece| running.update(piece));
            prop_assert_eq!(running.finalize(), whole);
        }
        prop_assert_eq!(Checksum::parse(algorithm, &whole.to_string()), Ok(whole));
        prop_assert_eq!(Checksum::new(algorithm, whole.as_bytes()), Ok(whole));
    }

    #[test]
    fn combination_is_the_whole(
        body in prop::collection::vec(any::<u8>(), 0..3000),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        (algorithm, _) in crcs(),
    ) {
        let parts = cut(&body, &cuts).into_iter().map(|part| (digest(algorithm, part), part.len() as u64));
        let whole = ObjectChecksum::of_body(digest(algorithm, &body));
        prop_assert_eq!(full_object(algorithm, parts), Ok(whole));
    }

    #[test]
    fn combination_of_long_parts(
        lengths in prop::collection::vec(any::<u64>(), 1..5),
        crc: u64,
        (algorithm, reference) in crcs(),
    ) {
        let mut expected = 0;
        let mut parts = Vec::new();
        for length in lengths {
            let crc = crc.rotate_left(length as u32) >> (64 - 8 * algorithm.digest_bytes());
            expected = crc_fast::checksum_combine(reference, expected, crc, length);
            let bytes = crc.to_be_bytes();
            parts.push((Checksum::new(algorithm, &bytes[8 - algorithm.digest_bytes()..]).unwrap(), length));
        }
        let found = full_object(algorithm, parts).unwrap().checksum;
        let bytes = expected.to_be_bytes();
        prop_assert_eq!(found.as_bytes(), &bytes[8 - algorithm.digest_bytes()..]);
    }

    #[test]
    fn nothing_panics(text in ".*", algorithm in select(&ChecksumAlgorithm::ALL)) {
        let _ = (Checksum::parse(algorithm, &text), ObjectChecksum::parse(algorithm, &text));
        let _ = (text.parse::<ChecksumAlgorithm>(), text.parse::<ChecksumType>());
        let _ = Checksum::new(algorithm, text.as_bytes());
    }
}
