//! `engine`: streams on one engine thread, beside a batch on one thread.
//!
//! 64 streams take chunks that are in memory already, in turns, as one thread writes them; the batch hashes the `hot`
//! load's messages, which are the same chunks, as often. What the engine loses of the batch's rate is what it costs to
//! take chunks as they come.

use crate::error::Error;
use crate::measure::{self, median};
use crate::options::Options;
use crate::subject::{Call, Job, Threads};
use crate::verify::{self, Origin};
use crate::{messages::Messages, report};
use bytes::Bytes;
use manyhash::engine::Engine;
use manyhash::{Algorithm, Batch, Digest};
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::num::NonZeroUsize;
use std::time::Instant;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct EngineArguments {
    /// Algorithms to measure [default: all]
    #[arg(long, value_delimiter = ',')]
    algorithm: Vec<Algorithm>,
    #[command(flatten)]
    options: Options,
}

const STREAMS: usize = 64;
const CHUNK: usize = 64 << 10;

/// One algorithm's rates.
#[derive(Serialize)]
struct EngineFigure {
    load: &'static str,
    algorithm: &'static str,
    streams: usize,
    /// Bytes in a chunk, and chunks in a stream.
    length: usize,
    chunks: usize,
    backend: &'static str,
    batch_median_bytes_per_s: f64,
    engine_median_bytes_per_s: f64,
    /// The median over rounds of the engine's rate to the batch's.
    share: f64,
    /// Of the time that was spent hashing for the engine, what was not on its thread but on the caller's.
    caller_share: f64,
    rounds: usize,
    verified: bool,
}

/// Measures and reports.
pub(crate) fn run(args: &EngineArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let rounds = args.options.rounds(21, 7);
    let turns = if args.options.quick { 32 } else { 128 };
    // One of each family that has peers everywhere.
    let usual = [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512];
    let algorithms = if args.algorithm.is_empty() { &usual } else { &args.algorithm[..] };
    let chunks = Messages::equal(STREAMS, CHUNK).shared();
    algorithms.iter().try_for_each(|algorithm| check(*algorithm, &chunks))?;

    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{}", report::machine(backend))?;
        writeln!(out, "\nengine: {STREAMS} streams of {turns} chunks of {CHUNK} bytes, median of {rounds} rounds")?;
        writeln!(out, "{:<12}{:>14}{:>14}{:>9}{:>13}", "algorithm", "batch GB/s", "engine GB/s", "share", "by caller")?;
    }
    for algorithm in algorithms {
        let figure = measure(*algorithm, &chunks, turns, rounds, backend)?;
        if args.options.json {
            writeln!(out, "{}", serde_json::to_string(&figure).expect("names and numbers are JSON"))?;
        } else {
            let (batch, engine) = (figure.batch_median_bytes_per_s / 1e9, figure.engine_median_bytes_per_s / 1e9);
            let (share, caller) = (100.0 * figure.share, 100.0 * figure.caller_share);
            writeln!(out, "{algorithm:<12}{batch:>14.3}{engine:>14.3}{share:>7.1} %{caller:>11.1} %")?;
        }
    }
    Ok(())
}

/// Checks the digests of both.
fn check(algorithm: Algorithm, chunks: &[Bytes]) -> Result<(), Error> {
    /// Enough for every stream to have chunks of several others.
    const TURNS: usize = 5;
    let engine = Engine::builder().threads(NonZeroUsize::MIN).build()?;
    let contents: Vec<Vec<u8>> = (0..chunks.len())
        .map(|stream| (0..TURNS).flat_map(|turn| turn_of(chunks, stream, turn).to_vec()).collect())
        .collect();
    let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
    compare(algorithm, "engine", &contents, &streams(&engine, algorithm, chunks, TURNS)?)?;
    let messages: Vec<&[u8]> = chunks.iter().map(Bytes::as_ref).collect();
    compare(algorithm, "manyhash", &messages, &Batch::new(algorithm).threads(NonZeroUsize::MIN).digest_many(&messages))
}

fn compare(algorithm: Algorithm, subject: &'static str, messages: &[&[u8]], digests: &[Digest]) -> Result<(), Error> {
    let job = Job { algorithm, messages, call: Call::Many, threads: Threads::new(1)? };
    let expected = verify::expected("engine", &job)?.digests();
    for (message, (digest, expected)) in digests.iter().zip(&expected).enumerate() {
        let length = messages[message].len();
        Origin { subject, algorithm, load: "engine", message, length }.same(digest.as_bytes(), expected)?;
    }
    Ok(())
}

/// The chunk that a stream takes at a turn: each stream takes the chunks in another order.
fn turn_of(chunks: &[Bytes], stream: usize, turn: usize) -> &Bytes {
    &chunks[(stream + turn) % chunks.len()]
}

/// As many streams as there are chunks, written in turns from this thread.
fn streams(engine: &Engine, algorithm: Algorithm, chunks: &[Bytes], turns: usize) -> Result<Vec<Digest>, Error> {
    let mut streams: Vec<_> = chunks.iter().map(|_| engine.stream(algorithm)).collect();
    for turn in 0..turns {
        for (i, stream) in streams.iter_mut().enumerate() {
            stream.write(turn_of(chunks, i, turn).clone()).wait()?;
        }
    }
    let digests: Vec<_> = streams.into_iter().map(|stream| stream.finish()).collect();
    digests.into_iter().map(|digest| Ok(digest.wait()?)).collect()
}

fn measure(
    algorithm: Algorithm,
    chunks: &[Bytes],
    turns: usize,
    rounds: usize,
    backend: &'static str,
) -> Result<EngineFigure, Error> {
    let engine = Engine::builder().threads(NonZeroUsize::MIN).build()?;
    let batch = Batch::new(algorithm).threads(NonZeroUsize::MIN);
    let mut digests = vec![Digest::default(); chunks.len()];
    let mut sample = |subject| {
        let start = Instant::now();
        match subject {
            0 => (0..turns).for_each(|_| {
                batch.digest_many_into(black_box(chunks), &mut digests).expect("there are as many digests as messages");
            }),
            _ => drop(black_box(streams(&engine, algorithm, chunks, turns)?)),
        }
        Ok::<_, Error>(start.elapsed().as_secs_f64())
    };
    // Warms up.
    (0..2).try_for_each(|subject| sample(subject).map(drop))?;
    let mut seconds = [vec![], vec![]];
    for round in 0..rounds {
        for subject in measure::turns(round, 2) {
            seconds[subject].push(sample(subject)?);
        }
    }

    let bytes = (chunks.len() * turns * CHUNK) as f64;
    let [of_batch, of_engine] = seconds;
    let shares = of_batch.iter().zip(&of_engine).map(|(batch, engine)| batch / engine).collect();
    let stats = engine.stats();
    let (own, caller) = (stats.busy.as_secs_f64(), stats.inline.as_secs_f64());
    Ok(EngineFigure {
        load: "engine",
        algorithm: algorithm.name(),
        streams: chunks.len(),
        length: CHUNK,
        chunks: turns,
        backend,
        batch_median_bytes_per_s: bytes / median(of_batch),
        engine_median_bytes_per_s: bytes / median(of_engine),
        share: median(shares),
        caller_share: caller / (own + caller),
        rounds,
        verified: true,
    })
}
