//! The check, and what it repairs.

use crate::support::{
    BUCKET, bytes, complete, create_bucket, create_upload, delete, etag, get, new_store, put, put_part, sha256,
};
use manyhash_store::{DamageKind, Holder, OpenError, Report, SMALL, Store, StoreOptions};
use std::fs;
use std::path::{Path, PathBuf};

fn check(directory: &Path, repair: bool) -> Report {
    let (mut last, mut total) = (0, 0);
    let report = Store::check(directory, repair, |progress| {
        assert!(progress.bytes >= last && progress.bytes <= progress.total);
        (last, total) = (progress.bytes, progress.total);
    });
    assert_eq!(last, total, "it is read to the end");
    report.expect("it is checked")
}

fn object(key: &str) -> Holder {
    // Holders are compared by what they print, since only the store makes them.
    Holder::Object { bucket: BUCKET.to_owned(), key: key.to_owned() }
}

/// Changes a byte of a file, where some bytes are.
fn flip(path: &Path, what: &[u8]) {
    let mut content = fs::read(path).expect("it is read");
    let at = content.windows(what.len()).position(|window| window == what).expect("it is in there");
    content[at + what.len() / 2] ^= 1;
    fs::write(path, content).expect("it is written");
}

fn only_file(path: &Path) -> PathBuf {
    let mut files = fs::read_dir(path).expect("it is a directory").map(|entry| entry.expect("it is read").path());
    let file = files.next().expect("there is one");
    assert!(files.next().is_none(), "there is only one");
    file
}

#[test]
fn a_sound_store_is_clean() {
    let (directory, store) = new_store();
    assert!(matches!(Store::check(directory.path(), false, |_| {}), Err(OpenError::InUse(_))));
    for seed in 0..100 {
        put(&store, &seed.to_string(), &bytes(seed, seed as usize * 100));
        put(&store, "again", &bytes(seed, seed as usize * 100));
    }
    put(&store, "large", &bytes(1000, SMALL * 3));
    put(&store, "0", b"");
    delete(&store, "7");
    store.commit_blocking(create_upload("upload", "id")).expect("an upload is created");
    store.commit_blocking(put_part(&store, "upload", "id", 1, b"part")).expect("a part is put");
    store.close();
    let report = check(directory.path(), false);
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.blobs, 101);
    assert!(check(directory.path(), true).is_clean());
    let nothing = directory.path().join("nothing");
    assert!(matches!(Store::check(&nothing, true, |_| {}), Err(OpenError::Disk { .. })));
    assert!(!nothing.exists(), "nothing is created");
}

#[test]
fn bit_rot_is_found_and_content_that_is_put_again_is_whole() {
    let (directory, store) = new_store();
    let (in_segment, in_file) = (bytes(1, 5000), bytes(2, SMALL + 5000));
    for key in ["small", "twice"] {
        put(&store, key, &in_segment);
    }
    put(&store, "sound", b"sound");
    put(&store, "large", &in_file);
    store.commit_blocking(create_upload("upload", "id")).expect("an upload is created");
    store.commit_blocking(put_part(&store, "upload", "id", 7, &in_file)).expect("a part is put");
    store.close();
    flip(&only_file(&directory.path().join("segments")), &in_segment);
    let blob = only_file(&directory.path().join("blobs/00000000"));
    flip(&blob, &in_file);

    for repair in [false, true, false] {
        let report = check(directory.path(), repair);
        assert_eq!(report.damage.len(), 2, "{report:?}");
        let found = |digest: [u8; 32]| {
            report.damage.iter().find(|damage| damage.sha256 == digest).expect("it is found").clone()
        };
        let small = found(sha256(&in_segment));
        assert_eq!((small.kind, small.holders), (DamageKind::Digest, vec![object("small"), object("twice")]));
        let large = found(sha256(&in_file));
        let part =
            Holder::Part { bucket: BUCKET.to_owned(), key: "upload".to_owned(), upload: "id".to_owned(), number: 7 };
        assert_eq!((large.kind, large.path), (DamageKind::Digest, Some(blob.clone())));
        assert_eq!(large.holders, [object("large"), part]);
        assert!(report.miscounts.is_empty() && report.orphans.is_empty() && report.segments.is_empty());
    }

    // The damaged blobs are not taken for the content.
    let store = Store::open(directory.path(), StoreOptions::default()).expect("it is opened");
    assert!(!put(&store, "small", &in_segment).deduplicated);
    assert!(put(&store, "twice", &in_segment).deduplicated);
    assert!(!put(&store, "large", &in_file).deduplicated);
    assert_eq!((get(&store, "small"), get(&store, "large")), (Some(in_segment), Some(in_file)));
    store.close();
    let report = check(directory.path(), false);
    assert_eq!(report.damage.len(), 1, "the part's: {report:?}");
}

