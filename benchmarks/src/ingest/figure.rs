//! Figures of `ingest`, as JSON lines or as a table.

use super::hashing::IngestSubject;
use crate::measure::median;
use crate::report::rate;
use crate::sample::{Sample, Sorted};
use manyhash::Algorithm;
use serde::Serialize;
use std::fmt::Write;

/// Where the subjects are compared.
pub(crate) struct Point<'a> {
    pub(crate) algorithms: &'a [Algorithm],
    pub(crate) tasks: usize,
    pub(crate) length: usize,
    pub(crate) backend: &'static str,
}

/// One subject at one point.
#[derive(Serialize)]
pub(crate) struct IngestFigure {
    load: &'static str,
    algorithm: String,
    tasks: usize,
    length: usize,
    backend: &'static str,
    subject: &'static str,
    median_objects_per_s: f64,
    median_bytes_per_s: f64,
    /// CPU seconds of the receiving process for 10^9 bytes.
    median_cpu_s_per_gb: f64,
    /// The same, less what `none` took in the same round; none for `none`.
    median_hashing_cpu_s_per_gb: Option<f64>,
    /// From request to digest, in microseconds, over all rounds.
    p50_us: f64,
    p99_us: f64,
    p999_us: f64,
    /// Objects in all rounds.
    objects: usize,
    rounds: usize,
    /// Whether every digest was checked; none if there is none.
    verified: Option<bool>,
}

impl IngestFigure {
    /// Of the samples of every subject, one a round.
    pub(crate) fn all(point: &Point, samples: &[Vec<Sample>]) -> Vec<IngestFigure> {
        let none =
            IngestSubject::ALL.iter().position(|subject| *subject == IngestSubject::None).expect("it is one of them");
        IngestSubject::ALL
            .into_iter()
            .zip(samples)
            .map(|(subject, of_subject)| IngestFigure::new(point, subject, of_subject, &samples[none]))
            .collect()
    }

    fn new(point: &Point, subject: IngestSubject, samples: &[Sample], none: &[Sample]) -> IngestFigure {
        let cpu_per_gb =
            |sample: &Sample| sample.cpu.as_secs_f64() * 1e9 / (sample.latencies.len() as f64 * point.length as f64);
        let hashes = subject != IngestSubject::None;
        let hashing = samples.iter().zip(none).map(|(sample, none)| cpu_per_gb(sample) - cpu_per_gb(none));
        let objects = samples.iter().map(|sample| sample.latencies.len() as f64 / sample.time.as_secs_f64());
        let objects = median(objects.collect());
        let latencies = Sorted::of(samples);
        let names: Vec<_> = point.algorithms.iter().map(|algorithm| algorithm.name()).collect();
        IngestFigure {
            load: "ingest",
            algorithm: names.join("+"),
            tasks: point.tasks,
            length: point.length,
            backend: point.backend,
            subject: subject.name(),
            median_objects_per_s: objects,
            median_bytes_per_s: objects * point.length as f64,
            median_cpu_s_per_gb: median(samples.iter().map(cpu_per_gb).collect()),
            median_hashing_cpu_s_per_gb: hashes.then(|| median(hashing.collect())),
            p50_us: latencies.percentile_us(0.5),
            p99_us: latencies.percentile_us(0.99),
            p999_us: latencies.percentile_us(0.999),
            objects: latencies.count(),
            rounds: samples.len(),
            verified: hashes.then_some(true),
        }
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("names and numbers are JSON")
    }
}

/// What precedes the rows of an algorithm.
pub(crate) fn heading(algorithms: &[Algorithm], rounds: usize) -> String {
    let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
    format!(
        "\n{}, ingest: median of {rounds} rounds; latency from request to digest; the last three columns to openssl\n\
         {:>5}{:>10}  {:<17}{:>10}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>11}{:>8}{:>8}\n",
        names.join("+"),
        "tasks",
        "bytes",
        "subject",
        "objects/s",
        "GB/s",
        "CPU s/GB",
        "hashing",
        "p50 us",
        "p99 us",
        "p99.9 us",
        "objects/s",
        "hashing",
        "p99"
    )
}

/// The rows of a point.
pub(crate) fn rows(figures: &[IngestFigure]) -> String {
    let mut text = String::new();
    figures.iter().try_for_each(|figure| row(&mut text, figure, figures)).expect("a string takes any text");
    text
}

fn row(text: &mut String, figure: &IngestFigure, figures: &[IngestFigure]) -> std::fmt::Result {
    let number = |number: Option<f64>| number.map_or(String::from("-"), |number| format!("{number:.3}"));
    let IngestFigure { tasks, length, subject, p50_us, p99_us, p999_us, .. } = figure;
    write!(text, "{tasks:>5}{length:>10}  {subject:<17}")?;
    write!(text, "{:>10}{:>8.3}", rate(figure.median_objects_per_s), figure.median_bytes_per_s / 1e9)?;
    write!(text, "{:>10.4}", figure.median_cpu_s_per_gb)?;
    write!(text, "{:>10}", figure.median_hashing_cpu_s_per_gb.map_or("-".into(), |cpu| format!("{cpu:.4}")))?;
    write!(text, "{p50_us:>10.0}{p99_us:>10.0}{p999_us:>10.0}")?;
    let openssl = figures.iter().find(|figure| figure.subject == IngestSubject::OpenSsl.name());
    let ratio = |of: fn(&IngestFigure) -> Option<f64>| number(of(figure).zip(openssl.and_then(of)).map(|(a, b)| a / b));
    let objects = ratio(|figure| Some(figure.median_objects_per_s));
    let hashing = ratio(|figure| figure.median_hashing_cpu_s_per_gb);
    let p99 = ratio(|figure| Some(figure.p99_us));
    writeln!(text, "{objects:>11}{hashing:>8}{p99:>8}")
}

#[cfg(test)]
mod tests {
    use super::{IngestFigure, Point, rows};
    use crate::sample::Sample;
    use manyhash::Algorithm;
    use std::time::Duration;

    #[test]
    fn hashing_is_what_none_does_not_cost() {
        let algorithms = [Algorithm::Md5, Algorithm::Sha256];
        let point = Point { algorithms: &algorithms, tasks: 2, length: 1_000_000, backend: "avx2" };
        // Ten objects in a second, 10 MB.
        let samples = |cpu| {
            let latencies = (1..=10).map(Duration::from_millis).collect();
            vec![Sample { time: Duration::from_secs(1), cpu: Duration::from_millis(cpu), latencies }]
        };
        let figures = IngestFigure::all(&point, &[samples(1), samples(13), samples(16), samples(3)]);
        let hashing: Vec<_> = figures.iter().map(|figure| figure.median_hashing_cpu_s_per_gb).collect();
        assert_eq!(hashing[0], None);
        for (hashing, expected) in hashing[1..].iter().zip([1.2, 1.5, 0.2]) {
            assert!((hashing.unwrap() - expected).abs() < 1e-9);
        }
        let text = rows(&figures);
        assert!(text.lines().last().unwrap().ends_with("      1.000   0.167   1.000"), "{text}");
        assert!(
            figures[0].json().starts_with(
                "{\"load\":\"ingest\",\"algorithm\":\"md5+sha256\",\"tasks\":2,\"length\":1000000,\
                 \"backend\":\"avx2\",\"subject\":\"none\",\"median_objects_per_s\":10.0,"
            ),
            "{}",
            figures[0].json()
        );
    }
}
