//! The engine as its callers see it: digests, back-pressure, failures, and how it ends.

use crate::engines::{assert_idle, expected, noise};
use manyhash::engine::{Builder, Digesting, Engine, JobError, SlotState};
use manyhash::{Algorithm, Digest};
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

fn engine() -> Engine {
    Engine::builder().threads(NonZeroUsize::new(2)).build().expect("threads can be made")
}

#[test]
fn digests_are_right_at_all_lengths() {
    let engine = engine();
    for algorithm in Algorithm::ALL.iter().copied() {
        let messages: Vec<Vec<u8>> =
            (0..300).chain([4096, 65_535, 65_536, 1_000_001]).map(|length| noise(length, length)).collect();
        let expected: Vec<Digest> = messages.iter().map(|message| expected(algorithm, message)).collect();
        let pending: Vec<Digesting<Algorithm>> =
            messages.iter().map(|message| engine.digest(algorithm, message.clone())).collect();
        for (pending, expected) in pending.into_iter().zip(&expected) {
            assert_eq!(pending.wait().as_ref(), Ok(expected));
        }
        let packed = engine.digest_many_packed(algorithm, messages.clone()).wait().expect("they are hashed");
        assert!(packed.iter().eq(expected.iter().map(|digest| digest.as_bytes())));
        assert_eq!((packed.algorithm(), packed.len()), (algorithm, messages.len()));
        assert_eq!(engine.digest_many(algorithm, messages).wait(), Ok(expected));
    }
    assert_idle(&engine);
}

#[test]
fn several_algorithms_share_the_bytes() {
    let engine = engine();
    let message = noise(200_000, 1);
    let both = engine.digest([Algorithm::Sha256, Algorithm::Md5], message.clone()).wait().expect("it is hashed");
    assert_eq!(both, [Algorithm::Sha256, Algorithm::Md5].map(|algorithm| expected(algorithm, &message)));
    let all = Algorithm::ALL.to_vec();
    let mut stream = engine.stream(all.clone());
    for chunk in message.chunks(777) {
        stream.write(chunk.to_vec()).wait().expect("it is accepted");
    }
    let digests = stream.finish().wait().expect("it is hashed");
    assert_eq!(digests, all.iter().map(|algorithm| expected(*algorithm, &message)).collect::<Vec<_>>());
    assert_eq!(engine.digest(Vec::new(), "abc").wait(), Ok(Vec::new()));
    assert_idle(&engine);
}

#[test]
fn streams_of_many_threads() {
    let engine = engine();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let engine = &engine;
            scope.spawn(move || {
                for round in 0..10 {
                    let message = noise(100_000 * (thread + 1) + round, thread);
                    let mut stream = engine.stream(Algorithm::Md5);
                    for chunk in message.chunks(64 << 10) {
                        stream.write(chunk.to_vec()).wait().expect("it is accepted");
                    }
                    assert_eq!(stream.finish().wait(), Ok(expected(Algorithm::Md5, &message)));
                }
            });
        }
    });
    assert_idle(&engine);
}

#[test]
fn an_empty_message_has_a_digest() {
    let engine = engine();
    let empty = expected(Algorithm::Sha256, b"");
    assert_eq!(engine.digest(Algorithm::Sha256, "").wait(), Ok(empty));
    assert_eq!(engine.stream(Algorithm::Sha256).finish().wait(), Ok(empty));
    let mut stream = engine.stream(Algorithm::Sha256);
    stream.write("").wait().expect("it is accepted");
    assert_eq!(stream.finish().wait(), Ok(empty));
    assert_eq!(engine.digest_many(Algorithm::Sha256, Vec::<Vec<u8>>::new()).wait(), Ok(Vec::new()));
    assert_eq!(engine.digest_many(Algorithm::Sha256, vec![""; 3]).wait(), Ok(vec![empty; 3]));
    let none = engine.digest_many_packed(Algorithm::Sha256, Vec::<Vec<u8>>::new()).wait();
    assert!(none.is_ok_and(|none| none.is_empty()));
    assert_idle(&engine);
}

/// A buffer that counts how many of its kind there are.
struct Counted {
    bytes: Vec<u8>,
    alive: Arc<AtomicUsize>,
}

