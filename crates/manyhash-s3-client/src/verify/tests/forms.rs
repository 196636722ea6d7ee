//! Every form of an object against a file, a list and another object: what decides, and what it costs.

use super::*;
use crate::remote::Encryption;
use ChecksumAlgorithm::*;
use ChecksumType::{Composite, FullObject};
use manyhash::{Algorithm, HashFunction};

/// Compares a file with an object: the state, and how often HEAD of the object, HEAD of parts, attributes and its bytes
/// were asked for.
fn file_with(file: &[u8], object: Object, change: impl FnOnce(&mut memory::Quirks)) -> (State, [u64; 4]) {
    let memory = Arc::new(Memory::new([("x", object)]).with(change));
    let (_directory, tree) = tree(file);
    let state = one([tree, bucket(&memory)], false);
    (state, memory.asked())
}

fn form(state: &State) -> Form {
    match state {
        State::Same(Check::Value { form, .. }) | State::Differs(Difference::Value { form, .. }) => *form,
        other => panic!("no value was compared: {other:?}"),
    }
}

/// An object, and the form that decides of it, with the requests if it is the same and if it is not.
type Case = (Object, Form, [u64; 4], [u64; 4]);

fn parts(algorithm: ChecksumAlgorithm, parts: u32) -> Form {
    Form::Parts { algorithm, parts }
}

#[test]
fn a_file_and_every_form() {
    let bytes = bytes(10_000);
    let object = || Object::new(&bytes);
    let md5 = Form::Whole(Function::MD5);
    let whole = |algorithm: ChecksumAlgorithm| Form::Whole(algorithm.into());
    let uneven = || Object::new(&bytes).cut(Cuts::Sizes(vec![3000, 1000, 3000, 3000]));
    let cases: Vec<Case> = vec![
        // The tag of the list decides; that it is no MD5 of something else takes a request.
        (object(), md5, [0; 4], [1, 0, 0, 0]),
        (object().encrypted(Encryption::S3), md5, [0; 4], [1, 0, 0, 0]),
        (object().checksum(Sha256, FullObject), md5, [0; 4], [1, 0, 0, 0]),
        (object().every(20_000), parts(Md5, 1), [0; 4], [1, 0, 0, 0]),
        // Parts: the first, and if they differ the last.
        (object().every(3000), parts(Md5, 4), [0, 1, 0, 0], [0, 2, 0, 0]),
        (object().every(6000), parts(Md5, 2), [0, 1, 0, 0], [0, 1, 0, 0]),
        (object().every(3000).checksum(Crc64Nvme, FullObject), parts(Md5, 4), [0, 1, 0, 0], [0, 2, 0, 0]),
        // Parts that the first is not like: all of them.
        (object().cut(Cuts::Sizes(vec![1, 9999])), parts(Md5, 2), [0, 1, 0, 0], [0, 1, 0, 0]),
        (object().cut(Cuts::Sizes(vec![1, 5000, 4999])), parts(Md5, 3), [0, 4, 0, 0], [0, 4, 0, 0]),
        (uneven(), parts(Md5, 4), [0, 6, 0, 0], [0, 6, 0, 0]),
        // Stronger than MD5s, from one request.
        (object().every(3000).checksum(Sha256, Composite), parts(Sha256, 4), [0, 0, 1, 0], [0, 0, 1, 0]),
        (uneven().checksum(Sha512, Composite), parts(Sha512, 4), [0, 0, 1, 0], [0, 0, 1, 0]),
        // Encrypted: the tag, then what it is, then a checksum.
        (object().encrypted(Encryption::Kms).checksum(Crc32, FullObject), whole(Crc32), [1, 0, 0, 0], [1, 0, 0, 0]),
        (
            object().every(3000).encrypted(Encryption::Customer).checksum(Crc64Nvme, FullObject),
            whole(Crc64Nvme),
            [1, 1, 0, 0],
            [1, 1, 0, 0],
        ),
    ];
    for (object, due, same, other) in cases {
        let (state, asked) = file_with(&bytes, object.clone(), |_| {});
        assert!(is_same(&state), "{state:?} {:?}", object.cuts);
        assert_eq!((form(&state), asked), (due, same), "{:?} {:?}", object.cuts, object.checksum);
        for at in [0, 2999, 9999] {
            let (state, asked) = file_with(&flipped(&bytes, at), object.clone(), |_| {});
            assert!(differs(&state), "{state:?} {:?}", object.cuts);
            assert_eq!((form(&state), asked), (due, other), "{:?} {:?}", object.cuts, object.checksum);
        }
    }
}

