//! The engine knows no runtime: its futures are the same in tokio, in smol and on plain threads.

use crate::engines::{assert_idle, expected, noise};
use manyhash::Algorithm::{self, Md5, Sha256};
use manyhash::engine::{Engine, JobError, SlotState};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

fn engine() -> Engine {
    Engine::builder().threads(NonZeroUsize::new(2)).memory(1 << 20).build().expect("threads can be made")
}

/// What a task does: messages long and short, alone and at once, and a stream.
async fn work(engine: Engine, number: usize) {
    let messages: Vec<Vec<u8>> = [0, 100, 5000, 300_000].map(|length| noise(length + number, number)).into();
    let [empty, short, medium, long] = &messages[..] else { panic!("there are four") };
    let (first, second) = (engine.digest(Md5, long.clone()), engine.digest([Sha256, Md5], medium.clone()));
    assert_eq!(engine.digest(Sha256, short.clone()).await, Ok(expected(Sha256, short)));
    assert_eq!(engine.digest(Md5, empty.clone()).await, Ok(expected(Md5, empty)));
    let due = messages.iter().map(|message| expected(Md5, message)).collect();
    assert_eq!(engine.digest_many(Md5, messages.clone()).await, Ok(due));
    let mut stream = engine.stream(Sha256);
    for chunk in long.chunks(70_000) {
        stream.write(chunk.to_vec()).await.expect("it is accepted");
    }
    assert_eq!(stream.finish().await, Ok(expected(Sha256, long)));
    assert_eq!(second.await, Ok([Sha256, Md5].map(|algorithm| expected(algorithm, medium))));
    assert_eq!(first.await, Ok(expected(Md5, long)));
}

const TASKS: usize = 40;

async fn on_tokio(engine: &Engine) {
    let tasks: Vec<_> = (0..TASKS).map(|number| tokio::spawn(work(engine.clone(), number))).collect();
    for task in tasks {
        task.await.expect("its assertions hold");
    }
    assert_idle(engine);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn tokio_with_threads() {
    on_tokio(&engine()).await;
}

#[tokio::test(flavor = "current_thread")]
async fn tokio_on_one_thread() {
    on_tokio(&engine()).await;
}

#[test]
fn smol_tasks() {
    let engine = engine();
    smol::block_on(async {
        let tasks: Vec<_> = (0..TASKS).map(|number| smol::spawn(work(engine.clone(), number))).collect();
        for task in tasks {
            task.await;
        }
    });
    assert_idle(&engine);
}

#[test]
fn plain_threads() {
    let engine = engine();
    thread::scope(|scope| {
        for number in 0..8 {
            let engine = &engine;
            scope.spawn(move || {
                let message = noise(200_000, number);
                let pending: Vec<_> = Algorithm::ALL
                    .iter()
                    .map(|algorithm| (algorithm, engine.digest(*algorithm, message.clone())))
                    .collect();
                for (algorithm, pending) in pending {
                    assert_eq!(pending.wait(), Ok(expected(*algorithm, &message)));
                }
            });
        }
    });
    assert_idle(&engine);
}

/// All at once: a runtime of each kind and a thread share an engine.
#[test]
fn all_kinds_share_an_engine() {
    let engine = engine();
    thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it can be made");
            runtime.block_on(on_behalf(&engine));
        });
        scope.spawn(|| smol::block_on(on_behalf(&engine)));
        scope.spawn(|| {
            for number in 0..TASKS {
                let message = noise(1000 * number, number);
                assert_eq!(engine.digest(Md5, message.clone()).wait(), Ok(expected(Md5, &message)));
            }
        });
    });
    assert_idle(&engine);
}

async fn on_behalf(engine: &Engine) {
    for number in 0..TASKS / 4 {
        work(engine.clone(), number).await;
    }
}

/// A buffer that its thread waits for, until a gate is opened, each time but the first.
struct Waiting {
    bytes: Vec<u8>,
    open: Arc<AtomicBool>,
    asked: AtomicBool,
}

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        while self.asked.swap(true, Ordering::Relaxed) && !self.open.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        &self.bytes
    }
}

const SOON: Duration = Duration::from_millis(5);

/// While the engine's threads are stuck, futures in every place time out: in line for memory, with a slot, and in hand.
#[tokio::test(flavor = "current_thread")]
async fn what_times_out_leaves_nothing_behind() {
    let engine = Engine::builder().threads(NonZeroUsize::MIN).memory(3 << 20).build().expect("threads can be made");
    let open = Arc::new(AtomicBool::new(false));
    let bytes = noise(2 << 20, 1);
    let waiting = Waiting { bytes: bytes.clone(), open: open.clone(), asked: false.into() };
    let in_hand = engine.digest(Md5, waiting);
    while engine.stats().slots(SlotState::Hashing) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut stream = engine.stream(Md5);
    tokio::time::timeout(SOON, stream.write(vec![1; 700_000])).await.expect("there is room").expect("it is accepted");

    tokio::time::timeout(SOON, in_hand).await.expect_err("its thread is stuck");
    // There is room for this one: the bytes in hand are given up, but not freed.
    let with_slot = engine.digest([Md5, Sha256], noise(300_000, 2));
    tokio::time::timeout(SOON, with_slot).await.expect_err("nobody takes it");
    let in_line = engine.digest(Sha256, noise(1 << 20, 3));
    tokio::select! {
        biased;
        _ = in_line => panic!("there was no room"),
        () = tokio::time::sleep(SOON) => {}
    }
    // Behind with its first chunk, then in line with a second stream's.
    tokio::time::timeout(SOON, stream.write(vec![2; 100_000])).await.expect_err("hashing is behind");
    let mut other = engine.stream([Md5, Sha256]);
    tokio::time::timeout(SOON, other.write(bytes.clone())).await.expect_err("there is no room");

    let finished = stream.finish();
    open.store(true, Ordering::Relaxed);
    assert_eq!(finished.await, Ok(expected(Md5, &vec![1; 700_000])));
    other.write(bytes.clone()).await.expect("what was given up is not written");
    assert_eq!(other.finish().await, Ok([Md5, Sha256].map(|algorithm| expected(algorithm, &bytes))));
    assert_idle(&engine);
}

/// Tasks that are aborted while they wait, wherever that is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborted_tasks_leave_nothing_behind() {
    let engine = engine();
    for round in 0..20 {
        let tasks: Vec<_> = (0..TASKS).map(|number| tokio::spawn(work(engine.clone(), number))).collect();
        tokio::time::sleep(Duration::from_micros(100 * round)).await;
        tasks.iter().for_each(|task| task.abort());
        for task in tasks {
            if let Err(error) = task.await {
                assert!(error.is_cancelled());
            }
        }
    }
    assert_idle(&engine);
    let finished = engine.stream(Md5).finish();
    drop(engine);
    assert!(matches!(finished.await, Ok(_) | Err(JobError::Closed)));
}
