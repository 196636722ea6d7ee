//! What changes or fails while it is compared.

use super::*;
use std::sync::atomic::Ordering;

fn memory(object: Object, events: Vec<(u64, Option<Object>)>) -> Arc<Memory> {
    let memory = Memory::new([("x", object)]);
    let events = events.into_iter().map(|(number, object)| ("x".to_owned(), number, object));
    memory.events.lock().expect("not poisoned").extend(events);
    Arc::new(memory)
}

#[test]
fn an_object_that_is_written_again_is_looked_at_again() {
    let (right, wrong) = (bytes(10_000), flipped(&bytes(10_000), 3));
    let of = |bytes: &[u8]| Object::new(bytes).every(3000);
    let (directory, _) = tree(&right);
    let side = || Side::Tree(directory.path().to_owned());
    // It was listed as one thing and is another one at the first request.
    let state = one([side(), bucket(&memory(of(&wrong), vec![(0, Some(of(&right)))]))], false);
    assert!(is_same(&state), "{state:?}");
    let state = one([side(), bucket(&memory(of(&right), vec![(0, Some(of(&wrong)))]))], false);
    assert!(differs(&state), "{state:?}");
    // Uploaded in another way, with the same bytes.
    let state = one([side(), bucket(&memory(of(&right), vec![(0, Some(Object::new(&right)))]))], false);
    assert!(is_same(&state), "{state:?}");
    // And twice.
    let again = vec![(0, Some(Object::new(&wrong))), (2, Some(of(&flipped(&right, 9))))];
    let state = one([side(), bucket(&memory(of(&right), again))], false);
    assert!(!is_same(&state), "{state:?}");
    // Deleted.
    let state = one([side(), bucket(&memory(of(&right), vec![(0, None)]))], false);
    assert!(matches!(state, State::Missing), "{state:?}");
    let state = one([bucket(&memory(of(&right), vec![(0, None)])), side()], false);
    assert!(matches!(state, State::Extra), "{state:?}");
}

#[test]
fn an_object_that_never_rests_is_unverified() {
    let right = bytes(10_000);
    let (_directory, side) = tree(&right);
    let other = |i: u64| Object::new(&flipped(&right, i as usize)).every(3000);
    let state = one([side, bucket(&memory(other(0), (0..9).map(|i| (i, Some(other(i + 1)))).collect()))], true);
    assert!(matches!(state, State::Unverified(Unverified::Changing)), "{state:?}");
}

#[test]
fn a_file_that_is_gone_or_another() {
    let bytes = bytes(10_000);
    let (directory, _) = tree(&bytes);
    let path = directory.path().join("x");
    let metadata = fs::metadata(&path).expect("a file");
    let entry = |path: &Path| Ok(Entry::file("x", path.to_owned(), &metadata));
    let memory = Arc::new(Memory::new([("x", Object::new(&bytes))]));
    let list = |path: &Path| Side::List(Box::new([entry(path)].into_iter()));
    assert!(is_same(&one([list(&path), bucket(&memory)], false)));
    assert!(matches!(one([list(&directory.path().join("y")), bucket(&memory)], false), State::Extra));
    // Longer than when it was listed, and then right.
    fs::write(&path, [&bytes[..], b"more"].concat()).expect("a file");
    let state = one([list(&path), bucket(&memory)], false);
    assert!(matches!(state, State::Differs(Difference::Size([10_004, 10_000]))), "{state:?}");
    fs::write(&path, &bytes[1..]).expect("a file");
    assert!(differs(&one([list(&path), bucket(&memory)], false)));
}

#[test]
fn requests_that_fail() {
    let bytes = bytes(10_000);
    let kinds = [
        RemoteErrorKind::NotFound,
        RemoteErrorKind::Changed,
        RemoteErrorKind::Unsupported,
        RemoteErrorKind::Denied,
        RemoteErrorKind::Archived,
        RemoteErrorKind::Other,
    ];
    let objects = [
        Object::new(&bytes).every(3000).checksum(ChecksumAlgorithm::Crc32, ChecksumType::Composite),
        Object::new(&bytes).checksum(ChecksumAlgorithm::Sha256, ChecksumType::FullObject),
        Object::new(&bytes).every(3000).encrypted(crate::remote::Encryption::Kms),
    ];
    for object in objects {
        for kind in kinds {
            for number in 0..8 {
                for file in [bytes.clone(), flipped(&bytes, 5)] {
                    let memory = Arc::new(Memory::new([("x", object.clone())]));
                    *memory.fails.lock().expect("not poisoned") = Some((number, kind));
                    let (_directory, tree) = tree(&file);
                    let (all, error) = run([tree, bucket(&memory)], Settings { download: true, ..Settings::default() });
                    assert_eq!(error.is_some(), number == 0, "{error:?}");
                    for outcome in all {
                        match outcome.state {
                            State::Same(_) => assert_eq!(file, bytes),
                            State::Differs(_) => assert_ne!(file, bytes),
                            State::Unverified(_) => {}
                            // What is told not to be there is taken not to be there.
                            State::Missing => assert_eq!(kind, RemoteErrorKind::NotFound),
                            State::Extra => panic!("the file is there"),
                        }
                    }
                    assert!(memory.asked().iter().sum::<u64>() < 20);
                }
            }
        }
    }
}

#[test]
fn a_download_that_breaks_off_goes_on() {
    let bytes = bytes(10_000);
    let kms = Object::new(&bytes).encrypted(crate::remote::Encryption::Kms);
    for (breaks, is_enough) in [(4000, true), (2500, true), (1500, false), (0, false)] {
        let memory = Arc::new(Memory::new([("x", kms.clone())]));
        *memory.breaks.lock().expect("not poisoned") = Some(breaks);
        let (_directory, tree) = tree(&bytes);
        let state = one([tree, bucket(&memory)], true);
        assert_eq!(is_same(&state), is_enough, "{breaks} {state:?}");
        assert_eq!(matches!(state, State::Unverified(Unverified::Remote(_))), !is_enough, "{state:?}");
        assert!(memory.reads.load(Ordering::SeqCst) <= 4);
    }
}
