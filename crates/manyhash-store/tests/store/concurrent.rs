//! Many callers at once.

use crate::support::{
    BUCKET, Random, bytes, delete_change, etag, get, new_store, put_change, put_content, sha256, small,
};
use manyhash_store::{Body, Commit, CommitError, Condition, Content, ReadError, SMALL, Store};
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

#[test]
fn many_callers_form_batches() {
    let (_directory, store) = new_store();
    let (threads, each) = (16, 50);
    thread::scope(|scope| {
        for thread in 0..threads {
            let store = &store;
            scope.spawn(move || {
                for n in 0..each {
                    let body = bytes(thread * 1000 + n, 100);
                    let change = put_change(store, &format!("{thread} {n}"), &body);
                    store.commit_blocking(change).expect("it is put");
                }
            });
        }
    });
    let stats = store.stats();
    assert_eq!(stats.changes, threads * each + 1);
    assert!(stats.batches < stats.changes, "{stats:?}");
    assert_eq!(stats.batch_sizes.iter().sum::<u64>(), stats.batches);
    for thread in 0..threads {
        for n in 0..each {
            assert_eq!(get(&store, &format!("{thread} {n}")), Some(bytes(thread * 1000 + n, 100)));
        }
    }
}

#[test]
fn one_of_many_finds_the_key_free() {
    let (_directory, store) = new_store();
    for round in 0..10 {
        let (key, barrier, winners) = (format!("{round}"), Barrier::new(64), AtomicUsize::new(0));
        thread::scope(|scope| {
            for caller in 0..64 {
                let (store, key, barrier, winners) = (&store, &key, &barrier, &winners);
                scope.spawn(move || {
                    let body = bytes(caller, 200);
                    let absent = Condition { absent: true, ..Condition::default() };
                    let change = put_content(key, small(&body), etag(&body), absent);
                    barrier.wait();
                    match store.commit_blocking(change) {
                        Ok(_) => {
                            winners.fetch_add(1, Ordering::Relaxed);
                            assert_eq!(get(store, key), Some(body));
                        }
                        Err(error) => assert!(matches!(error, CommitError::PreconditionFailed), "{error}"),
                    }
                });
            }
        });
        assert_eq!(winners.into_inner(), 1);
    }
}

#[test]
fn changes_are_made_in_the_order_of_the_calls() {
    let (_directory, store) = new_store();
    let commits: Vec<Commit> = (0u64..500).map(|n| store.commit(put_change(&store, "key", &n.to_le_bytes()))).collect();
    for commit in commits {
        commit.wait().expect("it is put");
    }
    assert_eq!(get(&store, "key").as_deref(), Some(&499u64.to_le_bytes()[..]));
}

#[test]
fn commits_are_futures() {
    let (_directory, store) = new_store();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("there is a runtime");
    runtime.block_on(async {
        let tasks: Vec<_> = (0..100)
            .map(|n| {
                let store = store.clone();
                tokio::spawn(async move { store.commit(put_change(&store, &n.to_string(), &bytes(n, 10))).await })
            })
            .collect();
        for task in tasks {
            task.await.expect("it ends").expect("it is put");
        }
    });
    assert_eq!(store.stats().objects, 100);
}

#[test]
fn readers_see_whole_objects_while_they_are_replaced() {
    let (_directory, store) = new_store();
    let (is_over, seen) = (AtomicBool::new(false), AtomicUsize::new(0));
    let contents: Vec<Vec<u8>> =
        (0..6).map(|seed| bytes(seed, if seed % 2 == 0 { 3000 } else { SMALL + 3000 })).collect();
    let known: BTreeSet<&[u8]> = contents.iter().map(Vec::as_slice).collect();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let Some(object) = store.object(BUCKET, "key").expect("the index is read") else { continue };
                    let mut found = Vec::new();
                    match store.read(&object.extents, 0..object.length()) {
                        Ok(mut reader) => {
                            while let Some(piece) = reader.read(10_000).expect("it is read") {
                                found.extend_from_slice(&piece);
                            }
                        }
                        // It was replaced in between.
                        Err(ReadError::Gone) => continue,
                        Err(error) => panic!("{error}"),
                    }
                    assert!(known.contains(&*found));
                    assert_eq!(object.etag, etag(&found));
                    seen.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for n in 0..200 {
            store.commit_blocking(put_change(&store, "key", &contents[n % 6])).expect("it is put");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(seen.into_inner() > 0);
    assert_eq!(store.stats().blobs, 1);
}

#[test]
fn what_is_pinned_can_be_kept_whatever_is_deleted() {
    let (directory, store) = new_store();
    let bodies = [bytes(1, 500), bytes(2, SMALL + 500)];
    let digests = bodies.each_ref().map(|body| sha256(body));
    let (is_over, kept) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for thread in 0..4 {
            let (store, bodies, digests, is_over, kept) = (&store, &bodies, &digests, &is_over, &kept);
            scope.spawn(move || {
                let key = format!("kept {thread}");
                let mut random = Random::new(thread);
                while !is_over.load(Ordering::Relaxed) {
                    let which = random.below(2);
                    let Some(pin) = store.pin(&digests[which]).expect("the index is read") else { continue };
                    let extent = *pin.extent();
                    let mut reader = store.read(&[extent], 0..extent.length).expect("what is pinned is there");
                    assert!(reader.read(1 << 20).expect("it is read").is_some());
                    let content = Content { sha256: digests[which], length: extent.length, body: Body::Kept(pin) };
                    let change = put_content(&key, content, etag(&bodies[which]), Condition::default());
                    store.commit_blocking(change).expect("what is pinned is kept");
                    assert_eq!(get(store, &key).as_ref(), Some(&bodies[which]));
                    store.commit_blocking(delete_change(&key)).expect("it is deleted");
                    kept.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for n in 0..150 {
            store.commit_blocking(put_change(&store, "key", &bodies[n % 2])).expect("it is put");
            store.commit_blocking(delete_change("key")).expect("it is deleted");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(kept.into_inner() > 0);
    assert_eq!(store.stats().blobs, 0);
    store.close();
    assert!(Store::check(directory.path(), false, |_| {}).expect("it is checked").is_clean());
}
