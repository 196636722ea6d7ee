//! Whatever its callers do in whatever order, the engine yields the right digests and keeps nothing.

use crate::engines::{assert_idle, expected, noise};
use manyhash::engine::{Digesting, DigestingMany, Engine, HashStream};
use manyhash::{Algorithm, Digest};
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// What a caller does. An [`Index`] says which of his messages, streams or futures he does it with.
#[derive(Clone, Debug)]
enum Step {
    Submit(Vec<Algorithm>, usize),
    Try(Algorithm, usize),
    Many(Algorithm, Vec<usize>),
    Open(Vec<Algorithm>),
    Write(Index, usize),
    /// Writes, but looks only once whether that is done.
    Attempt(Index, usize),
    Finish(Index),
    GiveUpStream(Index),
    Look(Index),
    Wait(Index),
    GiveUp(Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let several = || {
        let order = subsequence(Algorithm::ALL.to_vec(), 0..4).prop_shuffle();
        prop_oneof![4 => select(Algorithm::ALL).prop_map(|one| vec![one]), 1 => order]
    };
    let one = || select(Algorithm::ALL);
    let length = || prop_oneof![4 => 0..300_usize, 4 => 0..20_000_usize, 1 => 0..400_000_usize];
    let which = any::<Index>;
    let step = prop_oneof![
        3 => (several(), length()).prop_map(|(algorithms, length)| Step::Submit(algorithms, length)),
        1 => (one(), length()).prop_map(|(algorithm, length)| Step::Try(algorithm, length)),
        1 => (one(), prop::collection::vec(length(), 0..20)).prop_map(|(one, lengths)| Step::Many(one, lengths)),
        2 => several().prop_map(Step::Open),
        6 => (which(), length()).prop_map(|(which, length)| Step::Write(which, length)),
        2 => (which(), length()).prop_map(|(which, length)| Step::Attempt(which, length)),
        1 => which().prop_map(Step::Finish),
        1 => which().prop_map(Step::GiveUpStream),
        1 => which().prop_map(Step::Look),
        2 => which().prop_map(Step::Wait),
        1 => which().prop_map(Step::GiveUp),
    ];
    prop::collection::vec(step, 1..40)
}

/// Digests to come, and which they will be.
enum Pending {
    Message(Digesting<Vec<Algorithm>>, Vec<Digest>),
    One(Digesting<Algorithm>, Digest),
    Many(DigestingMany, Vec<Digest>),
}

impl Pending {
    fn wait(self) {
        match self {
            Pending::Message(pending, due) => assert_eq!(pending.wait(), Ok(due)),
            Pending::One(pending, due) => assert_eq!(pending.wait(), Ok(due)),
            Pending::Many(pending, due) => assert_eq!(pending.wait(), Ok(due)),
        }
    }

    /// Polls it once; if that yields digests, they are right, and it is over.
    fn look(self) -> Option<Self> {
        fn poll<F: Future + Unpin>(mut future: F) -> Result<F::Output, F> {
            match pin!(&mut future).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(outcome) => Ok(outcome),
                Poll::Pending => Err(future),
            }
        }
        match self {
            Pending::Message(pending, due) => match poll(pending) {
                Ok(digests) => assert_eq!(digests, Ok(due)),
                Err(pending) => return Some(Pending::Message(pending, due)),
            },
            Pending::One(pending, due) => match poll(pending) {
                Ok(digest) => assert_eq!(digest, Ok(due)),
                Err(pending) => return Some(Pending::One(pending, due)),
            },
            Pending::Many(pending, due) => match poll(pending) {
                Ok(digests) => assert_eq!(digests, Ok(due)),
                Err(pending) => return Some(Pending::Many(pending, due)),
            },
        }
        None
    }
}

fn all_expected(algorithms: &[Algorithm], message: &[u8]) -> Vec<Digest> {
    algorithms.iter().map(|algorithm| expected(*algorithm, message)).collect()
}

