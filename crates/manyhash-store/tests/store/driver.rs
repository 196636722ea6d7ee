//! Random changes on a disk in memory, and what must be true of them after a crash.

use crate::sim::Sim;
use crate::support::{
    BUCKET, Random, abort_upload, bytes, complete, copy_change, create_bucket, create_upload, delete_change, etag,
    put_content, read_object, sha256, small,
};
use bytes::Bytes;
use manyhash_store::{
    Body, Change, CommitError, Condition, Content, Entry, ListQuery, OpenError, Store, StoreOptions, UploadEntry,
    UploadQuery,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How many different contents there are: some are put twice.
const CONTENTS: usize = 12;

/// How many keys there are: some are put twice, too.
const KEYS: usize = 10;

/// A store on a disk in memory, and what it was asked to do.
pub(crate) struct Driver {
    pub(crate) sim: Sim,
    pub(crate) store: Option<Store>,
    random: Random,
    pub(crate) history: History,
    uploads: usize,
}

/// What was asked of a store.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    asked: Vec<Asked>,
}

#[derive(Clone, Debug)]
struct Asked {
    key: String,
    /// What the key has then: nothing, if it is deleted.
    content: Option<Vec<u8>>,
    is_acknowledged: bool,
}

/// What a key may have.
type Allowed = BTreeMap<String, BTreeSet<Option<Vec<u8>>>>;

/// Options for tiny segments and directories.
pub(crate) fn options(sim: &Sim) -> StoreOptions {
    StoreOptions::default().disk(Arc::new(sim.clone())).cache(1 << 20).limits(6000, 5)
}

pub(crate) fn open(sim: &Sim) -> Result<Store, OpenError> {
    Store::open("/store", options(sim))
}

impl History {
    /// The mark that a change was handed over, or answered.
    fn handed_over(at: usize) -> usize {
        2 * at
    }

    fn acknowledged(at: usize) -> usize {
        2 * at + 1
    }

    /// What keys may have, if the changes were handed over and acknowledged for which this says so.
    fn allowed(&self, is_handed_over: impl Fn(usize) -> bool, is_acknowledged: impl Fn(usize) -> bool) -> Allowed {
        let mut allowed = Allowed::new();
        for (at, asked) in self.asked.iter().enumerate().filter(|(at, _)| is_handed_over(*at)) {
            let of_key = allowed.entry(asked.key.clone()).or_insert_with(|| BTreeSet::from([None]));
            if is_acknowledged(at) {
                of_key.clear();
            }
            of_key.insert(asked.content.clone());
        }
        allowed
    }

    /// What keys may have now.
    pub(crate) fn allowed_now(&self) -> Allowed {
        self.allowed(|_| true, |at| self.asked[at].is_acknowledged)
    }

    /// What keys may have after a power failure, given the marks that were set before.
    pub(crate) fn allowed_at(&self, marks: &BTreeSet<usize>) -> Allowed {
        self.allowed(|at| marks.contains(&Self::handed_over(at)), |at| marks.contains(&Self::acknowledged(at)))
    }
}

impl Driver {
    /// A new store, if it can be created.
    pub(crate) fn new(sim: Sim, seed: u64) -> Self {
        let store = open(&sim).ok();
        if let Some(store) = &store {
            let _ = store.commit_blocking(create_bucket(BUCKET));
        }
        Driver { sim, store, random: Random::new(seed), history: History::default(), uploads: 0 }
    }

    /// Asks for some changes at the same time, again and again.
    pub(crate) fn run(&mut self, waves: usize) {
        for _ in 0..waves {
            match self.random.below(12) {
                0 => self.multipart(),
                1 => self.reopen(),
                _ => self.wave(),
            }
        }
    }

    /// Closes the store and opens it again. If that fails, it is tried again the next time.
    pub(crate) fn reopen(&mut self) {
        if let Some(store) = self.store.take() {
            store.close();
        }
        self.store = open(&self.sim).ok();
    }

    fn key(&mut self) -> String {
        let key = self.random.below(KEYS);
        format!("{}{key}", ["a/", "b/", ""][key % 3])
    }

