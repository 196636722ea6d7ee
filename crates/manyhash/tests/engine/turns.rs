//! Callers who loop share lanes, let others of their thread go first, and hold up nobody, whatever they do with what the
//! engine gave them.

use crate::engines::{assert_idle, expected, noise};
use manyhash::Algorithm::{self, Md5, Sha256};
use manyhash::KernelCost;
use manyhash::engine::{Engine, JobError};
use std::cell::Cell;
use std::future::Future;
use std::mem::forget;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

fn engine(memory: usize) -> Engine {
    Engine::builder().threads(NonZeroUsize::new(2)).memory(memory).build().expect("threads can be made")
}

/// Bytes that many messages share.
#[derive(Clone)]
struct Shared(Arc<Vec<u8>>);

impl Shared {
    fn noise(length: usize, seed: usize) -> Self {
        Shared(Arc::new(noise(length, seed)))
    }
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Looks once, and says whether it is done.
fn look(future: impl Future) -> bool {
    pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// Where full lanes of MD5 save most of the time, callers who loop get into them without having to yield.
#[test]
fn callers_who_loop_share_lanes() {
    let plan = manyhash::plan(Md5);
    let each = |kernel: &KernelCost| kernel.row / kernel.lanes as u32;
    let alone = plan.kernels.iter().filter(|kernel| kernel.lanes == 1).map(each).min().expect("there is one");
    let least = plan.kernels.iter().map(each).min().expect("there are some");
    if least * 3 > alone {
        println!("not on this backend: {plan:?}");
        return;
    }
    let occupancy = |engine: &Engine| engine.stats().algorithms[0].occupancy;
    let message = Shared::noise(64 << 10, 1);
    let due = expected(Md5, &message.0);

    let tasks = engine(256 << 20);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("threads can be made");
    runtime.block_on(async {
        let looping = (0..64).map(|_| {
            let (engine, message) = (tasks.clone(), message.clone());
            tokio::spawn(async move {
                for _ in 0..40 {
                    assert_eq!(engine.digest(Md5, message.clone()).await, Ok(due));
                }
            })
        });
        for task in looping.collect::<Vec<_>>() {
            task.await.expect("its assertions hold");
        }
    });
    assert!(occupancy(&tasks) > 0.3, "{:?}", tasks.stats());
    assert_idle(&tasks);

    let streams = engine(256 << 20);
    runtime.block_on(async {
        let looping = (0..64).map(|_| {
            let (engine, message) = (streams.clone(), message.clone());
            tokio::spawn(async move {
                for _ in 0..40 {
                    let mut stream = engine.stream(Md5);
                    stream.write(message.clone()).await.expect("it is accepted");
                    assert_eq!(stream.finish().await, Ok(due));
                }
            })
        });
        for task in looping.collect::<Vec<_>>() {
            task.await.expect("its assertions hold");
        }
    });
    assert!(occupancy(&streams) > 0.3, "{:?}", streams.stats());
    assert_idle(&streams);

    let threads = engine(256 << 20);
    thread::scope(|scope| {
        for _ in 0..48 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(threads.digest(Md5, message.clone()).wait(), Ok(due));
                }
            });
        }
    });
    assert!(occupancy(&threads) > 0.2, "{:?}", threads.stats());
    assert_idle(&threads);
}

/// A task whose futures need never wait lets others of its thread go first all the same.
#[tokio::test(flavor = "current_thread")]
async fn a_task_that_loops_lets_others_go_first() {
    for length in [300, 10_000, 64 << 10] {
        let engine = engine(256 << 20);
        let message = Shared::noise(length, 2);
        let turns = Cell::new(0);
        let is_over = Cell::new(false);
        let hash = async {
            let mut hashed = 0;
            while hashed < 40 << 20 {
                engine.digest(Md5, message.clone()).await.expect("it is hashed");
                let mut stream = engine.stream(Sha256);
                stream.write(message.clone()).await.expect("it is accepted");
                stream.finish().await.expect("it is hashed");
                hashed += length;
            }
            is_over.set(true);
        };
        let other = async {
            while !is_over.get() {
                turns.set(turns.get() + 1);
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(hash, other);
        // Some 50 ms of hashing.
        assert!(turns.get() > 40, "{} turns beside messages of {length} bytes", turns.get());
    }
}

/// The scenes of the next tests, whatever may be held: nobody else waits for it for ever.
fn others_go_on(engine: &Engine) {
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                for length in [3_000, 30_000, 300_000] {
                    let message = noise(length, number);
                    assert_eq!(engine.digest(Sha256, message.clone()).wait(), Ok(expected(Sha256, &message)));
                    let mut stream = engine.stream(Md5);
                    for chunk in message.chunks(20_000) {
                        stream.write(chunk.to_vec()).wait().expect("it is accepted");
                    }
                    assert_eq!(stream.finish().wait(), Ok(expected(Md5, &message)));
                }
            });
        }
    });
}