#[test]
fn every_checksum_decides_of_what_is_encrypted() {
    let bytes = bytes(10_000);
    for algorithm in ChecksumAlgorithm::ALL {
        let kms = |cuts: Cuts, kind| Object::new(&bytes).cut(cuts).encrypted(Encryption::Kms).checksum(algorithm, kind);
        let mut objects = vec![kms(Cuts::Whole, FullObject)];
        for kind in [Composite, FullObject].into_iter().filter(|kind| algorithm.allows(*kind)) {
            objects.push(kms(Cuts::every(3000, bytes.len()), kind));
            objects.push(kms(Cuts::every(10_000, bytes.len()), kind));
            objects.push(kms(Cuts::Sizes(vec![5000, 1, 4999]), kind));
        }
        for object in objects {
            for knows_attributes in [true, false] {
                let change = |quirks: &mut memory::Quirks| quirks.knows_attributes = knows_attributes;
                let (state, _) = file_with(&bytes, object.clone(), change);
                assert!(is_same(&state), "{algorithm} {state:?} {:?} {:?}", object.cuts, object.checksum);
                assert_eq!(form(&state).function(), algorithm.into());
                let (state, _) = file_with(&flipped(&bytes, 5000), object.clone(), change);
                assert!(differs(&state), "{algorithm} {state:?} {:?} {:?}", object.cuts, object.checksum);
            }
        }
    }
}

#[test]
fn what_nothing_decides_is_unverified_and_a_download_decides() {
    let bytes = bytes(10_000);
    for object in [
        Object::new(&bytes).encrypted(Encryption::Kms),
        Object::new(&bytes).every(3000).encrypted(Encryption::Customer),
    ] {
        for (file, is_equal) in [(bytes.clone(), true), (flipped(&bytes, 9), false)] {
            let (state, asked) = file_with(&file, object.clone(), |_| {});
            assert!(matches!(state, State::Unverified(Unverified::Encrypted)), "{state:?}");
            assert_eq!(asked[3], 0);
            let memory = Arc::new(Memory::new([("x", object.clone())]));
            let (_directory, tree) = tree(&file);
            let state = one([tree, bucket(&memory)], true);
            assert_eq!((is_same(&state), differs(&state)), (is_equal, !is_equal), "{state:?}");
            assert_eq!(form(&state), Form::Whole(Function::SHA256));
            assert_eq!((memory.asked()[3], memory.read_bytes.load(std::sync::atomic::Ordering::SeqCst)), (1, 10_000));
        }
    }
}

#[test]
fn a_service_that_knows_no_parts() {
    // Parts as they are in practice, so that they can be guessed.
    let bytes = bytes(11 << 20);
    let change = |quirks: &mut memory::Quirks| quirks.knows_part_numbers = false;
    let (state, asked) = file_with(&bytes, Object::new(&bytes).every(5 << 20), change);
    assert!(is_same(&state), "{state:?}");
    assert_eq!((form(&state), asked[1]), (parts(Md5, 3), 1));
    let other = flipped(&bytes, 6 << 20);
    let (state, _) = file_with(&other, Object::new(&bytes).every(5 << 20), change);
    assert!(matches!(state, State::Unverified(Unverified::UnknownParts)), "{state:?}");
    // A checksum of the bytes comes before a guess.
    let object = Object::new(&bytes).every(5 << 20).checksum(Crc32c, FullObject);
    assert!(differs(&file_with(&other, object.clone(), change).0));
    assert_eq!(form(&file_with(&bytes, object, change).0), Form::Whole(Crc32c.into()));
}

