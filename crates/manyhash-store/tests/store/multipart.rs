//! Multipart uploads.

use crate::support::{
    BUCKET, abort_upload, bytes, complete, create_upload, delete, etag, get, new_store, put, put_part, reopen,
};
use manyhash_store::{Change, CommitError, SMALL, Store, UploadEntry, UploadQuery};

fn start(store: &Store, key: &str, id: &str) {
    store.commit_blocking(create_upload(key, id)).expect("an upload is created");
}

fn part(store: &Store, key: &str, id: &str, number: u16, bytes: &[u8]) -> u64 {
    let committed = store.commit_blocking(put_part(store, key, id, number, bytes)).expect("a part is put");
    committed.part.expect("a part has an id")
}

#[test]
fn parts_become_an_object() {
    let (directory, store) = new_store();
    start(&store, "key", "id");
    let contents = [bytes(1, 1000), bytes(2, SMALL + 1000), bytes(3, 10)];
    // In any order, and one of them twice.
    let third = part(&store, "key", "id", 30, &contents[2]);
    let replaced = part(&store, "key", "id", 1, b"replaced");
    let first = part(&store, "key", "id", 1, &contents[0]);
    let second = part(&store, "key", "id", 2, &contents[1]);
    let dropped = part(&store, "key", "id", 4, b"dropped");
    assert_ne!(replaced, first);
    let store = reopen(directory.path(), store);
    let upload = store.upload(BUCKET, "key", "id").expect("the index is read").expect("it is there");
    assert_eq!((upload.started, &*upload.attributes), (4, &[4u8][..]));
    let parts = store.parts(&upload, 0, 100).expect("the index is read");
    let found: Vec<(u16, u64)> = parts.iter().map(|part| (part.number, part.id)).collect();
    assert_eq!(found, [(1, first), (2, second), (4, dropped), (30, third)]);
    assert_eq!((&*parts[0].etag, parts[0].modified, parts[0].extent.length), (&*etag(&contents[0]), 5, 1000));
    let page = store.parts(&upload, 1, 2).expect("the index is read");
    assert_eq!(page.iter().map(|part| part.number).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(store.parts(&upload, u16::MAX, 2).expect("the index is read"), []);

    for wrong in [vec![(1, replaced)], vec![(5, first)], vec![(1, first), (1, first)]] {
        let number = wrong[0].0;
        let error = store.commit_blocking(complete("key", "id", wrong, String::new()));
        assert!(matches!(error, Err(CommitError::PartGone(found)) if found == number), "{error:?}");
    }
    let done =
        store.commit_blocking(complete("key", "id", vec![(1, first), (2, second), (30, third)], "e-3".to_owned()));
    assert!(!done.expect("it is completed").existed);
    assert_eq!(get(&store, "key"), Some(contents.concat()));
    let object = store.object(BUCKET, "key").expect("the index is read").expect("it is there");
    assert_eq!(object.extents.iter().map(|extent| extent.length).collect::<Vec<_>>(), [1000, SMALL as u64 + 1000, 10]);
    assert_eq!(store.upload(BUCKET, "key", "id").expect("the index is read"), None);
    let error = store.commit_blocking(complete("key", "id", Vec::new(), String::new()));
    assert!(matches!(error, Err(CommitError::NoSuchUpload)));
    assert_eq!((store.stats().blobs, store.stats().uploads), (3, 0), "what was replaced or left out is gone");
    delete(&store, "key");
    assert_eq!(store.stats().blobs, 0);
}

#[test]
fn a_range_goes_over_parts() {
    let (_directory, store) = new_store();
    start(&store, "key", "id");
    let whole = bytes(1, 1000);
    let parts: Vec<(u16, u64)> =
        (1..=10).map(|n| (n, part(&store, "key", "id", n, &whole[(n as usize - 1) * 100..n as usize * 100]))).collect();
    store.commit_blocking(complete("key", "id", parts, String::new())).expect("it is completed");
    let object = store.object(BUCKET, "key").expect("the index is read").expect("it is there");
    for (start, end) in [(0, 1000), (99, 101), (100, 200), (150, 951), (999, 1000), (500, 500)] {
        let mut reader = store.read(&object.extents, start..end).expect("it is opened");
        let mut found = Vec::new();
        while let Some(piece) = reader.read(70).expect("it is read") {
            found.extend_from_slice(&piece);
        }
        assert_eq!(found, whole[start as usize..end as usize], "{start}..{end}");
    }
    // What is read stays, whatever is deleted, although the parts are opened one after another.
    let mut reader = store.read(&object.extents, 0..1000).expect("it is opened");
    delete(&store, "key");
    put(&store, "other", b"so that there is another batch");
    let mut found = Vec::new();
    while let Some(piece) = reader.read(1000).expect("it is read") {
        found.extend_from_slice(&piece);
    }
    assert_eq!(found, whole);
}

#[test]
fn an_upload_is_aborted() {
    let (_directory, store) = new_store();
    start(&store, "key", "id");
    assert!(matches!(store.commit_blocking(create_upload("key", "id")), Err(CommitError::UploadExists)));
    part(&store, "key", "id", 1, b"part");
    part(&store, "key", "id", 2, &bytes(1, SMALL + 1));
    store.commit_blocking(abort_upload("key", "id")).expect("it is aborted");
    assert!(matches!(store.commit_blocking(abort_upload("key", "id")), Err(CommitError::NoSuchUpload)));
    let late = put_part(&store, "key", "id", 1, b"late");
    assert!(matches!(store.commit_blocking(late), Err(CommitError::NoSuchUpload)));
    assert_eq!((store.stats().blobs, store.stats().uploads), (0, 0));
}

#[test]
fn a_bucket_is_deleted_with_its_uploads() {
    let (_directory, store) = new_store();
    start(&store, "key", "id");
    part(&store, "key", "id", 1, b"part");
    store.commit_blocking(Change::DeleteBucket { name: BUCKET.to_owned() }).expect("it is deleted");
    assert_eq!((store.stats().blobs, store.stats().uploads), (0, 0));
    assert!(matches!(store.commit_blocking(create_upload("key", "id")), Err(CommitError::NoSuchBucket)));
}

#[test]
fn uploads_are_listed() {
    let (_directory, store) = new_store();
    for (key, id) in [("a/1", "x"), ("a/1", "y"), ("a/2", "x"), ("b", "x"), ("b", "z"), ("c/\0", "x")] {
        start(&store, key, id);
    }
    let list = |query: UploadQuery| {
        let listing = store.uploads(BUCKET, &query).expect("the index is read");
        let entries: Vec<String> = listing
            .entries
            .into_iter()
            .map(|entry| match entry {
                UploadEntry::Upload(upload) => format!("{} {}", upload.key, upload.id),
                UploadEntry::Prefix(prefix) => prefix,
                _ => unreachable!("there are two kinds"),
            })
            .collect();
        (entries, listing.next)
    };
    let all = UploadQuery { max: 100, ..UploadQuery::default() };
    assert_eq!(list(all.clone()).0, ["a/1 x", "a/1 y", "a/2 x", "b x", "b z", "c/\0 x"]);
    let by = UploadQuery { delimiter: Some("/".to_owned()), ..all.clone() };
    assert_eq!(list(by.clone()).0, ["a/", "b x", "b z", "c/"]);
    let prefix = UploadQuery { prefix: "a/".to_owned(), ..by.clone() };
    assert_eq!(list(prefix).0, ["a/1 x", "a/1 y", "a/2 x"]);
    // Page by page, of any length.
    for (query, expected) in [(all.clone(), 6), (by.clone(), 4)] {
        for max in 1..7 {
            let (mut query, mut found) = (UploadQuery { max, ..query.clone() }, Vec::new());
            loop {
                let (entries, next) = list(query.clone());
                found.extend(entries);
                match next {
                    Some((key, id)) => (query.key_after, query.id_after) = (Some(key), id),
                    None => break,
                }
            }
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }
    let after = |key: &str, id: Option<&str>| UploadQuery {
        key_after: Some(key.to_owned()),
        id_after: id.map(str::to_owned),
        ..all.clone()
    };
    assert_eq!(list(after("a/1", None)).0, ["a/2 x", "b x", "b z", "c/\0 x"]);
    assert_eq!(list(after("a/1", Some("x"))).0, ["a/1 y", "a/2 x", "b x", "b z", "c/\0 x"]);
    assert_eq!(list(after("a/1", Some("z"))).0, ["a/2 x", "b x", "b z", "c/\0 x"]);
    assert_eq!(store.uploads_before(4, 100).expect("the index is read").len(), 0);
    assert_eq!(store.uploads_before(5, 100).expect("the index is read").len(), 6);
    assert_eq!(store.uploads_before(5, 2).expect("the index is read").len(), 2);
}
