//! `threads`: the classic experiment. Millions of short strings, each to be hashed by itself, and ever more threads.
//!
//! The strings are cut into a contiguous part for each thread. Every [subject](ThreadsSubject) hashes all of them at every
//! number of threads once, and every digest is compared, before anything is timed.

mod figure;
mod plot;
mod strings;
mod subject;

use crate::error::Error;
use crate::options::Options;
use crate::{cpu, measure, report};
use clap::builder::RangedU64ValueParser;
use figure::ThreadsFigure;
use manyhash::Algorithm;
use manyhash::engine::Engine;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use strings::{Expected, Text};
use subject::{Discard, Sink, ThreadsSubject};

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct ThreadsArguments {
    /// Strings to hash [default: 10000000; with --quick 200000]
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 30))]
    count: Option<usize>,
    /// Algorithms to measure
    #[arg(long, value_delimiter = ',', default_value = "sha256,md5")]
    algorithm: Vec<Algorithm>,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,12,24",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Vec<usize>,
    #[command(flatten)]
    options: Options,
    /// Writes the figures as a picture, too
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Measures and reports.
pub(crate) fn run(args: &ThreadsArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let count = args.count.unwrap_or(if args.options.quick { 200_000 } else { 10_000_000 });
    let rounds = args.options.rounds(3, 3);
    let strings = strings::random(count);
    let engine = Engine::builder().build()?;

    for algorithm in &args.algorithm {
        let expected = Expected::new(*algorithm, &strings)?;
        for threads in &args.threads {
            for subject in ThreadsSubject::ALL {
                pass(subject, &engine, *algorithm, &strings, *threads, |start| expected.check(subject.name(), start))?;
            }
        }
    }

    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{}", report::machine(backend))?;
    }
    let mut figures = Vec::new();
    for algorithm in &args.algorithm {
        let begin = figures.len();
        for threads in &args.threads {
            let mut passes: Vec<Vec<Pass>> = ThreadsSubject::ALL.map(|_| Vec::new()).into();
            for round in 0..rounds {
                for at in measure::turns(round, passes.len()) {
                    let subject = ThreadsSubject::ALL[at];
                    passes[at].push(pass(subject, &engine, *algorithm, &strings, *threads, |_| Discard)?);
                }
            }
            for (subject, passes) in ThreadsSubject::ALL.into_iter().zip(passes) {
                let figure = ThreadsFigure::new(*algorithm, *threads, backend, subject.name(), count, &passes);
                if args.options.json {
                    writeln!(out, "{}", figure.json())?;
                }
                figures.push(figure);
            }
        }
        if !args.options.json {
            write!(out, "{}", figure::table(&figures[begin..]))?;
        }
    }
    match &args.plot {
        Some(path) => plot::write(path, &figures),
        None => Ok(()),
    }
}

/// What one pass over all strings took.
struct Pass {
    time: Duration,
    /// Of the whole process, so an engine's threads too.
    cpu: Duration,
}

/// Hashes all strings once, a part on each thread; each part's digests go to a sink of its own, which `sink` makes for
/// the place of the part's first string.
fn pass<S: Sink>(
    subject: ThreadsSubject,
    engine: &Engine,
    algorithm: Algorithm,
    strings: &[Text],
    threads: usize,
    sink: impl Fn(usize) -> S + Sync,
) -> Result<Pass, Error> {
    let length = strings.len().div_ceil(threads);
    let workers = subject.workers(engine, algorithm, strings.len().div_ceil(length))?;
    let ready = Barrier::new(workers.len());
    let before = cpu::time();
    // The time is from the start of the first thread to the end of the last, all of them being there already.
    let times: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let start = |(i, (mut worker, part)): (usize, (subject::Worker, _))| {
            let (ready, sink) = (&ready, &sink);
            scope.spawn(move || {
                let mut sink = sink(i * length);
                ready.wait();
                let start = Instant::now();
                worker.hash(part, &mut sink)?;
                Ok((start, Instant::now()))
            })
        };
        let running: Vec<_> = workers.into_iter().zip(strings.chunks(length)).enumerate().map(start).collect();
        running.into_iter().map(|thread| thread.join().expect("no thread panics")).collect::<Result<_, Error>>()
    })?;
    let start = times.iter().map(|(start, _)| *start).min().expect("there is a thread");
    let end = times.iter().map(|(_, end)| *end).max().expect("there is a thread");
    Ok(Pass { time: end - start, cpu: cpu::time() - before })
}

#[cfg(test)]
mod tests {
    use super::strings::{self, Expected};
    use super::subject::{Discard, ThreadsSubject};
    use super::{Engine, pass};
    use crate::error::Error;
    use manyhash::Algorithm;
    use std::num::NonZeroUsize;

    #[test]
    fn every_subject_is_right_on_any_number_of_threads() {
        let engine = Engine::builder().threads(NonZeroUsize::MIN).build().unwrap();
        let strings = strings::random(10_000);
        for algorithm in [Algorithm::Md5, Algorithm::Sha256] {
            let expected = Expected::new(algorithm, &strings).unwrap();
            for (subject, threads) in ThreadsSubject::ALL.into_iter().flat_map(|subject| [(subject, 1), (subject, 3)]) {
                let sink = |start| expected.check(subject.name(), start);
                pass(subject, &engine, algorithm, &strings, threads, sink).unwrap();
            }
        }
        // More threads than strings.
        pass(ThreadsSubject::Own, &engine, Algorithm::Md5, &strings[..5], 4, |_| Discard).unwrap();
    }

    #[test]
    fn a_wrong_digest_is_an_error() {
        let engine = Engine::builder().threads(NonZeroUsize::MIN).build().unwrap();
        let mut strings = strings::random(10_000);
        let expected = Expected::new(Algorithm::Md5, &strings).unwrap();
        strings[7001][5] ^= 1;
        for subject in ThreadsSubject::ALL {
            let sink = |start| expected.check(subject.name(), start);
            let outcome = pass(subject, &engine, Algorithm::Md5, &strings, 2, sink);
            assert!(matches!(outcome, Err(Error::WrongDigest { message: 7001, length: 16, .. })), "{}", subject.name());
        }
    }
}
