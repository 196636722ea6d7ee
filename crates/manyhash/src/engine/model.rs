//! The engine under a model checker, which runs every test under thousands of orders of events and reports a panic,
//! and threads that wait forever, with the order that led there (`shuttle::replay` repeats it).
//!
//! scripts/test.sh runs it. What the algorithms cost is made up, so that the tests choose who hashes a message: the
//! thread that waits for it, as it is with messages as short as these, or the engine's threads. The shortest are hashed
//! at once.

use super::costs::Costs;
use super::inner::Inner;
use super::slots::{SlotState, Slots};
use super::stream::HashStream;
use super::sync::Arc;
use super::work::discard;
use super::{Engine, JobError};
use crate::Algorithm::{self, Md5, Sha256};
use crate::Digest;
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, MaxSteps, Runner};
use std::future::Future;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

/// Orders of events that each scheduler tries in each test.
const ORDERS: usize = 10_000;

/// Runs a test under many orders of events: random ones, and some that change between threads at few places only, which
/// find what takes one thread to be very slow.
fn check(test: fn()) {
    let mut config = Config::new();
    // The kernels keep whole rows of blocks on the stack.
    config.stack_size = 512 << 10;
    config.max_steps = MaxSteps::FailAfter(50_000);
    Runner::new(RandomScheduler::new(ORDERS), config.clone()).run(test);
    for changes in [1, 3] {
        Runner::new(PctScheduler::new(changes, ORDERS), config.clone()).run(test);
    }
}

/// Who hashes: seconds that a byte seems to cost.
const CALLERS: f64 = 1e-15;
const ENGINE: f64 = 1e-5;
/// Messages of about a hundred bytes are the caller's if there are few of his kind, and the engine's otherwise.
const EITHER: f64 = 5e-7;
const ALL: [f64; 3] = [CALLERS, ENGINE, EITHER];

const BOTH: [Algorithm; 2] = [Md5, Sha256];

fn engine(threads: usize, memory: usize, seconds: f64) -> Engine {
    let engine =
        Engine::builder().threads(NonZeroUsize::new(threads)).memory(memory).build().expect("the checker has threads");
    engine.handle.0.with(|inner, _, _| {
        for algorithms in [&[Md5][..], &[Sha256], &BOTH] {
            let costs = (10..14).map(|tenths| seconds * f64::from(tenths) / 10.0).collect();
            inner.make_order(algorithms, Costs::new(costs));
        }
    });
    engine
}

/// An engine of any kind.
fn any_engine() -> Engine {
    let mut random = thread_rng();
    let memory = [1, 100, 1000, usize::MAX][random.gen_range(0..4)];
    engine(random.gen_range(1..4), memory, ALL[random.gen_range(0..ALL.len())])
}

/// Waits until nothing is left behind: no slot in use, no memory held, all threads asleep; and all memory can be had.
fn assert_idle(engine: &Engine) {
    let shared = &engine.handle.0;
    while !shared.with(|inner, _, _| (inner.sleeping, inner.called) == (shared.threads, 0)) {
        thread::yield_now();
    }
    shared.with(|inner, _, _| assert_empty(inner));
    let all = message(engine.stats().memory_bound.min(5000) as usize);
    assert_eq!(engine.digest(Md5, all.clone()).wait(), Ok(due(Md5, &all)));
}

fn assert_empty(inner: &Inner) {
    let used: Vec<usize> = SlotState::ALL[1..].iter().map(|state| inner.slots.count(*state)).collect();
    assert_eq!((used, inner.gate.held()), (vec![0; 4], 0));
    let callers: usize = inner.pools.iter().map(|pool| pool.callers()).sum();
    assert_eq!((callers, inner.schedule.is_waiting()), (0, false));
    assert_eq!((inner.urgent, inner.left, inner.waiting.len()), (0, 0, 0));
    assert!(!inner.gate.is_waited_for());
}

fn message(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + length) as u8).collect()
}