#[test]
fn what_was_damaged_and_is_sound_again_is_taken_again() {
    let (directory, store) = new_store();
    let body = bytes(1, SMALL + 1);
    put(&store, "key", &body);
    store.close();
    let blob = only_file(&directory.path().join("blobs/00000000"));
    flip(&blob, &body);
    assert_eq!(check(directory.path(), true).damage.len(), 1);
    fs::write(&blob, &body).expect("it is written");
    assert!(check(directory.path(), true).is_clean());
    let store = Store::open(directory.path(), StoreOptions::default()).expect("it is opened");
    assert!(put(&store, "other", &body).deduplicated);
}

#[test]
fn what_is_missing_is_found() {
    let (directory, store) = new_store();
    put(&store, "large", &bytes(1, SMALL + 1));
    put(&store, "small", &bytes(2, 100));
    put(&store, "cut", &bytes(3, 1000));
    store.close();
    fs::remove_file(only_file(&directory.path().join("blobs/00000000"))).expect("it is removed");
    let segment = only_file(&directory.path().join("segments"));
    let file = fs::OpenOptions::new().write(true).open(&segment).expect("it is opened");
    file.set_len(500).expect("it is cut");
    let report = check(directory.path(), false);
    let mut found: Vec<_> = report.damage.iter().map(|damage| (damage.kind.clone(), damage.holders.clone())).collect();
    found.sort_by_key(|(_, holders)| holders.clone());
    let missing = |key: &str| (DamageKind::Missing, vec![object(key)]);
    assert_eq!(found, [missing("cut"), missing("large")]);
    fs::remove_file(segment).expect("it is removed");
    assert_eq!(check(directory.path(), true).damage.len(), 3);
    // No object is deleted; one can be put again.
    let store = Store::open(directory.path(), StoreOptions::default()).expect("it is opened");
    assert_eq!(store.stats().damaged, 0);
    assert!(store.object(BUCKET, "small").expect("the index is read").is_some());
    put(&store, "small", &bytes(2, 100));
    assert_eq!(get(&store, "small"), Some(bytes(2, 100)));
}

#[test]
fn a_damaged_head_hides_nothing() {
    let (directory, store) = new_store();
    for seed in 0..10 {
        put(&store, &seed.to_string(), &bytes(seed, 1000));
    }
    store.close();
    // The heads no longer lead from one record to the next.
    let segment = only_file(&directory.path().join("segments"));
    let mut content = fs::read(&segment).expect("it is read");
    content[3 * 1052] ^= 1;
    content[7 * 1052 + 500] ^= 1;
    fs::write(&segment, content).expect("it is written");
    let report = check(directory.path(), false);
    let holders: Vec<_> = report.damage.iter().map(|damage| damage.holders.clone()).collect();
    assert_eq!(holders, [vec![object("7")]], "the bodies are sound but one");
}

