//! Names: what is missing and extra, in which order, and what is asked for no more.

use super::*;
use std::collections::BTreeSet;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

fn summary(outcomes: &[Outcome]) -> Vec<(&str, &'static str)> {
    let word = |state: &State| match state {
        State::Same(_) => "same",
        State::Differs(_) => "differs",
        State::Missing => "missing",
        State::Extra => "extra",
        State::Unverified(_) => "unverified",
    };
    outcomes.iter().map(|outcome| (std::str::from_utf8(&outcome.name).expect("UTF-8"), word(&outcome.state))).collect()
}

const NAMES: [&str; 9] = ["a/b", "a.txt", "a0", "a/b.c/d", "a/b/c", "z", "é/1", "\u{10000}", "\u{ffff}"];

#[test]
fn names_in_the_order_of_keys() {
    let directory = tempfile::tempdir().expect("a directory");
    let objects = NAMES.iter().filter(|name| **name != "a/b").map(|name| {
        write(directory.path(), name, name.as_bytes());
        (*name, Object::new(name.as_bytes()))
    });
    // Pages of one, too.
    for page in [1, 2, 1000] {
        let memory = Arc::new(Memory::new(objects.clone()).with(|quirks| quirks.page = page));
        let sides = [Side::Tree(directory.path().to_owned()), bucket(&memory)];
        let all = outcomes(sides, Settings { at_once: NonZeroUsize::new(2).expect("not 0"), ..Settings::default() });
        let due = ["a.txt", "a/b.c/d", "a/b/c", "a0", "z", "é/1", "\u{ffff}", "\u{10000}"];
        assert_eq!(summary(&all), due.map(|name| (name, "same")));
        assert_eq!(memory.lists.load(Ordering::SeqCst), 8_u64.div_ceil(page as u64));
    }
}

#[test]
fn missing_extra_and_what_stands_for_directories() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["both", "d/only", "e/deep/er"] {
        write(directory.path(), name, b"1");
    }
    fs::create_dir(directory.path().join("empty")).expect("a directory");
    let tree = || Side::Tree(directory.path().to_owned());
    let memory = Arc::new(Memory::new([
        ("p/", Object::new(b"")),
        ("p/both", Object::new(b"1")),
        ("p/d/", Object::new(b"")),
        ("p/f/extra", Object::new(b"1")),
        ("p/g/", Object::new(b"not a directory")),
        ("q", Object::new(b"1")),
    ]));
    let below = || Side::Bucket { remote: memory.clone(), prefix: "p/".to_owned() };
    let due =
        [("both", "same"), ("d/only", "missing"), ("e/deep/er", "missing"), ("f/extra", "extra"), ("g/", "extra")];
    assert_eq!(summary(&outcomes([tree(), below()], Settings::default())), due);
    let turned = due.map(|(name, word)| match word {
        "missing" => (name, "extra"),
        "extra" => (name, "missing"),
        word => (name, word),
    });
    assert_eq!(summary(&outcomes([below(), tree()], Settings::default())), turned);
    // Between buckets they are objects like others.
    let other = Arc::new(Memory::new([("both", Object::new(b"1")), ("d/", Object::new(b""))]));
    let all = outcomes([below(), bucket(&other)], Settings::default());
    assert_eq!(summary(&all)[..3], [("", "missing"), ("both", "same"), ("d/", "same")]);
}

#[test]
#[cfg(unix)]
fn names_that_are_no_keys_are_missing() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().expect("a directory");
    let name = std::ffi::OsStr::from_bytes(b"\xff");
    fs::write(directory.path().join(name), "1").expect("a file");
    let memory = Arc::new(Memory::new([]));
    let all = outcomes([Side::Tree(directory.path().to_owned()), bucket(&memory)], Settings::default());
    assert_eq!(all[0].name, b"\xff");
    assert!(matches!(all[0].state, State::Missing));
}

#[test]
fn what_is_not_sorted_is_an_error() {
    let entry = |name: &str| Ok(Entry::listed(name, Some(0)));
    let none = || Side::List(Box::new([].into_iter()));
    for names in [["b", "a"], ["a", "a"]] {
        let (_, error) = run([Side::List(Box::new(names.map(entry).into_iter())), none()], Settings::default());
        assert!(matches!(error, Some(SideError::Order { .. })), "{error:?}");
    }
    let memory = Memory::new([("a", Object::new(b"1")), ("b", Object::new(b"2"))]);
    memory.is_reversed.store(true, Ordering::SeqCst);
    let (_, error) = run([bucket(&Arc::new(memory)), none()], Settings::default());
    assert!(matches!(error, Some(SideError::Order { .. })), "{error:?}");
    // Directory buckets have no order, and their tags say nothing.
    let mut memory = Memory::new([("a", Object::new(b"1")), ("b", Object::new(b"2"))]);
    memory.name = "bucket--use1-az4--x-s3".to_owned();
    memory.is_reversed.store(true, Ordering::SeqCst);
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), "a", b"1");
    write(directory.path(), "b", b"2");
    let all = outcomes([Side::Tree(directory.path().to_owned()), bucket(&Arc::new(memory))], Settings::default());
    assert_eq!(summary(&all), [("a", "unverified"), ("b", "unverified")]);
    assert!(all.iter().all(|one| matches!(one.state, State::Unverified(Unverified::Encrypted))), "{all:?}");
}

