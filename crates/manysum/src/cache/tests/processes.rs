//! Processes that share a cache, and are killed.

use super::{HASTE, file, found, open, place, store};
use crate::cache::Cache;
use crate::cache::systems::FileSystems;
use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// What the child is told: the path of the cache, and the first and the last number of its files.
const PATH: &str = "MANYHASH_TEST_CACHE";
const FILES: &str = "MANYHASH_TEST_CACHE_FILES";

/// Starts this test program with nothing but the test [`child`].
fn start(path: &Path, first: u64, last: u64) -> Child {
    let mut command = Command::new(env::current_exe().expect("the test program"));
    command.args(["--ignored", "--exact", "cache::tests::processes::child"]);
    command.env(PATH, path).env(FILES, format!("{first} {last}")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// Stores files in steps, and looks each step up after a while.
#[test]
#[ignore = "started by the other tests"]
fn child() {
    let Some(path) = env::var_os(PATH) else { return };
    let files = env::var(FILES).expect("numbers");
    let (first, last) = files.split_once(' ').expect("two numbers");
    let (first, last): (u64, u64) = (first.parse().expect("a number"), last.parse().expect("a number"));
    let cache = Cache::with(path.as_ref(), HASTE, FileSystems::new(false)).expect("it opens");
    for number in first..last {
        cache.remember(&file(number), &super::FUNCTIONS, &super::digests(&file(number)));
        if number % 50 == 0 {
            sleep(Duration::from_micros(500));
            found(&cache, first..last.min(first + 500));
        }
    }
    cache.finish().expect("it is stored");
}

#[track_caller]
fn wait(mut child: Child) {
    let status = child.wait().expect("it ends");
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert!(status.success(), "{said}");
}

#[test]
fn processes_share_a_cache() {
    let (_directory, path) = place();
    // None of them finds it there.
    let children = [0, 2000, 4000].map(|first| start(&path, first, first + 2000));
    children.into_iter().for_each(wait);
    assert_eq!(found(&open(&path), 0..6000), 6000);
}

#[test]
fn killed_processes_leave_what_they_committed() {
    let (_directory, path) = place();
    let (mut before, mut kills) = (0, 0);
    let mut survivor: Option<Cache> = None;
    for round in 0..110 {
        // At any moment: of its start, of making the cache, and between and in commits.
        let mut child = start(&path, 1000 * (round % 20), u64::MAX);
        sleep(Duration::from_micros(1500 + round * 7919 % 25_000));
        child.kill().expect("it is there to be killed");
        let status = child.wait().expect("it ends");
        kills += u64::from(status.code().is_none());
        // Sometimes one that goes on is there all the time.
        if round % 10 == 0 {
            survivor = survivor.is_none().then(|| open(&path));
        }
        if let Some(survivor) = &survivor {
            store(survivor, 50_000 + round * 10..50_010 + round * 10);
            assert!(found(survivor, 0..60_000) >= before);
        }
        let now = found(&open(&path), 0..60_000);
        assert!(now >= before, "round {round}: {now} of {before} are there");
        before = now;
    }
    survivor.map_or(Ok(()), Cache::finish).expect("it is stored");
    assert!(kills >= 100 && before > 1000, "{kills} kills, {before} files");
    let last = open(&path);
    store(&last, 0..10);
    last.finish().expect("it can still be written");
}
