//! `callers`: many callers at once, each of which needs digests of its own message, one after another.
//!
//! A [style](style) says how callers run and ask: tasks or threads, whole messages or streams. Each [caller](caller) has
//! the digest from the engine that all share, or makes it itself with OpenSSL. The [figures](figure) say what the engine
//! is worth to callers who have OpenSSL already. Two more styles have questions of their own: what [idle] streams cost,
//! and how long a task that waits for digests [stalls](stall) another.

mod caller;
mod figure;
mod idle;
mod stall;
mod style;

use crate::error::Error;
use crate::messages::Messages;
use crate::options::Options;
use crate::sample::Sample;
use crate::subject::{Call, Job, Threads};
use crate::{measure, report, verify};
use bytes::Bytes;
use caller::{Caller, CallersSubject, Known};
use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;
use figure::Cell;
use manyhash::Algorithm;
use manyhash::engine::Engine;
use std::io::Write;
use std::time::Duration;
use style::{Stage, Style};

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct CallersArguments {
    /// Numbers of callers [default: 1,2,4,16,64,256,1000; with --quick 1,16,256]
    #[arg(long, value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    callers: Vec<usize>,
    /// Bytes in a message [default: 1024,4096,16384,65536,262144,1048576; with --quick 1024,65536]
    #[arg(long, value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 30))]
    length: Vec<usize>,
    /// Algorithms to measure
    #[arg(long, value_delimiter = ',', default_value = "md5,sha1,sha256,sha512")]
    algorithm: Vec<Algorithm>,
    /// How callers run and ask [default: all]
    #[arg(long, value_delimiter = ',')]
    style: Vec<Style>,
    #[command(flatten)]
    options: Options,
}

/// How much is measured at each cell.
#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    /// A sample ends with the digests that are under way then.
    duration: Duration,
}

/// Measures and reports.
pub(crate) fn run(args: &CallersArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let choose = |given: &[usize], full: &[usize], small: &[usize]| match given {
        [] => if args.options.quick { small } else { full }.to_vec(),
        given => given.to_vec(),
    };
    let callers = choose(&args.callers, &[1, 2, 4, 16, 64, 256, 1000], &[1, 16, 256]);
    let lengths = choose(&args.length, &[1, 4, 16, 64, 256, 1024].map(|kib| kib << 10), &[1 << 10, 64 << 10]);
    let styles = if args.style.is_empty() { Style::value_variants() } else { &args.style };
    let (special, styles): (Vec<Style>, Vec<Style>) = styles.iter().partition(|style| style.is_special());
    let duration = Duration::from_millis(if args.options.quick { 10 } else { 100 });
    let extent = Extent { rounds: args.options.rounds(3, 2), duration };

    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{}", report::machine(backend))?;
    }
    let mut cells = Vec::new();
    for algorithm in args.algorithm.iter().filter(|_| !styles.is_empty()) {
        if !args.options.json {
            write!(out, "{}", figure::heading(*algorithm, extent.rounds))?;
        }
        for length in &lengths {
            let crowd = Crowd::new(*algorithm, *callers.iter().max().expect("there is a number"), *length)?;
            for (callers, style) in callers.iter().flat_map(|callers| styles.iter().map(move |style| (callers, style)))
            {
                let (samples, occupancy) = samples(&crowd.0[..*callers], *style, extent)?;
                let (algorithm, style, callers, length) = (*algorithm, style.name(), *callers, *length);
                let cell = Cell { algorithm, style, callers, length, backend };
                let figures = figure::pair(&cell, &samples, occupancy);
                write!(out, "{}", args.options.text(&figures, figure::row))?;
                cells.push(figures);
            }
        }
    }
    if !args.options.json {
        write!(out, "{}", figure::worst(&mut cells))?;
    }
    for style in special {
        let run = if style == Style::Idle { idle::run } else { stall::run };
        write!(out, "{}", run(&args.algorithm, extent, &args.options, backend)?)?;
    }
    Ok(())
}

/// A message for each caller.
struct Crowd(Vec<Known>);

impl Crowd {
    fn new(algorithm: Algorithm, callers: usize, length: usize) -> Result<Self, Error> {
        let messages = Messages::equal(callers, length).shared();
        let slices: Vec<&[u8]> = messages.iter().map(Bytes::as_ref).collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let job = Job { algorithm, messages: &slices, call: Call::One, threads: Threads::new(cores)? };
        let digests = verify::expected("callers", &job)?.digests();
        let known = |(number, (message, digest))| Known { algorithm, number, message, digest };
        Ok(Crowd(messages.into_iter().zip(digests).enumerate().map(known).collect()))
    }
}

