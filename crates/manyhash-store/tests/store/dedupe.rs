//! Content that is there once, as long as something refers to it.

use crate::support::{
    BUCKET, bytes, content, copy_change, create_bucket, delete, delete_change, etag, get, new_store, put, put_change,
    put_content, read_object, reopen, sha256, small, wait_until,
};
use manyhash_store::{Body, CommitError, Condition, Content, ReadError, SMALL, Store, StoreOptions};
use std::fs;
use std::path::Path;

/// How many files there are below a directory.
fn files(path: &Path) -> usize {
    let entries = fs::read_dir(path).expect("it is a directory").map(|entry| entry.expect("it is read").path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[test]
fn equal_content_is_stored_once() {
    for length in [100, SMALL + 1] {
        let (directory, store) = new_store();
        let body = bytes(1, length);
        assert!(!put(&store, "first", &body).deduplicated);
        assert!(put(&store, "second", &body).deduplicated);
        let stats = store.stats();
        assert_eq!((stats.blobs, stats.bytes, stats.deduplicated), (1, length as u64, 1));
        delete(&store, "first");
        assert_eq!(get(&store, "second"), Some(body.clone()));
        let store = reopen(directory.path(), store);
        assert_eq!(get(&store, "second"), Some(body));
        delete(&store, "second");
        assert_eq!(store.stats().blobs, 0);
        // It is unlinked after the answer.
        wait_until(|| files(&directory.path().join("blobs")) == 0);
    }
}

#[test]
fn equal_content_is_stored_once_in_one_batch() {
    let (directory, store) = new_store();
    for length in [100, SMALL + 1] {
        let body = bytes(length as u64, length);
        let changes: Vec<_> = (0..10).map(|n| put_change(&store, &format!("{length} {n}"), &body)).collect();
        let commits: Vec<_> = changes.into_iter().map(|change| store.commit(change)).collect();
        let fresh = commits.into_iter().map(|commit| commit.wait().expect("it is put"));
        assert_eq!(fresh.filter(|done| !done.deduplicated).count(), 1);
    }
    assert_eq!((store.stats().blobs, files(&directory.path().join("blobs"))), (2, 1));
}

#[test]
fn without_deduplication_everything_is_stored() {
    let directory = tempfile::tempdir().expect("there is a directory");
    let store = Store::open(directory.path(), StoreOptions::default().dedupe(false)).expect("a store is created");
    store.commit_blocking(create_bucket(BUCKET)).expect("a bucket is created");
    for key in ["a", "b", "c"] {
        assert!(!put(&store, key, b"content").deduplicated);
    }
    assert_eq!(store.stats().blobs, 3);
    // With it, one of them is as good as another.
    let store = reopen(directory.path(), store);
    assert!(put(&store, "d", b"content").deduplicated);
    assert_eq!(store.stats().blobs, 3);
    for key in ["a", "b", "c", "d"] {
        assert_eq!(get(&store, key).as_deref(), Some(&b"content"[..]));
        delete(&store, key);
    }
    assert_eq!(store.stats().blobs, 0);
}

#[test]
fn a_copy_has_the_content() {
    let (_directory, store) = new_store();
    let body = bytes(1, SMALL + 1);
    put(&store, "from", &body);
    let source = store.object(BUCKET, "from").expect("the index is read").expect("it is there");
    store.commit_blocking(copy_change(source.clone(), "to", "copied".to_owned())).expect("it is copied");
    // On itself, too.
    store.commit_blocking(copy_change(source.clone(), "from", "copied".to_owned())).expect("it is copied");
    assert_eq!(store.stats().blobs, 1);
    delete(&store, "from");
    assert_eq!(get(&store, "to"), Some(body));
    delete(&store, "to");
    let gone = store.commit_blocking(copy_change(source, "to", String::new()));
    assert!(matches!(gone, Err(CommitError::SourceGone)));
    assert_eq!(store.stats().blobs, 0);
}

#[test]
fn what_is_read_stays() {
    for length in [100, SMALL + 1] {
        let (directory, store) = new_store();
        let body = bytes(1, length);
        put(&store, "key", &body);
        let object = store.object(BUCKET, "key").expect("the index is read").expect("it is there");
        let mut reader = store.read(&object.extents, 0..length as u64).expect("it is opened");
        delete(&store, "key");
        wait_until(|| files(&directory.path().join("blobs")) == 0);
        let mut found = Vec::new();
        while let Some(piece) = reader.read(1 << 20).expect("it is read") {
            found.extend_from_slice(&piece);
        }
        assert_eq!(found, body);
        assert!(matches!(read_object(&store, &object), Err(ReadError::Gone)));
    }
}

#[test]
fn what_is_pinned_stays() {
    for length in [100, SMALL + 1] {
        let (directory, store) = new_store();
        let body = bytes(1, length);
        let digest = sha256(&body);
        assert!(store.pin(&digest).expect("the index is read").is_none());
        put(&store, "key", &body);
        let pin = store.pin(&digest).expect("the index is read").expect("it is there");
        assert_eq!((pin.sha256(), pin.length()), (&digest, length as u64));
        delete(&store, "key");
        put(&store, "other", b"so that there is another batch");
        assert_eq!((store.stats().trash, store.stats().blobs), (1, 1));
        assert!(store.pin(&digest).expect("the index is read").is_none(), "nobody finds it any more");
        // It is taken out of the trash.
        let kept = Content { sha256: digest, length: length as u64, body: Body::Kept(pin) };
        let done = store.commit_blocking(put_content("again", kept, etag(&body), Condition::default()));
        assert!(done.expect("it is put").deduplicated);
        assert_eq!(get(&store, "again"), Some(body.clone()));
        assert_eq!(store.stats().trash, 0);
        // And into it again, until nobody has it pinned.
        let pin = store.pin(&digest).expect("the index is read").expect("it is there");
        delete(&store, "again");
        assert_eq!(store.stats().trash, 1);
        drop(pin);
        wait_until(|| store.stats().trash == 0);
        assert_eq!(files(&directory.path().join("blobs")), 0);
        assert_eq!(store.stats().segment_live_bytes, 52 + 30, "the other's");
    }
}

#[test]
fn what_is_pinned_when_the_store_is_closed_is_removed_later() {
    let (directory, store) = new_store();
    let body = bytes(1, SMALL + 1);
    put(&store, "key", &body);
    let pin = store.pin(&sha256(&body)).expect("the index is read");
    delete(&store, "key");
    let store = reopen(directory.path(), store);
    wait_until(|| store.stats().trash == 0);
    assert_eq!(files(&directory.path().join("blobs")), 0);
    drop(pin);
}

#[test]
fn a_pin_of_another_store_is_no_content() {
    let ((_directory, store), (_other_directory, other)) = (new_store(), new_store());
    put(&other, "key", b"content");
    let pin = other.pin(&sha256(b"content")).expect("the index is read").expect("it is there");
    let kept = Content { body: Body::Kept(pin), ..small(b"content") };
    let answer = store.commit_blocking(put_content("key", kept, String::new(), Condition::default()));
    assert!(matches!(answer, Err(CommitError::SourceGone)));
}

#[test]
fn dead_segments_are_removed_and_what_lives_is_moved() {
    let directory = tempfile::tempdir().expect("there is a directory");
    let options = || StoreOptions::default().limits(20_000, 100);
    let store = Store::open(directory.path(), options()).expect("a store is created");
    store.commit_blocking(create_bucket(BUCKET)).expect("a bucket is created");
    for seed in 0..200 {
        put(&store, &seed.to_string(), &bytes(seed, 1000));
    }
    assert!(store.stats().segments > 9);
    // One of ten stays.
    for seed in (0..200).filter(|seed| seed % 10 != 0) {
        delete(&store, &seed.to_string());
    }
    wait_until(|| store.stats().segments < 4 && files(&directory.path().join("segments")) < 4);
    let stats = store.stats();
    assert!(stats.moved_bytes > 0 && stats.segment_bytes < 60_000, "{stats:?}");
    assert_eq!(stats.segment_live_bytes, 20 * 1052);
    store.close();
    assert!(files(&directory.path().join("segments")) < 4);
    let store = Store::open(directory.path(), options()).expect("it is opened again");
    for seed in (0..200).step_by(10) {
        assert_eq!(get(&store, &seed.to_string()), Some(bytes(seed, 1000)));
    }
    store.close();
    assert!(Store::check(directory.path(), false, |_| {}).expect("it is checked").is_clean());
}

#[test]
fn a_change_that_is_refused_leaves_nothing() {
    let (directory, store) = new_store();
    let present = Condition { absent: false, etag: Some(vec!["*".to_owned()]) };
    let answer = store.commit_blocking(put_content("key", small(b"content"), String::new(), present));
    assert!(matches!(answer, Err(CommitError::NoSuchKey)));
    store.close();
    assert!(Store::check(directory.path(), false, |_| {}).expect("it is checked").is_clean());

    let store = Store::open(directory.path(), StoreOptions::default()).expect("it is opened again");
    put(&store, "key", b"content");
    let absent = Condition { absent: true, ..Condition::default() };
    for length in [100, SMALL + 1] {
        let body = bytes(1, length);
        let change = put_content("key", content(&store, &body), etag(&body), absent.clone());
        assert!(matches!(store.commit_blocking(change), Err(CommitError::PreconditionFailed)));
        // And beside one that is not refused.
        let refused = store.commit(put_content("key", content(&store, &body), etag(&body), absent.clone()));
        let made = store.commit(delete_change("nothing"));
        assert!(refused.wait().is_err() && made.wait().is_ok());
    }
    assert_eq!(store.stats().blobs, 1);
    store.close();
    assert_eq!(files(&directory.path().join("blobs")), 0);
    assert!(Store::check(directory.path(), false, |_| {}).expect("it is checked").is_clean());
}