#[test]
fn orphans_are_found_and_removed() {
    let (directory, store) = new_store();
    put(&store, "large", &bytes(1, SMALL + 1));
    put(&store, "small", b"small");
    store.close();
    let sha256 = "ab".repeat(32);
    let mut orphans = vec![
        directory.path().join(format!("blobs/00000000/{sha256}-99")),
        directory.path().join("new/leftover"),
        directory.path().join("segments/00000099"),
    ];
    for orphan in &orphans {
        fs::write(orphan, b"orphan").expect("it is written");
    }
    // What is nobody's is left alone.
    let foreign = directory.path().join("blobs/00000000/README");
    fs::write(&foreign, b"foreign").expect("it is written");
    orphans.sort_unstable();
    assert_eq!(check(directory.path(), false).orphans, orphans);
    assert_eq!(check(directory.path(), true).orphans, orphans);
    assert!(orphans.iter().all(|orphan| !orphan.exists()) && foreign.exists());
    assert!(check(directory.path(), false).is_clean());
}

#[test]
fn what_a_crash_leaves_is_removed_when_the_store_is_opened() {
    let (directory, store) = new_store();
    put(&store, "small", b"small");
    put(&store, "large", &bytes(1, SMALL + 1));
    store.close();
    let sha256 = "ab".repeat(32);
    let segment = only_file(&directory.path().join("segments"));
    let length = fs::metadata(&segment).expect("it is there").len();
    fs::OpenOptions::new()
        .append(true)
        .open(&segment)
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"half a batch"))
        .expect("it is written");
    fs::create_dir(directory.path().join("blobs/00000001")).expect("it is created");
    let leftovers = [
        format!("blobs/00000000/{sha256}-99"),
        format!("blobs/00000001/{sha256}-100"),
        "new/leftover".to_owned(),
        "segments/00000001".to_owned(),
        "index.new".to_owned(),
    ]
    .map(|name| directory.path().join(name));
    for leftover in &leftovers {
        fs::write(leftover, b"leftover").expect("it is written");
    }
    let store = Store::open(directory.path(), StoreOptions::default()).expect("it is opened");
    for leftover in &leftovers {
        assert!(!leftover.exists(), "{}", leftover.display());
    }
    assert_eq!(fs::metadata(&segment).expect("it is there").len(), length);
    assert_eq!(get(&store, "small").as_deref(), Some(&b"small"[..]));
    put(&store, "another", b"another");
    store.close();
    assert!(check(directory.path(), false).is_clean());
}

#[test]
fn a_damaged_index_is_an_error() {
    let (directory, store) = new_store();
    for seed in 0..500 {
        put(&store, &seed.to_string(), &bytes(seed, 10));
    }
    store.close();
    let index = directory.path().join("index.redb");
    let mut content = fs::read(&index).expect("it is read");
    let half = content.len() / 2;
    content[4096..half].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(&index, content).expect("it is written");
    let error = Store::check(directory.path(), false, |_| {}).expect_err("it is damaged");
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
}

#[test]
fn multipart_objects_are_named_by_their_damaged_parts() {
    let (directory, store) = new_store();
    store.commit_blocking(create_bucket("other")).expect("a bucket is created");
    store.commit_blocking(create_upload("key", "id")).expect("an upload is created");
    let parts: Vec<(u16, u64)> = (1..=3)
        .map(|number| {
            let change = put_part(&store, "key", "id", number, &bytes(number.into(), 2000));
            (number, store.commit_blocking(change).expect("a part is put").part.expect("it has an id"))
        })
        .collect();
    store.commit_blocking(complete("key", "id", parts, etag(b""))).expect("it is completed");
    store.close();
    flip(&only_file(&directory.path().join("segments")), &bytes(2, 2000));
    let report = check(directory.path(), false);
    let found: Vec<_> = report.damage.iter().map(|damage| (damage.sha256, damage.holders.clone())).collect();
    assert_eq!(found, [(sha256(&bytes(2, 2000)), vec![object("key")])]);
}