fn due(algorithm: Algorithm, message: &[u8]) -> Digest {
    crate::digest(algorithm, message)
}

fn both_due(message: &[u8]) -> [Digest; 2] {
    BOTH.map(|algorithm| due(algorithm, message))
}

/// Polls it once, and leaves it with the only waker of a task that used the engine: whether it is done.
fn look(engine: &Engine, future: &mut (impl Future + Unpin)) -> bool {
    let waker = Waker::from(Arc::new(Task(engine.clone())));
    Pin::new(future).poll(&mut Context::from_waker(&waker)).is_ready()
}

/// A task whose life ends when nothing would wake it any more.
struct Task(Engine);

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Task {
    fn drop(&mut self) {
        use_engine(&self.0);
    }
}

/// As code of callers may that the engine calls, which never holds its lock then.
fn use_engine(engine: &Engine) {
    if catch_unwind(AssertUnwindSafe(|| engine.stats())).is_err() {
        // The checker has found the lock taken by this thread, and the engine would take that for the caller's panic.
        std::process::abort();
    }
}

fn spawn(engine: &Engine, code: impl FnOnce(Engine) + Send + 'static) -> JoinHandle<()> {
    let engine = engine.clone();
    thread::spawn(move || code(engine))
}

fn join(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("its assertions hold");
    }
}

#[test]
fn callers_on_several_threads() {
    check(|| {
        let engine = any_engine();
        let threads = (0..3).map(|thread| {
            spawn(&engine, move |engine| {
                let messages = [0, 7, 90, 200].map(|length| message(length + thread));
                let [first, second, ..] = &messages;
                let single = engine.digest(Sha256, first.clone());
                let both = engine.digest(BOTH, second.clone());
                let many = engine.digest_many(Md5, messages.to_vec());
                assert_eq!(single.wait(), Ok(due(Sha256, first)));
                assert_eq!(both.wait(), Ok(both_due(second)));
                assert_eq!(many.wait(), Ok(messages.iter().map(|message| due(Md5, message)).collect()));
            })
        });
        join(threads.collect());
        assert_idle(&engine);
    });
}

#[test]
fn long_messages_are_hashed_in_slices() {
    check(|| {
        let engine = engine(2, 100_000, ENGINE);
        let threads = [13_000, 5000, 300].map(|length| {
            spawn(&engine, move |engine| {
                let message = message(length);
                let pending = engine.digest(Md5, message.clone());
                let mut stream = engine.stream(Md5);
                // Some of it may come while a thread has the first slice of the rest in hand.
                let (first, rest) = message.split_at(length / 2);
                for chunk in [first, &rest[..rest.len() / 7], &rest[rest.len() / 7..]] {
                    stream.write(chunk.to_vec()).wait().expect("it is accepted");
                }
                assert_eq!(stream.finish().wait(), Ok(due(Md5, &message)));
                assert_eq!(pending.wait(), Ok(due(Md5, &message)));
            })
        });
        join(threads.into());
        assert_idle(&engine);
    });
}

#[test]
fn streams_wait_for_the_engine_to_come_after() {
    check(|| {
        let engine = any_engine();
        let threads = (1..4).map(|thread| {
            spawn(&engine, move |engine| {
                let message = message(7000 * thread);
                let mut stream = engine.stream(Md5);
                for chunk in message.chunks(3000) {
                    stream.write(chunk.to_vec()).wait().expect("it is accepted");
                }
                assert_eq!(stream.finish().wait(), Ok(due(Md5, &message)));
            })
        });
        join(threads.collect());
        assert_idle(&engine);
    });
}

