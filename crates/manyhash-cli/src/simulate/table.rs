//! What came out, as people read it.

use super::load::Load;
use super::outcome::{Experiment, Figures};
use manyhash::engine::SlotState;
use manysum::figures::{count, scaled};
use std::fmt::{self, Display, Formatter};

impl Display for Experiment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine())?;
        writeln!(f, "{}\n", self.load)?;
        write!(f, "{:<26}", "")?;
        self.subjects.iter().try_for_each(|subject| write!(f, "{:>18}", subject.name))?;
        writeln!(f)?;
        for (label, value) in rows() {
            write!(f, "  {label:<24}")?;
            self.subjects.iter().try_for_each(|subject| write!(f, "{:>18}", value(subject)))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Experiment {
    /// The program and where it runs.
    pub(super) fn machine(&self) -> String {
        format!("manyhash {}, backend {}, {}", self.version, self.backend, count(self.cores, "core"))
    }
}

impl Display for Load {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Load { algorithm, producers, chunk_size, total_size, speed, buffers } = self;
        let producers = count(*producers, "producer");
        write!(f, "{algorithm}: {producers}, {} in chunks of {}, ", bytes(*total_size), bytes(*chunk_size as u64))?;
        match speed {
            0 => write!(f, "as fast as they can")?,
            speed => write!(f, "each {} a second", bytes(*speed))?,
        }
        write!(f, "; {}", count(*buffers, "buffer"))
    }
}

/// What a row says of a subject.
type Value = Box<dyn Fn(&Figures) -> String>;

/// The rows of the table, on the console and on the page.
pub(super) fn rows() -> Vec<(String, Value)> {
    let row = |label: &str, value: fn(&Figures) -> String| (label.to_owned(), Box::new(value) as Value);
    let mut rows = vec![
        row("hashing threads", |figures| figures.threads.to_string()),
        row("elapsed", |figures| format!("{:.3} s", figures.elapsed_s)),
        row("hash speed", |figures| decimal(figures.bytes_per_s)),
        row("", |figures| binary(figures.bytes_per_s)),
        row("per thread while busy", |figures| decimal(figures.busy_bytes_per_s)),
        row("hashing threads busy", |figures| percent(figures.busy_share)),
        row("lane occupancy", |figures| figures.lane_occupancy.map_or("no lanes".to_owned(), percent)),
        row("hashed by producers", |figures| format!("{:.3} s", figures.inline_s)),
    ];
    rows.extend(SlotState::ALL.iter().copied().map(|state| {
        let label = format!("slots {}, mean/max", state.name());
        let value = move |figures: &Figures| {
            let slots = figures.slots[state as usize];
            format!("{:.1} / {}", slots.mean, slots.max)
        };
        (label, Box::new(value) as Value)
    }));
    rows
}

fn decimal(bytes_per_s: f64) -> String {
    scaled(bytes_per_s, [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")])
}

fn binary(bytes_per_s: f64) -> String {
    scaled(bytes_per_s, [((1 << 30) as f64, "GiB/s"), ((1 << 20) as f64, "MiB/s"), (1024.0, "KiB/s")])
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Bytes in the largest unit that leaves no rest.
fn bytes(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => count(usize::try_from(bytes).unwrap_or(usize::MAX), "byte"),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;
    use crate::simulate::load::tests::load;

    #[test]
    fn loads_are_told() {
        let load = |arguments| load(arguments).expect("a load").to_string();
        assert_eq!(
            load("--hash sha256 --producers 1 --chunk-size 64K --total-size 1G --speed 100MB"),
            "sha256: 1 producer, 1 GiB in chunks of 64 KiB, each 100000000 bytes a second; 4 buffers"
        );
        assert!(load("--producers 2").contains("2 producers, ") && load("").contains("as fast as they can"));
        assert_eq!((bytes(1), bytes(1536), bytes(1 << 41)), ("1 byte".into(), "1536 bytes".into(), "2 TiB".into()));
    }
}
