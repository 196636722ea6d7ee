//! Figures of `files`, as a table; JSON lines are made of them as they are.

use serde::Serialize;
use std::fmt::Write;

/// One program in one case.
#[derive(Clone, Serialize)]
pub(crate) struct FilesFigure {
    pub(crate) load: &'static str,
    pub(crate) case: &'static str,
    pub(crate) algorithm: &'static str,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// The directory that the tree was made in.
    pub(crate) place: String,
    pub(crate) backend: &'static str,
    pub(crate) subject: String,
    /// If it was told how many.
    pub(crate) threads: Option<usize>,
    pub(crate) median_seconds: f64,
    /// Of resident memory, in any round; only where it was watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_bytes: Option<u64>,
    pub(crate) rounds: usize,
    /// Whether every digest was checked; none if it prints none of this algorithm.
    pub(crate) verified: Option<bool>,
    #[serde(skip)]
    pub(crate) own: bool,
}

/// One case's figures with one algorithm: a row for each subject, and in it the ratio of its time to that of each of
/// manyhash's.
pub(crate) fn table(figures: &[FilesFigure]) -> String {
    let mut text = String::new();
    write_table(&mut text, figures).expect("a string takes any text");
    text
}

fn write_table(text: &mut String, figures: &[FilesFigure]) -> std::fmt::Result {
    let Some(first) = figures.first() else { return Ok(()) };
    let FilesFigure { case, algorithm, files, place, rounds, .. } = first;
    let gigabytes = first.bytes as f64 / 1e9;
    let files = if *files == 1 { "one file".into() } else { format!("{files} files") };
    writeln!(text, "\n{algorithm}, {case}: {files}, {gigabytes:.3} GB in {place}, median of {rounds} rounds")?;
    let own: Vec<_> = figures.iter().filter(|figure| figure.own).collect();
    let peaks = figures.iter().any(|figure| figure.peak_bytes.is_some());
    write!(text, "{:<22}{:>10}{:>10}", "subject", "seconds", "GB/s")?;
    if peaks {
        write!(text, "{:>10}", "peak MiB")?;
    }
    own.iter().try_for_each(|own| write!(text, "{:>19}", own.subject.clone() + " x"))?;
    writeln!(text)?;
    for figure in figures {
        let seconds = figure.median_seconds;
        write!(text, "{:<22}{seconds:>10.3}{:>10.3}", figure.subject, gigabytes / seconds)?;
        if peaks {
            let peak = figure.peak_bytes.map_or("-".into(), |bytes| format!("{:.1}", bytes as f64 / (1 << 20) as f64));
            write!(text, "{peak:>10}")?;
        }
        own.iter().try_for_each(|own| write!(text, "{:>19.2}", seconds / own.median_seconds))?;
        writeln!(text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FilesFigure, table};

    fn figure(subject: &str, median_seconds: f64) -> FilesFigure {
        FilesFigure {
            load: "files",
            case: "large",
            algorithm: "md5",
            files: 64,
            bytes: 1 << 30,
            place: "/tmp".into(),
            backend: "avx2",
            subject: subject.into(),
            threads: None,
            median_seconds,
            peak_bytes: None,
            rounds: 7,
            verified: Some(true),
            own: subject.starts_with("many"),
        }
    }

    #[test]
    fn a_row_has_its_ratio_to_each_of_manyhash() {
        let text = table(&[figure("manysum -j1", 0.2), figure("manysum -j2", 0.1), figure("md5sum", 1.6)]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[1], "md5, large: 64 files, 1.074 GB in /tmp, median of 7 rounds");
        assert!(lines[2].ends_with("GB/s      manysum -j1 x      manysum -j2 x"), "{text}");
        assert!(lines[5].starts_with("md5sum                     1.600     0.671 "), "{text}");
        let ratios = |line: &str| line.split_whitespace().rev().take(2).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!([3, 4, 5].map(|at| ratios(lines[at])), [["2.00", "1.00"], ["1.00", "0.50"], ["16.00", "8.00"]]);
    }

    #[test]
    fn peaks_are_shown_where_there_are_some() {
        let peaking = FilesFigure { peak_bytes: Some(3 << 19), ..figure("manysum", 2.0) };
        let text = table(&[peaking.clone(), figure("other", 1.0)]);
        assert!(text.contains("  peak MiB") && text.contains("     1.5 ") && text.contains("         - "), "{text}");
        let json = serde_json::to_string(&peaking).unwrap();
        assert!(json.contains("\"threads\":null,\"median_seconds\":2.0,\"peak_bytes\":1572864,\"rounds\":7"), "{json}");
        assert!(!serde_json::to_string(&figure("other", 1.0)).unwrap().contains("peak"));
    }
}
