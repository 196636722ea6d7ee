//! Figures of `callers`, as JSON lines or as rows of a table.

use super::caller::CallersSubject;
use crate::measure::median;
use crate::sample::{Sample, Sorted};
use manyhash::Algorithm;
use serde::Serialize;
use std::fmt::Write;

/// Where the subjects are compared.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) algorithm: Algorithm,
    pub(crate) style: &'static str,
    pub(crate) callers: usize,
    pub(crate) length: usize,
    pub(crate) backend: &'static str,
}

/// One subject in one cell.
#[derive(Clone, Serialize)]
pub(crate) struct CallersFigure {
    load: &'static str,
    algorithm: &'static str,
    style: &'static str,
    callers: usize,
    length: usize,
    backend: &'static str,
    subject: &'static str,
    median_bytes_per_s: f64,
    /// By the CPU time of the whole process.
    median_bytes_per_cpu_s: f64,
    /// From request to digest, in microseconds, over all rounds.
    p50_us: f64,
    p99_us: f64,
    /// Digests in all rounds.
    digests: usize,
    /// Lanes of the engine in use, of those worth filling; none for OpenSSL.
    occupancy: Option<f64>,
    /// The medians over rounds of these rates to OpenSSL's; none for OpenSSL.
    times_openssl: Option<f64>,
    times_openssl_per_cpu_s: Option<f64>,
    rounds: usize,
    verified: bool,
}

fn rate(cell: &Cell, sample: &Sample) -> f64 {
    (sample.latencies.len() * cell.length) as f64 / sample.time.as_secs_f64()
}

fn rate_per_cpu(cell: &Cell, sample: &Sample) -> f64 {
    (sample.latencies.len() * cell.length) as f64 / sample.cpu.as_secs_f64()
}

impl CallersFigure {
    fn new(cell: &Cell, subject: CallersSubject, samples: &[Sample]) -> Self {
        let over = |of: fn(&Cell, &Sample) -> f64| median(samples.iter().map(|sample| of(cell, sample)).collect());
        let latencies = Sorted::of(samples);
        CallersFigure {
            load: "callers",
            algorithm: cell.algorithm.name(),
            style: cell.style,
            callers: cell.callers,
            length: cell.length,
            backend: cell.backend,
            subject: subject.name(),
            median_bytes_per_s: over(rate),
            median_bytes_per_cpu_s: over(rate_per_cpu),
            p50_us: latencies.percentile_us(0.5),
            p99_us: latencies.percentile_us(0.99),
            digests: latencies.count(),
            occupancy: None,
            times_openssl: None,
            times_openssl_per_cpu_s: None,
            rounds: samples.len(),
            verified: true,
        }
    }
}

/// The subjects' figures in one cell, in the order of [`CallersSubject::ALL`]. `samples` has the subjects' in that order, one a
/// round; the engine's lanes were used by this share.
pub(crate) fn pair(cell: &Cell, samples: &[Vec<Sample>; 2], occupancy: Option<f64>) -> [CallersFigure; 2] {
    let [manyhash, openssl] = samples;
    let times = |of: fn(&Cell, &Sample) -> f64| {
        let ratio = |(manyhash, openssl): (&Sample, &Sample)| of(cell, manyhash) / of(cell, openssl);
        Some(median(manyhash.iter().zip(openssl).map(ratio).collect()))
    };
    let own = CallersFigure {
        occupancy,
        times_openssl: times(rate),
        times_openssl_per_cpu_s: times(rate_per_cpu),
        ..CallersFigure::new(cell, CallersSubject::Manyhash, manyhash)
    };
    [own, CallersFigure::new(cell, CallersSubject::OpenSsl, openssl)]
}

/// What precedes the rows of an algorithm.
pub(crate) fn heading(algorithm: Algorithm, rounds: usize) -> String {
    format!(
        "\n{algorithm}, callers: median of {rounds} rounds; o is OpenSSL, x the ratio to it, < one below {BAR}\n\
         {:<8}{:>8}{:>9}{:>9}{:>8}{:>7} {:>9}{:>8}{:>7} {:>7}{:>10}{:>10}{:>10}{:>10}\n",
        "style", "callers", "bytes", "GB/s", "o", "x", "GB/CPU s", "o", "x", "lanes", "p50 us", "o", "p99 us", "o"
    )
}

/// A ratio below this is marked.
const BAR: f64 = 0.95;

/// How the engine stands to OpenSSL: by the lesser of both ratios.
fn standing(figure: &CallersFigure) -> f64 {
    let [time, cpu] = [figure.times_openssl, figure.times_openssl_per_cpu_s].map(|ratio| ratio.unwrap_or(f64::NAN));
    time.min(cpu)
}

