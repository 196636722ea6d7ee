//! What is put is there, and nothing else.

use crate::support::{
    BUCKET, bytes, content, create_bucket, delete, delete_change, etag, get, new_store, put, put_change, put_content,
    reopen, small,
};
use bytes::Bytes;
use manyhash_store::{
    Body, Change, Commit, CommitError, Condition, Content, NewFile, OpenError, Pin, ReadError, Reader, SMALL, Store,
    StoreOptions,
};
use std::io;

#[test]
fn objects_of_all_lengths_are_read_back() {
    let (directory, store) = new_store();
    let lengths = [0, 1, 2, 4096, SMALL - 1, SMALL, SMALL + 1, 1 << 20];
    for (seed, length) in lengths.into_iter().enumerate() {
        put(&store, &format!("{length}"), &bytes(seed as u64, length));
    }
    let check = |store: &Store| {
        for (seed, length) in lengths.into_iter().enumerate() {
            assert_eq!(get(store, &format!("{length}")), Some(bytes(seed as u64, length)), "{length}");
        }
    };
    check(&store);
    let store = reopen(directory.path(), store);
    check(&store);
    let object = store.object(BUCKET, "4096").expect("the index is read").expect("it is there");
    assert_eq!((object.modified, object.length(), &*object.attributes), (2, 4096, &[2u8][..]));
    assert_eq!(object.etag, etag(&bytes(3, 4096)));
}

#[test]
fn ranges_are_read() {
    let (_directory, store) = new_store();
    let whole = bytes(1, 1000);
    put(&store, "key", &whole);
    let extents = store.object(BUCKET, "key").expect("the index is read").expect("it is there").extents;
    for (start, end) in [(0, 0), (0, 1), (0, 1000), (999, 1000), (1000, 1000), (300, 700)] {
        let mut reader = store.read(&extents, start..end).expect("the range is in it");
        let mut found = Vec::new();
        while let Some(piece) = reader.read(64).expect("it is read") {
            assert!(piece.len() <= 64);
            found.extend_from_slice(&piece);
            assert_eq!(reader.remaining(), end - start - found.len() as u64);
        }
        assert_eq!(found, whole[start as usize..end as usize], "{start}..{end}");
    }
    for (start, end) in [(0, 1001), (1001, 1001), (2, 1)] {
        let error = store.read(&extents, start..end).expect_err("the range is not in it");
        assert!(matches!(error, ReadError::Range { length: 1000, .. }), "{start}..{end}: {error}");
    }
}

#[test]
fn what_was_just_written_is_read_without_waiting() {
    let (_directory, store) = new_store();
    let whole = bytes(1, 100_000);
    put(&store, "key", &whole);
    let extents = store.object(BUCKET, "key").expect("the index is read").expect("it is there").extents;
    let mut reader = store.read(&extents, 0..100_000).expect("it is opened");
    let mut found = Vec::new();
    loop {
        match reader.read_cached(30_000) {
            Ok(Some(piece)) => found.extend_from_slice(&piece),
            Ok(None) => break,
            Err(error) => {
                // The system may have written it out and forgotten it.
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                found.extend_from_slice(&reader.read(30_000).expect("it is read").expect("there is more"));
            }
        }
    }
    assert_eq!(found, whole);
}

#[test]
fn objects_are_replaced_and_deleted() {
    let (_directory, store) = new_store();
    assert!(!put(&store, "key", b"first").existed);
    assert!(put(&store, "key", b"second").existed);
    assert_eq!(get(&store, "key").as_deref(), Some(&b"second"[..]));
    assert!(delete(&store, "key"));
    assert!(!delete(&store, "key"));
    assert_eq!(get(&store, "key"), None);
    let stats = store.stats();
    assert_eq!((stats.objects, stats.blobs, stats.bytes), (0, 0, 0));
}