#[test]
fn a_list_and_every_form() {
    let bytes = bytes(10_000);
    let digests = ["md5", "sha1", "sha256", "crc32", "crc64nvme"].map(|name| {
        let algorithm: ChecksumAlgorithm = name.parse().expect("a name");
        (Function::from(algorithm), function::value(&manyhash_s3::checksum::digest(algorithm, &bytes)))
    });
    let list = |digests: &[(Function, manyhash::Digest)]| {
        let entry = Entry::listed("x", None);
        let entry = digests.iter().fold(entry, |entry, (function, digest)| entry.with_digest(*function, *digest));
        Side::List(Box::new([Ok(entry)].into_iter()))
    };
    let object = || Object::new(&bytes);
    let cases = [
        (object(), Some(Function::MD5)),
        (object().every(10_000), Some(Function::MD5)),
        (object().every(3000).checksum(Crc64Nvme, FullObject), Some(Crc64Nvme.into())),
        (object().every(10_000).checksum(Sha256, Composite).encrypted(Encryption::Kms), Some(Sha256.into())),
        // CRCs of parts are put together.
        (object().every(3000).checksum(Crc32, Composite), Some(Crc32.into())),
        (object().every(3000).checksum(Sha256, Composite), None),
        (object().every(3000), None),
    ];
    for (object, function) in cases {
        let memory = Arc::new(Memory::new([("x", object.clone())]));
        let state = one([list(&digests), bucket(&memory)], false);
        let wrong = Arc::new(Memory::new([("x", Object { bytes: flipped(&bytes, 77), ..object.clone() })]));
        let other = one([list(&digests), bucket(&wrong)], false);
        match function {
            Some(function) => {
                assert!(is_same(&state), "{object:?} {state:?}");
                assert_eq!(form(&state).function(), function);
                assert!(differs(&other), "{other:?}");
            }
            None => {
                assert!(matches!(state, State::Unverified(Unverified::InParts)), "{state:?}");
                assert!(matches!(other, State::Unverified(Unverified::InParts)), "{other:?}");
                assert!(is_same(&one([list(&digests), bucket(&memory)], true)));
                assert!(differs(&one([list(&digests), bucket(&wrong)], true)));
            }
        }
    }
    // A list of what S3 does not have, against a file and an object.
    let blake3 = HashFunction::Blake3;
    let digest = |bytes: &[u8]| {
        let (directory, _side) = tree(bytes);
        let mut digest = None;
        let source = manyhash::file::Source::Path(directory.path().join("x"));
        manyhash::file::Files::new(&[blake3]).digest([((), source)].into_iter(), |(), digested| {
            digest = Some(digested.expect("it is read").digests[0]);
            std::ops::ControlFlow::Continue(())
        });
        digest.expect("a digest")
    };
    let known = [(Function::Hash(blake3), digest(&bytes))];
    for file in [bytes.clone(), flipped(&bytes, 1)] {
        let (_directory, tree) = tree(&file);
        assert_eq!(is_same(&one([tree, list(&known)], false)), file == bytes);
        let memory = Arc::new(Memory::new([("x", object())]));
        assert!(matches!(one([list(&known), bucket(&memory)], false), State::Unverified(Unverified::NothingInCommon)));
        assert!(matches!(one([list(&known), bucket(&memory)], true), State::Unverified(Unverified::NoFunction)));
    }
}