/// Each subject's samples, one a round, and the share of its lanes that the engine has used in all.
fn samples(crowd: &[Known], style: Style, extent: Extent) -> Result<([Vec<Sample>; 2], Option<f64>), Error> {
    let engine = Engine::builder().build()?;
    let stage = Stage::new(style)?;
    let sample = |subject, duration| {
        let caller = |known: &Known| Caller::new(subject, &engine, style.hand(), known.clone());
        stage.sample(crowd.iter().map(caller).collect::<Result<_, Error>>()?, duration)
    };
    // Warms up, and makes each caller's digest once at least.
    CallersSubject::ALL.iter().try_for_each(|subject| sample(*subject, extent.duration / 2).map(drop))?;
    let mut samples = [vec![], vec![]];
    for round in 0..extent.rounds {
        for at in measure::turns(round, samples.len()) {
            samples[at].push(sample(CallersSubject::ALL[at], extent.duration)?);
        }
    }
    let used = engine.stats().algorithms;
    let of_crowd = used.iter().find(|used| used.algorithm == crowd[0].algorithm);
    Ok((samples, of_crowd.map(|used| used.occupancy)))
}

#[cfg(test)]
mod tests {
    use super::caller::{Caller, CallersSubject};
    use super::style::{Stage, Style};
    use super::{CallersArguments, Crowd, Extent, Known, idle, run, samples, stall};
    use crate::error::Error;
    use crate::options::Options;
    use clap::ValueEnum;
    use manyhash::Algorithm;
    use manyhash::engine::Engine;
    use std::num::NonZeroUsize;
    use std::time::Duration;

    const LEAST: Extent = Extent { rounds: 1, duration: Duration::ZERO };

    /// Has every caller of a crowd make one digest, with each subject in each style, and hands over what comes of it.
    fn each(crowd: &[Known], mut outcome: impl FnMut(Style, CallersSubject, Result<usize, Error>)) {
        let engine = Engine::builder().threads(NonZeroUsize::MIN).build().unwrap();
        for style in Style::value_variants().iter().filter(|style| !style.is_special()) {
            let stage = Stage::new(*style).unwrap();
            for subject in CallersSubject::ALL {
                let caller = |known: &Known| Caller::new(subject, &engine, style.hand(), known.clone()).unwrap();
                let sample = stage.sample(crowd.iter().map(caller).collect(), Duration::ZERO);
                outcome(*style, subject, sample.map(|sample| sample.latencies.len()));
            }
        }
    }

    #[test]
    fn every_caller_gets_its_digest_in_every_style() {
        for (callers, length) in [(1, 1), (3, 70_000), (40, 1 << 16), (5, 300_000)] {
            let crowd = Crowd::new(Algorithm::Sha256, callers, length).unwrap();
            each(&crowd.0, |style, subject, digests| {
                assert_eq!(digests.unwrap(), callers, "{style:?}, {subject:?}, {length} bytes");
            });
        }
    }

    #[test]
    fn a_wrong_digest_is_an_error() {
        let mut crowd = Crowd::new(Algorithm::Md5, 3, 70_000).unwrap();
        crowd.0[2].digest[15] ^= 1;
        each(&crowd.0, |style, subject, digests| {
            let is_right = matches!(digests, Err(Error::WrongDigest { message: 2, length: 70_000, .. }));
            assert!(is_right, "{style:?}, {subject:?}");
        });
        for style in [Style::Streams, Style::Burst] {
            assert!(matches!(samples(&crowd.0, style, LEAST), Err(Error::WrongDigest { message: 2, .. })));
        }
    }

    #[test]
    fn callers_go_on_until_the_time_is_over() {
        let crowd = Crowd::new(Algorithm::Md5, 2, 100).unwrap();
        let extent = Extent { duration: Duration::from_millis(20), ..LEAST };
        for style in [Style::Tokio2, Style::Streams, Style::Threads, Style::Burst] {
            let (samples, occupancy) = samples(&crowd.0, style, extent).unwrap();
            for sample in samples.iter().flatten() {
                assert!(sample.time >= extent.duration && sample.latencies.len() > 2, "{style:?}");
            }
            assert!(occupancy.is_some_and(|share| share > 0.0 && share <= 1.0), "{style:?}");
        }
    }

    #[test]
    fn lines_are_json_with_what_was_asked_for() {
        let mut options = Options::least();
        options.json = true;
        for (measure, figures) in [(idle::run as fn(_, _, _, _) -> _, 2), (stall::run, 2)] {
            let text: Result<String, Error> = measure(&[Algorithm::Sha1], LEAST, &options, "sse2");
            let lines: Vec<serde_json::Value> =
                text.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines.len(), figures);
            for line in lines {
                assert_eq!((&line["load"], &line["algorithm"]), (&"callers".into(), &"sha1".into()), "{line}");
            }
        }
    }

    #[test]
    fn the_least_of_everything_runs() {
        let (callers, length, style) = (vec![2], vec![5000], Style::value_variants().to_vec());
        let args =
            CallersArguments { callers, length, style, algorithm: vec![Algorithm::Md5], options: Options::least() };
        run(&args).unwrap();
    }
}