#[test]
fn very_many_streams_are_open() {
    let engine = engine(64 << 20);
    let message = Shared::noise(20_000, 3);
    let due = expected(Md5, &message.0);
    // In slots, as they are where many come at once: their writes are only looked at once.
    let mut streams: Vec<_> = (0..70_000).map(|_| engine.stream(Md5)).collect();
    for stream in &mut streams {
        let mut write = pin!(stream.write(message.clone()));
        while write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            thread::yield_now();
        }
    }
    others_go_on(&engine);
    for stream in streams.iter_mut().rev() {
        stream.write("more").wait().expect("it is accepted");
    }
    streams.truncate(1);
    let due_with_more = expected(Md5, &[&message.0[..], b"more"].concat());
    assert_eq!(streams.pop().map(|stream| stream.finish().wait()), Some(Ok(due_with_more)));
    assert_eq!(engine.digest(Md5, message).wait(), Ok(due));
    assert_idle(&engine);
}

#[test]
fn the_last_of_very_many_digests_is_fetched_first() {
    let engine = engine(64 << 20);
    let message = Shared::noise(20_000, 4);
    let due = expected(Md5, &message.0);
    let mut pending: Vec<_> = (0..70_000).map(|_| engine.digest(Md5, message.clone())).collect();
    assert_eq!(pending.pop().map(|last| last.wait()), Some(Ok(due)));
    // Digests that are done and not fetched hold up nobody.
    others_go_on(&engine);
    for pending in pending {
        assert_eq!(pending.wait(), Ok(due));
    }
    assert_idle(&engine);
}

#[test]
fn futures_and_streams_are_forgotten() {
    let engine = engine(1 << 20);
    for length in [20_000, 200_000, 600_000] {
        for _ in 0..6 {
            let mut looked_at = Box::pin(engine.digest(Md5, noise(length, 5)));
            let _ = looked_at.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            forget(looked_at);
            forget(engine.digest(Md5, noise(length, 6)));
            let mut stream = Box::new(engine.stream(Sha256));
            forget(stream.write(noise(length, 7)));
            for _ in 0..2 {
                // The room that it waits for in line is granted to it, and it does not come.
                let mut write = Box::pin(stream.write(noise(length, 8)));
                let _ = write.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                forget(write);
            }
            forget(stream);
        }
    }
    others_go_on(&engine);
}

/// One task looks at a future once, and then waits for another that stands behind it.
#[test]
fn a_future_is_held_while_another_is_waited_for() {
    let engine = engine(1 << 20);
    for round in 0..20 {
        let blocking = engine.digest(Md5, noise(1 << 20, round));
        let mut stream = engine.stream(Md5);
        let first = noise(700_000, round);
        {
            let mut write = pin!(stream.write(first.clone()));
            let mut is_written = write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
            let behind = noise(900_000, round + 1);
            assert_eq!(engine.digest(Md5, behind.clone()).wait(), Ok(expected(Md5, &behind)));
            let mut small = pin!(engine.digest(Md5, noise(30_000, round)));
            let _ = small.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            others_go_on(&engine);
            while !is_written {
                is_written = write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
                thread::yield_now();
            }
        }
        assert_eq!(stream.finish().wait(), Ok(expected(Md5, &first)));
        assert!(blocking.wait().is_ok());
    }
    assert_idle(&engine);
}

/// A buffer whose bytes can be had, after the first time, only while a gate is open.
struct Gated {
    bytes: Vec<u8>,
    gate: Arc<Mutex<()>>,
    asked: AtomicBool,
}

impl AsRef<[u8]> for Gated {
    fn as_ref(&self) -> &[u8] {
        if self.asked.swap(true, Ordering::Relaxed) {
            drop(self.gate.lock());
        }
        &self.bytes
    }
}