#[test]
fn two_buckets() {
    let bytes = bytes(10_000);
    let object = || Object::new(&bytes);
    // Two forms, what decides, and how often HEAD and others were asked for on both sides together.
    let cases: Vec<(Object, Object, Option<Form>, [u64; 4])> = vec![
        (object(), object(), Some(Form::Whole(Function::MD5)), [0; 4]),
        (object().every(3000), object().every(3000), Some(parts(Md5, 4)), [0; 4]),
        (object(), object().every(10_000), Some(parts(Md5, 1)), [0; 4]),
        (
            object().checksum(Crc64Nvme, FullObject),
            object().every(3000).checksum(Crc64Nvme, FullObject),
            Some(Form::Whole(Crc64Nvme.into())),
            [2, 0, 0, 0],
        ),
        (
            object().checksum(Crc32c, FullObject),
            object().every(3000).checksum(Crc32c, Composite),
            Some(Form::Whole(Crc32c.into())),
            [2, 0, 1, 0],
        ),
        // Nothing in common: no request is made for it.
        (object().checksum(Sha256, FullObject), object().every(3000).checksum(Crc64Nvme, FullObject), None, [0; 4]),
    ];
    for (one_form, other_form, due, requests) in cases {
        let a = Arc::new(Memory::new([("x", one_form.clone())]));
        let b = Arc::new(Memory::new([("x", other_form.clone())]));
        let state = one([bucket(&a), bucket(&b)], false);
        let asked: Vec<u64> = a.asked().iter().zip(b.asked()).map(|(a, b)| a + b).collect();
        match due {
            Some(due) => assert_eq!((is_same(&state), form(&state)), (true, due), "{state:?}"),
            None => assert!(matches!(state, State::Unverified(_)), "{state:?}"),
        }
        assert_eq!(asked, requests, "{:?} {:?}", one_form.cuts, other_form.cuts);
        assert!(is_same(&one([bucket(&a), bucket(&b)], true)));
        let wrong = Arc::new(Memory::new([("x", Object { bytes: flipped(&bytes, 9999), ..other_form })]));
        let state = one([bucket(&a), bucket(&wrong)], false);
        assert_eq!(differs(&state), due.is_some(), "{state:?}");
        assert!(differs(&one([bucket(&a), bucket(&wrong)], true)));
    }
    // Parts of other sizes, as many of them: no difference.
    let a = Arc::new(Memory::new([("x", object().every(3000))]));
    let b = Arc::new(Memory::new([("x", object().every(2600))]));
    assert!(matches!(one([bucket(&a), bucket(&b)], false), State::Unverified(Unverified::InParts)));
    assert!(is_same(&one([bucket(&a), bucket(&b)], true)));
}

#[test]
fn sums_of_16_bits_prove_nothing() {
    let sum = |bytes: [u8; 2]| manyhash::Digest::from_bytes(&bytes).expect("2 bytes");
    let side = |digest| {
        let entry = Entry::listed("x", Some(10)).with_digest(HashFunction::Bsd, digest);
        Side::List(Box::new([Ok(entry)].into_iter()))
    };
    let state = one([side(sum([1, 2])), side(sum([1, 2]))], false);
    assert!(matches!(state, State::Unverified(Unverified::NothingInCommon)), "{state:?}");
    assert!(differs(&one([side(sum([1, 2])), side(sum([1, 3]))], false)));
    let md5 = |text: &str| manyhash::digest(Algorithm::Md5, text);
    let lists = |digests: Vec<(HashFunction, manyhash::Digest)>| {
        let entry = Entry::listed("x", None);
        let entry = digests.into_iter().fold(entry, |entry, (function, digest)| entry.with_digest(function, digest));
        Side::List(Box::new([Ok(entry)].into_iter()))
    };
    let contradiction = [
        lists(vec![(Algorithm::Md5.into(), md5("a")), (Algorithm::Md5.into(), md5("b"))]),
        lists(vec![(Algorithm::Md5.into(), md5("a"))]),
    ];
    assert!(matches!(one(contradiction, false), State::Unverified(Unverified::Contradiction)));
}
