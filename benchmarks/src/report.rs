//! Figures, as JSON lines or as tables.

use crate::load::{Load, Table};
use crate::subject::{MANYHASH, SINGLE_STREAM};
use serde::Serialize;
use std::fmt::Write;

/// What was measured for one subject at one point.
#[derive(Clone, Serialize)]
pub(crate) struct LoadFigure {
    pub(crate) load: &'static str,
    pub(crate) algorithm: &'static str,
    /// Bytes in a message; where lengths differ, in the mean message.
    pub(crate) length: usize,
    pub(crate) messages: usize,
    pub(crate) threads: usize,
    pub(crate) backend: &'static str,
    pub(crate) subject: &'static str,
    pub(crate) median_bytes_per_s: f64,
    pub(crate) median_messages_per_s: f64,
    pub(crate) rounds: usize,
    /// Whether its digests were checked; none if it has none.
    pub(crate) verified: Option<bool>,
}

impl LoadFigure {
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("names and numbers are JSON")
    }
}

/// What the figures were measured on, in a few lines.
pub(crate) fn machine(backend: &str) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|info| {
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let cpu = cpu.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "machine: {cpu}, {cores} cores\nbackend: {backend}\ncompiler: {}\nopenssl: {}\n",
        env!("BENCH_COMPILER"),
        openssl::version::version()
    )
}

/// One algorithm's figures.
pub(crate) fn table(load: Load, table: Table, figures: &[LoadFigure]) -> String {
    let (own, companions): (Vec<_>, Vec<_>) = figures.iter().partition(|figure| figure.load == load.name());
    let mut text = String::new();
    if let Some(figure) = own.first() {
        text = format!(
            "\n{}, {}: {} thread{}, median of {} rounds\n",
            figure.algorithm,
            load.name(),
            figure.threads,
            if figure.threads == 1 { "" } else { "s" },
            figure.rounds
        );
    }
    let shown = match table {
        Table::Subjects => subjects(&mut text, &own, &companions),
        Table::Lengths => points(&mut text, &own, "bytes", "messages/s", |figure| figure.length, messages_per_s),
        Table::Counts => points(&mut text, &own, "messages", "GB/s", |figure| figure.messages, gigabytes_per_s),
    };
    shown.expect("a string takes any text");
    text
}

/// A row for each subject.
fn subjects(text: &mut String, figures: &[&LoadFigure], companions: &[&LoadFigure]) -> std::fmt::Result {
    let manyhash = figures.iter().find(|figure| figure.subject == MANYHASH);
    if let Some(figure) = figures.first() {
        let mean = if figure.load == Load::Mixed.name() { " in the mean" } else { "" };
        writeln!(text, "{} messages of {} bytes{mean}", figure.messages, figure.length)?;
    }
    writeln!(text, "{:<12}{:>10}{:>12}{:>12}", "subject", "GB/s", "messages/s", "manyhash x")?;
    for figure in figures {
        let ratio = manyhash.map_or(String::from("-"), |manyhash| ratio(speedup(manyhash, figure)));
        let (bytes, messages) = (gigabytes_per_s(figure), messages_per_s(figure));
        writeln!(text, "{:<12}{bytes:>10}{messages:>12}{ratio:>12}", figure.subject)?;
    }
    for (manyhash, companion) in manyhash.into_iter().zip(companions) {
        let share = 100.0 * manyhash.median_bytes_per_s / companion.median_bytes_per_s;
        let rate = gigabytes_per_s(companion);
        writeln!(text, "manyhash: {share:.0} % of its {} rate, {rate} GB/s in the same rounds", companion.load)?;
    }
    Ok(())
}

