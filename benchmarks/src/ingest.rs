//! `ingest`: objects received from a socket by many tasks at once, each of which needs its object's digest.
//!
//! A [process of its own](sender) sends, so that the CPU time of this one is what receiving and hashing cost. The
//! tasks [receive](receiver) chunks and hand them to what [hashes](hashing) them; the [figures](figure) also say what
//! the hashing alone cost.

mod figure;
mod hashing;
mod receiver;
mod sender;

pub(crate) use sender::{SenderArgs, content, send};

use crate::error::Error;
use crate::options::Options;
use crate::sample::Sample;
use crate::subject::{Call, Job, Threads};
use crate::{measure, report, verify};
use clap::builder::RangedU64ValueParser;
use figure::{IngestFigure, Point};
use hashing::{Expected, IngestSubject};
use manyhash::engine::Engine;
use manyhash::{Algorithm, UnknownAlgorithmError};
use receiver::Receiver;
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct IngestArguments {
    /// Algorithms to measure; those joined by + are computed together for each object
    #[arg(long, value_delimiter = ',', default_value = "md5,sha256,md5+sha256")]
    algorithm: Vec<Together>,
    /// Numbers of tasks that receive at once [default: 1,2,4,8,16,32,64,256; with --quick 1,16]
    #[arg(long, value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    tasks: Vec<usize>,
    /// Bytes in an object [default: 4096,65536,1048576,10485760; with --quick 4096,1048576]
    #[arg(long, value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 30))]
    length: Vec<usize>,
    #[command(flatten)]
    options: Options,
}

/// Algorithms that are computed together.
#[derive(Clone)]
struct Together(Vec<Algorithm>);

impl FromStr for Together {
    type Err = UnknownAlgorithmError;

    fn from_str(names: &str) -> Result<Self, UnknownAlgorithmError> {
        names.split('+').map(str::parse).collect::<Result<_, _>>().map(Together)
    }
}

/// Measures and reports.
pub(crate) fn run(args: &IngestArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let choose = |given: &[usize], full: &[usize], small: &[usize]| match given {
        [] => if args.options.quick { small } else { full }.to_vec(),
        given => given.to_vec(),
    };
    let tasks = choose(&args.tasks, &[1, 2, 4, 8, 16, 32, 64, 256], &[1, 16]);
    let lengths = choose(&args.length, &[4 << 10, 64 << 10, 1 << 20, 10 << 20], &[4 << 10, 1 << 20]);
    let rounds = args.options.rounds(7, 3);
    let duration = Duration::from_millis(if args.options.quick { 50 } else { 300 });

    let longest = *lengths.iter().max().expect("there is a length");
    let content = sender::content(longest);
    let mut receiver = Receiver::new(sender::Sender::start(longest)?)?;
    let engine = Engine::builder().build()?;

    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{}", report::machine(backend))?;
    }
    for Together(algorithms) in &args.algorithm {
        if !args.options.json {
            write!(out, "{}", figure::heading(algorithms, rounds))?;
        }
        let expected = lengths.iter().map(|length| expected(algorithms, &content[..*length]));
        let expected = expected.collect::<Result<Vec<_>, Error>>()?;
        for (tasks, expected) in tasks.iter().flat_map(|tasks| expected.iter().map(move |expected| (tasks, expected))) {
            receiver.connect(*tasks)?;
            let point = Point { algorithms, tasks: *tasks, length: expected.length(), backend };
            let samples = samples(&mut receiver, &engine, expected, rounds, duration)?;
            let figures = IngestFigure::all(&point, &samples);
            if args.options.json {
                figures.iter().try_for_each(|figure| writeln!(out, "{}", figure.json()))?;
            } else {
                write!(out, "{}", figure::rows(&figures))?;
            }
        }
    }
    Ok(())
}

/// What the digests of an object should be.
fn expected(algorithms: &[Algorithm], object: &[u8]) -> Result<Arc<Expected>, Error> {
    let digest = |algorithm: &Algorithm| {
        let job = Job { algorithm: *algorithm, messages: &[object], call: Call::One, threads: Threads::new(1)? };
        Ok((*algorithm, verify::expected("ingest", &job)?.digests().remove(0)))
    };
    let digests = algorithms.iter().map(digest).collect::<Result<_, Error>>()?;
    Ok(Arc::new(Expected::new(object.len(), digests)))
}

/// The samples of every subject, one a round.
fn samples(
    receiver: &mut Receiver,
    engine: &Engine,
    expected: &Arc<Expected>,
    rounds: usize,
    duration: Duration,
) -> Result<Vec<Vec<Sample>>, Error> {
    // An object a task, which checks digests and warms up.
    for subject in IngestSubject::ALL {
        receiver.sample(subject, engine, expected, Duration::ZERO)?;
    }
    let mut samples: Vec<Vec<Sample>> = IngestSubject::ALL.map(|_| Vec::new()).into();
    for round in 0..rounds {
        for at in measure::turns(round, samples.len()) {
            samples[at].push(receiver.sample(IngestSubject::ALL[at], engine, expected, duration)?);
        }
    }
    Ok(samples)
}