impl Counted {
    fn new(bytes: Vec<u8>, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Counted { bytes, alive: alive.clone() }
    }
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn what_is_given_up_is_freed_and_touches_nothing_else() {
    let engine = engine();
    let alive = Arc::new(AtomicUsize::new(0));
    let kept = noise(3_000_000, 1);
    let mut pending = Vec::new();
    for i in 0..100 {
        let counted = Counted::new(noise(100_000 + i, i), &alive);
        pending.push((engine.digest(Algorithm::Md5, counted), engine.digest(Algorithm::Md5, kept.clone())));
        let mut stream = engine.stream(Algorithm::Sha1);
        stream.write(Counted::new(noise(i, 7), &alive)).wait().expect("it is accepted");
    }
    for (given_up, pending) in pending {
        drop(given_up);
        assert_eq!(pending.wait(), Ok(expected(Algorithm::Md5, &kept)));
    }
    assert_idle(&engine);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn buffers_come_back_though_nobody_waits_for_a_digest() {
    let engine = engine();
    let alive = Arc::new(AtomicUsize::new(0));
    // More streams than threads, so that none is hashed by its caller.
    let mut streams: Vec<_> = (0..5).map(|_| engine.stream(Algorithm::Sha256)).collect();
    for stream in &mut streams {
        stream.write(Counted::new(noise(10_000, 1), &alive)).wait().expect("it is accepted");
    }
    while alive.load(Ordering::Relaxed) > 0 {
        std::thread::yield_now();
    }
    for stream in streams {
        assert_eq!(stream.finish().wait(), Ok(expected(Algorithm::Sha256, &noise(10_000, 1))));
    }
}

#[test]
fn memory_is_bounded_and_full_gives_the_buffer_back() {
    let engine = Engine::builder().threads(NonZeroUsize::MIN).memory(1 << 20).build().expect("threads can be made");
    let message = Arc::new(noise(400_000, 3));
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().expect("nobody panics");
    let (first, second) = (Waiting::new(&message, &gate), Waiting::new(&message, &gate));
    let first = engine.try_digest(Algorithm::Md5, first).expect("there is room");
    let second = engine.try_digest(Algorithm::Md5, second).expect("there is room");
    let full = engine.try_digest(Algorithm::Md5, Waiting::new(&message, &gate)).expect_err("there is none");
    assert_eq!(full.to_string(), "the engine's memory is used up");
    // What waits in line for room gets it.
    assert!(Arc::ptr_eq(&full.buffer.bytes, &message));
    let third = engine.digest(Algorithm::Md5, Waiting::new(&message, &gate));
    assert!(engine.stats().memory <= 1 << 20);
    drop(closed);
    for pending in [first, second, third] {
        assert_eq!(pending.wait(), Ok(expected(Algorithm::Md5, &message)));
    }
    // Larger than the bound, but alone.
    let large = noise(3 << 20, 4);
    assert_eq!(engine.digest(Algorithm::Md5, large.clone()).wait(), Ok(expected(Algorithm::Md5, &large)));
    assert_idle(&engine);
}

/// A buffer whose bytes can be had, after the first time, only while a gate is open.
struct Waiting {
    bytes: Arc<Vec<u8>>,
    gate: Arc<Mutex<()>>,
    asked: AtomicBool,
}

impl Waiting {
    fn new(bytes: &Arc<Vec<u8>>, gate: &Arc<Mutex<()>>) -> Self {
        Waiting { bytes: bytes.clone(), gate: gate.clone(), asked: AtomicBool::new(false) }
    }
}

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        if self.asked.swap(true, Ordering::Relaxed) {
            drop(self.gate.lock());
        }
        &self.bytes
    }
}

/// A buffer whose code panics at one of its calls.
struct Panicking {
    bytes: Vec<u8>,
    calls: AtomicUsize,
    at: usize,
}

impl AsRef<[u8]> for Panicking {
    fn as_ref(&self) -> &[u8] {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at {
            panic!("a buffer's own panic: this test asks for it");
        }
        &self.bytes
    }
}

/// A buffer that changes its length.
struct Changing(AtomicBool);

