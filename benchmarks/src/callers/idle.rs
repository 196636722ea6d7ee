//! What streams that are open, and that nobody writes to, cost a lone caller.

use super::caller::{Caller, CallersSubject, Hand};
use super::style::{Stage, Style};
use super::{Crowd, Extent};
use crate::error::Error;
use crate::measure::{self, median};
use crate::options::Options;
use crate::sample::Sorted;
use manyhash::Algorithm;
use manyhash::engine::Engine;
use serde::Serialize;

const STREAMS: usize = 64;

/// Bytes that each stream was given: so many that its caller does not hash them himself while others are there.
const WRITTEN: usize = 20 << 10;

/// Bytes in the lone caller's message.
const LENGTH: usize = 16 << 10;

/// The lone caller beside so many streams.
#[derive(Clone, Serialize)]
pub(crate) struct IdleStreamsFigure {
    load: &'static str,
    algorithm: &'static str,
    style: &'static str,
    callers: usize,
    length: usize,
    backend: &'static str,
    subject: &'static str,
    streams: usize,
    /// The medians over rounds of a round's percentiles.
    median_p50_us: f64,
    median_p99_us: f64,
    /// Its median latency to that without streams, the median over rounds.
    times_alone: f64,
    rounds: usize,
    verified: bool,
}

/// Measures both, and says how.
pub(crate) fn run(
    algorithms: &[Algorithm],
    extent: Extent,
    options: &Options,
    backend: &'static str,
) -> Result<String, Error> {
    let figures = algorithms.iter().map(|algorithm| pair(*algorithm, extent, backend));
    Ok(options.text(&figures.collect::<Result<Vec<_>, _>>()?.concat(), table))
}

fn pair(algorithm: Algorithm, extent: Extent, backend: &'static str) -> Result<[IdleStreamsFigure; 2], Error> {
    let known = Crowd::new(algorithm, 1, LENGTH)?.0.remove(0);
    let stage = Stage::new(Style::Idle)?;
    let engines = [Engine::builder().build()?, Engine::builder().build()?];
    let open = || -> Result<_, Error> {
        let mut stream = engines[1].stream(algorithm);
        stream.write(vec![0; WRITTEN]).wait()?;
        Ok(stream)
    };
    let streams = (0..STREAMS).map(|_| open()).collect::<Result<Vec<_>, Error>>()?;
    let percentiles = |engine| -> Result<[f64; 2], Error> {
        let caller = Caller::new(CallersSubject::Manyhash, engine, Hand::Whole, known.clone())?;
        let latencies = Sorted::new(stage.sample(vec![caller], extent.duration)?.latencies);
        Ok([latencies.percentile_us(0.5), latencies.percentile_us(0.99)])
    };
    // Warms up.
    engines.iter().try_for_each(|engine| percentiles(engine).map(drop))?;
    let mut rounds = [vec![], vec![]];
    for round in 0..extent.rounds {
        for at in measure::turns(round, rounds.len()) {
            rounds[at].push(percentiles(&engines[at])?);
        }
    }
    drop(streams);

    let figure = |streams, rounds: &[[f64; 2]], alone: &[[f64; 2]]| IdleStreamsFigure {
        load: "callers",
        algorithm: algorithm.name(),
        style: Style::Idle.name(),
        callers: 1,
        length: LENGTH,
        backend,
        subject: CallersSubject::Manyhash.name(),
        streams,
        median_p50_us: median(rounds.iter().map(|[p50, _]| *p50).collect()),
        median_p99_us: median(rounds.iter().map(|[_, p99]| *p99).collect()),
        times_alone: median(rounds.iter().zip(alone).map(|([p50, _], [alone, _])| p50 / alone).collect()),
        rounds: rounds.len(),
        verified: true,
    };
    let [alone, beside] = &rounds;
    Ok([figure(0, alone, alone), figure(STREAMS, beside, alone)])
}

fn table(figures: &[IdleStreamsFigure]) -> String {
    let mut text = format!(
        "\nidle: a lone caller's {LENGTH} bytes beside streams that wrote {WRITTEN} bytes each, and nothing since\n\
         {:<12}{:>8}{:>10}{:>10}{:>13}\n",
        "algorithm", "streams", "p50 us", "p99 us", "times alone"
    );
    for IdleStreamsFigure { algorithm, streams, median_p50_us, median_p99_us, times_alone, .. } in figures {
        text += &format!("{algorithm:<12}{streams:>8}{median_p50_us:>10.1}{median_p99_us:>10.1}{times_alone:>13.2}\n");
    }
    text
}
