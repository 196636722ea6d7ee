//! Digests that were asked for in one turn of an event loop.
//!
//! They go to the engine together, when the loop begins its next turn. All are submitted before any is polled: so the
//! engine knows how many there are when it decides which of them share lanes, and whether any is left to this thread.

use super::Asking;
use super::asyncio::is_done;
use super::held::Held;
use super::job::{Answer, Finished, Job, Work};
use super::lock;
use super::waiter::{Loop, Waiter};
use manyhash::Algorithm;
use manyhash::engine::{Digesting, Engine};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, Weak};

/// A message shorter than this is waited for together with others. A longer one is given up as soon as its future is
/// cancelled; to watch a future takes longer than it is worth for a shorter one.
const SHORT: usize = 64 << 10;

/// Messages that are waited for together at the most, and about their bytes: none waits long for the others.
const SHARED_MESSAGES: usize = 1024;
const SHARED_BYTES: usize = 1 << 20;

/// A digest that is asked for.
pub(super) struct Asked {
    pub(super) future: Py<PyAny>,
    pub(super) wanted: Wanted,
    pub(super) is_one: bool,
}

pub(super) enum Wanted {
    Held {
        algorithms: Vec<Algorithm>,
        held: Held,
    },
    Many {
        algorithm: Algorithm,
        messages: Vec<Held>,
    },
    /// It is with the engine already.
    Begun(Digesting<Vec<Algorithm>>),
}

impl Asked {
    fn is_watched(&self) -> bool {
        match &self.wanted {
            Wanted::Held { held, .. } => held.len() >= SHORT,
            Wanted::Many { .. } => true,
            Wanted::Begun(_) => false,
        }
    }
}

/// The digests of one turn.
struct Turn {
    /// The loop's address. It does not die before what it is to call.
    event_loop: usize,
    /// Nothing once the next turn has begun.
    asked: Mutex<Option<Vec<Asked>>>,
}

/// The turns that event loops are in.
#[derive(Default)]
pub(super) struct Turns(Mutex<Vec<Weak<Turn>>>);

impl Turns {
    /// Asks for a digest in this turn of a loop.
    pub(super) fn ask(&self, event_loop: &Bound<'_, PyAny>, asking: &Asking, asked: Asked) -> PyResult<()> {
        let Err(asked) = self.add(event_loop, asked) else { return Ok(()) };
        let turn = Turn { event_loop: event_loop.as_ptr().addr(), asked: Mutex::new(Some(vec![asked])) };
        let turn = Arc::new(turn);
        let next = NextTurn { turn: turn.clone(), of: Loop::new(event_loop, asking), engine: asking.engine.clone() };
        event_loop.call_method1("call_soon", (Bound::new(event_loop.py(), next)?,))?;
        lock(&self.0).push(Arc::downgrade(&turn));
        Ok(())
    }

    /// Adds a digest to the others of its turn.
    ///
    /// # Errors
    /// If it is the first, the digest.
    fn add(&self, event_loop: &Bound<'_, PyAny>, asked: Asked) -> Result<(), Asked> {
        let mut turns = lock(&self.0);
        // A loop that has made its turn, or is closed, has dropped what it was to call.
        turns.retain(|turn| turn.strong_count() > 0);
        let address = event_loop.as_ptr().addr();
        for turn in turns.iter().filter_map(Weak::upgrade).filter(|turn| turn.event_loop == address) {
            if let Some(others) = &mut *lock(&turn.asked) {
                others.push(asked);
                return Ok(());
            }
        }
        Err(asked)
    }
}

/// What a loop calls when it begins its next turn.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct NextTurn {
    turn: Arc<Turn>,
    of: Arc<Loop>,
    engine: Engine,
}

#[pymethods]
impl NextTurn {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let Some(asked) = lock(&self.turn.asked).take() else { return Ok(()) };
        let mut wanted = Vec::with_capacity(asked.len());
        for asked in asked {
            if !asked.is_watched() || !is_done(asked.future.bind(py))? {
                wanted.push(asked);
            }
        }
        let (waiters, finished) = py.detach(|| {
            let jobs = jobs(&self.engine, wanted).into_iter();
            let waiters: Vec<_> = jobs.map(|job| Arc::new(Waiter::of_job(self.of.clone(), job))).collect();
            let finished = waiters.iter().filter_map(Waiter::poll).collect();
            (waiters, finished)
        });
        waiters.iter().try_for_each(|waiter| waiter.watch(py))?;
        Finished::give(finished, py, &self.of.asyncio)
    }
}

/// Submits all of them.
fn jobs(engine: &Engine, asked: Vec<Asked>) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut shared: Vec<SharedTurn> = Vec::new();
    for asked in asked {
        let is_watched = asked.is_watched();
        let Asked { future, wanted, is_one } = asked;
        let is_many = matches!(wanted, Wanted::Many { .. });
        let work: Work = match wanted {
            Wanted::Many { algorithm, messages } => Box::pin(engine.digest_many(algorithm, messages)),
            Wanted::Begun(digesting) => Box::pin(digesting),
            Wanted::Held { algorithms, held } if is_one && held.len() < SHORT => {
                let algorithm = algorithms[0];
                let i = shared.iter().position(|shared| shared.algorithm == algorithm).unwrap_or_else(|| {
                    shared.push(SharedTurn::new(algorithm));
                    shared.len() - 1
                });
                shared[i].push(held, future);
                if shared[i].is_full() {
                    jobs.push(shared.swap_remove(i).submit(engine));
                }
                continue;
            }
            Wanted::Held { algorithms, held } => Box::pin(engine.digest(algorithms, held)),
        };
        let answer = match (is_one, is_many) {
            (true, _) => Answer::Each(vec![future]),
            (false, false) => Answer::Tuple(future),
            (false, true) => Answer::List(future),
        };
        jobs.push(Job { work, answer, is_watched, _open: engine.clone() });
    }
    jobs.extend(shared.into_iter().map(|shared| shared.submit(engine)));
    jobs
}

/// Short messages that are waited for together.
struct SharedTurn {
    algorithm: Algorithm,
    messages: Vec<Held>,
    bytes: usize,
    futures: Vec<Py<PyAny>>,
}

impl SharedTurn {
    fn new(algorithm: Algorithm) -> Self {
        SharedTurn { algorithm, messages: Vec::new(), bytes: 0, futures: Vec::new() }
    }

    fn push(&mut self, message: Held, future: Py<PyAny>) {
        self.bytes += message.len();
        self.messages.push(message);
        self.futures.push(future);
    }

    fn is_full(&self) -> bool {
        self.messages.len() >= SHARED_MESSAGES || self.bytes >= SHARED_BYTES
    }

    fn submit(self, engine: &Engine) -> Job {
        Job {
            work: Box::pin(engine.digest_many(self.algorithm, self.messages)),
            answer: Answer::Each(self.futures),
            is_watched: false,
            _open: engine.clone(),
        }
    }
}
