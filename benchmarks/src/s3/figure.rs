//! Figures of cells, as JSON lines or as rows of a table.

use super::cell::Cell;
use super::program::Program;
use super::stage::Sample;
use crate::measure::median;
use crate::report::rate;
use crate::sample::Sorted;
use serde::Serialize;
use std::fmt::Write;

/// One server in one cell.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct S3Figure {
    pub(crate) load: &'static str,
    #[serde(flatten)]
    pub(crate) cell: Cell,
    pub(crate) subject: Program,
    pub(crate) median_requests_per_s: f64,
    pub(crate) median_bytes_per_s: f64,
    /// Of the server.
    pub(crate) median_cpu_us_per_request: f64,
    pub(crate) median_cpu_s_per_gb: f64,
    /// From request to answer, over all rounds.
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Of the server's resident memory, in any round.
    pub(crate) peak_bytes: u64,
    /// In all rounds.
    pub(crate) requests: usize,
    /// What manyhash has of that, as medians of the ratios of each round; none if it was not measured.
    pub(crate) manyhash_requests_ratio: Option<f64>,
    pub(crate) manyhash_cpu_ratio: Option<f64>,
    pub(crate) rounds: usize,
    pub(crate) verified: bool,
}

/// The figures of a cell. Each server has as many samples, one a round.
pub(crate) fn figures(cell: Cell, samples: Vec<(Program, Vec<Sample>)>) -> Vec<S3Figure> {
    let own = samples.iter().find(|(program, _)| *program == Program::Manyhash).map(|(_, samples)| samples);
    let figure = |(subject, samples): &(Program, Vec<Sample>)| {
        let over = |of: fn(&Sample) -> f64| median(samples.iter().map(of).collect());
        let ratio = |of: fn(&Sample) -> f64| {
            own.map(|own| median(own.iter().zip(samples).map(|(own, other)| of(own) / of(other)).collect()))
        };
        let latencies = Sorted::new(samples.iter().flat_map(|sample| &sample.latencies).copied().collect());
        let (requests_per_s, cpu_us) = (over(Sample::requests_per_s), over(Sample::cpu_us_per_request));
        S3Figure {
            load: "s3",
            cell,
            subject: *subject,
            median_requests_per_s: requests_per_s,
            median_bytes_per_s: requests_per_s * cell.length as f64,
            median_cpu_us_per_request: cpu_us,
            median_cpu_s_per_gb: cpu_us * 1e3 / cell.length as f64,
            p50_us: latencies.percentile_us(0.5),
            p99_us: latencies.percentile_us(0.99),
            peak_bytes: samples.iter().map(|sample| sample.peak).max().unwrap_or_default(),
            requests: latencies.count(),
            manyhash_requests_ratio: ratio(Sample::requests_per_s),
            manyhash_cpu_ratio: ratio(Sample::cpu_us_per_request),
            rounds: samples.len(),
            verified: true,
        }
    };
    samples.iter().map(figure).collect()
}

/// One cell's figures: a row for each server, and in it what manyhash has of its requests and CPU time.
pub(crate) fn table(figures: &[S3Figure]) -> String {
    let mut text = String::new();
    write_table(&mut text, figures).expect("a string takes any text");
    text
}

fn write_table(text: &mut String, figures: &[S3Figure]) -> std::fmt::Result {
    let Some(first) = figures.first() else { return Ok(()) };
    writeln!(text, "\n{}: median of {} rounds; x: manyhash's to this", first.cell, first.rounds)?;
    let heads = ["requests/s", "MB/s", "x", "CPU us", "CPU s/GB", "x", "p50 ms", "p99 ms", "peak MiB"];
    write!(text, "{:<10}", "subject")?;
    heads.iter().zip(WIDTHS).try_for_each(|(head, width)| write!(text, "{head:>width$}"))?;
    writeln!(text)?;
    for figure in figures {
        let ratio = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"));
        let cells = [
            rate(figure.median_requests_per_s),
            format!("{:.1}", figure.median_bytes_per_s / 1e6),
            ratio(figure.manyhash_requests_ratio),
            format!("{:.1}", figure.median_cpu_us_per_request),
            format!("{:.3}", figure.median_cpu_s_per_gb),
            ratio(figure.manyhash_cpu_ratio),
            format!("{:.2}", figure.p50_us / 1e3),
            format!("{:.2}", figure.p99_us / 1e3),
            format!("{:.1}", figure.peak_bytes as f64 / (1 << 20) as f64),
        ];
        write!(text, "{:<10}", figure.subject.name())?;
        cells.iter().zip(WIDTHS).try_for_each(|(cell, width)| write!(text, "{cell:>width$}"))?;
        writeln!(text)?;
    }
    Ok(())
}

const WIDTHS: [usize; 9] = [12, 9, 7, 11, 10, 7, 10, 10, 10];

#[cfg(test)]
pub(crate) mod tests {
    use super::{S3Figure, figures, table};
    use crate::s3::cell::{Cell, KIB, Place, Signing};
    use crate::s3::program::Program;
    use crate::s3::stage::Sample;
    use std::time::Duration;

    /// A round of a second, with so many requests that took 1, 2, 3, ... milliseconds and so much CPU time.
    fn sample(requests: u64, cpu_ms: u64) -> Sample {
        let latencies = (1..=requests).map(Duration::from_millis).collect();
        Sample { time: Duration::from_secs(1), cpu: Duration::from_millis(cpu_ms), latencies, peak: requests << 20 }
    }

    pub(crate) fn made(cell: Cell, own: [(u64, u64); 3], peer: Program, other: [(u64, u64); 3]) -> Vec<S3Figure> {
        let samples = |rounds: [(u64, u64); 3]| rounds.map(|(requests, cpu)| sample(requests, cpu)).into();
        figures(cell, vec![(Program::Manyhash, samples(own)), (peer, samples(other))])
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        let cell = Cell::put(Signing::Unsigned, 4 * KIB, 64, Place::Disk);
        let made = made(cell, [(100, 10), (200, 10), (400, 10)], Program::Minio, [(100, 40), (100, 20), (100, 40)]);
        let [own, peer] = &made[..] else { panic!("{made:?}") };
        assert_eq!((own.manyhash_requests_ratio, own.manyhash_cpu_ratio), (Some(1.0), Some(1.0)));
        assert_eq!((peer.manyhash_requests_ratio, peer.manyhash_cpu_ratio), (Some(2.0), Some(0.25)));
        assert_eq!((own.median_requests_per_s, own.median_bytes_per_s), (200.0, 819_200.0));
        assert_eq!((own.median_cpu_us_per_request, peer.median_cpu_us_per_request), (50.0, 400.0));
        assert!((own.median_cpu_s_per_gb - 50e-6 / 4096e-9).abs() < 1e-9);
        assert_eq!((peer.p50_us, peer.p99_us, peer.requests, peer.peak_bytes), (50e3, 99e3, 300, 100 << 20));

        let text = table(&made);
        assert!(text.starts_with("\nPUT 4 KiB, unsigned 64 clients, disk: median of 3 rounds"), "{text}");
        let words: Vec<_> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(words, ["minio", "100.0", "0.4", "2.00", "400.0", "97.656", "0.25", "50.00", "99.00", "100.0"]);
        let json = serde_json::to_value(peer).unwrap();
        assert_eq!((&json["load"], &json["operation"], &json["place"]), (&"s3".into(), &"put".into(), &"disk".into()));
        assert_eq!((&json["subject"], &json["length"]), (&"minio".into(), &4096.into()));
    }
}