/// Whoever waits in line gets room, even if it is held by messages that nobody asks about before.
#[test]
fn memory_held_by_what_nobody_waits_for_becomes_free() {
    check(|| {
        let engine = engine(thread_rng().gen_range(1..3), 100, ALL[thread_rng().gen_range(0..ALL.len())]);
        let other = thread_rng().r#gen::<bool>().then(|| {
            spawn(&engine, |engine| {
                let pending = engine.digest(Md5, message(60));
                assert_eq!(engine.digest(Md5, message(80)).wait(), Ok(due(Md5, &message(80))));
                assert_eq!(pending.wait(), Ok(due(Md5, &message(60))));
            })
        });
        let first = engine.digest(Sha256, message(90));
        if thread_rng().r#gen() {
            let second = engine.digest(Sha256, message(95));
            assert_eq!(second.wait(), Ok(due(Sha256, &message(95))));
        } else {
            let mut stream = engine.stream(Md5);
            stream.write(message(99)).wait().expect("it is accepted");
            assert_eq!(stream.finish().wait(), Ok(due(Md5, &message(99))));
        }
        assert_eq!(first.wait(), Ok(due(Sha256, &message(90))));
        join(other.into_iter().collect());
        assert_idle(&engine);
    });
}

/// As long as somebody tries, the engine makes room, even if nobody asks about what is in it.
#[test]
fn a_message_that_is_given_back_finds_room_later() {
    check(|| {
        let engine = engine(2, 100, ALL[thread_rng().gen_range(0..ALL.len())]);
        let first = engine.digest(Md5, message(90));
        let mut second = engine.try_digest(Md5, message(50));
        while let Err(full) = second {
            thread::yield_now();
            second = engine.try_digest(Md5, full.buffer);
        }
        assert_eq!(second.expect("it was let in").wait(), Ok(due(Md5, &message(50))));
        assert_eq!(first.wait(), Ok(due(Md5, &message(90))));
        assert_idle(&engine);
    });
}

/// Who comes when all slots are in use is told; the others go on.
#[test]
fn slots_run_out() {
    check(|| {
        let engine = any_engine();
        engine.handle.0.with(|inner, _, _| inner.slots = Slots::new(2));
        let threads = (0..4).map(|thread| {
            spawn(&engine, move |engine| {
                let pending = engine.digest(Md5, message(100 + thread));
                let outcome = pending.wait();
                assert!(outcome == Ok(due(Md5, &message(100 + thread))) || outcome == Err(JobError::TooMany));
                let mut stream = engine.stream(Md5);
                let outcome = stream.write(message(150)).wait();
                assert!(outcome == Ok(()) || outcome == Err(JobError::TooMany));
                assert_eq!(stream.finish().wait(), outcome.map(|()| due(Md5, &message(150))));
            })
        });
        join(threads.collect());
        assert_eq!(engine.handle.0.with(|inner, _, _| inner.slots.count(SlotState::Free)), 2);
        assert_idle(&engine);
    });
}