#[test]
fn buckets_are_created_and_deleted() {
    let (directory, store) = new_store();
    let create = |name: &str| store.commit_blocking(create_bucket(name));
    let delete = |name: &str| store.commit_blocking(Change::DeleteBucket { name: name.to_owned() });
    create("a bucket").expect("it is created");
    assert!(matches!(create("a bucket"), Err(CommitError::BucketExists)));
    for name in ["", "a\0b", &"x".repeat(256)] {
        assert!(matches!(create(name), Err(CommitError::InvalidName)), "{name:?}");
    }
    put(&store, "key", b"content");
    assert!(matches!(delete(BUCKET), Err(CommitError::BucketNotEmpty)));
    // Its name is where this one's objects are not.
    create("bucke").expect("it is created");
    delete("bucke").expect("it is deleted");
    assert!(matches!(delete("bucke"), Err(CommitError::NoSuchBucket)));
    let names: Vec<String> = store.buckets().expect("the index is read").into_iter().map(|found| found.name).collect();
    assert_eq!(names, ["a bucket", BUCKET]);
    let bucket = store.bucket(BUCKET).expect("the index is read").expect("it is there");
    assert_eq!((bucket.created, &*bucket.attributes), (1, &[1u8][..]));
    drop(store);
    drop(directory);
}

#[test]
fn without_a_bucket_nothing_is_put() {
    let (_directory, store) = new_store();
    for bucket in ["other", "bucket\0key"] {
        let change = Change::Put {
            bucket: bucket.to_owned(),
            key: "key".to_owned(),
            content: small(b"content"),
            modified: 0,
            etag: String::new(),
            attributes: Vec::new(),
            condition: Condition::default(),
        };
        assert!(matches!(store.commit_blocking(change), Err(CommitError::NoSuchBucket)));
        assert_eq!(store.object(bucket, "key").expect("the index is read"), None);
    }
    // The table's key of this one is that of another bucket's object.
    put(&store, "key\0rest", b"content");
    assert_eq!(store.object("bucket\0key", "rest").expect("the index is read"), None);
    assert!(store.object(BUCKET, "key\0rest").expect("the index is read").is_some());
}

#[test]
fn conditions_are_checked() {
    let (_directory, store) = new_store();
    let put_if = |condition: Condition| {
        store
            .commit_blocking(put_content("key", small(b"content"), etag(b"content"), condition))
            .map(|done| done.existed)
    };
    let absent = Condition { absent: true, ..Condition::default() };
    let with = |etags: &[&str]| Condition {
        etag: Some(etags.iter().map(|etag| (*etag).to_owned()).collect()),
        ..Condition::default()
    };
    assert!(matches!(put_if(with(&["*"])), Err(CommitError::NoSuchKey)));
    assert!(matches!(put_if(absent.clone()), Ok(false)));
    assert!(matches!(put_if(absent), Err(CommitError::PreconditionFailed)));
    assert!(matches!(put_if(with(&["*"])), Ok(true)));
    assert!(matches!(put_if(with(&["other", &etag(b"content")])), Ok(true)));
    assert!(matches!(put_if(with(&["other"])), Err(CommitError::PreconditionFailed)));
    assert!(matches!(put_if(with(&[])), Err(CommitError::PreconditionFailed)));
    let delete_if = |condition: Condition| {
        let (bucket, key) = (BUCKET.to_owned(), "key".to_owned());
        store.commit_blocking(Change::Delete { bucket, key, condition }).map(|done| done.existed)
    };
    assert!(matches!(delete_if(with(&["other"])), Err(CommitError::PreconditionFailed)));
    assert!(matches!(delete_if(with(&[&etag(b"content")])), Ok(true)));
    assert!(matches!(delete_if(with(&["*"])), Err(CommitError::NoSuchKey)));
}

#[test]
fn a_body_of_another_length_is_refused() {
    let (_directory, store) = new_store();
    let wrong = Content { length: 8, ..small(b"content") };
    let error = store.commit_blocking(put_content("key", wrong, String::new(), Condition::default()));
    assert!(matches!(error, Err(CommitError::Length { announced: 8, found: 7 })));
    assert_eq!(get(&store, "key"), None);
}

#[test]
fn a_file_that_is_dropped_is_gone() {
    let (directory, store) = new_store();
    let mut file = store.create_file().expect("a file is created");
    file.append(&[Bytes::from_static(b"con"), Bytes::new(), Bytes::from_static(b"tent")]).expect("it is written");
    assert_eq!(file.length(), 7);
    drop(file);
    // And one that is handed over without a sync is as good as another.
    let mut file = store.create_file().expect("a file is created");
    file.append(&[Bytes::from_static(b"content")]).expect("it is written");
    let content = Content { body: Body::File(file), ..small(b"content") };
    store.commit_blocking(put_content("key", content, String::new(), Condition::default())).expect("it is put");
    assert_eq!(get(&store, "key").as_deref(), Some(&b"content"[..]));
    let new = std::fs::read_dir(directory.path().join("new")).expect("the directory is there");
    assert_eq!(new.count(), 0);
}