    fn content(&mut self) -> Vec<u8> {
        let seed = self.random.below(CONTENTS);
        bytes(seed as u64, seed * seed * 12)
    }

    /// A body in memory or in a file, if the disk can have it.
    fn body(&mut self, store: &Store, bytes: &[u8]) -> Option<Content> {
        if self.random.below(3) > 0 {
            return Some(small(bytes));
        }
        let mut file = store.create_file().ok()?;
        file.append(&[Bytes::copy_from_slice(bytes)]).ok()?;
        if self.random.below(2) == 0 {
            file.sync().ok()?;
        }
        Some(Content { sha256: sha256(bytes), length: bytes.len() as u64, body: Body::File(file) })
    }

    fn change(&mut self, store: &Store, key: &str) -> Option<(Change, Option<Vec<u8>>)> {
        match self.random.below(8) {
            0 | 1 => Some((delete_change(key), None)),
            2 => {
                let from = self.key();
                let source = store.object(BUCKET, &from).ok()??;
                let content = read_object(store, &source).ok()?;
                Some((copy_change(source, key, etag(&content)), Some(content)))
            }
            3 => {
                let content = self.content();
                let pin = store.pin(&sha256(&content)).ok()??;
                let kept = Content { sha256: sha256(&content), length: pin.length(), body: Body::Kept(pin) };
                Some((put_content(key, kept, etag(&content), Condition::default()), Some(content)))
            }
            _ => {
                let content = self.content();
                let body = self.body(store, &content)?;
                Some((put_content(key, body, etag(&content), Condition::default()), Some(content)))
            }
        }
    }

    fn wave(&mut self) {
        let Some(store) = self.store.clone() else {
            return self.reopen();
        };
        let mut commits = Vec::new();
        for _ in 0..=self.random.below(4) {
            let key = self.key();
            if let Some((change, content)) = self.change(&store, &key) {
                commits.push((self.ask(&key, content), store.commit(change)));
            }
        }
        for (at, commit) in commits {
            let answer = commit.wait();
            self.answer(at, answer.map(drop));
        }
    }

    fn multipart(&mut self) {
        let Some(store) = self.store.clone() else {
            return self.reopen();
        };
        self.uploads += 1;
        let (key, id) = (self.key(), format!("upload {}", self.uploads));
        if store.commit_blocking(create_upload(&key, &id)).is_err() {
            return;
        }
        let (mut parts, mut whole) = (Vec::new(), Vec::new());
        for number in 1..=3 {
            let bytes = self.content();
            let Some(content) = self.body(&store, &bytes) else {
                return;
            };
            let (bucket, upload) = (BUCKET.to_owned(), id.clone());
            let (etag, attributes) = (etag(&bytes), Vec::new());
            let part =
                Change::PutPart { bucket, key: key.clone(), upload, number, content, modified: 0, etag, attributes };
            let Ok(committed) = store.commit_blocking(part) else {
                return;
            };
            if number != 2 {
                parts.push((number, committed.part.expect("a part has an id")));
                whole.extend(bytes);
            }
        }
        if self.random.below(4) == 0 {
            let _ = store.commit_blocking(abort_upload(&key, &id));
            return;
        }
        let at = self.ask(&key, Some(whole.clone()));
        let answer = store.commit_blocking(complete(&key, &id, parts, etag(&whole)));
        self.answer(at, answer.map(drop));
    }

    fn ask(&mut self, key: &str, content: Option<Vec<u8>>) -> usize {
        let at = self.history.asked.len();
        self.history.asked.push(Asked { key: key.to_owned(), content, is_acknowledged: false });
        self.sim.mark(History::handed_over(at));
        at
    }

    fn answer(&mut self, at: usize, answer: Result<(), CommitError>) {
        match answer {
            Ok(()) => {
                self.sim.mark(History::acknowledged(at));
                self.history.asked[at].is_acknowledged = true;
            }
            // A source may be overwritten by another change of the wave. It is as if nobody had asked.
            Err(CommitError::SourceGone) => self.history.asked[at].content = self.unchanged(at),
            Err(_) => {}
        }
    }

