//! Figures of `threads`, as JSON lines or as a table.

use super::Pass;
use super::subject::ThreadsSubject;
use crate::measure::median;
use crate::report::rate;
use manyhash::Algorithm;
use serde::Serialize;
use std::fmt::Write;

/// One subject on so many threads.
#[derive(Clone, Serialize)]
pub(crate) struct ThreadsFigure {
    pub(crate) load: &'static str,
    pub(crate) algorithm: &'static str,
    pub(crate) threads: usize,
    pub(crate) backend: &'static str,
    pub(crate) subject: &'static str,
    pub(crate) strings: usize,
    pub(crate) median_hashes_per_s: f64,
    /// By the CPU time of the whole process.
    pub(crate) median_hashes_per_cpu_s: f64,
    pub(crate) rounds: usize,
    pub(crate) verified: bool,
}

impl ThreadsFigure {
    /// Of the passes over so many strings, a pass a round, whose digests were checked.
    pub(crate) fn new(
        algorithm: Algorithm,
        threads: usize,
        backend: &'static str,
        subject: &'static str,
        strings: usize,
        passes: &[Pass],
    ) -> Self {
        let per = |seconds: fn(&Pass) -> f64| strings as f64 / median(passes.iter().map(seconds).collect());
        ThreadsFigure {
            load: "threads",
            algorithm: algorithm.name(),
            threads,
            backend,
            subject,
            strings,
            median_hashes_per_s: per(|pass| pass.time.as_secs_f64()),
            median_hashes_per_cpu_s: per(|pass| pass.cpu.as_secs_f64()),
            rounds: passes.len(),
            verified: true,
        }
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("names and numbers are JSON")
    }
}

/// One algorithm's figures: a row for each number of threads.
pub(crate) fn table(figures: &[ThreadsFigure]) -> String {
    let mut text = String::new();
    write_table(&mut text, figures).expect("a string takes any text");
    text
}

fn write_table(text: &mut String, figures: &[ThreadsFigure]) -> std::fmt::Result {
    let Some(first) = figures.first() else { return Ok(()) };
    let ThreadsFigure { algorithm, strings, rounds, .. } = first;
    writeln!(text, "\n{algorithm}, threads: {strings} strings of 16 letters, hashes/s, median of {rounds} rounds")?;
    let rows: Vec<&[ThreadsFigure]> = figures.chunk_by(|a, b| a.threads == b.threads).collect();
    write!(text, "{:>7}", "threads")?;
    rows[0].iter().try_for_each(|figure| write!(text, "{:>16}", figure.subject))?;
    writeln!(text)?;
    for row in rows {
        write!(text, "{:>7}", row[0].threads)?;
        row.iter().try_for_each(|figure| write!(text, "{:>16}", rate(figure.median_hashes_per_s)))?;
        writeln!(text)?;
    }
    let batches = ThreadsSubject::ENGINE_BATCHES.name();
    match figures.iter().find(|figure| figure.subject == batches && figure.threads == 1) {
        Some(figure) => {
            let rate = rate(figure.median_hashes_per_cpu_s);
            writeln!(text, "{batches}, one thread submitting: {rate} hashes per CPU second of the process")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Pass, ThreadsFigure, table};
    use manyhash::Algorithm;
    use std::time::Duration;

    /// Two subjects on 1 and 2 threads.
    pub(crate) fn figures() -> Vec<ThreadsFigure> {
        let passes = [4, 2, 1].map(|time| Pass { time: Duration::from_secs(time), cpu: Duration::from_secs(2 * time) });
        [(1, "openssl"), (1, "engine-4096"), (2, "openssl"), (2, "engine-4096")]
            .map(|(threads, subject)| ThreadsFigure::new(Algorithm::Md5, threads, "avx2", subject, 8_000_000, &passes))
            .into()
    }

    #[test]
    fn rates_are_of_the_median_pass() {
        assert_eq!(
            figures()[0].json(),
            "{\"load\":\"threads\",\"algorithm\":\"md5\",\"threads\":1,\"backend\":\"avx2\",\"subject\":\"openssl\",\
             \"strings\":8000000,\"median_hashes_per_s\":4000000.0,\"median_hashes_per_cpu_s\":2000000.0,\
             \"rounds\":3,\"verified\":true}"
        );
    }

    #[test]
    fn the_table_states_the_rate_of_a_cpu_second() {
        let text = table(&figures());
        assert!(text.ends_with("engine-4096, one thread submitting: 2.00 M hashes per CPU second of the process\n"));
        assert_eq!(text.lines().count(), 6, "{text}");
    }
}