/// A row for each point, and how manyhash stands to the best single-stream peer there.
fn points(
    text: &mut String,
    figures: &[&LoadFigure],
    key: &str,
    unit: &str,
    point: fn(&LoadFigure) -> usize,
    cell: fn(&LoadFigure) -> String,
) -> std::fmt::Result {
    writeln!(text, "{unit}; ratio: manyhash to the best of {}", SINGLE_STREAM.join(", "))?;
    let rows: Vec<&[&LoadFigure]> = figures.chunk_by(|a, b| point(a) == point(b)).collect();
    write!(text, "{key:>9}")?;
    for figure in rows.first().copied().unwrap_or_default() {
        write!(text, "{:>12}", figure.subject)?;
    }
    writeln!(text, "{:>8}  best", "ratio")?;
    let mut worst: Option<(f64, usize)> = None;
    for row in rows {
        let at = point(row[0]);
        write!(text, "{at:>9}")?;
        for figure in row {
            write!(text, "{:>12}", cell(figure))?;
        }
        let manyhash = row.iter().find(|figure| figure.subject == MANYHASH);
        let best = row
            .iter()
            .filter(|figure| SINGLE_STREAM.contains(&figure.subject))
            .max_by(|a, b| a.median_messages_per_s.total_cmp(&b.median_messages_per_s));
        match (manyhash, best) {
            (Some(manyhash), Some(best)) => {
                let speedup = speedup(manyhash, best);
                if worst.is_none_or(|(ratio, _)| speedup < ratio) {
                    worst = Some((speedup, at));
                }
                writeln!(text, "{:>8}  {}", ratio(speedup), best.subject)?;
            }
            _ => writeln!(text, "{:>8}", "-")?,
        }
    }
    if let Some((speedup, at)) = worst {
        writeln!(text, "worst ratio: {} at {at} {key}", ratio(speedup))?;
    }
    Ok(())
}

/// How many times as fast; by messages, since a message may be empty.
fn speedup(figure: &LoadFigure, than: &LoadFigure) -> f64 {
    figure.median_messages_per_s / than.median_messages_per_s
}

fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

fn gigabytes_per_s(figure: &LoadFigure) -> String {
    format!("{:.3}", figure.median_bytes_per_s / 1e9)
}

fn messages_per_s(figure: &LoadFigure) -> String {
    rate(figure.median_messages_per_s)
}

/// A number a second, to about four digits.
pub(crate) fn rate(rate: f64) -> String {
    match rate {
        rate @ 1e6.. => format!("{:.2} M", rate / 1e6),
        rate @ 1e3.. => format!("{:.2} k", rate / 1e3),
        rate => format!("{rate:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{LoadFigure, table};
    use crate::load::{Load, Table};

    fn figure(subject: &'static str, messages: usize, rate: f64) -> LoadFigure {
        LoadFigure {
            load: "crowd",
            algorithm: "md5",
            length: 16384,
            messages,
            threads: 1,
            backend: "portable",
            subject,
            median_bytes_per_s: 16384.0 * rate,
            median_messages_per_s: rate,
            rounds: 3,
            verified: Some(true),
        }
    }

    #[test]
    fn json_has_these_keys_in_this_order() {
        assert_eq!(
            figure("openssl", 2, 0.5).json(),
            "{\"load\":\"crowd\",\"algorithm\":\"md5\",\"length\":16384,\"messages\":2,\"threads\":1,\
             \"backend\":\"portable\",\"subject\":\"openssl\",\"median_bytes_per_s\":8192.0,\
             \"median_messages_per_s\":0.5,\"rounds\":3,\"verified\":true}"
        );
        assert!(LoadFigure { verified: None, ..figure("read", 1, 1.0) }.json().ends_with("\"verified\":null}"));
    }

    #[test]
    fn the_ratio_is_to_the_best_single_stream_peer() {
        let figures = [
            figure("manyhash", 1, 3e5),
            figure("openssl", 1, 2e5),
            figure("aws-lc", 1, 4e5),
            figure("md5-many", 1, 9e5),
            figure("manyhash", 2, 8e5),
            figure("openssl", 2, 2e5),
            figure("aws-lc", 2, 1e5),
            figure("md5-many", 2, 9e5),
        ];
        let text = table(Load::Crowd, Table::Counts, &figures);
        assert!(text.contains("0.75  aws-lc") && text.contains("4.00  openssl"), "{text}");
        assert!(text.ends_with("worst ratio: 0.75 at 1 messages\n"), "{text}");
    }
}
