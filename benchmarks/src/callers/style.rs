//! How callers run and ask.

use super::caller::{Caller, Hand};
use crate::error::Error;
use crate::sample::{Begun, Sample};
use clap::ValueEnum;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A way to run callers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Style {
    /// Tasks of a runtime with 2 workers, each of which waits for a digest before it asks for the next
    #[value(name = "tokio-2")]
    Tokio2,
    /// The same with 8 workers
    #[value(name = "tokio-8")]
    Tokio8,
    /// Tasks of a runtime with 2 workers that write their messages to streams, 64 KiB at a time
    Streams,
    /// Threads that block until they have a digest, then ask for the next
    Threads,
    /// All callers hand their messages over before any waits, on a runtime with 2 workers
    Burst,
    /// A lone caller beside 64 streams that nobody writes to
    Idle,
    /// How late a task wakes up beside one that waits for digests
    Stall,
}

impl Style {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Style::Tokio2 => "tokio-2",
            Style::Tokio8 => "tokio-8",
            Style::Streams => "streams",
            Style::Threads => "threads",
            Style::Burst => "burst",
            Style::Idle => "idle",
            Style::Stall => "stall",
        }
    }

    /// Whether it says how many callers there are and how long their messages, and needs figures of its own.
    pub(crate) fn is_special(self) -> bool {
        matches!(self, Style::Idle | Style::Stall)
    }

    pub(crate) fn hand(self) -> Hand {
        if self == Style::Streams { Hand::Chunks } else { Hand::Whole }
    }
}

/// Where callers run in a style.
pub(crate) enum Stage {
    Threads,
    /// Tasks, each by itself.
    Tasks(Runtime),
    /// Tasks that wait for each other.
    Bursts(Runtime),
}

impl Stage {
    pub(crate) fn new(style: Style) -> Result<Self, Error> {
        let runtime = |workers| tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build();
        let stage = match style {
            Style::Threads | Style::Idle | Style::Stall => Ok(Stage::Threads),
            Style::Tokio2 | Style::Streams => runtime(2).map(Stage::Tasks),
            Style::Tokio8 => runtime(8).map(Stage::Tasks),
            Style::Burst => runtime(2).map(Stage::Bursts),
        };
        stage.map_err(Error::Runtime)
    }

    /// Has digests made for so long: then each caller ends the one that it is at, and has had one at least.
    pub(crate) fn sample(&self, callers: Vec<Caller>, duration: Duration) -> Result<Sample, Error> {
        match self {
            Stage::Threads => threads(callers, duration),
            Stage::Tasks(runtime) => {
                let begun = Begun::now();
                let end = begun.time + duration;
                let latencies = runtime.block_on(async {
                    let tasks: Vec<_> = callers.into_iter().map(|caller| tokio::spawn(task(caller, end))).collect();
                    let mut latencies = Vec::new();
                    for task in tasks {
                        latencies.append(&mut task.await??);
                    }
                    Ok::<_, Error>(latencies)
                })?;
                Ok(begun.ended(latencies))
            }
            Stage::Bursts(runtime) => {
                let begun = Begun::now();
                // On a worker: the thread here would be one more.
                let latencies = runtime.block_on(runtime.spawn(bursts(callers, begun.time + duration)))??;
                Ok(begun.ended(latencies))
            }
        }
    }
}

/// One caller's digests, and the time that each took.
async fn task(mut caller: Caller, end: Instant) -> Result<Vec<Duration>, Error> {
    let mut laps = Laps::start(end);
    while laps.go_on() {
        caller.digest().await?;
        laps.end();
    }
    Ok(laps.times)
}

fn thread(mut caller: Caller, end: Instant) -> Result<Vec<Duration>, Error> {
    let mut laps = Laps::start(end);
    while laps.go_on() {
        caller.wait()?;
        laps.end();
    }
    Ok(laps.times)
}

/// One digest after another, until the time is over.
struct Laps {
    start: Instant,
    end: Instant,
    times: Vec<Duration>,
}

impl Laps {
    fn start(end: Instant) -> Self {
        Laps { start: Instant::now(), end, times: Vec::new() }
    }

    fn go_on(&self) -> bool {
        self.times.is_empty() || self.start < self.end
    }

    fn end(&mut self) {
        let now = Instant::now();
        self.times.push(now - self.start);
        self.start = now;
    }
}

/// Callers on threads, which all are there before the time is taken.
fn threads(callers: Vec<Caller>, duration: Duration) -> Result<Sample, Error> {
    // None if a thread is missing: then nothing begins.
    let begun: OnceLock<Option<Begun>> = OnceLock::new();
    thread::scope(|scope| {
        let start = |caller| {
            let run = || begun.wait().map_or(Ok(Vec::new()), |begun| thread(caller, begun.time + duration));
            thread::Builder::new().spawn_scoped(scope, run)
        };
        let started: Result<Vec<_>, _> = callers.into_iter().map(start).collect();
        let now = *begun.get_or_init(|| started.is_ok().then(Begun::now));
        let threads = started.map_err(Error::Caller)?;
        let mut latencies = Vec::new();
        for thread in threads {
            latencies.append(&mut thread.join().expect("no thread panics")?);
        }
        Ok(now.expect("all are there").ended(latencies))
    })
}

/// The times of all callers, each of which gets another digest only when all have theirs.
async fn bursts(mut callers: Vec<Caller>, end: Instant) -> Result<Vec<Duration>, Error> {
    let mut latencies = Vec::new();
    loop {
        let asked: Vec<_> = callers.drain(..).map(Caller::ask).collect();
        // In tasks, so that those who make their digests themselves have both workers.
        let tasks: Vec<_> = asked.into_iter().map(|asked| tokio::spawn(asked.answer())).collect();
        for task in tasks {
            let (caller, latency) = task.await??;
            callers.push(caller);
            latencies.push(latency);
        }
        if Instant::now() >= end {
            return Ok(latencies);
        }
    }
}