impl AsRef<[u8]> for Changing {
    fn as_ref(&self) -> &[u8] {
        if self.0.swap(true, Ordering::Relaxed) { b"short" } else { &[1; 20_000] }
    }
}

#[test]
fn a_buffer_that_misbehaves_fails_alone() {
    let engine = engine();
    let good = noise(300_000, 5);
    let panicking = |at| Panicking { bytes: noise(300_000, 6), calls: AtomicUsize::new(0), at };
    let neighbours: Vec<_> = (0..20).map(|_| engine.digest(Algorithm::Sha256, good.clone())).collect();
    let first = engine.digest(Algorithm::Sha256, panicking(0));
    let later = engine.digest(Algorithm::Sha256, panicking(1));
    let changing = engine.digest(Algorithm::Sha256, Changing(AtomicBool::new(false)));
    let mut stream = engine.stream(Algorithm::Sha256);
    let _ = stream.write(panicking(1)).wait();
    let many =
        engine.digest_many(Algorithm::Sha256, vec![Changing(AtomicBool::new(true)), Changing(AtomicBool::new(true))]);
    assert_eq!(first.wait(), Err(JobError::Panicked));
    assert_eq!(later.wait(), Err(JobError::Panicked));
    assert_eq!(changing.wait(), Err(JobError::Changed));
    assert_eq!(stream.finish().wait(), Err(JobError::Panicked));
    assert_eq!(many.wait(), Ok(vec![expected(Algorithm::Sha256, b"short"); 2]));
    for pending in neighbours {
        assert_eq!(pending.wait(), Ok(expected(Algorithm::Sha256, &good)));
    }
    assert_idle(&engine);
}

#[test]
fn what_was_let_in_is_finished_when_the_engine_is_dropped() {
    let engine = engine();
    let message = noise(2_000_000, 8);
    let pending: Vec<_> = (0..40).map(|_| engine.digest(Algorithm::Sha1, message.clone())).collect();
    let mut stream = engine.stream(Algorithm::Sha1);
    stream.write(message.clone()).wait().expect("it is accepted");
    let begun = engine.stream(Algorithm::Sha1);
    drop(engine);
    assert_eq!(stream.write("more").wait(), Err(JobError::Closed));
    assert_eq!(stream.finish().wait(), Err(JobError::Closed));
    assert_eq!(begun.finish().wait(), Err(JobError::Closed));
    for pending in pending {
        assert_eq!(pending.wait(), Ok(expected(Algorithm::Sha1, &message)));
    }
}

#[test]
fn who_is_in_line_when_the_engine_is_dropped_is_told() {
    let engine = Engine::builder().threads(NonZeroUsize::MIN).memory(1000).build().expect("threads can be made");
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().expect("nobody panics");
    let first = engine.digest(Algorithm::Md5, Waiting::new(&Arc::new(noise(5_000_000, 1)), &gate));
    let second = engine.digest(Algorithm::Md5, noise(5_000_000, 1));
    let short = engine.digest(Algorithm::Md5, "at once");
    drop(engine);
    assert_eq!(second.wait(), Err(JobError::Closed));
    assert_eq!(short.wait(), Ok(expected(Algorithm::Md5, b"at once")));
    drop(closed);
    assert_eq!(first.wait(), Ok(expected(Algorithm::Md5, &noise(5_000_000, 1))));
}

#[test]
fn a_short_message_does_not_wait_for_long_ones() {
    let engine = engine();
    // One after the other they would take many seconds; none is done while the short one is.
    let long = Arc::new(vec![0_u8; 1 << 30]);
    struct Shared(Arc<Vec<u8>>);
    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    let engine = {
        drop(engine);
        Engine::builder().threads(NonZeroUsize::new(2)).memory(usize::MAX).build().expect("threads can be made")
    };
    let mut long: Vec<_> = (0..16).map(|_| engine.digest(Algorithm::Sha512, Shared(long.clone()))).collect();
    for i in 0..200 {
        let short = noise(16 + 300 * i, 9);
        // Polled by nobody else, so that the engine's threads do it.
        let (sender, receiver) = mpsc::channel();
        let waker = Waker::from(Arc::new(Sender(Mutex::new(sender))));
        let mut pending = pin!(engine.digest(Algorithm::Sha512, short.clone()));
        let digest = loop {
            match pending.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(digest) => break digest,
                Poll::Pending => receiver.recv().expect("the waker has the sender"),
            }
        };
        assert_eq!(digest, Ok(expected(Algorithm::Sha512, &short)));
    }
    let mut context = Context::from_waker(Waker::noop());
    assert!(long.iter_mut().all(|long| Pin::new(long).poll(&mut context).is_pending()));
}