#[test]
fn sides_that_cannot_be_read() {
    let memory = Arc::new(Memory::new([("a", Object::new(b"1"))]));
    let (_, error) = run([Side::Tree("no such directory".into()), bucket(&memory)], Settings::default());
    assert!(matches!(&error, Some(SideError::Read(error)) if error.kind() == io::ErrorKind::NotFound), "{error:?}");
    let (directory, _) = tree(b"1");
    let file = directory.path().join("x");
    let (_, error) = run([Side::Tree(file), bucket(&memory)], Settings::default());
    assert!(
        matches!(&error, Some(SideError::Read(error)) if error.kind() == io::ErrorKind::NotADirectory),
        "{error:?}"
    );
    let broken = [Ok(Entry::listed("a", Some(1))), Err(io::Error::other("broken"))];
    let (all, error) = run([Side::List(Box::new(broken.into_iter())), bucket(&memory)], Settings::default());
    assert!(matches!(error, Some(SideError::Read(_))), "{all:?} {error:?}");
    let memory = Arc::new(Memory::new([("a", Object::new(b"1"))]));
    *memory.fails.lock().expect("not poisoned") = Some((0, RemoteErrorKind::Denied));
    let none = Side::List(Box::new([].into_iter()));
    let (all, error) = run([none, bucket(&memory)], Settings::default());
    assert!(matches!(error, Some(SideError::Remote(_))) && all.is_empty(), "{error:?}");
}

/// A directory that cannot be read says nothing of what is in it.
#[test]
fn what_is_behind_an_unreadable_directory_is_unverified() {
    let (item, below, beside) = (
        side::Item::Unreadable(b"d/".to_vec(), io::ErrorKind::PermissionDenied.into()),
        Object::new(b"1"),
        Object::new(b"1"),
    );
    let memory = Arc::new(Memory::new([("d/x", below), ("d0", beside)]));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut merge = Merge::new([Side::List(Box::new([].into_iter())), bucket(&memory)]);
    merge.heads[0] = Some(item);
    let mut states = Vec::new();
    while let Some(pair) = runtime.block_on(merge.next()).expect("no error") {
        let Pair::Clear(outcome) = pair else { panic!("one side only") };
        states.push(outcome);
    }
    assert_eq!(summary(&states), [("d/", "unverified"), ("d/x", "unverified"), ("d0", "extra")]);
}

#[test]
fn what_is_remembered_is_not_asked_for_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let bytes = bytes(10_000);
    for name in ["a", "b"] {
        write(directory.path(), name, &bytes);
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        let file = fs::File::options().write(true).open(directory.path().join(name)).expect("a file");
        file.set_modified(old).expect("a time");
    }
    // The time of the last change of what the system knows cannot be set.
    std::thread::sleep(std::time::Duration::from_millis(3100));
    let memory = Arc::new(Memory::new(["a", "b"].map(|name| (name, Object::new(&bytes).every(3000)))));
    let known: Arc<Mutex<BTreeSet<[u8; 16]>>> = Arc::default();
    let compare = || {
        let known = known.clone();
        let remembered: Remembered = Box::new(move |stamp| known.lock().expect("not poisoned").contains(&stamp.0));
        let settings = Settings { remembered: Some(remembered), ..Settings::default() };
        outcomes([Side::Tree(directory.path().to_owned()), bucket(&memory)], settings)
    };
    let all = compare();
    assert_eq!((summary(&all), memory.asked()[1]), (vec![("a", "same"), ("b", "same")], 2));
    known.lock().expect("not poisoned").extend(all.iter().map(|one| one.stamp.expect("a stamp").0));
    let all = compare();
    assert_eq!((summary(&all), memory.asked()[1]), (vec![("a", "same"), ("b", "same")], 2));
    assert!(all.iter().all(|one| matches!(one.state, State::Same(Check::Remembered))));
    // What changed is looked at again, and a file of this moment has no stamp.
    write(directory.path(), "a", &flipped(&bytes, 5));
    memory.objects.lock().expect("not poisoned").insert("b".to_owned(), Object::new(&flipped(&bytes, 7)).every(3000));
    let all = compare();
    assert_eq!(summary(&all), [("a", "differs"), ("b", "differs")]);
    assert!(all[0].stamp.is_none() && all[1].stamp.is_some());
}

#[test]
fn an_estimate_asks_for_lists_only() {
    let directory = tempfile::tempdir().expect("a directory");
    let bytes = bytes(10_000);
    for name in ["md5", "parts", "sha256", "size", "empty"] {
        write(directory.path(), name, if name == "empty" { b"" } else { &bytes });
    }
    let memory = Arc::new(Memory::new([
        ("md5", Object::new(&bytes)),
        ("parts", Object::new(&bytes).every(3000)),
        ("sha256", Object::new(&bytes).every(3000).checksum(ChecksumAlgorithm::Sha256, ChecksumType::Composite)),
        ("size", Object::new(&bytes[1..])),
        ("empty", Object::new(b"")),
        ("extra", Object::new(b"1")),
    ]));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let sides = [Side::Tree(directory.path().to_owned()), bucket(&memory)];
    let found = runtime.block_on(estimate(sides, Settings::default())).expect("an estimate");
    let due = Estimate {
        pairs: 5,
        alone: 1,
        lists: 1,
        heads: 1,
        attributes: 1,
        files: 3,
        file_bytes: 30_000,
        free: 2,
        ..Estimate::default()
    };
    assert_eq!(found, due);
    assert_eq!(memory.asked(), [0; 4]);
}