/// Room that was granted to a write which nobody looks at goes to those who come later, also if nothing else happens; and
/// the write has its turn when it is looked at after all.
#[test]
fn what_was_granted_and_not_fetched_goes_to_others() {
    let engine = Engine::builder().threads(NonZeroUsize::MIN).memory(600_000).build().expect("a thread can be made");
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().expect("nobody panics");
    let gated = Gated { bytes: noise(500_000, 1), gate: gate.clone(), asked: AtomicBool::new(false) };
    let mut in_hand = pin!(engine.try_digest(Md5, gated).expect("there is room"));
    let mut context = Context::from_waker(Waker::noop());
    assert!(in_hand.as_mut().poll(&mut context).is_pending());
    let (mut held, mut later) = (engine.stream(Md5), engine.stream(Md5));
    let bytes = noise(520_000, 2);
    let mut write = Box::pin(held.write(bytes.clone()));
    assert!(write.as_mut().poll(&mut context).is_pending());
    drop(closed);
    while engine.stats().memory != 520_000 {
        thread::yield_now();
    }
    // The engine's thread has come to rest.
    thread::sleep(Duration::from_millis(20));
    later.write(bytes.clone()).wait().expect("it is accepted");
    let again = thread::spawn(move || {
        later.write(noise(300_000, 3)).wait().expect("it is accepted");
        later.finish().wait()
    });
    while write.as_mut().poll(&mut context).is_pending() {
        thread::yield_now();
    }
    drop(write);
    assert_eq!(held.finish().wait(), Ok(expected(Md5, &bytes)));
    let all = [&bytes[..], &noise(300_000, 3)].concat();
    assert_eq!(again.join().expect("its assertions hold"), Ok(expected(Md5, &all)));
    assert!(look(in_hand));
}

/// A buffer whose code waits for the engine that hashes it.
struct Reentrant {
    engine: Mutex<Option<Engine>>,
    outcome: Arc<Mutex<Option<Result<manyhash::Digest, JobError>>>>,
    bytes: Vec<u8>,
    calls: Cell<usize>,
    at: usize,
}

impl AsRef<[u8]> for Reentrant {
    fn as_ref(&self) -> &[u8] {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() == self.at
            && let Some(engine) = self.engine.lock().expect("nobody panics").take()
        {
            let outcome = engine.digest(Sha256, vec![7; 10_000_000]).wait();
            *self.outcome.lock().expect("nobody panics") = Some(outcome);
        }
        &self.bytes
    }
}

#[test]
fn code_of_a_buffer_cannot_wait_for_its_own_thread() {
    let engine = Engine::builder().threads(NonZeroUsize::MIN).build().expect("a thread can be made");
    for length in [100, 30_000, 10_000_000] {
        let outcome = Arc::new(Mutex::new(None));
        let bytes = noise(length, 9);
        let buffer = Reentrant {
            engine: Mutex::new(Some(engine.clone())),
            outcome: outcome.clone(),
            bytes: bytes.clone(),
            calls: Cell::new(0),
            // A longer one's first is to learn how long it is.
            at: if length > 100 { 2 } else { 1 },
        };
        assert_eq!(engine.digest(Md5, buffer).wait(), Ok(expected(Md5, &bytes)), "{length} bytes");
        let outcome = outcome.lock().expect("nobody panics").take();
        let due = expected(Sha256, &[7; 10_000_000]);
        // Its own thread may do it, or another have begun it.
        assert!(outcome == Some(Ok(due)) || outcome == Some(Err(JobError::Reentrant)), "{outcome:?}");
    }
    assert_idle(&engine);
}

/// A hint changes no digest, and leaves nothing behind.
#[tokio::test(flavor = "current_thread")]
async fn requests_are_announced() {
    let engine = engine(1 << 20);
    let digest = async |number: usize| {
        let announced = engine.announce();
        let message = noise(50_000, number);
        tokio::task::yield_now().await;
        assert_eq!(engine.digest(Md5, message.clone()).await, Ok(expected(Md5, &message)));
        drop(announced);
    };
    tokio::join!(digest(1), digest(2), digest(3), digest(4), digest(5), digest(6), digest(7), digest(8));
    forget(engine.announce());
    others_go_on(&engine);
    assert_idle(&engine);
    assert_eq!(engine.digest(Algorithm::Sha512, "not held up").await, Ok(expected(Algorithm::Sha512, b"not held up")));
}
