//! Random changes, beside a model that is a map.

use crate::support::{
    BUCKET, bytes, content, copy_change, create_bucket, delete_change, etag, put_content, read_object,
};
use manyhash_store::{CommitError, Condition, Entry, ListQuery, Store, StoreOptions};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};

type Model = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug)]
enum Step {
    Put { key: String, seed: u64, length: usize, condition: When },
    Delete { key: String, condition: When },
    Copy { from: String, to: String },
    List { prefix: String, delimiter: Option<String>, after: Option<String>, max: usize },
    Reopen { dedupe: bool },
}

#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    Absent,
    Present,
    Etag,
}

impl When {
    fn condition(self, seed: u64, length: usize) -> Condition {
        match self {
            When::Always => Condition::default(),
            When::Absent => Condition { absent: true, etag: None },
            When::Present => Condition { absent: false, etag: Some(vec!["*".to_owned()]) },
            When::Etag => Condition { absent: false, etag: Some(vec![etag(&bytes(seed, length))]) },
        }
    }

    fn holds(self, old: Option<&Vec<u8>>, seed: u64, length: usize) -> bool {
        match self {
            When::Always => true,
            When::Absent => old.is_none(),
            When::Present => old.is_some(),
            When::Etag => old == Some(&bytes(seed, length)),
        }
    }
}

fn key() -> impl Strategy<Value = String> {
    // Few letters, so that prefixes are shared and keys met again.
    proptest::collection::vec(select(vec!["a", "b", "/", "é", "\u{10ffff}"]), 1..5).prop_map(|letters| letters.concat())
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![6 => Just(When::Always), 1 => Just(When::Absent), 1 => Just(When::Present), 1 => Just(When::Etag)]
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![0..3usize, 100..3000usize, Just(140_000)]
}

fn step() -> impl Strategy<Value = Step> {
    let list = (
        prop_oneof![Just(String::new()), key()],
        proptest::option::of(select(vec!["/", "a", "é/", ""]).prop_map(str::to_owned)),
        proptest::option::of(key()),
        0..8usize,
    );
    prop_oneof![
        6 => (key(), 0..4u64, length(), when())
            .prop_map(|(key, seed, length, condition)| Step::Put { key, seed, length, condition }),
        3 => (key(), when()).prop_map(|(key, condition)| Step::Delete { key, condition }),
        1 => (key(), key()).prop_map(|(from, to)| Step::Copy { from, to }),
        3 => list.prop_map(|(prefix, delimiter, after, max)| Step::List { prefix, delimiter, after, max }),
        1 => any::<bool>().prop_map(|dedupe| Step::Reopen { dedupe }),
    ]
}

/// The names of a listing, by what it is said to be.
fn expected(
    model: &Model,
    prefix: &str,
    delimiter: Option<&str>,
    after: Option<&str>,
    max: usize,
) -> (Vec<String>, Option<String>) {
    let names: BTreeSet<String> = model
        .keys()
        .filter(|key| key.starts_with(prefix))
        .map(|key| {
            let rolled = delimiter.filter(|delimiter| !delimiter.is_empty()).and_then(|delimiter| {
                let at = key[prefix.len()..].find(delimiter)?;
                Some(key[..prefix.len() + at + delimiter.len()].to_owned())
            });
            rolled.unwrap_or_else(|| key.clone())
        })
        .filter(|name| after.is_none_or(|after| name.as_str() > after))
        .collect();
    let page: Vec<String> = names.iter().take(max).cloned().collect();
    let next = (max > 0 && names.len() > max).then(|| page[max - 1].clone());
    (page, next)
}

fn check_everything(store: &Store, model: &Model) {
    let listing = store.list(BUCKET, &ListQuery { max: 10_000, ..ListQuery::default() }).expect("it lists");
    let found: Model = listing
        .entries
        .into_iter()
        .map(|entry| match entry {
            Entry::Object { key, object } => {
                let content = read_object(store, &object).expect("it is read");
                assert_eq!(object.etag, etag(&content));
                (key, content)
            }
            other => panic!("there is no delimiter: {other:?}"),
        })
        .collect();
    assert!(found == *model, "{:?} is not {:?}", found.keys(), model.keys());
}

fn run(steps: Vec<Step>) {
    let directory = tempfile::tempdir().expect("there is a directory");
    let open = |dedupe: bool| {
        let options = StoreOptions::default().dedupe(dedupe).limits(10_000, 3);
        Store::open(directory.path(), options).expect("it is opened")
    };
    let (mut store, mut model) = (open(true), Model::new());
    store.commit_blocking(create_bucket(BUCKET)).expect("a bucket is created");
    for step in steps {
        match step {
            Step::Put { key, seed, length, condition } => {
                let body = bytes(seed, length);
                let change = put_content(&key, content(&store, &body), etag(&body), condition.condition(seed, length));
                let (answer, old) = (store.commit_blocking(change), model.get(&key));
                if condition.holds(old, seed, length) {
                    assert_eq!(answer.expect("the condition holds").existed, old.is_some());
                    model.insert(key, body);
                } else {
                    assert!(matches!(answer, Err(CommitError::PreconditionFailed | CommitError::NoSuchKey)));
                }
            }
            Step::Delete { key, condition } => {
                let change = match condition {
                    When::Always => delete_change(&key),
                    _ => manyhash_store::Change::Delete {
                        bucket: BUCKET.to_owned(),
                        key: key.clone(),
                        condition: condition.condition(0, 0),
                    },
                };
                let answer = store.commit_blocking(change);
                if condition.holds(model.get(&key), 0, 0) {
                    assert_eq!(answer.expect("the condition holds").existed, model.remove(&key).is_some());
                } else {
                    assert!(answer.is_err());
                }
            }
            Step::Copy { from, to } => {
                let source = store.object(BUCKET, &from).expect("the index is read");
                assert_eq!(source.is_some(), model.contains_key(&from));
                if let (Some(source), Some(content)) = (source, model.get(&from).cloned()) {
                    store.commit_blocking(copy_change(source, &to, etag(&content))).expect("it is copied");
                    model.insert(to, content);
                }
            }
            Step::List { prefix, delimiter, after, max } => {
                let expected = expected(&model, &prefix, delimiter.as_deref(), after.as_deref(), max);
                let listing = store.list(BUCKET, &ListQuery { prefix, delimiter, after, max }).expect("it lists");
                let names: Vec<String> = listing.entries.iter().map(|entry| entry.name().to_owned()).collect();
                assert_eq!((names, listing.next), expected);
            }
            Step::Reopen { dedupe } => {
                store.close();
                store = open(dedupe);
                check_everything(&store, &model);
            }
        }
    }
    check_everything(&store, &model);
    store.close();
    let report = Store::check(directory.path(), false, |_| {}).expect("it is checked");
    assert!(report.is_clean(), "{report:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn a_store_is_a_map(steps in proptest::collection::vec(step(), 1..60)) {
        run(steps);
    }
}