#[test]
fn a_closed_store_says_so() {
    let (_directory, store) = new_store();
    let (change, other) = (put_change(&store, "key", b"content"), store.clone());
    let waiting = store.commit(put_change(&store, "before", b"content"));
    store.close();
    assert!(waiting.wait().is_ok(), "what was handed over before is made");
    assert!(matches!(other.commit_blocking(change), Err(CommitError::Closed)));
    assert!(matches!(other.object(BUCKET, "key"), Err(ReadError::Closed)));
    assert!(matches!(other.pin(&[0; 32]), Err(ReadError::Closed)));
    other.close();
}

#[test]
fn a_change_is_made_although_nobody_waits() {
    let (directory, store) = new_store();
    drop(store.commit(put_change(&store, "key", b"content")));
    let store = reopen(directory.path(), store);
    assert_eq!(get(&store, "key").as_deref(), Some(&b"content"[..]));
}

#[test]
fn a_directory_is_open_once() {
    let (directory, store) = new_store();
    let error = Store::open(directory.path(), StoreOptions::default()).expect_err("it is open");
    assert!(matches!(error, OpenError::InUse(_)), "{error}");
    drop(store);
    Store::open(directory.path(), StoreOptions::default()).expect("it is free again");
}

#[test]
fn without_its_index_a_store_is_not_opened() {
    let (directory, store) = new_store();
    put(&store, "key", b"content");
    store.close();
    std::fs::remove_file(directory.path().join("index.redb")).expect("the index is removed");
    let error = Store::open(directory.path(), StoreOptions::default()).expect_err("there is no index");
    assert!(matches!(error, OpenError::IndexMissing(_)), "{error}");
    let segments = std::fs::read_dir(directory.path().join("segments")).expect("the directory is there");
    assert_eq!(segments.count(), 1, "nothing is removed");
}

#[test]
fn what_is_no_index_is_not_opened() {
    let directory = tempfile::tempdir().expect("there is a directory");
    std::fs::write(directory.path().join("index.redb"), b"not an index").expect("it is written");
    let error = Store::open(directory.path(), StoreOptions::default()).expect_err("it is no index");
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
}

#[test]
fn everything_goes_to_other_threads() {
    fn is_sent<T: Send + 'static>() {}
    fn is_shared<T: Sync>() {}
    is_sent::<Store>();
    is_sent::<Commit>();
    is_sent::<Reader>();
    is_sent::<NewFile>();
    is_sent::<Change>();
    is_sent::<Pin>();
    is_shared::<Store>();
    is_shared::<Pin>();
}

#[test]
fn options_are_debug_and_space_is_known() {
    let (directory, store) = new_store();
    assert!(store.free_space().expect("it is known") > 0);
    assert_eq!(store.directory(), directory.path());
    assert!(format!("{store:?} {:?}", StoreOptions::default().dedupe(false)).contains("dedupe: false"));
}

#[test]
fn generations_follow_one_another() {
    let directory = tempfile::tempdir().expect("there is a directory");
    let options = StoreOptions::default().limits(1 << 20, 3);
    let store = Store::open(directory.path(), options).expect("a store is created");
    store.commit_blocking(create_bucket(BUCKET)).expect("a bucket is created");
    for seed in 0..8 {
        let body = bytes(seed, SMALL + 1);
        let change = put_content(&seed.to_string(), content(&store, &body), etag(&body), Condition::default());
        store.commit_blocking(change).expect("it is put");
    }
    let counts: Vec<usize> = ["00000000", "00000001", "00000002"]
        .map(|name| std::fs::read_dir(directory.path().join("blobs").join(name)).expect("it is there").count())
        .into();
    assert_eq!(counts, [3, 3, 2]);
    for seed in 0..8 {
        assert_eq!(get(&store, &seed.to_string()), Some(bytes(seed, SMALL + 1)));
        store.commit_blocking(delete_change(&seed.to_string())).expect("it is deleted");
    }
    assert_eq!(store.stats().blobs, 0);
}
