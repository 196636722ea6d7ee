//! Listings.

use crate::support::{BUCKET, create_bucket, new_store, put};
use manyhash_store::{Entry, ListQuery, Listing, Store};

fn names(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(Entry::name).collect()
}

fn list(store: &Store, prefix: &str, delimiter: &str, after: &str, max: usize) -> Listing {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let query = ListQuery { prefix: prefix.to_owned(), delimiter: some(delimiter), after: some(after), max };
    store.list(BUCKET, &query).expect("the index is read")
}

fn with(keys: &[&str]) -> (tempfile::TempDir, Store) {
    let (directory, store) = new_store();
    for name in ["a", "bucket.", "z"] {
        store.commit_blocking(create_bucket(name)).expect("a bucket is created");
    }
    for key in keys {
        put(&store, key, key.as_bytes());
    }
    (directory, store)
}

#[test]
fn keys_are_in_the_order_of_their_bytes() {
    let (_directory, store) = with(&["b", "a", "B", "é", "a/b", "a b", "a\0b", "\u{10ffff}", "\u{e000}", "~", "aa"]);
    let listing = list(&store, "", "", "", 100);
    assert_eq!(names(&listing), ["B", "a", "a\0b", "a b", "a/b", "aa", "b", "~", "é", "\u{e000}", "\u{10ffff}"]);
    assert_eq!(listing.next, None);
    let Some(Entry::Object { object, .. }) = listing.entries.first() else { panic!("it is an object") };
    assert_eq!((object.length(), object.modified), (1, 2));
    assert_eq!(
        store.list("none", &ListQuery { max: 10, ..ListQuery::default() }).expect("it lists"),
        Listing::default()
    );
}

#[test]
fn pages_follow_one_another() {
    let keys = ["a", "b/1", "b/2", "c", "d/e/1", "d/e/2", "d/f", "e"];
    let (_directory, store) = with(&keys);
    for (prefix, delimiter, expected) in [
        ("", "", &keys[..]),
        ("", "/", &["a", "b/", "c", "d/", "e"]),
        ("d/", "/", &["d/e/", "d/f"]),
        ("b", "/", &["b/"]),
        ("d/e", "/", &["d/e/"]),
        ("d/e/", "/", &["d/e/1", "d/e/2"]),
        ("x", "/", &[]),
        ("", "/e", &["a", "b/1", "b/2", "c", "d/e", "d/f", "e"]),
    ] {
        for max in 1..10 {
            let (mut found, mut after) = (Vec::new(), String::new());
            loop {
                let listing = list(&store, prefix, delimiter, &after, max);
                assert!(listing.entries.len() <= max);
                found.extend(names(&listing).into_iter().map(str::to_owned));
                match listing.next {
                    Some(next) => {
                        assert_eq!(Some(&next), found.last());
                        after = next;
                    }
                    None => break,
                }
            }
            assert_eq!(found, expected, "{prefix:?} {delimiter:?} {max}");
        }
    }
    assert_eq!(list(&store, "", "", "", 0), Listing::default());
    // The last page is full, and there is no other.
    assert_eq!(list(&store, "", "", "", keys.len()).next, None);
    assert_eq!(list(&store, "", "", "", keys.len() - 1).next.as_deref(), Some("d/f"));
}

#[test]
fn what_comes_after_a_name_is_listed() {
    let (_directory, store) = with(&["a", "b/1", "b/2", "c"]);
    for (after, expected) in [
        ("a", &["b/", "c"][..]),
        ("a0", &["b/", "c"]),
        ("b", &["b/", "c"]),
        // A common prefix that comes before the name is not listed, even if there are keys in it that come after.
        ("b/", &["c"]),
        ("b/1", &["c"]),
        ("b/9", &["c"]),
        ("b0", &["c"]),
        ("c", &[]),
    ] {
        assert_eq!(names(&list(&store, "", "/", after, 10)), expected, "{after}");
    }
    // A name before the prefix keeps nothing out, and one behind it everything.
    assert_eq!(names(&list(&store, "b/", "/", "a", 10)), ["b/1", "b/2"]);
    assert_eq!(names(&list(&store, "b/", "/", "c", 10)), Vec::<&str>::new());
}
