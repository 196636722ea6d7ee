//! What was measured, as people read it.

use super::report::{Plan, Range, Report};
use manysum::figures::{count, scaled};
use std::fmt::{self, Display, Formatter};

/// What is the same for all algorithms.
pub(super) fn machine(backend: &str, cores: usize) -> String {
    format!("manyhash {}, backend {backend}, {}\n", env!("CARGO_PKG_VERSION"), count(cores, "core"))
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<30}{:>8}{:>14}{:>14}", self.algorithm, "bytes", "rate", "messages/s")?;
        for single in &self.single {
            rate(f, "1 message alone", single.length, single.bytes_per_s)?;
        }
        let (lanes, all) = (&self.lanes, &self.all_cores);
        let in_lanes = format!("{}, 1 core", count(lanes.messages, "message"));
        rate(f, &in_lanes, lanes.length, lanes.bytes_per_s)?;
        let on_all_cores = format!("{}, all cores", count(all.messages, "message"));
        rate(f, &on_all_cores, all.length, all.bytes_per_s)?;
        self.plan.fmt(f)
    }
}

/// A row: a rate, with the length of each message in bytes.
fn rate(f: &mut Formatter<'_>, what: &str, length: usize, bytes_per_s: f64) -> fmt::Result {
    let rate = scaled(bytes_per_s, [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")]);
    let messages = scaled(bytes_per_s / length as f64, [(1e6, "M"), (1e3, "k"), (1.0, " ")]);
    writeln!(f, "  {what:<28}{length:>8}{rate:>14}{messages:>14}")
}

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  {:<28}{:>8}{:>14}", "kernel", "lanes", "ns/row")?;
        for kernel in &self.kernels {
            writeln!(f, "  {:<28}{:>8}{:>14}", kernel.name, kernel.lanes, kernel.ns_per_row)?;
        }
        writeln!(f, "\n  {:<16}kernels in use", "messages")?;
        writeln!(f, "  {:<16}{}", "1 alone", self.single)?;
        for range in &self.lanes {
            writeln!(f, "  {:<16}{}", numbers(range), kernels(range))?;
        }
        Ok(())
    }
}

fn numbers(range: &Range) -> String {
    let Range { from, to, .. } = range;
    let numbers = if from == to { from.to_string() } else { format!("{from}..{to}") };
    format!("{numbers} in lanes")
}

fn kernels(range: &Range) -> String {
    let runs = range.kernels.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].to_owned(),
        times => format!("{times} x {}", run[0]),
    });
    runs.collect::<Vec<_>>().join(" + ")
}

#[cfg(test)]
mod tests {
    use super::{kernels, numbers};
    use crate::speed::report::Range;

    #[test]
    fn kernels_are_counted() {
        let range = Range { from: 5, to: 5, kernels: vec!["two", "two", "one"] };
        assert_eq!((numbers(&range), kernels(&range)), ("5 in lanes".to_owned(), "2 x two + one".to_owned()));
        let range = Range { from: 3, to: 16, kernels: vec!["wide"] };
        assert_eq!((numbers(&range), kernels(&range)), ("3..16 in lanes".to_owned(), "wide".to_owned()));
    }
}
