//! How late a task wakes up that shares its only thread with one that waits for digests in a loop.

use super::caller::{Caller, CallersSubject, Hand};
use super::style::Style;
use super::{Crowd, Extent};
use crate::error::Error;
use crate::options::Options;
use crate::sample::Sorted;
use manyhash::Algorithm;
use manyhash::engine::Engine;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How long the task sleeps each time.
const NAP: Duration = Duration::from_millis(1);

/// Bytes in the other's message.
const LENGTH: usize = 64 << 10;

/// One that sleeps, beside one that has digests made.
#[derive(Clone, Serialize)]
pub(crate) struct StallFigure {
    load: &'static str,
    algorithm: &'static str,
    style: &'static str,
    callers: usize,
    length: usize,
    backend: &'static str,
    /// Who makes the digests; `none` if there is no other task.
    subject: &'static str,
    wakeups: usize,
    /// By how much the wake-ups were late, in microseconds, over all rounds.
    p50_late_us: f64,
    p99_late_us: f64,
    max_late_us: f64,
    rounds: usize,
    /// Whether every digest was checked; none if there is none.
    verified: Option<bool>,
}

/// Measures, and says what came of it.
pub(crate) fn run(
    algorithms: &[Algorithm],
    extent: Extent,
    options: &Options,
    backend: &'static str,
) -> Result<String, Error> {
    let figures = algorithms.iter().map(|algorithm| pair(*algorithm, extent, backend));
    Ok(options.text(&figures.collect::<Result<Vec<_>, _>>()?.concat(), table))
}

fn pair(algorithm: Algorithm, extent: Extent, backend: &'static str) -> Result<[StallFigure; 2], Error> {
    let known = Crowd::new(algorithm, 1, LENGTH)?.0.remove(0);
    let engine = Engine::builder().build()?;
    let mut late = [vec![], vec![]];
    for _ in 0..extent.rounds {
        let caller = Caller::new(CallersSubject::Manyhash, &engine, Hand::Whole, known.clone())?;
        for (late, caller) in late.iter_mut().zip([None, Some(caller)]) {
            late.extend(sample(caller, extent.duration)?);
        }
    }
    let figure = |callers, subject, late| {
        let late = Sorted::new(late);
        StallFigure {
            load: "callers",
            algorithm: algorithm.name(),
            style: Style::Stall.name(),
            callers,
            length: LENGTH,
            backend,
            subject,
            wakeups: late.count(),
            p50_late_us: late.percentile_us(0.5),
            p99_late_us: late.percentile_us(0.99),
            max_late_us: late.percentile_us(1.0),
            rounds: extent.rounds,
            verified: (callers > 0).then_some(true),
        }
    };
    let [alone, beside] = late;
    Ok([figure(0, "none", alone), figure(1, CallersSubject::Manyhash.name(), beside)])
}

/// By how much each wake-up was late. There is one at least, after the caller is done.
fn sample(caller: Option<Caller>, duration: Duration) -> Result<Vec<Duration>, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(Error::Runtime)?;
    runtime.block_on(async {
        let end = Instant::now() + duration;
        let sleeper = tokio::spawn(sleep(end));
        let asking = tokio::spawn(ask(caller, end));
        asking.await??;
        Ok(sleeper.await?)
    })
}

async fn sleep(end: Instant) -> Vec<Duration> {
    let mut late = Vec::new();
    loop {
        let due = Instant::now() + NAP;
        tokio::time::sleep_until(due.into()).await;
        late.push(due.elapsed());
        if Instant::now() >= end {
            return late;
        }
    }
}

/// Never lets go of the thread but where it waits for a digest.
async fn ask(caller: Option<Caller>, end: Instant) -> Result<(), Error> {
    let Some(mut caller) = caller else { return Ok(()) };
    while Instant::now() < end {
        caller.digest().await?;
    }
    Ok(())
}

fn table(figures: &[StallFigure]) -> String {
    let mut text = format!(
        "\nstall: a task that sleeps {} ms at a time, beside one that waits for digests of {LENGTH} bytes on one thread\n\
         {:<12}{:<10}{:>9}{:>13}{:>13}{:>13}\n",
        NAP.as_millis(),
        "algorithm",
        "beside",
        "wake-ups",
        "p50 late us",
        "p99 late us",
        "max late us"
    );
    for StallFigure { algorithm, subject, wakeups, p50_late_us, p99_late_us, max_late_us, .. } in figures {
        text += &format!(
            "{algorithm:<12}{subject:<10}{wakeups:>9}{p50_late_us:>13.0}{p99_late_us:>13.0}{max_late_us:>13.0}\n"
        );
    }
    text
}