/// A caller, with what he has begun.
#[derive(Default)]
struct Caller {
    streams: Vec<Begun>,
    pending: Vec<Pending>,
    messages: usize,
}

struct Begun {
    stream: HashStream<Vec<Algorithm>>,
    algorithms: Vec<Algorithm>,
    written: Vec<u8>,
}

impl Caller {
    fn message(&mut self, length: usize) -> Vec<u8> {
        self.messages += 1;
        noise(length, self.messages)
    }

    fn step(&mut self, engine: &Engine, step: Step) {
        match step {
            Step::Submit(algorithms, length) => {
                let message = self.message(length);
                let due = all_expected(&algorithms, &message);
                self.pending.push(Pending::Message(engine.digest(algorithms, message), due));
            }
            Step::Try(algorithm, length) => {
                let message = self.message(length);
                let due = expected(algorithm, &message);
                match engine.try_digest(algorithm, message.clone()) {
                    Ok(pending) => self.pending.push(Pending::One(pending, due)),
                    Err(full) => assert_eq!(full.buffer, message),
                }
            }
            Step::Many(algorithm, lengths) => {
                let messages: Vec<Vec<u8>> = lengths.into_iter().map(|length| self.message(length)).collect();
                let due = messages.iter().map(|message| expected(algorithm, message)).collect();
                self.pending.push(Pending::Many(engine.digest_many(algorithm, messages), due));
            }
            Step::Open(algorithms) => {
                let stream = engine.stream(algorithms.clone());
                self.streams.push(Begun { stream, algorithms, written: Vec::new() });
            }
            Step::Write(which, length) if !self.streams.is_empty() => {
                let chunk = self.message(length);
                let Begun { stream, written, .. } = which.get_mut(&mut self.streams);
                stream.write(chunk.clone()).wait().expect("it is accepted");
                written.extend(chunk);
            }
            Step::Attempt(which, length) if !self.streams.is_empty() => {
                let chunk = self.message(length);
                let Begun { stream, written, .. } = which.get_mut(&mut self.streams);
                let write = pin!(stream.write(chunk.clone()));
                if let Poll::Ready(outcome) = write.poll(&mut Context::from_waker(Waker::noop())) {
                    outcome.expect("it is accepted");
                    written.extend(chunk);
                }
            }
            Step::Finish(which) if !self.streams.is_empty() => {
                let begun = self.streams.swap_remove(which.index(self.streams.len()));
                let due = all_expected(&begun.algorithms, &begun.written);
                self.pending.push(Pending::Message(begun.stream.finish(), due));
            }
            Step::GiveUpStream(which) if !self.streams.is_empty() => {
                self.streams.swap_remove(which.index(self.streams.len()));
            }
            Step::Look(which) if !self.pending.is_empty() => {
                let pending = self.pending.swap_remove(which.index(self.pending.len()));
                self.pending.extend(pending.look());
            }
            Step::Wait(which) if !self.pending.is_empty() => {
                self.pending.swap_remove(which.index(self.pending.len())).wait();
            }
            Step::GiveUp(which) if !self.pending.is_empty() => {
                self.pending.swap_remove(which.index(self.pending.len()));
            }
            // There is none to do it with.
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_order_of_steps_yields_the_digests(
        threads in 1..=4_usize,
        memory in select(vec![1, 1000, 100_000, 256 << 20]),
        callers in prop::collection::vec(steps(), 1..4),
    ) {
        let engine = Engine::builder().threads(NonZeroUsize::new(threads)).memory(memory).build().expect("threads can be made");
        std::thread::scope(|scope| {
            for steps in callers {
                let engine = &engine;
                scope.spawn(move || {
                    let mut caller = Caller::default();
                    for step in steps {
                        caller.step(engine, step);
                        assert!(engine.stats().memory <= memory as u64);
                    }
                    caller.pending.into_iter().for_each(Pending::wait);
                });
            }
        });
        assert_idle(&engine);
    }
}
