//! What the tests share.

use bytes::Bytes;
use manyhash::{Algorithm, digest};
use manyhash_store::{Body, Change, Committed, Condition, Content, Object, ReadError, SMALL, Store, StoreOptions};
use std::time::{Duration, Instant};

pub(crate) const BUCKET: &str = "bucket";

/// The SHA-256 of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(Algorithm::Sha256, bytes).as_bytes().try_into().expect("a SHA-256 has 32 bytes")
}

/// What a test gives as the ETag of content, so that it can tell whether the two belong together.
pub(crate) fn etag(bytes: &[u8]) -> String {
    digest(Algorithm::Md5, bytes).to_hex()
}

/// Content in memory, in two pieces.
pub(crate) fn small(bytes: &[u8]) -> Content {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let slices = [first, second].map(Bytes::copy_from_slice);
    Content { sha256: sha256(bytes), length: bytes.len() as u64, body: Body::Small(slices.into()) }
}

/// Content in a file.
pub(crate) fn file(store: &Store, bytes: &[u8]) -> std::io::Result<Content> {
    let mut file = store.create_file()?;
    for piece in bytes.chunks(bytes.len() / 3 + 1) {
        file.append(&[Bytes::copy_from_slice(piece)])?;
    }
    file.sync()?;
    Ok(Content { sha256: sha256(bytes), length: bytes.len() as u64, body: Body::File(file) })
}

/// Content as a server would have it.
pub(crate) fn content(store: &Store, bytes: &[u8]) -> Content {
    if bytes.len() <= SMALL { small(bytes) } else { file(store, bytes).expect("a file is written") }
}

pub(crate) fn create_bucket(name: &str) -> Change {
    Change::CreateBucket { name: name.to_owned(), created: 1, attributes: vec![1] }
}

pub(crate) fn put_content(key: &str, content: Content, etag: String, condition: Condition) -> Change {
    let (bucket, key) = (BUCKET.to_owned(), key.to_owned());
    Change::Put { bucket, key, content, modified: 2, etag, attributes: vec![2], condition }
}

pub(crate) fn put_change(store: &Store, key: &str, bytes: &[u8]) -> Change {
    put_content(key, content(store, bytes), etag(bytes), Condition::default())
}

pub(crate) fn put(store: &Store, key: &str, bytes: &[u8]) -> Committed {
    store.commit_blocking(put_change(store, key, bytes)).expect("an object is put")
}

pub(crate) fn delete_change(key: &str) -> Change {
    Change::Delete { bucket: BUCKET.to_owned(), key: key.to_owned(), condition: Condition::default() }
}

pub(crate) fn delete(store: &Store, key: &str) -> bool {
    store.commit_blocking(delete_change(key)).expect("an object is deleted").existed
}

pub(crate) fn copy_change(source: Object, key: &str, etag: String) -> Change {
    let (bucket, key, condition) = (BUCKET.to_owned(), key.to_owned(), Condition::default());
    Change::Copy { bucket, key, source, modified: 3, etag, attributes: vec![3], condition }
}

pub(crate) fn create_upload(key: &str, id: &str) -> Change {
    let (bucket, key, id) = (BUCKET.to_owned(), key.to_owned(), id.to_owned());
    Change::CreateUpload { bucket, key, id, started: 4, attributes: vec![4] }
}

pub(crate) fn put_part(store: &Store, key: &str, id: &str, number: u16, bytes: &[u8]) -> Change {
    Change::PutPart {
        bucket: BUCKET.to_owned(),
        key: key.to_owned(),
        upload: id.to_owned(),
        number,
        content: content(store, bytes),
        modified: 5,
        etag: etag(bytes),
        attributes: vec![5],
    }
}

pub(crate) fn complete(key: &str, id: &str, parts: Vec<(u16, u64)>, etag: String) -> Change {
    Change::Complete {
        bucket: BUCKET.to_owned(),
        key: key.to_owned(),
        upload: id.to_owned(),
        parts,
        modified: 6,
        etag,
        attributes: vec![6],
        condition: Condition::default(),
    }
}

pub(crate) fn abort_upload(key: &str, id: &str) -> Change {
    Change::AbortUpload { bucket: BUCKET.to_owned(), key: key.to_owned(), id: id.to_owned() }
}

/// The whole content of an object.
pub(crate) fn read_object(store: &Store, object: &Object) -> Result<Vec<u8>, ReadError> {
    let mut reader = store.read(&object.extents, 0..object.length())?;
    let mut bytes = Vec::new();
    while let Some(piece) = reader.read(1000)? {
        bytes.extend_from_slice(&piece);
    }
    assert_eq!(reader.remaining(), 0);
    Ok(bytes)
}

/// The whole content of what has a key.
pub(crate) fn get(store: &Store, key: &str) -> Option<Vec<u8>> {
    let object = store.object(BUCKET, key).expect("the index is read")?;
    Some(read_object(store, &object).expect("an object is read"))
}

/// A store in a new directory, with a bucket.
pub(crate) fn new_store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().expect("there is a directory");
    let store = Store::open(directory.path(), StoreOptions::default()).expect("a store is created");
    store.commit_blocking(create_bucket(BUCKET)).expect("a bucket is created");
    (directory, store)
}

pub(crate) fn reopen(directory: &std::path::Path, store: Store) -> Store {
    store.close();
    Store::open(directory, StoreOptions::default()).expect("the store is opened again")
}

/// Bytes that differ by their seed, of a length.
pub(crate) fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..length.div_ceil(8)).flat_map(|_| random.next().to_le_bytes()).take(length).collect()
}

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// When a test that could go on for long ends: `MANYHASH_SLOW` seconds from now, or so many if that is not set.
pub(crate) fn deadline(seconds: u64) -> Instant {
    let slow = std::env::var("MANYHASH_SLOW").ok().and_then(|value| value.parse().ok());
    Instant::now() + Duration::from_secs(slow.unwrap_or(seconds))
}

/// Waits for something that the writer does when it has nothing else to do.
pub(crate) fn wait_until(mut is_done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_done() {
        assert!(Instant::now() < deadline, "it is not done after 30 seconds");
        std::thread::sleep(Duration::from_millis(5));
    }
}