struct Sender(Mutex<mpsc::Sender<()>>);

impl std::task::Wake for Sender {
    fn wake(self: Arc<Self>) {
        let _ = self.0.lock().map(|sender| sender.send(()));
    }
}

#[test]
fn stats_tell_what_was_done() {
    let engine = engine();
    assert_eq!(engine.stats().threads, 2);
    let message = noise(1 << 20, 1);
    let pending: Vec<_> = (0..64).map(|_| engine.digest(Algorithm::Md5, message.clone())).collect();
    pending.into_iter().for_each(|pending| assert!(pending.wait().is_ok()));
    let stats = engine.stats();
    assert_eq!((stats.jobs, stats.memory), (64, 0));
    let [md5] = &stats.algorithms[..] else { panic!("{stats:?}") };
    assert_eq!((md5.algorithm, md5.bytes), (Algorithm::Md5, 64 << 20));
    assert!(md5.occupancy > 0.0 && md5.occupancy <= 1.0, "{md5:?}");
    assert_eq!(md5.occupancy, md5.active_lanes as f64 / md5.available_lanes as f64);
    assert!(!md5.kernels.is_empty() && stats.busy > Duration::ZERO);
    assert_eq!(stats.queue_wait.count, stats.service.count);
    assert_eq!(stats.service.buckets.iter().map(|(_, count)| count).sum::<u64>(), stats.service.count);
    assert!(stats.transitions >= 4 * 64);

    // Between two snapshots: a message by itself has one lane of each row, and its padding may be a row too.
    assert!(engine.digest(Algorithm::Md5, message).wait().is_ok());
    let later = engine.stats();
    let active = later.algorithms[0].active_lanes - md5.active_lanes;
    let available = later.algorithms[0].available_lanes - md5.available_lanes;
    let rows = (1 << 20) / 64;
    assert!(active == rows || active == rows + 1, "{active}");
    assert!(available.is_multiple_of(active), "{available} of {active} rows");
}

#[test]
fn what_is_hashed_at_once_is_counted_too() {
    let engine = engine();
    engine.digest(Algorithm::Md5, "abc").wait().expect("it is hashed");
    let mut stream = engine.stream([Algorithm::Sha1, Algorithm::Sha256]);
    stream.write(noise(640, 1)).wait().expect("it is accepted");
    stream.finish().wait().expect("it is hashed");
    engine.digest_many(Algorithm::Sha512, vec![noise(128, 2); 10]).wait().expect("they are hashed");
    engine.digest_many(Algorithm::Sha224, vec![noise(256, 3); 1024]).wait().expect("they are hashed");
    let stats = engine.stats();
    let bytes: Vec<_> = stats.algorithms.iter().map(|of| (of.algorithm, of.bytes)).collect();
    use Algorithm::{Md5, Sha1, Sha224, Sha256, Sha512};
    assert_eq!(bytes, [(Md5, 3), (Sha1, 640), (Sha224, 1024 * 256), (Sha256, 640), (Sha512, 1280)]);
    assert_eq!(stats.jobs, 4);
    assert!(stats.inline > Duration::ZERO);
    // They hold nothing.
    assert_eq!((stats.memory, stats.slots(SlotState::Free)), (0, 1 << 24));
}

#[test]
fn it_can_be_sent_about() {
    fn sent<T: Send>() {}
    fn shared<T: Sync>() {}
    sent::<Engine>();
    shared::<Engine>();
    sent::<Builder>();
    sent::<Digesting<Algorithm>>();
    sent::<manyhash::engine::DigestingMany>();
    sent::<manyhash::engine::HashStream<[Algorithm; 2]>>();
}