/// Tasks of several runtimes, each with one thread, that take turns: who leads comes back late, or never.
#[test]
fn tasks_take_turns() {
    check(|| {
        let engine = any_engine();
        let threads = (0..3).map(|thread| {
            spawn(&engine, move |engine| {
                let digest = async |length: usize| {
                    for length in [length, length / 2] {
                        assert_eq!(engine.digest(Md5, message(length)).await, Ok(due(Md5, &message(length))));
                    }
                };
                let stream = async |length: usize| {
                    let mut stream = engine.stream(Md5);
                    for chunk in message(length).chunks(90) {
                        stream.write(chunk.to_vec()).await.expect("it is accepted");
                    }
                    assert_eq!(stream.finish().await, Ok(due(Md5, &message(length))));
                };
                let mut held = engine.digest(Md5, message(120));
                let is_done = thread == 0 && look(&engine, &mut held);
                shuttle::future::block_on(async {
                    all([Box::pin(digest(100 + thread)) as Pending<'_>, Box::pin(stream(250)), Box::pin(digest(190))])
                        .await;
                });
                if !is_done {
                    assert_eq!(held.wait(), Ok(due(Md5, &message(120))));
                }
            })
        });
        join(threads.collect());
        assert_idle(&engine);
    });
}

/// Tasks whose streams have no room take turns too, and what one of them leaves in a stream that it gives up for a while
/// is hashed all the same.
#[test]
fn tasks_without_room_take_turns() {
    check(|| {
        let engine = any_engine();
        let threads = (0..2).map(|thread| {
            spawn(&engine, move |engine| {
                let stream = async |length: usize, is_given_up: bool| {
                    let mut stream = engine.stream(Md5);
                    let message = message(length);
                    for chunk in message.chunks(5000) {
                        let is_accepted = is_given_up && {
                            let mut write = pin!(stream.write(chunk.to_vec()));
                            write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
                        };
                        if !is_accepted {
                            stream.write(chunk.to_vec()).await.expect("it is accepted");
                        }
                    }
                    assert_eq!(stream.finish().await, Ok(due(Md5, &message)));
                };
                shuttle::future::block_on(async {
                    let given_up = thread == 0;
                    all([Box::pin(stream(14_000, false)) as Pending<'_>, Box::pin(stream(12_000 + thread, given_up))])
                        .await;
                });
            })
        });
        join(threads.collect());
        assert_idle(&engine);
    });
}

type Pending<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Looks at all that are not done, again and again.
async fn all<const N: usize>(futures: [Pending<'_>; N]) {
    let mut futures: Vec<_> = futures.into();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[test]
fn futures_are_dropped_at_any_moment() {
    check(|| {
        let engine = any_engine();
        let mut threads: Vec<_> = (0..2)
            .map(|_| {
                spawn(&engine, |engine| {
                    for length in [90, 0, 300] {
                        let mut pending = engine.digest(Md5, message(length));
                        let mut many = engine.digest_many(Md5, vec![message(length); 2]);
                        if thread_rng().r#gen() {
                            look(&engine, &mut pending);
                            if thread_rng().r#gen() {
                                look(&engine, &mut pending);
                            }
                        }
                        thread::yield_now();
                        if thread_rng().r#gen() {
                            look(&engine, &mut many);
                        }
                    }
                })
            })
            .collect();
        threads.push(spawn(&engine, |engine| {
            let mut stream = engine.stream(Md5);
            for _ in 0..3 {
                let mut write = stream.write(message(150));
                if thread_rng().r#gen() {
                    look(&engine, &mut write);
                }
                thread::yield_now();
            }
        }));
        threads.push(spawn(&engine, |engine| {
            assert_eq!(engine.digest(Md5, message(99)).wait(), Ok(due(Md5, &message(99))));
        }));
        join(threads);
        assert_idle(&engine);
    });
}

/// A write that is given up before it is accepted wrote nothing, and the message goes on.
#[test]
fn writes_are_given_up_at_any_moment() {
    check(|| {
        let engine = any_engine();
        let threads = (0..3).map(|_| {
            spawn(&engine, |engine| {
                let mut stream = engine.stream(Md5);
                let mut written = Vec::new();
                for length in [120, 130, 140] {
                    let mut write = pin!(stream.write(message(length)));
                    let mut accepted = write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
                    if !accepted {
                        thread::yield_now();
                        accepted = write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
                    }
                    if accepted {
                        written.extend(message(length));
                    }
                }
                assert_eq!(stream.finish().wait(), Ok(due(Md5, &written)));
            })
        });
        join(threads.collect());
        assert_idle(&engine);
    });
}

/// That threads end which nobody needs any more, the checker sees to: none may be left waiting.
#[test]
fn the_engine_is_dropped_at_any_moment() {
    check(|| {
        let engine = any_engine();
        let shared = engine.handle.0.clone();
        let streams = [300, 20].map(|length| {
            let mut stream = engine.stream(Md5);
            thread::spawn(move || {
                let message = message(length);
                let written: Result<(), JobError> =
                    message.chunks(90).try_for_each(|chunk| stream.write(chunk.to_vec()).wait());
                let due = written.map(|()| due(Md5, &message));
                let outcome = stream.finish().wait();
                assert!(outcome == due || outcome == Err(JobError::Closed), "{outcome:?} instead of {due:?}");
            })
        });
        let pending = [80, 0, 90].map(|length| (length, engine.digest(BOTH, message(length))));
        let mut threads = Vec::from(streams);
        for (length, pending) in pending {
            threads.push(thread::spawn(move || {
                let outcome = pending.wait();
                let due = Ok(both_due(&message(length)));
                assert!(outcome == due || outcome == Err(JobError::Closed), "{outcome:?} instead of {due:?}");
            }));
        }
        drop(engine);
        join(threads);
        while Arc::strong_count(&shared) > 1 {
            thread::yield_now();
        }
        shared.with(|inner, _, _| assert_empty(inner));
    });
}

/// What callers have in hand when the engine is dropped, and what they leave of it, is finished.
#[test]
fn the_engine_is_dropped_while_callers_take_turns() {
    check(|| {
        let engine = engine(thread_rng().gen_range(1..3), usize::MAX, EITHER);
        // The first is longer than a slice, and than what is left to callers.
        let pending = [9000, 300, 350, 400, 450].map(|length| (length, engine.digest(Md5, message(length))));
        let threads = pending
            .map(|(length, pending)| thread::spawn(move || assert_eq!(pending.wait(), Ok(due(Md5, &message(length))))));
        thread::yield_now();
        drop(engine);
        join(threads.into());
    });
}

/// A buffer that at one of the calls of its code does not behave, and uses the engine in all of them: none of them is
/// made under the engine's lock.
struct Odd {
    engine: Engine,
    bytes: Vec<u8>,
    calls: AtomicUsize,
    /// Where it says another length than before.
    changes: usize,
    panics: usize,
    panics_when_dropped: bool,
}

impl Odd {
    fn new(engine: &Engine) -> Self {
        let mut random = thread_rng();
        let (calls, bytes) = (AtomicUsize::new(0), message([0, 30, 190][random.gen_range(0..3)]));
        let (changes, panics) = (random.gen_range(0..4), random.gen_range(0..4));
        Odd { engine: engine.clone(), bytes, calls, changes, panics, panics_when_dropped: random.r#gen() }
    }
}

impl AsRef<[u8]> for Odd {
    fn as_ref(&self) -> &[u8] {
        use_engine(&self.engine);
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if call == self.panics {
            // Without the message that a panic is announced with.
            resume_unwind(Box::new("a buffer's own panic"));
        }
        if call == self.changes { b"a length that no other has" } else { &self.bytes }
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        use_engine(&self.engine);
        if self.panics_when_dropped {
            resume_unwind(Box::new("a buffer's own panic"));
        }
    }
}

#[test]
fn buffers_that_misbehave_fail_alone() {
    check(|| {
        let engine = any_engine();
        let odd = (0..2).map(|_| {
            spawn(&engine, |engine| {
                let pending = engine.digest(Md5, Odd::new(&engine));
                let tried = engine.try_digest(Md5, Odd::new(&engine)).map(drop);
                let many = engine.digest_many(Md5, vec![Odd::new(&engine), Odd::new(&engine)]);
                let mut stream: HashStream<Algorithm> = engine.stream(Md5);
                let written = stream.write(Odd::new(&engine)).wait();
                let written = written.and_then(|()| stream.write(Odd::new(&engine)).wait());
                if let Err(full) = tried {
                    discard(full.buffer);
                }
                let _ = (pending.wait(), many.wait());
                let finished = stream.finish().wait();
                assert!(written.is_ok() || finished.is_err());
            })
        });
        let mut threads: Vec<_> = odd.collect();
        threads.push(spawn(&engine, |engine| {
            for length in [100, 5000] {
                assert_eq!(engine.digest(Md5, message(length)).wait(), Ok(due(Md5, &message(length))));
            }
        }));
        join(threads);
        assert_idle(&engine);
    });
}