/// The row of a cell; none where the two are not all.
pub(crate) fn row(figures: &[CallersFigure]) -> String {
    let mut text = String::new();
    if let [own, openssl] = figures {
        write_row(&mut text, own, openssl).expect("a string takes any text");
    }
    text
}

fn write_row(text: &mut String, own: &CallersFigure, openssl: &CallersFigure) -> std::fmt::Result {
    let CallersFigure { style, callers, length, .. } = own;
    write!(text, "{style:<8}{callers:>8}{length:>9}")?;
    let rates = [
        (own.median_bytes_per_s, openssl.median_bytes_per_s, own.times_openssl),
        (own.median_bytes_per_cpu_s, openssl.median_bytes_per_cpu_s, own.times_openssl_per_cpu_s),
    ];
    for (rate, peer, ratio) in rates {
        let ratio = ratio.unwrap_or(f64::NAN);
        let mark = if ratio < BAR { '<' } else { ' ' };
        write!(text, "{:>9.3}{:>8.3}{ratio:>7.2}{mark}", rate / 1e9, peer / 1e9)?;
    }
    let lanes = own.occupancy.map_or(String::from("-"), |share| format!("{:.0} %", 100.0 * share));
    write!(text, "{lanes:>7}")?;
    writeln!(text, "{:>10.1}{:>10.1}{:>10.1}{:>10.1}", own.p50_us, openssl.p50_us, own.p99_us, openssl.p99_us)
}

/// The cells where the engine stands worst, and how many are below the bar.
pub(crate) fn worst(cells: &mut [[CallersFigure; 2]]) -> String {
    const SHOWN: usize = 12;
    let below = cells.iter().filter(|[own, _]| standing(own) < BAR).count();
    cells.sort_by(|[a, _], [b, _]| standing(a).total_cmp(&standing(b)));
    let mut text = String::new();
    if !cells.is_empty() {
        text = format!("\n{below} of {} cells below {BAR}; the worst:\n", cells.len());
        for cell in cells.iter().take(SHOWN) {
            text += &format!("{:<12}{}", cell[0].algorithm, row(cell));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{CallersFigure, Cell, pair, row, worst};
    use crate::sample::Sample;
    use manyhash::Algorithm;
    use std::time::Duration;

    /// A round in which so many digests were made in a second.
    fn sample(digests: u64, cpu: u64) -> Sample {
        let latencies = (1..=digests).map(Duration::from_micros).collect();
        Sample { time: Duration::from_secs(1), cpu: Duration::from_secs(cpu), latencies }
    }

    fn figures(callers: usize, own: [u64; 3], openssl: [u64; 3]) -> [CallersFigure; 2] {
        let cell = Cell { algorithm: Algorithm::Sha1, style: "tokio-2", callers, length: 1_000_000, backend: "avx2" };
        pair(
            &cell,
            &[own.map(|digests| sample(digests, 2)).into(), openssl.map(|digests| sample(digests, 1)).into()],
            Some(0.25),
        )
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        let [own, openssl] = figures(4, [100, 200, 300], [100, 400, 100]);
        assert_eq!((own.times_openssl, own.times_openssl_per_cpu_s), (Some(1.0), Some(0.5)));
        assert_eq!((own.median_bytes_per_s, own.median_bytes_per_cpu_s), (2e8, 1e8));
        assert_eq!((openssl.times_openssl, openssl.occupancy, openssl.median_bytes_per_s), (None, None, 1e8));
        assert_eq!((own.digests, own.p50_us, own.p99_us), (600, 100.0, 294.0));
        let json = serde_json::to_string(&own).unwrap();
        let begin = "{\"load\":\"callers\",\"algorithm\":\"sha1\",\"style\":\"tokio-2\",\"callers\":4,\
                     \"length\":1000000,\"backend\":\"avx2\",\"subject\":\"manyhash\",\"median_bytes_per_s\":";
        assert!(json.starts_with(begin) && json.contains("\"occupancy\":0.25,\"times_openssl\":1.0"), "{json}");
    }

    #[test]
    fn what_is_below_the_bar_is_marked_and_the_worst_comes_first() {
        let (good, slow, bad) =
            (figures(1, [300; 3], [100; 3]), figures(2, [90; 3], [100; 3]), figures(3, [50; 3], [100; 3]));
        assert!(!row(&good).contains('<'), "{}", row(&good));
        assert!(row(&slow).contains("0.90<") && row(&slow).contains("0.45<"), "{}", row(&slow));
        let text = worst(&mut [good, slow, bad.clone()]);
        assert!(text.starts_with("\n2 of 3 cells below 0.95; the worst:\n"), "{text}");
        assert_eq!(text.lines().nth(2).unwrap(), format!("sha1        {}", row(&bad).trim_end()));
        assert_eq!(worst(&mut []), "");
    }
}
