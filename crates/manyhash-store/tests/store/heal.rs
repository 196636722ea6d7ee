//! The index is opened again after the disk has failed, and others read meanwhile.

use crate::sim::{Fault, FaultKind, Sim};
use crate::support::{BUCKET, create_bucket, get, put_change, wait_until};
use manyhash_store::disk::{Access, Disk, DiskFile};
use manyhash_store::{ReadError, Store, StoreOptions};
use std::any::Any;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A disk that, once, opens the index no sooner than it is told to.
#[derive(Debug)]
struct Slow {
    sim: Sim,
    gate: Mutex<Option<Gate>>,
}

/// Who comes to it says so, and waits.
#[derive(Debug)]
struct Gate {
    reached: Sender<Event>,
    opens: Receiver<()>,
}

#[derive(Debug)]
enum Event {
    Reached,
    Answered,
}

impl Disk for Slow {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let is_index = path.file_name().is_some_and(|name| name == "index.redb");
        let gate =
            if is_index && access == Access::Write { self.gate.lock().expect("it is sound").take() } else { None };
        if let Some(Gate { reached, opens }) = gate {
            reached.send(Event::Reached).expect("the test waits");
            // If the test has failed, it opens too.
            let _ = opens.recv();
        }
        self.sim.open(path, access)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.sim.create_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.sim.sync_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.sim.list(path)
    }

    fn create_unnamed(&self, directory: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.sim.create_unnamed(directory)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.sim.unlink(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.sim.rename(from, to)
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        self.sim.free_space(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>> {
        self.sim.lock(path)
    }
}

/// Puts an object while the disk fails at a call. If the index is opened again, looks at what readers are told
/// meanwhile.
fn is_reopened(call: usize) -> bool {
    let sim = Sim::new();
    let disk = Arc::new(Slow { sim: sim.clone(), gate: Mutex::default() });
    let store = Store::open("/store", StoreOptions::default().disk(disk.clone())).expect("a store is created");
    store.commit_blocking(create_bucket(BUCKET)).expect("a bucket is created");

    let ((events, event), (open, opens)) = (channel(), channel());
    *disk.gate.lock().expect("it is sound") = Some(Gate { reached: events.clone(), opens });
    sim.fail(Some(Fault { call, kind: FaultKind::Broken }));
    let commit = store.commit(put_change(&store, "key", b"content"));
    let answer = thread::spawn(move || {
        let answer = commit.wait();
        // If the gate was reached, the test has what it wants.
        let _ = events.send(Event::Answered);
        answer
    });
    if let Ok(Event::Answered) = event.recv() {
        return false;
    }
    let (told, answers) = channel();
    let reader = store.clone();
    thread::spawn(move || told.send(reader.bucket(BUCKET)));
    let answer_to_reader = answers.recv_timeout(Duration::from_secs(20));
    drop(open);
    assert!(matches!(answer_to_reader, Ok(Err(ReadError::Reopening))), "{answer_to_reader:?}");
    let is_put = answer.join().expect("it is answered").is_ok();
    wait_until(|| store.bucket(BUCKET).is_ok_and(|bucket| bucket.is_some()));
    assert_eq!(get(&store, "key").is_some(), is_put);
    true
}

#[test]
fn readers_do_not_wait_for_an_index_that_is_opened_again() {
    let reopened = (0..40).filter(|call| is_reopened(*call)).count();
    assert!(reopened > 1, "{reopened}");
}