    /// What a key had before a change, if that is known.
    fn unchanged(&self, at: usize) -> Option<Vec<u8>> {
        let key = &self.history.asked[at].key;
        let before = self.history.asked[..at].iter().rev().find(|asked| asked.key == *key && asked.is_acknowledged);
        before.and_then(|asked| asked.content.clone())
    }
}

/// Whether what is in a store is what may be there, all of it right.
pub(crate) fn verify(store: &Store, allowed: &Allowed) {
    let listing = store.list(BUCKET, &ListQuery { max: 1000, ..ListQuery::default() }).expect("the store lists");
    let mut found = BTreeMap::new();
    for entry in listing.entries {
        let Entry::Object { key, object } = entry else { panic!("there is no delimiter") };
        let content = read_object(store, &object).unwrap_or_else(|error| panic!("{key} is read: {error}"));
        assert_eq!(object.etag, etag(&content), "the content of {key} belongs to it");
        found.insert(key, content);
    }
    for key in found.keys() {
        assert!(allowed.contains_key(key), "nobody has put {key}");
    }
    for (key, contents) in allowed {
        let found = found.get(key).cloned();
        let lengths: Vec<_> = contents.iter().map(|content| content.as_ref().map(Vec::len)).collect();
        assert!(contents.contains(&found), "{key} has {:?} bytes, not {lengths:?}", found.as_ref().map(Vec::len));
    }
}

/// Deletes everything through the store, and looks whether anything is left.
///
/// A disk on which unlinking has failed may have names left, which a check finds.
pub(crate) fn verify_nothing_leaks(store: Store, sim: &Sim, is_sound: bool) {
    let query = ListQuery { max: 1000, ..ListQuery::default() };
    for entry in store.list(BUCKET, &query).expect("the store lists").entries {
        store.commit_blocking(delete_change(entry.name())).expect("an object is deleted");
    }
    let query = UploadQuery { max: 1000, ..UploadQuery::default() };
    for entry in store.uploads(BUCKET, &query).expect("the store lists").entries {
        let UploadEntry::Upload(upload) = entry else { panic!("there is no delimiter") };
        store.commit_blocking(abort_upload(&upload.key, &upload.id)).expect("an upload is aborted");
    }
    // So that everything was counted since the store was opened.
    store.commit_blocking(put_content("last", small(b"last"), String::new(), Condition::default())).expect("it is put");
    store.commit_blocking(delete_change("last")).expect("it is deleted");
    let stats = store.stats();
    assert_eq!((stats.objects, stats.uploads, stats.blobs, stats.bytes), (0, 0, 0, 0), "nothing is counted");
    assert_eq!(stats.segment_live_bytes, 0, "nothing lives in the segments");
    store.close();
    if is_sound {
        assert_eq!(sim.files_under("/store/blobs"), Vec::<std::path::PathBuf>::new(), "no file is left");
    }
}

/// Opens a store after a crash, and looks at everything.
pub(crate) fn verify_after_crash(sim: &Sim, allowed: &Allowed, is_sound: bool) {
    let store = open(sim).expect("the store is opened after a crash");
    // A crash before the bucket was there.
    if store.bucket(BUCKET).expect("the index is read").is_none() {
        assert!(allowed.values().all(|contents| contents.contains(&None)), "the bucket is gone");
        store.commit_blocking(create_bucket(BUCKET)).expect("the bucket is created");
    }
    verify(&store, allowed);
    store.commit_blocking(put_content("new", small(b"new"), etag(b"new"), Condition::default())).expect("it is put");
    let mut allowed = allowed.clone();
    allowed.insert("new".to_owned(), BTreeSet::from([Some(b"new".to_vec())]));
    store.close();
    let store = open(sim).expect("the store is opened again");
    verify(&store, &allowed);
    verify_nothing_leaks(store, sim, is_sound);
}

/// Waits until the writer has nothing to do but to wait.
pub(crate) fn settle() {
    std::thread::sleep(Duration::from_millis(150));
}
